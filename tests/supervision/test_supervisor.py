"""The supervisor as users hold it: one verdict from all engines, given once, and never in the way."""

import json
import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.errors import ConfigError
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Phase, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.supervision import SupervisionRules
from ebbtide.supervision.facts import LimitFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

pytestmark = pytest.mark.filterwarnings("ignore::ebbtide.errors.DegradedEventWarning")
LS = ToolCall(name="ls", args={"path": "."}, result="a b")
CLAIMS = (
    "The cache of the client is stale after every deployment.",
    "Retries hide the timeouts of the billing service.",
    "The index on orders is missing in production.",
)
SAYINGS = ("We are done: the report is ready.", "I do not know.", "Ask the team?")


def say(text: str | None, *, agent: str | None = None, chain_id: str = "", **usage: Any) -> ModelCall:
    return ModelCall(text=text, agent=agent, chain_id=chain_id, usage=Usage(**usage) if usage else None)


def ask(text: str) -> Message:
    return Message(text=text)


def look(number: int, **fields: Any) -> ToolCall:
    return ToolCall(name="read", args={"path": f"f{number}"}, result=f"content {number}", **fields)


def ruled(**rules: Any) -> Profile:
    return replace(Profile.DEFAULT, supervision=SupervisionRules(**rules))


def run(supervisor: Supervisor, *events: Event | Round) -> list[str]:
    """The rungs that `record` gives."""
    return [supervisor.record(event).action.value for event in events]


DEBATE = (
    say("The cache is stale. Retries hide the timeouts. The index is missing.", agent="ann"),
    say("The cache is stale. Retries hide the timeouts.", agent="bob"),
    say("Retries hide the timeouts. The index is missing.", agent="ann"),
    say("The index is missing. The cache is stale.", agent="bob"),
)


def test_a_loop_is_a_nudge_first_and_a_stop_where_it_goes_on():
    """After three equal looks the model is told, after the fourth the run has ended, and the end stays."""
    supervisor = Supervisor()
    assert run(supervisor, *[LS] * 4) == ["allow", "allow", "nudge", "stop"]
    verdict = supervisor.verdict()
    assert (verdict.cause, verdict.kind, verdict.chain_id) == (Cause.DIVERGENCE, "repeat", "")
    assert verdict.reason == (
        "ls 4 times in a row, same arguments, same result; the loop continued after the first warning."
    )
    assert run(supervisor, LS, LS) == ["stop", "stop"]


def test_a_loop_that_comes_back_after_it_was_reported_is_a_stop():
    """After something new the nudge falls; the same loop again is not nudged twice."""
    supervisor = Supervisor()
    assert run(supervisor, *[LS] * 3, look(1)) == ["allow", "allow", "nudge", "allow"]
    assert supervisor.verdict().action is Action.ALLOW
    assert run(supervisor, *[LS] * 3)[-1] == "stop"
    assert "came back" in supervisor.verdict().reason


def test_calls_of_one_batch_do_not_end_the_run_before_the_model_could_hear():
    """Calls that were asked for at once give the model no chance: they are one attempt."""
    calls = [ToolCall(name="ping", args={"host": number}, result="down", error=True) for number in range(12)]
    assert run(Supervisor(), *calls)[-1] == "stop"
    batch = run(Supervisor(), *[replace(call, batch="b") for call in calls])
    assert set(batch) == {"allow"}


def test_a_stop_falls_when_something_new_comes_in_a_later_turn():
    """In a run that nobody stopped, a new answer ends the loop, and with it what was reported of it."""
    supervisor = Supervisor()
    assert run(supervisor, *[LS] * 5)[-1] == "stop"
    assert run(supervisor, look(1)) == ["allow"]


def test_a_nudge_is_handed_over_once():
    """`check_before_model` gives the text for the model, and then allows."""
    supervisor = Supervisor()
    run(supervisor, LS, LS, LS)
    verdict = supervisor.check_before_model()
    assert verdict.action is Action.NUDGE
    assert verdict.nudge is not None
    assert verdict.nudge.startswith("The same call returned the same result again")
    assert supervisor.check_before_model().action is Action.ALLOW
    assert supervisor.verdict().action is Action.ALLOW


def test_two_nudges_are_handed_over_together():
    """What the limit and the loop say comes in one text."""
    supervisor = Supervisor(limits=Limits(tool_calls=4))
    run(supervisor, LS, LS)
    for verdict in (supervisor.record(LS), supervisor.check_before_model()):
        assert verdict.action is Action.NUDGE
        assert verdict.nudge is not None
        assert "same result" in verdict.nudge
        assert "75% of the tool call limit used (3 of 4)." in verdict.nudge
        assert len(verdict.more) == 1
        assert Verdict.from_dict(verdict.to_dict()) == verdict
    assert supervisor.check_before_model().action is Action.ALLOW


def test_turns_are_counted_by_checks_where_there_are_any():
    """Equal calls between two calls of the model were asked for at once, and are one."""
    supervisor = Supervisor()
    checks, calls = [], []
    for _ in range(4):
        checks.append(supervisor.check_before_model().action.value)
        calls.append(run(supervisor, *[LS] * 6)[0])
    assert checks == ["allow", "allow", "allow", "nudge"]
    assert calls == ["allow", "allow", "nudge", "stop"]


def test_calls_before_the_first_event_of_a_chain_are_one_turn_too():
    """The first turn is asked for before anything is known of its chain."""
    supervisor = Supervisor()
    supervisor.check_before_model()
    assert set(run(supervisor, *[LS] * 6)) == {"allow"}
    supervisor.check_before_model("other")
    assert set(run(supervisor, *[replace(LS, chain_id="other")] * 6)) == {"allow"}


def test_one_check_for_many_turns_does_not_blind():
    """A model does not ask for one call nine times at once: a caller who checks so rarely is watched too."""
    supervisor = Supervisor()
    supervisor.check_before_model()
    assert run(supervisor, *[LS] * 12)[8:] == ["allow", "nudge", "allow", "allow"]


def test_turns_that_no_call_follows_are_rounds_and_end_when_they_bring_nothing_new():
    """A conversation of models that says the same for two rounds is escalated: it wants nothing done."""
    supervisor = Supervisor()
    assert run(supervisor, *DEBATE)[:3] == ["allow"] * 3
    supervisor.settle()
    verdict = supervisor.verdict()
    assert (verdict.action, verdict.cause, verdict.kind) == (
        Action.ESCALATE,
        Cause.CONVERGENCE,
        "stuck_rounds",
    )


def test_a_check_before_the_model_settles_the_turn_before():
    """Whoever asks before the next call of the model says with it that nothing was called."""
    supervisor = Supervisor()
    endings = []
    for event in DEBATE:
        supervisor.record(event)
        endings.append(supervisor.check_before_model().ends)
    assert endings == [False, False, True, True]


def test_narration_before_calls_is_no_round():
    """An agent that says the same before every call, and finds something new each time, is left alone."""
    supervisor = Supervisor()
    events = [
        event
        for number in range(30)
        for event in (say("Let me look at the next file. The cache may be stale."), look(number))
    ]
    assert set(run(supervisor, *events)) == {"allow"}
    supervisor.settle()
    assert supervisor.snapshot().conversations[0].rounds == 0


def test_rounds_between_which_tools_brought_something_are_not_dry():
    """The same report after every new finding is dull, and not stuck."""
    supervisor = Supervisor()
    events = [event for number in range(6) for event in (look(number), DEBATE[0], ask("Go on."))]
    assert set(run(supervisor, *events)) == {"allow"}


def test_a_person_who_says_something_new_is_news_and_the_same_words_are_not():
    """People drive a conversation; a machine that says "Go on." does not."""
    events = [(say(f"{DEBATE[0].text}"), f"Question {number}?") for number in range(5)]
    people = [event for text, words in events for event in (replace(text, agent=None), ask(words))]
    machine = [event for text, _ in events for event in (text, ask("Go on."))]
    assert set(run(Supervisor(), *people)) == {"allow"}
    supervisor = Supervisor(Profile.DEFAULT)
    assert run(supervisor, *machine)[-1] in ("finalize", "escalate")
    assert set(run(Supervisor(), *STALLED)) == {"allow"}
    assert run(Supervisor(ruled(person_is_news=False)), *STALLED)[-1] == "escalate"


STALLED = [
    event
    for number, turn in enumerate((*DEBATE, *DEBATE[:2]))
    for event in (
        ask(("We are blocked by the platform team.", "The runner keeps no log.")[number % 2]),
        replace(turn, agent=None, text=f"{turn.text} We are blocked by the platform team."),
    )
]


def test_a_conversation_without_calls_is_judged_at_its_end_as_the_meter_judges_it():
    """A person's words are rounds like any other there; nobody is told before the person has finished."""
    meter = ConvergenceMeter()
    for number, event in enumerate(STALLED, start=1):
        reading = meter.update(Round.from_text(event.text or "", number=number))
    assert reading is not None
    assert reading.recommendation.signal is Signal.ESCALATE
    supervisor = Supervisor()
    assert set(run(supervisor, *STALLED)) == {"allow"}
    supervisor.settle()
    assert (supervisor.verdict().action, supervisor.verdict().kind) == (Action.ESCALATE, "stuck_rounds")
    assert f"{reading.recommendation.low_run} rounds in a row" in supervisor.verdict().reason


def test_a_conversation_that_was_stuck_and_goes_on_with_something_new_is_left_alone():
    """What counts is how it ends."""
    supervisor = Supervisor()
    run(supervisor, *STALLED, say("A lock in the scheduler starves the writers every night at two."))
    supervisor.settle()
    assert supervisor.verdict().action is Action.ALLOW


def test_a_person_s_words_are_no_rounds_where_tools_are_called_or_somebody_asks_first():
    """An agent at work is judged by its answers; and who is asked before each call overrules by speaking."""
    working = Supervisor()
    run(working, look(0), *STALLED[:6])
    working.settle()
    assert working.snapshot().conversations[0].rounds == 3
    checking = Supervisor()
    for event in STALLED:
        assert checking.check_before_model().action is Action.ALLOW
        checking.record(event)
    checking.settle()
    assert checking.verdict().action is Action.ALLOW


def test_answers_that_are_not_known_are_not_the_same():
    """A trace may leave answers out: equal calls are a suspicion then, one call later than proof."""
    supervisor = Supervisor()
    verdicts = [supervisor.record(ToolCall(name="ls", args={"path": "."})) for _ in range(4)]
    assert verdicts[-2].action is Action.ALLOW
    assert verdicts[-1].reason == "ls 4 times in a row, same arguments, results unknown."
    assert verdicts[-1].nudge is not None
    assert "answer" not in verdicts[-1].nudge


def test_arguments_that_are_not_known_are_not_the_arguments_of_a_call_without_any():
    """None and an empty mapping are two things, and so are an answer that is not known and an empty one."""
    plain, unknown = ToolCall(name="ls", args={}, result=""), ToolCall(name="ls")
    assert (unknown.args, unknown.result) == (None, None)
    assert plain != unknown
    calls = [plain, unknown] * 2
    assert run(Supervisor(), *calls) == ["allow"] * 4
    assert run(Supervisor(), *[plain] * 3)[-1] == "nudge"


def test_a_message_needs_no_name():
    """What a person says is words, and the words may be unknown."""
    supervisor = Supervisor()
    assert (
        run(supervisor, Message(text="Go on."), Message(), ModelCall(), ModelCall(text="")) == ["allow"] * 4
    )
    assert supervisor.events == 4
    assert supervisor.snapshot().degraded == 0


def ready(number: int) -> Round:
    return Round(
        number=number,
        claims=CLAIMS,
        next_actions=("Alice will flush the cache today.", "Bob will add the index to orders."),
    )


def test_rounds_that_are_ready_are_finalized_and_the_call_after_the_last_is_a_stop():
    """SHIP is one last call without tools; a further check says stop, with the same cause."""
    supervisor = Supervisor()
    assert run(supervisor, ready(1), ready(2), ready(3)) == ["allow", "allow", "finalize"]
    first = supervisor.check_before_model()
    assert (first.action, first.kind) == (Action.FINALIZE, "ready_rounds")
    assert first.nudge is not None
    assert supervisor.check_before_model() == first  # the call was not made yet
    supervisor.record(say("The result is a list of three steps that nobody has named so far."))
    assert supervisor.check_before_model().action is Action.STOP
    supervisor.record(ask("And what about the writers?"))
    assert supervisor.check_before_model().action is Action.ALLOW


def test_a_round_with_something_new_takes_the_ending_back():
    """As long as the last call was not announced."""
    supervisor = Supervisor()
    new = Round(number=4, claims=("A lock in the scheduler starves the writers every night at two.",) * 2)
    assert run(supervisor, ready(1), ready(2), ready(3), new) == ["allow", "allow", "finalize", "allow"]
    assert supervisor.check_before_model().action is Action.ALLOW


def test_an_ending_of_rounds_alone_holds():
    """Rounds that are handed over need no turn of a model: the ending stays, and reading gives it."""
    supervisor = Supervisor()
    rounds = [Round(number=number, claims=CLAIMS, open_questions=("Who owns it?",)) for number in range(1, 6)]
    assert run(supervisor, *rounds) == ["allow", "allow", *["escalate"] * 3]
    assert supervisor.verdict().action is Action.ESCALATE
    assert supervisor.snapshot().verdict.action is Action.ESCALATE
    assert supervisor.check_before_tool(LS).action is Action.ESCALATE
    restarted = Supervisor.from_bytes(supervisor.to_bytes())
    assert restarted.verdict() == supervisor.verdict()


def test_a_round_that_is_delivered_twice_counts_once():
    """A source that repeats itself makes nothing dry."""
    supervisor = Supervisor()
    assert run(supervisor, ready(1), ready(1), ready(1)) == ["allow"] * 3


def test_a_person_may_acknowledge_and_the_same_is_not_reported_again_until_something_new():
    """Acknowledged rounds stay quiet while they are dry; after a new one they may run dry again."""
    supervisor = Supervisor()
    rounds = [Round(number=number, claims=CLAIMS, open_questions=("Who owns it?",)) for number in range(1, 9)]
    assert run(supervisor, *rounds[:3])[-1] == "escalate"
    assert supervisor.verdict().action is Action.ESCALATE
    supervisor.acknowledge()
    assert supervisor.verdict().action is Action.ALLOW
    assert run(supervisor, *rounds[3:5]) == ["allow", "allow"]
    news = tuple(f"Finding {word} about the {word} of another module." for word in ("alpha", "beta", "gamma"))
    run(supervisor, Round(number=6, claims=news))
    assert run(supervisor, *rounds[6:8])[-1] == "escalate"


def test_a_loop_that_was_acknowledged_is_reported_before_it_ends_the_run_again():
    """After a person let it go on, the loop gets a nudge first."""
    supervisor = Supervisor()
    run(supervisor, *[LS] * 5)
    supervisor.acknowledge()
    assert supervisor.verdict().action is Action.ALLOW
    actions = [action for action in run(supervisor, *[LS] * 12) if action != "allow"]
    assert actions[0] == "nudge"


def test_extend_lets_a_run_go_on_for_some_turns():
    """What holds is silent for so many turns of the model, and then holds again."""
    supervisor = Supervisor()
    run(supervisor, ready(1), ready(2), ready(3))
    supervisor.extend(2)
    assert [supervisor.check_before_model().action for _ in range(3)] == [
        Action.ALLOW,
        Action.ALLOW,
        Action.FINALIZE,
    ]


@pytest.mark.parametrize("turns", [0, -1, True, 1.5, None])
def test_extend_refuses_what_is_no_number_of_turns(turns):
    """The value is in the message."""
    with pytest.raises(ConfigError, match="turns"):
        Supervisor().extend(turns)


def test_other_limits_may_be_given_and_what_was_taken_counts():
    """A person who allows more steps gets as many as are left of them."""
    supervisor = Supervisor(limits=Limits(steps=3))
    assert run(supervisor, look(1), look(2), look(3)) == ["allow", "finalize", "stop"]
    supervisor.acknowledge()
    assert supervisor.verdict().action is Action.STOP
    supervisor.extend(1, limits=Limits(steps=5))
    assert run(supervisor, look(4), look(5)) == ["finalize", "stop"]


LIMITS = {
    "cost": (Limits(cost_usd=1.0), [say("x", cost_usd=0.25)] * 4, ["allow", "allow", "finalize", "stop"]),
    "tokens": (Limits(tokens=40), [say("x", input_tokens=10)] * 4, ["allow", "allow", "finalize", "stop"]),
    "model calls": (Limits(llm_calls=3), [say(f"x{n}") for n in range(3)], ["allow", "finalize", "stop"]),
    "tool calls": (
        Limits(tool_calls=2, warn_at=None),
        [look(1), look(2), look(3)],
        ["allow", "finalize", "stop"],
    ),
    "warning": (
        Limits(steps=10),
        [look(n) for n in range(9)],
        ["allow"] * 6 + ["nudge", "allow", "finalize"],
    ),
    "time": (Limits(wall_s=10), [look(n, ts=n * 5.0) for n in range(3)], ["allow", "allow", "stop"]),
    "nothing allowed": (Limits(steps=0), [look(1)], ["stop"]),
    "thoughts are no calls": (
        Limits(llm_calls=1, warn_at=None),
        [ModelCall(text="hm", part=ModelPart.THOUGHT), ask("x")],
        ["allow", "allow"],
    ),
    "retries": (
        Limits(retries=1, warn_at=None),
        [ToolCall(name="a", error=True), ToolCall(name="a", error=True)],
        ["allow", "stop"],
    ),
}


@pytest.mark.parametrize(("limits", "events", "expected"), LIMITS.values(), ids=LIMITS)
def test_limits_warn_then_leave_one_call_then_stop(limits, events, expected):
    """Near a limit the model is nudged, before the last call it is to finish, at the limit it stops."""
    assert run(Supervisor(limits=limits), *events) == expected


def test_the_time_can_run_out_while_nothing_happens():
    """The check may bring the time with it."""
    supervisor = Supervisor(limits=Limits(wall_s=60))
    supervisor.record(look(1, ts=100.0))
    assert supervisor.check_before_model(now=150.0).action is Action.NUDGE
    assert supervisor.check_before_model(now=160.0).action is Action.STOP


def test_a_limit_that_cannot_be_counted_stops_the_run():
    """No price for a model is known: the run stops, says which argument is missing, and stays stopped."""
    supervisor = Supervisor(limits=Limits(cost_usd=1))
    verdict = supervisor.record(say("x", model="gpt-x", input_tokens=5))
    assert (verdict.action, verdict.cause, verdict.kind) == (Action.STOP, Cause.LIMIT, "limit_unknown")
    assert verdict.reason == (
        "The limit of 1 USD cannot be enforced: the cost of a call of 'gpt-x' is unknown. Pass "
        'prices=Prices({...}) or --prices, or a usage with cost_usd; or choose Limits(when_unknown="allow").'
    )
    assert isinstance(verdict.facts, LimitFacts)
    assert verdict.facts.alert.subject == "gpt-x"
    assert verdict.nudge is None
    assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict
    assert supervisor.check_before_model().action is Action.STOP
    assert supervisor.check_before_tool(LS).action is Action.STOP
    again = Supervisor.from_bytes(supervisor.to_bytes(), limits=Limits(cost_usd=1))
    assert again.check_before_model().reason == verdict.reason
    supervisor.acknowledge()
    assert supervisor.check_before_model().action is Action.STOP
    supervisor.extend(1, limits=Limits(cost_usd=1, when_unknown="allow"))
    assert supervisor.record(say("y", model="gpt-x", input_tokens=5)).action is Action.ALLOW
    assert supervisor.check_before_model().action is Action.ALLOW


def test_a_usage_that_never_comes_stops_the_run_before_the_next_call():
    """It may come in an event of its own, until the next call of the model is asked for."""
    supervisor = Supervisor(limits=Limits(tokens=90))
    supervisor.record(ModelCall(agent="writer", text="x"))
    assert supervisor.verdict().action is Action.ALLOW
    supervisor.record(Notice(kind=NoticeKind.USAGE, usage=Usage(input_tokens=5)))
    assert supervisor.check_before_model().action is Action.ALLOW
    supervisor.record(ModelCall(agent="writer", text="x"))
    verdict = supervisor.check_before_model()
    assert verdict.action is Action.STOP
    assert "the tokens of a call of 'writer' are unknown. Pass usage= with its tokens" in verdict.reason


def test_a_time_that_never_comes_stops_the_run_before_the_second_call():
    """A limit of time needs times, with the events or with the checks."""
    supervisor = Supervisor(limits=Limits(wall_s=60))
    assert supervisor.check_before_model().action is Action.ALLOW
    supervisor.record(look(1))
    assert "no event has a time" in supervisor.check_before_model().reason
    supervisor = Supervisor(limits=Limits(wall_s=60))
    supervisor.check_before_model(now=5.0)
    assert run(supervisor, look(1), look(2)) == ["allow", "allow"]


def test_a_shadow_reports_what_cannot_be_counted_and_lets_the_run_go_on():
    """It is in the verdict, and the checks allow."""
    supervisor = Supervisor(limits=Limits(cost_usd=1), shadow=True)
    verdict = supervisor.record(say("x", model="gpt-x", input_tokens=5))
    assert (verdict.kind, verdict.shadow) == ("limit_unknown", True)
    assert supervisor.check_before_model().action is Action.ALLOW


@pytest.mark.parametrize("limits", [None, Limits(steps=9)])
def test_a_run_is_not_restored_without_its_limits(limits):
    """A limit that is left out would be open."""
    data = Supervisor(limits=Limits(cost_usd=1, steps=9)).to_bytes()
    with pytest.raises(ConfigError, match="limit of cost_usd"):
        Supervisor.from_bytes(data, limits=limits)


def test_a_limit_holds_for_all_chains_and_a_loop_for_its_own():
    """A sub-agent in a loop does not end its parent; the run's money ends both."""
    supervisor = Supervisor(limits=Limits(steps=100))
    run(supervisor, look(1), *[replace(LS, chain_id="sub")] * 5)
    assert supervisor.check_before_model("sub").action is Action.STOP
    assert supervisor.check_before_model("").action is Action.ALLOW
    assert supervisor.verdict().action is Action.STOP
    assert supervisor.verdict("").action is Action.ALLOW
    run(supervisor, *[look(number) for number in range(2, 97)])
    assert supervisor.check_before_model("").cause is Cause.LIMIT


def test_prices_turn_tokens_into_money():
    """Events that tell tokens count at the price of their model."""
    prices = Prices({"m": {"input": 1_000_000.0}}, public=False)
    supervisor = Supervisor(prices=prices, limits=Limits(cost_usd=4.0, warn_at=None))
    assert run(supervisor, *[say("x", model="m", input_tokens=2)] * 2) == ["finalize", "stop"]


def test_a_tool_is_refused_before_it_goes_on_with_a_loop_that_was_reported():
    """The weaker verb: a nudge is the answer to the call that is not made."""
    supervisor = Supervisor(Profile.DEFAULT)
    run(supervisor, *[replace(LS, chain_id="x")] * 5)
    assert supervisor.check_before_tool(replace(LS, chain_id="x")).action is Action.STOP
    supervisor.acknowledge()
    verdict = supervisor.check_before_tool(replace(LS, chain_id="x", seq=9))
    assert verdict.action is Action.NUDGE
    assert verdict.nudge is not None
    assert supervisor.check_before_tool(replace(look(1), chain_id="x")).action is Action.ALLOW


def test_a_call_that_was_checked_counts_when_it_comes():
    """Asking about a numbered call does not make the call itself a duplicate."""
    supervisor = Supervisor()
    for number in range(1, 4):
        supervisor.check_before_tool(replace(LS, seq=number))
        verdict = supervisor.record(replace(LS, seq=number))
    assert verdict.action is Action.NUDGE
    assert supervisor.events == 3


def test_started_calls_are_not_counted_and_duplicates_neither():
    """Each event counts once."""
    supervisor = Supervisor(limits=Limits(steps=3, warn_at=None))
    assert (
        run(supervisor, replace(LS, phase=Phase.STARTED), replace(LS, seq=5), replace(LS, seq=5))
        == ["allow"] * 3
    )
    assert supervisor.events == 1


def test_shadow_reports_everything_and_does_nothing():
    """The verdicts are the same, and `check_before_model` allows."""
    plain, shadow = Supervisor(), Supervisor(shadow=True)
    assert run(plain, *[LS] * 6) == run(shadow, *[LS] * 6)
    assert shadow.verdict().shadow
    for verdict in (shadow.check_before_model(), shadow.check_before_tool(LS)):
        assert (verdict.action, verdict.shadow) == (Action.ALLOW, True)
    assert plain.check_before_model().action is Action.STOP


JOINT = replace(
    Profile.DEFAULT, divergence=LoopRules(stale=8, interleaved_with_news=None, usd_without_news=1.0)
)


def idle(number: int, cost: float) -> Event:
    return ToolCall(name=f"t{number % 5}", args={"n": number % 5}, result="same", usage=Usage(cost_usd=cost))


def joint_run(cost: float, calls: int = 12) -> list[Verdict]:
    """Five calls that are new, and then the same five again and again."""
    supervisor = Supervisor(JOINT)
    return [supervisor.record(idle(number, cost)) for number in range(calls)]


def test_high_burn_and_flat_progress_are_reported_together_where_neither_engine_speaks():
    """Four idle calls of eight and 60 cents of a dollar: each engine is silent, the joint rule is not."""
    verdicts = [verdict for verdict in joint_run(0.15, 9) if verdict.action is not Action.ALLOW]
    assert [(verdict.action, verdict.cause) for verdict in verdicts] == [(Action.NUDGE, Cause.JOINT)]
    assert verdicts[0].kind == "burn_without_progress"
    assert "4 calls brought no new result" in verdicts[0].reason
    assert {verdict.cause for verdict in joint_run(0.001, 9)} == {Cause.NONE}


def test_the_joint_rule_asks_a_person_where_it_goes_on():
    """Both measures at three quarters, after the model was told."""
    causes = [(verdict.action, verdict.cause) for verdict in joint_run(0.15, 11)]
    assert causes[-1] == (Action.ESCALATE, Cause.JOINT)


def test_the_joint_rule_can_be_switched_off():
    """None is off."""
    supervisor = Supervisor(replace(JOINT, supervision=SupervisionRules(joint_from=None)))
    assert {supervisor.record(idle(number, 0.15)).cause for number in range(11)} == {Cause.NONE}


def test_what_is_left_of_a_budget_counts_as_burn():
    """Cheap idle calls matter where they are half of what is left."""
    supervisor = Supervisor(JOINT, limits=Limits(tokens=1_000, warn_at=None))
    events = [replace(idle(number, 0.0), usage=Usage(input_tokens=60)) for number in range(10)]
    assert Cause.JOINT in {supervisor.record(event).cause for event in events}


LONG = {"input_tokens": 300_000, "cost_usd": 1.5}


def test_a_long_context_is_no_spending_without_news():
    """Every call of the model takes more than the threshold, and each is followed by something new."""
    supervisor = Supervisor()
    events = [event for number in range(30) for event in (say(None, **LONG), look(number))]
    assert set(run(supervisor, *events)) == {"allow"}


def test_a_conversation_without_tools_is_no_spending_without_news():
    """What rounds and people bring is news too."""
    people = [
        event
        for number in range(20)
        for event in (say(f"The answer to {number} is {number * 7}.", **LONG), ask(f"And {number}?"))
    ]
    models = [
        Round(number=number, claims=(f"Part {number} of the {word} stands on shelf {number * 3}.",))
        for number, word in enumerate(("house", "garden", "cellar", "attic", "roof", "barn"), start=1)
    ]
    assert set(run(Supervisor(), *people)) == {"allow"}
    notice = Notice(kind=NoticeKind.USAGE, usage=Usage(**LONG))
    assert set(run(Supervisor(), *[event for item in models for event in (notice, item)])) == {"allow"}


def test_spending_without_news_is_reported_and_then_a_person_is_asked():
    """Nothing new from anybody for some turns: first the model is told, at twice the amount a person."""
    patient = LoopRules(copies=10, interleaved=None, interleaved_with_news=None)
    profile = replace(Profile.DEFAULT, divergence=patient)
    supervisor = Supervisor(replace(profile, supervision=SupervisionRules(joint_from=None)))
    events = [replace(idle(number, 0.0), usage=Usage(input_tokens=40_000)) for number in range(24)]
    verdicts = [verdict for event in events if (verdict := supervisor.record(event)).cause is Cause.SPENDING]
    assert [verdict.action for verdict in verdicts[:1]] == [Action.NUDGE]
    assert verdicts[-1].action is Action.ESCALATE


ODD: list[Any] = [
    ToolCall(name=None, args={1: object()}),
    ToolCall(name="x", chain_id=["unhashable"]),
    ToolCall(name="x", usage=Usage(cost_usd=float("nan"), input_tokens="many")),
    ToolCall(name="x", ts=float("inf"), usage=Usage(cost_usd=-1.0)),
    ModelCall(text=5),
    Message(text="\ud800\0"),
    ModelCall(text="\ud800 lone surrogates and \0 in a turn of words"),
    Round(number=1, claims=(None,)),
]


def test_odd_events_never_raise_and_are_counted():
    """What cannot be read is a number in the snapshot, and the watching goes on."""
    limits = Limits(cost_usd=5, tokens=5, retries=3, wall_s=9, when_unknown="allow")
    supervisor = Supervisor(limits=limits)
    for event in ODD * 2:
        assert isinstance(supervisor.record(event), Verdict)
        assert isinstance(supervisor.check_before_model(), Verdict)
    supervisor.settle()
    snapshot = supervisor.snapshot()
    assert snapshot.degraded
    assert snapshot.last_fault
    json.dumps(snapshot.to_dict())
    for _ in range(3):
        assert supervisor.verdict().action is Action.ALLOW
        supervisor.check_before_model()
        supervisor.record(LS)
    assert supervisor.verdict().action is Action.NUDGE


def test_hundreds_of_chains_are_all_watched():
    """A chain that comes back after two hundred others is where it was, also after a restart."""
    supervisor = Supervisor()
    actions = []
    for turn in range(5):
        for number in range(200):
            verdict = supervisor.record(replace(look(number), chain_id=f"c{number}", result="same"))
            actions.append(verdict.action)
        if turn == 2:
            nudged = supervisor.verdict("c0")
            assert nudged.action is Action.NUDGE
            supervisor = Supervisor.from_bytes(supervisor.to_bytes())
            assert supervisor.verdict("c0") == nudged
        assert supervisor.verdict().action is actions[-1]
        if turn == 3:
            supervisor.acknowledge("c1")
            assert supervisor.verdict("c1").action is Action.ALLOW
    assert actions == [
        *[Action.ALLOW] * 400,
        *[Action.NUDGE] * 200,
        *[Action.STOP] * 200,
        Action.STOP,
        actions[801],
        *[Action.STOP] * 198,
    ]
    assert len(supervisor.snapshot().conversations) == 200
    assert supervisor.verdict().dropped_chains == 0


def test_a_run_with_too_many_chains_says_so():
    """What was forgotten is in every verdict, and warned of once."""
    supervisor = Supervisor()
    supervisor._run.chains._most = 3
    for number in range(3):
        supervisor.record(replace(look(number), chain_id=f"c{number}"))
    with pytest.warns(RuntimeWarning, match="more than 3 chains"):
        supervisor.record(replace(look(3), chain_id="c3"))
    verdict = supervisor.record(replace(look(4), chain_id="c4"))
    assert verdict.dropped_chains == 2
    assert Supervisor.from_bytes(supervisor.to_bytes()).verdict().dropped_chains == 2


def test_threads_may_record_at_once():
    """No event is lost, and none raises."""
    supervisor = Supervisor(limits=Limits(steps=10_000))

    def work(name: str) -> None:
        for number in range(200):
            supervisor.record(replace(look(number), chain_id=name))
            supervisor.check_before_model(name)

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert supervisor.events == 800
    assert supervisor.snapshot().degraded == 0


texts = st.sampled_from(
    [*(event.text or "" for event in DEBATE), "Let me look.", "We'll use the cache. Who owns it?"]
)
events = st.one_of(
    st.builds(
        ToolCall,
        name=st.sampled_from(["ls", "read"]),
        args=st.fixed_dictionaries({"n": st.integers(0, 2)}),
        result=st.sampled_from(["same", "other", None]),
        error=st.booleans(),
        chain_id=st.sampled_from(["", "", "sub"]),
        batch=st.none() | st.sampled_from(["a", "b"]),
        ts=st.none() | st.floats(0, 500),
        usage=st.none()
        | st.builds(
            Usage,
            cost_usd=st.none() | st.sampled_from([0.0, 0.2, 0.4]),
            output_tokens=st.none() | st.integers(0, 60_000),
        ),
    ),
    st.builds(
        say, texts, chain_id=st.sampled_from(["", "sub"]), input_tokens=st.none() | st.integers(0, 500)
    ),
    st.builds(ask, texts),
    st.builds(lambda number: Round(number=number, claims=CLAIMS), st.integers(1, 9)),
)
MADE: dict[str, Any] = {"limits": Limits(cost_usd=4.0, tokens=200_000, steps=40, retries=3, wall_s=900)}


def assert_same_end(one: Supervisor, other: Supervisor) -> None:
    for supervisor in (one, other):
        supervisor.settle()
    assert one.snapshot().verdict == other.snapshot().verdict
    assert one.snapshot().active == other.snapshot().active


@settings(max_examples=60)
@given(st.lists(events, max_size=40), st.integers(0, 40), st.booleans())
def test_a_restart_changes_no_verdict(run_of_events, cut, checks):
    """A supervisor that was written down and read back answers as the other one does, to the last event."""
    plain, restarted = Supervisor(**MADE), Supervisor(**MADE)
    for number, event in enumerate(run_of_events):
        if number == cut:
            restarted = Supervisor.from_bytes(restarted.to_bytes(), **MADE)
        assert plain.record(event) == restarted.record(event)
        if checks and number % 3 == 0:
            assert plain.check_before_model() == restarted.check_before_model()
    assert_same_end(plain, restarted)


spending_events = st.one_of(
    st.sampled_from(["same", None]).map(
        lambda result: ToolCall(name="ls", args={}, result=result, usage=Usage(cost_usd=0.5))
    ),
    st.sampled_from(SAYINGS).map(partial(say, cost_usd=0.25)),
    st.sampled_from(SAYINGS).map(partial(say, cost_usd=0.25)),
    st.sampled_from(SAYINGS).map(ask),
)


@settings(max_examples=200)
@given(
    st.lists(spending_events, min_size=8, max_size=40) | st.lists(events | spending_events, max_size=40),
    st.integers(0, 40),
    st.booleans(),
)
def test_it_does_not_matter_when_rounds_are_read(run_of_events, cut, overrules):
    """A report reads each round at once, a supervisor where a verdict may depend on it: the same verdicts."""
    at_once, later = Supervisor(**MADE, eager_rounds=1_000), Supervisor(**MADE)
    for number, event in enumerate(run_of_events):
        if number == cut:
            later = Supervisor.from_bytes(later.to_bytes(), **MADE)
        assert at_once.record(event) == later.record(event)
        if overrules and number % 5 == 0:
            assert at_once.check_before_model() == later.check_before_model()
            at_once.acknowledge()
            later.acknowledge()
    assert_same_end(at_once, later)


def test_what_holds_has_the_counts_of_now():
    """`record` says it once, with the count of then; who asks later, also elsewhere, hears how far it is."""
    supervisor = Supervisor()
    given = [supervisor.record(LS) for _ in range(50)]
    latest = next(verdict for verdict in reversed(given) if verdict.facts is not None)
    restored = Supervisor.from_bytes(supervisor.to_bytes())
    for verdict in (supervisor.verdict(), supervisor.snapshot().verdict, restored.verdict("")):
        assert verdict.reason.startswith("ls 50 times in a row")
        assert (verdict.action, verdict.event) == (latest.action, latest.event)
    assert supervisor.snapshot().active == (supervisor.verdict(),)
    supervisor.record(look(1))
    assert supervisor.verdict().action is Action.ALLOW


def test_an_earlier_round_with_news_counts_where_a_later_one_has_none():
    """Three rounds are read at once, and only the last repeats: nothing is wrong with the spending."""
    done, call = SAYINGS[0], ToolCall(name="ls", args={}, result="same", usage=Usage(cost_usd=0.5))
    words = [say(text, cost_usd=0.25) for text in (done, SAYINGS[1], SAYINGS[2], done, done)]
    supervisor = Supervisor()
    events = [call, look(1), call, call, words[0], call, *words]
    assert {supervisor.record(event).kind for event in events} == {None, "repeat"}


@settings(max_examples=40)
@given(st.lists(events, max_size=40))
def test_reading_changes_nothing(run_of_events):
    """`verdict`, `snapshot` and `to_state` may be called at any time."""
    watched, plain = Supervisor(**MADE), Supervisor(**MADE)
    for event in run_of_events:
        watched.verdict()
        watched.snapshot()
        watched.to_state()
        assert watched.record(event) == plain.record(event)


@pytest.mark.parametrize("data", [b"", b"EBBS\x02", b"EBBS\x02damaged", b"EBBS\x03" + b"x" * 20, "text"])
def test_a_damaged_state_is_refused(data):
    """Not with a traceback of zlib."""
    with pytest.raises(ConfigError):
        Supervisor.from_bytes(data)


@pytest.mark.parametrize("state", [{}, {"schema": 3}, {"schema": 2}, {"schema": 1}, None])
def test_what_is_no_state_is_refused(state):
    """The schema is in the message."""
    with pytest.raises(ConfigError):
        Supervisor.from_state(state)


def damaged(state):
    """The state again and again, each time with another value in place of one of its values."""
    if isinstance(state, dict | list):
        for key in state if isinstance(state, dict) else range(min(len(state), 3)):
            for other in (*damaged(state[key]), None, "x", [], {"a": 1}, -1.5):
                copy = state.copy()
                copy[key] = other
                yield copy


def test_a_state_with_one_wrong_value_is_refused_or_read():
    """Whatever stands in it: never with an error of the code that reads it."""
    limits = Limits(steps=20, cost_usd=1.0)
    supervisor = Supervisor(limits=limits)
    for number in range(24):
        supervisor.record(
            ToolCall(name="ls", args={}, result="a") if number % 5 else say("The cache is cold.")
        )
    refused = 0
    for state in damaged(supervisor.to_state()):
        try:
            Supervisor.from_state(state, limits=limits)
        except ConfigError:
            refused += 1
    assert refused > 100


def test_the_memory_of_a_conversation_begins_afresh_when_it_is_full():
    """A conversation of any length fits; what comes after counts as new, and ends nothing."""
    supervisor = Supervisor(ruled(remembered_claims=100))
    for number in range(60):
        claims = tuple(
            f"Item {number} {word} stands on shelf {number * 7 + at}." for at, word in enumerate("abcde")
        )
        assert supervisor.record(Round(number=number + 1, claims=claims)).action is Action.ALLOW
    assert len(json.dumps(supervisor.to_state())) < 60_000


@pytest.mark.parametrize(
    "fields",
    [
        {"turn_words": -1},
        {"dry_rounds": 0},
        {"flat_turns": -1},
        {"joint_from": 0.0},
        {"joint_from": 0.9, "joint_escalates_from": 0.5},
        {"joint_from": 2},
        {"remembered_claims": 1},
        {"person_is_news": "yes"},
    ],
    ids=str,
)
def test_rules_out_of_range_are_refused(fields):
    """The setting is in the message."""
    with pytest.raises(ConfigError, match=next(iter(fields))):
        SupervisionRules(**fields)


@pytest.mark.parametrize(("dollars", "turns"), [(1.5, [6]), (0.25, [])])
def test_spending_without_news_is_followed_from_the_sixth_turn(dollars: float, turns: list[int]) -> None:
    """Calls of the model after one look: what is exceeded in the fifth turn is no reason yet."""
    supervisor = Supervisor(ruled(joint_from=None))
    events = [look(0), *[say(None, cost_usd=dollars)] * 6]
    causes = [supervisor.record(event).cause for event in events]
    assert [turn for turn, cause in enumerate(causes) if cause is Cause.SPENDING] == turns


def test_a_text_that_is_cut_and_claims_that_are_left_out_are_reported() -> None:
    """Of a very long turn both ends are read, of a round a bounded number of claims, and both are counted."""
    supervisor = Supervisor(eager_rounds=9)
    supervisor.record(say("The cache is cold.\n\n" + "x" * 200_000 + "\n\nThe index is missing."))
    supervisor.record(ask("Go on."))
    supervisor.record(say("\n".join(f"- Table t{number} holds {number * 3} rows." for number in range(600))))
    supervisor.record(ask("And now?"))
    restored = Supervisor.from_bytes(supervisor.to_bytes(), eager_rounds=9)
    for each in (supervisor, restored):
        (conversation,) = each.snapshot().conversations
        assert (conversation.cut_texts, conversation.claims_left_out) == (1, 88)
