"""What people and models are told: every finding has its words, and they fit one line."""

from dataclasses import replace

import pytest

from ebbtide.budget.limit_alerts import LimitAlert, Nearness
from ebbtide.budget.limits import LimitKind
from ebbtide.divergence.detector_table import LOOPS, Mender
from ebbtide.divergence.signals import SPENDING, LoopSignal, Measurement, Unit
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision import wording
from ebbtide.supervision.facts import BurnFacts, LimitFacts, LoopFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.summary.run_facts import Coverage
from ebbtide.supervision.summary.run_summary import RunFinding, Spending
from ebbtide.supervision.verdict import Verdict

SIGNAL = LoopSignal(
    id="ab",
    kind=LoopKind.REPEAT,
    report=1,
    chain_id="",
    tools=("ls",),
    copies=3,
    threshold=3,
    calls=3,
    first_event=1,
    last_event=3,
)
FINDING = RunFinding(
    id="ab",
    kind="repeat",
    action=Action.STOP,
    cause=Cause.DIVERGENCE,
    sentence="ls 3 times in a row",
    tools=("ls",),
    first_event=1,
    last_event=3,
    cost_usd=0.5,
)


@pytest.mark.parametrize("kind", LoopKind)
def test_every_loop_has_a_sentence_with_its_size_and_a_text_for_the_model(kind):
    """Nothing that a monitor can find is without words."""
    measure = Measurement(Unit.USD, 40.0, 30.0, 3600.0) if kind in SPENDING else None
    signal = replace(SIGNAL, kind=kind, tools=("search", "open"), measure=measure)
    text = wording.loop(signal, 7)
    assert "7" in text or kind in SPENDING
    assert "{" not in text
    advice = wording.nudge(LoopFacts(signal=signal))
    is_for_the_model = LOOPS[kind].mender is Mender.MODEL
    assert advice.endswith(". Try something else, or say what is missing and finish.") is is_for_the_model
    went_on = wording.reason(LoopFacts(signal=signal, goes_on=True))
    what = "spending" if kind in SPENDING else "loop"
    assert went_on.endswith(f"; the {what} continued after the first warning")
    came_back = wording.reason(LoopFacts(signal=replace(signal, relapses=1), goes_on=True))
    assert came_back.endswith(f"; the {what} came back after the first warning")


def test_every_kind_is_advised_in_its_own_words():
    """What helps against one loop does not help against another."""
    texts = [wording.nudge(LoopFacts(signal=replace(SIGNAL, kind=kind))) for kind in LoopKind]
    assert len(set(texts)) == len(LoopKind)


@pytest.mark.parametrize("nearness", Nearness)
@pytest.mark.parametrize("kind", LimitKind)
def test_every_limit_has_a_sentence_with_both_numbers(kind, nearness):
    """What was taken, and what there was."""
    facts = LimitFacts(alert=LimitAlert(kind, nearness, 7.0, 8.0))
    text = wording.reason(facts)
    assert "7" in text
    assert "8" in text
    assert wording.nudge(facts).endswith(".")


def test_a_limit_that_is_near_is_told_to_the_model_with_its_size():
    """A sentence of its own, so it begins with a capital, and keeps what follows as it is."""
    alert = LimitAlert(LimitKind.COST_USD, Nearness.WARN, 1.5, 2.0)
    assert wording.reason(LimitFacts(alert=alert)) == "75% of the cost limit used ($1.50 of $2.00)"
    assert wording.nudge(LimitFacts(alert=alert)) == (
        "75% of the cost limit used ($1.50 of $2.00). "
        "Finish with a result: say what is known and what is missing."
    )


def test_a_loop_without_a_tool_is_a_call():
    """Some readers do not know names."""
    assert wording.loop(replace(SIGNAL, tools=()), 3).startswith("a call 3 times")


def test_a_finding_has_a_place():
    """It is named by its events, or its one event."""
    assert sentences.place(FINDING) == "events 1-3"
    assert sentences.place(replace(FINDING, last_event=1), "calls") == "call 1"


def test_the_reason_of_a_run_is_that_of_its_end():
    """The finding as it came out, not as it stood when it was reported."""
    stop = Verdict(action=Action.STOP, cause=Cause.DIVERGENCE, facts=LoopFacts(signal=SIGNAL), chain_id="")
    spent = Spending(events=3, tool_calls=3)
    assert (
        sentences.run_reason(stop, [FINDING], spent, Coverage()) == "ls 3 times in a row (calls 1-3, $0.50)."
    )
    for other in (replace(FINDING, id="cd"), replace(FINDING, chain_id="sub")):
        assert sentences.run_reason(stop, [other], spent, Coverage()) == stop.reason
    assert sentences.run_reason(stop, [], spent, Coverage()) == stop.reason
    assert sentences.run_reason(Verdict(), [], spent, Coverage()).startswith("3 calls: no loop")


def test_a_finding_says_an_amount_once_and_numbers_with_commas():
    """What it cost stands beside it."""
    facts = BurnFacts(calls=1_200, rounds=0, measure=Measurement(Unit.USD, 1.4, 2.0))
    verdict = Verdict(cause=Cause.JOINT, facts=facts)
    assert verdict.reason == ("1,200 calls brought no new result: $1.40 since the last new result.")
    assert wording.burn(facts) == "1,200 calls brought no new result"
    assert wording.measured(facts) == "$1.40 since the last new result"
    spent = replace(FINDING, sentence="x", first_event=2_000, last_event=2_000, cost_usd=1_234.5)
    assert (sentences.place(spent), sentences.price(spent.cost_usd, None)) == ("event 2,000", "$1,234.50")
    assert sentences.price(None, 200_312) == "200,312 tokens"


SAMES = [kind for kind in LoopKind if "same result" in wording.loop(replace(SIGNAL, kind=kind), 3)]


@pytest.mark.parametrize("kind", SAMES)
def test_what_is_not_known_is_not_called_the_same(kind):
    """Neither to a person nor to the model."""
    signal = replace(SIGNAL, kind=kind)
    assert wording.loop(signal, 3, answers_known=False).endswith("results unknown")
    assert wording.nudge(LoopFacts(signal=signal, answers_known=False)) == (
        "The same calls were made again and again. Try something else, or say what is missing and finish."
    )


@pytest.mark.parametrize("kind", [kind for kind in LoopKind if kind not in SAMES])
def test_a_loop_that_says_nothing_of_answers_is_the_same_without_them(kind):
    """A failing call fails, whether its words were recorded or not."""
    signal = replace(SIGNAL, kind=kind)
    assert wording.loop(signal, 3, answers_known=False) == wording.loop(signal, 3)
    assert wording.nudge(LoopFacts(signal=signal, answers_known=False)) == wording.nudge(
        LoopFacts(signal=signal)
    )


TOOLS = {
    "one tool": (("ls",), "ls"),
    "two": (("a", "b"), "a and b"),
    "four": (("a", "b", "c", "d"), "a, b, c and d"),
    "many": (tuple("abcdef"), "a, b, c and 3 more"),
    "long": (("x" * 50,), "x" * 39 + "\u2026"),
    "none": ((), ""),
}


@pytest.mark.parametrize(("tools", "expected"), TOOLS.values(), ids=TOOLS)
def test_names_of_tools_in_a_sentence(tools, expected):
    """Few are named, many are counted."""
    assert wording.listed(tools) == expected
