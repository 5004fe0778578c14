"""Verdicts: the ladder, the facts that they carry, and the wire form."""

import json

import pytest

from ebbtide.budget.limit_alerts import LimitAlert, Nearness
from ebbtide.budget.limits import LimitKind
from ebbtide.divergence.signals import LoopSignal, Measurement, Unit
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.facts import BurnFacts, DryRoundFacts, Facts, LimitFacts, LoopFacts
from ebbtide.supervision.ladder import LIMIT_STEPS, ROUND_STEPS, STEPS, Action, Cause
from ebbtide.supervision.verdict import Verdict

SIGNAL = LoopSignal(
    id="ab",
    kind=LoopKind.CYCLE,
    report=2,
    chain_id="sub",
    tools=("search", "open"),
    period=2,
    copies=5,
    threshold=3,
    calls=10,
    relapses=1,
    first_event=4,
    last_event=13,
    cost_usd=0.5,
    tokens=900,
    latest_call="open a",
)
SPENT = Measurement(Unit.USD, 40.0, 30.0, 3600.0)
FACTS: dict[str, Facts] = {
    "loop": LoopFacts(signal=SIGNAL),
    "loop that went on, answers unknown": LoopFacts(signal=SIGNAL, answers_known=False, goes_on=True),
    "bare loop": LoopFacts(
        signal=LoopSignal(
            id="",
            kind=LoopKind.MONOTONY,
            report=1,
            chain_id="",
            copies=64,
            threshold=1.5,
            calls=64,
            first_event=1,
            last_event=64,
            measure=Measurement(Unit.BITS, 1.2, 2.0),
        )
    ),
    "spending": LoopFacts(
        signal=LoopSignal(
            id="cd",
            kind=LoopKind.SPEND_RATE,
            report=1,
            chain_id="",
            copies=1,
            threshold=1,
            calls=0,
            first_event=1,
            last_event=2,
            measure=SPENT,
        )
    ),
    **{
        f"limit {kind.value} {nearness.value}": LimitFacts(alert=LimitAlert(kind, nearness, 7.5, 8))
        for kind in LimitKind
        for nearness in Nearness
    },
    "ready rounds": DryRoundFacts(rounds=2, ready=True),
    "stuck rounds": DryRoundFacts(rounds=3, ready=False),
    "burn": BurnFacts(calls=4, rounds=1, measure=SPENT),
    "burn of a budget": BurnFacts(
        calls=1, rounds=0, measure=Measurement(Unit.TOKENS, 400, 500), remaining=500
    ),
}

BURN = Verdict(facts=FACTS["burn"]).to_dict()["facts"]


def test_the_ladder_goes_from_allow_to_stop():
    """The rungs have their order, and the last three end a run."""
    verdicts = [Verdict(action=action) for action in Action]
    assert [verdict.rank for verdict in verdicts] == [0, 1, 2, 3, 4]
    assert [verdict.action.value for verdict in verdicts if verdict.ends] == ["finalize", "escalate", "stop"]


def test_there_is_one_ladder():
    """What follows from a loop, from spending, from limits and from rounds stands in one place."""
    assert [(cause.value, *steps) for cause, steps in STEPS.items()] == [
        ("divergence", Action.NUDGE, Action.STOP),
        ("spending", Action.NUDGE, Action.ESCALATE),
        ("joint", Action.NUDGE, Action.ESCALATE),
    ]
    assert list(LIMIT_STEPS.values()) == [Action.NUDGE, Action.FINALIZE, Action.STOP, Action.STOP]
    assert list(ROUND_STEPS.values()) == [Action.ALLOW, Action.FINALIZE, Action.ESCALATE]


@pytest.mark.parametrize("facts", FACTS.values(), ids=FACTS)
@pytest.mark.parametrize("action", Action)
def test_the_wire_form_can_be_read_back(facts, action):
    """Nothing is lost on the way through JSON: neither facts nor what is made of them."""
    verdict = Verdict(
        action=action,
        cause=Cause.JOINT,
        facts=facts,
        more=tuple(FACTS.values()),
        last_call_made=True,
        event=7,
        chain_id="sub",
        shadow=True,
    )
    wire = verdict.to_dict()
    restored = Verdict.from_dict(json.loads(json.dumps(wire)))
    assert restored == verdict
    assert Verdict.from_dict(json.loads(json.dumps(wire, sort_keys=True))) == verdict
    assert restored.to_dict() == wire
    assert wire["schema"] == 1


def test_a_verdict_without_facts_can_be_read_back():
    """An allow has nothing to say, and says so."""
    verdict = Verdict()
    assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict
    assert (verdict.kind, verdict.nudge, verdict.loop_id) == (None, None, None)
    assert verdict.reason == "No reason to stop."


@pytest.mark.parametrize("facts", FACTS.values(), ids=FACTS)
def test_sentences_are_made_of_the_facts(facts):
    """A reason for a person always; a text for the model where it can still do something about it."""
    verdicts = {action: Verdict(action=action, facts=facts) for action in Action}
    for action, verdict in verdicts.items():
        assert verdict.reason.endswith(".")
        assert "{" not in verdict.reason
        assert (verdict.nudge is not None) == (action in (Action.NUDGE, Action.FINALIZE))
        assert verdict.kind == facts.kind
    assert len({verdict.reason for verdict in verdicts.values()}) == 1
    assert verdicts[Action.NUDGE].loop_id == (facts.signal.id if isinstance(facts, LoopFacts) else None)


def test_several_matters_are_one_text_for_the_model():
    """Each is said once, and the reason stays that of the verdict."""
    loop, limit = FACTS["loop"], FACTS["limit tool_calls warn"]
    verdict = Verdict(action=Action.NUDGE, facts=loop, more=(limit, loop))
    assert verdict.nudge == (
        "94% of the tool call limit used (8 of 8). Finish with a result: say what is known and what is "
        "missing. "
        "The same calls returned the same results in turn, several times. "
        "Try something else, or say what is missing and finish."
    )
    assert verdict.reason == "search and open in turn, 5 times, same results."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": "halt"}, "action: 'halt' is not one of allow"),
        ({"cause": "luck"}, "cause: 'luck' is not one of"),
        ({"facts": {"about": "weather"}}, "weather"),
        (
            {"facts": {**BURN, "measure": {"quantity": "miles"}}},
            r"facts\.measure\.quantity: 'miles' is not one of usd, tokens",
        ),
        ({"facts": {**BURN, "calls": "many"}}, r"facts\.calls: expected a whole number, found 'many'"),
        ({"more": [{"about": "rounds", "ready": True}]}, r"more\[0]: the key 'rounds' is missing"),
    ],
    ids=str,
)
def test_what_is_no_verdict_is_refused(change, message):
    """A rung that does not exist is no verdict, nor are facts about anything else, or with other fields."""
    with pytest.raises(ValueError, match=f"^{message}"):
        Verdict.from_dict({**Verdict().to_dict(), **change})
