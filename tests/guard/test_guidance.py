"""The guard does what the supervisor says: nudges for the model, refused tools, and the end of a run."""

import threading
from contextlib import nullcontext
from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.errors import CallRefused, RunHalted, RunStopped
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.profile import Profile
from ebbtide.supervision.facts import DryRoundFacts
from ebbtide.supervision.ladder import SUSPECT_TIMES, Action, Cause
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

CLAIMS = (
    "The cache of the client is stale after every deployment.",
    "Retries hide the timeouts of the billing service.",
    "The index on orders is missing in production.",
)
REPEATED = "The same call returned the same result again. Repeating it will not change it."


class Sink:
    """A pipeline that keeps its events."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    @property
    def actions(self) -> list[str]:
        return [event["severity"] for event in self.events if event["event_type"] == "VERDICT"]


class Planned(Supervisor):
    """Answers every event with one verdict, and every question with what holds."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.planned = verdict

    def record(self, event: Event | Round) -> Verdict:
        super().record(event)
        return self.planned

    def check_before_model(self, chain_id: str | None = None, *, now: float | None = None) -> Verdict:
        return self.planned

    def ending(self, chain_id: str) -> Verdict | None:
        return self.planned if self.planned.ends and not self.planned.shadow else None


def ready(**how: Any) -> Supervisor:
    """A supervisor that has read three rounds with a result that is ready."""
    supervisor = Supervisor(**how)
    actions = ("Alice will flush the cache today.", "Bob will add the index to orders.")
    for number in range(1, 4):
        supervisor.record(Round(number=number, claims=CLAIMS, next_actions=actions))
    assert supervisor.verdict().action is Action.FINALIZE
    return supervisor


def stuck(supervisor: Supervisor) -> Supervisor:
    """One that has read three rounds that bring nothing new, with nothing to act on."""
    for number in range(1, 4):
        supervisor.record(Round(number=number, claims=CLAIMS, open_questions=("Who owns it?",)))
    assert supervisor.verdict().action is Action.ESCALATE
    return supervisor


@pytest.mark.clause("X02")
def test_a_loop_is_a_nudge_first_and_then_ends_the_run() -> None:
    """The third equal call of a look nudges, the fourth ends the run, and the fifth is not made."""
    sink, places = Sink(), []
    run = ExecutionContext(supervisor=Supervisor(), pipeline=sink, chain_id="c")
    look = run.wrap_tool_call(lambda place: places.append(place) or "nothing", name="ls")
    nudges = []
    for _ in range(4):
        look("attic")
        nudges.append(len(run.take_nudges()))
    assert nudges == [0, 0, 1, 0]
    for place in ("attic", "cellar"):  # no other call either
        with pytest.raises(RunStopped) as halt:
            look(place)
        assert halt.value.report.results == ("nothing",) * 4
    assert places == ["attic"] * 4
    verdict = halt.value.verdict
    assert (verdict.action, verdict.cause, verdict.kind) == (Action.STOP, Cause.DIVERGENCE, "repeat")
    assert str(halt.value) == verdict.reason
    assert verdict.reason == (
        "ls 4 times in a row, same arguments, same result; the loop continued after the first warning."
    )
    stopped = run.report().halted
    assert isinstance(stopped, RunStopped)
    assert stopped.verdict == verdict
    assert sink.actions == ["nudge", "stop"]
    assert sink.events[1] == {"event_type": "VERDICT", "severity": "stop", **verdict.to_dict()}
    assert run.report().spent.steps == 4


@pytest.mark.clause("X01", "X02")
def test_an_agent_that_is_stuck_is_stopped_with_the_reason() -> None:
    """A loop that ignores its nudge ends long before its limit; a healthy run of that length does not."""
    run = ExecutionContext(Limits(steps=1000), supervisor=Supervisor())
    look = run.wrap_tool_call(lambda path: f"nothing in {path}", name="ls")

    def agent() -> None:
        while True:
            look(path=".")

    with pytest.raises(RunHalted) as halt, run:
        agent()
    assert halt.value.verdict.kind == "repeat"
    assert halt.value.report.spent.steps == 4
    assert run.take_nudges() == [f"{REPEATED} Try something else, or say what is missing and finish."]
    assert run.take_nudges() == []
    healthy = ExecutionContext(Limits(steps=1000), supervisor=Supervisor())
    read_file = healthy.wrap_tool_call(lambda path: f"content of {path}", name="read")
    for number in range(500):
        read_file(path=f"file {number}")
    assert not healthy.take_nudges()


@pytest.mark.clause("X02")
def test_what_may_be_a_deed_ends_the_run_late() -> None:
    """Of a tool of which nobody knows what it does: nudges first, and a stop at three times as many."""
    sink = Sink()
    run = ExecutionContext(supervisor=Supervisor(), pipeline=sink)
    act = run.wrap_tool_call(lambda place: place, name="act")
    least = Profile.DEFAULT.divergence.copies + 1
    for _ in range(least):
        act("attic")
    assert sink.actions == ["nudge"]

    def go_on() -> None:
        while True:
            act("attic")

    with pytest.raises(RunStopped):
        go_on()
    assert set(sink.actions[:-1]) == {"nudge"}
    assert run.report().spent.steps >= SUSPECT_TIMES * least


def test_contexts_that_share_a_supervisor_end_together() -> None:
    """What one has used up the other cannot use: a tool is asked about before every call."""
    supervisor = Supervisor(limits=Limits(tool_calls=2))
    first, second = (ExecutionContext(supervisor=supervisor, chain_id=name) for name in "ab")
    look = first.wrap_tool_call(lambda number: number)
    assert [look(1), look(2)] == [1, 2]
    numbers: list[int] = []
    with pytest.raises(CallRefused):
        second.wrap_tool_call(numbers.append)(3)
    assert numbers == []


@pytest.mark.clause("X02")
def test_before_the_end_tools_are_refused_and_the_model_answers_once() -> None:
    """With one call of the model left, tools get a text for the model in place of an answer."""
    sink, places = Sink(), []
    supervisor = Supervisor(limits=Limits(llm_calls=3, warn_at=None))
    run = ExecutionContext(supervisor=supervisor, pipeline=sink)
    look = run.wrap_tool_call(lambda place: places.append(place) or place, name="look")
    ask = run.wrap_llm_call(lambda number: f"This is answer number {number}.", name="ask")
    ask(1)
    look("attic")
    ask(2)
    for _ in range(2):
        with pytest.raises(CallRefused) as refusal:
            look("cellar")
        assert refusal.value.verdict.action is Action.FINALIZE
        assert str(refusal.value) == refusal.value.verdict.nudge
        assert str(refusal.value).startswith("This is the last call. Answer now, without tools")
    assert run.report().halted is None
    assert run.take_nudges() == [str(refusal.value)]
    assert ask(3) == "This is answer number 3."
    for function in (ask, look):
        with pytest.raises(RunStopped) as halt:
            function("garden")
        assert str(halt.value) == "model call limit reached (3 of 3)."
    assert places == ["attic"]
    assert run.take_nudges() == []
    assert sink.actions == ["finalize", "stop"]
    assert isinstance(run.report().halted, RunStopped)
    assert run.report().spent.steps == 4


@pytest.mark.clause("X02")
def test_a_result_that_is_ready_leaves_one_call_of_the_model() -> None:
    """Rounds that are ready leave it too, and what the model says in it is no reason to go on."""
    sink = Sink()
    run = ExecutionContext(supervisor=ready(), chain_id="", pipeline=sink)
    look = run.wrap_tool_call(lambda: "nothing", name="look")
    ask = run.wrap_llm_call(lambda: "A lock in the scheduler starves the writers every night.", name="ask")
    assert ask().startswith("A lock")
    with pytest.raises(CallRefused, match=r"This is the last call\. Give the result as it is"):
        look()
    for _ in range(2):
        with pytest.raises(RunStopped) as halt:
            ask()
        assert (halt.value.verdict.action, halt.value.verdict.last_call_made) == (Action.STOP, True)
        assert str(halt.value) == "The last call was made."
    assert len(run.take_nudges()) == 1
    assert sink.actions == ["finalize", "stop"]


@pytest.mark.clause("X02")
def test_a_person_is_asked_before_any_other_call() -> None:
    """Escalate ends the calls of the run too, and says so; a person may overrule it."""
    supervisor = stuck(Supervisor())
    run = ExecutionContext(supervisor=supervisor, chain_id="")
    for kind in ("llm", "tool"):
        with pytest.raises(RunStopped) as halt, run.call(kind, "look"):
            raise AssertionError
        assert (halt.value.verdict.action, halt.value.verdict.kind) == (Action.ESCALATE, "stuck_rounds")
        assert str(halt.value) == (
            "2 rounds in a row brought nothing new, and nothing says that it is finished: more of the same "
            "will not help."
        )
    supervisor.acknowledge()
    for kind in ("llm", "tool"):
        with run.call(kind, "look"):
            pass


@pytest.mark.clause("X02")
@pytest.mark.parametrize("make", [Supervisor, ready, lambda **how: stuck(Supervisor(**how))])
def test_a_supervisor_that_only_observes_refuses_nothing(make: Any) -> None:
    """In shadow every call is made and the model is told nothing; the verdicts reach the pipeline."""
    sink = Sink()
    run = ExecutionContext(supervisor=make(shadow=True), chain_id="", pipeline=sink)
    look = run.wrap_tool_call(lambda place: place, name="ls")
    assert [look("attic") for _ in range(8)] == ["attic"] * 8
    assert list(run.wrap_llm_call(lambda: (word for word in "abc"))()) == ["a", "b", "c"]
    assert run.report().halted is None
    assert run.take_nudges() == []
    assert "stop" in sink.actions
    assert all(event["shadow"] for event in sink.events)


@pytest.mark.parametrize("action", [Action.STOP, Action.ESCALATE, Action.FINALIZE, Action.NUDGE])
def test_only_a_stop_cuts_what_is_under_way(action: Action) -> None:
    """A stream is cut when the run is stopped in the middle of it, and settled; nothing less cuts it."""
    for shadow in (False, True):
        supervisor = Planned(Verdict())
        run = ExecutionContext(supervisor=supervisor)
        words = []
        with pytest.raises(RunStopped) if action is Action.STOP and not shadow else nullcontext():
            for word in run.wrap_llm_call(lambda: iter("abcd"), stream=True)():
                words.append(word)
                supervisor.planned = Verdict(action=action, shadow=shadow)
        assert words == (["a", "b"] if action is Action.STOP and not shadow else list("abcd"))


def test_a_model_that_chants_is_cut() -> None:
    """A stream cannot be told anything: one that goes on after two reports does not come to its end."""
    run = ExecutionContext(supervisor=Supervisor())
    words = []
    endless = run.wrap_llm_call(lambda: repeat("no no no no no no "), stream=True)
    with pytest.raises(RunStopped, match="; the loop continued after the first warning"):
        words.extend(word for word in endless())
    assert len(words) == 6
    assert run.take_nudges() == [
        "The text ends in copies of itself. Try something else, or say what is missing and finish."
    ]


def test_no_nudge_is_lost_and_none_comes_twice() -> None:
    """Two that come with one event are one text; what is handed over again before the model is not new."""
    sink = Sink()
    run = ExecutionContext(supervisor=Supervisor(limits=Limits(tool_calls=4)), pipeline=sink)
    look = run.wrap_tool_call(lambda place: place, name="ls")
    ask = run.wrap_llm_call(lambda number: f"This is thought number {number}.")
    for _ in range(3):
        look("attic")
    (nudge,) = run.take_nudges()
    assert REPEATED in nudge
    assert "75% of the tool call limit used (3 of 4)." in nudge
    ask(1)
    ask(2)
    assert run.take_nudges() == []
    assert sink.actions == ["nudge"]
    assert len(sink.events[0]["more"]) == 1


def test_a_nudge_that_the_time_brings_is_not_lost() -> None:
    """It is found when the model is to be called, at the event of another nudge."""
    now = [0.0]
    run = ExecutionContext(supervisor=Supervisor(limits=Limits(wall_s=60)), clock=lambda: now[0])
    look = run.wrap_tool_call(lambda place: place, name="ls")
    for _ in range(3):
        look("attic")
    now[0] = 50.0
    run.wrap_llm_call(lambda: "I see the attic now.")()
    first, second = run.take_nudges()
    assert first.startswith(REPEATED)
    assert second.startswith("83% of the time limit used (50 of 60 s).")


def test_what_comes_back_is_reported_again() -> None:
    """An ending that fell and holds once more reaches the pipeline twice."""
    sink, supervisor = Sink(), Supervisor()
    run = ExecutionContext(supervisor=supervisor, pipeline=sink)
    look = run.wrap_tool_call(lambda place: place, name="ls")
    for _ in range(4):
        look("attic")
    supervisor.acknowledge()

    def go_on() -> None:
        while True:
            look("attic")

    with pytest.raises(RunStopped):
        go_on()
    assert sink.actions == ["nudge", "stop", "nudge", "stop"]


def test_a_pipeline_may_make_calls_of_its_own() -> None:
    """It is called outside of every lock."""

    class Calling:
        def emit_safety_event(self, event: dict[str, Any]) -> None:
            if event["event_type"] == "VERDICT":
                note(event["severity"])

    notes: list[str] = []
    run = ExecutionContext(supervisor=Supervisor(), pipeline=Calling())
    note = run.wrap_tool_call(notes.append, name="note")
    look = run.wrap_tool_call(lambda place: place, name="ls")

    def work() -> None:
        for _ in range(3):
            look("attic")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert notes == ["nudge"]


def test_money_that_leaves_for_nothing_is_a_person_s_to_judge() -> None:
    """What tools say that they took is seen by the supervisor: it nudges, and then wants a person asked."""
    run = ExecutionContext(supervisor=Supervisor())

    def agent() -> None:
        for number in range(40):
            with run.call("tool", f"t{number % 5}", {"n": number % 5}) as call:
                call.result, call.usage = "same", Usage(cost_usd=0.2)

    with pytest.raises(RunStopped) as halt:
        agent()
    assert (halt.value.verdict.action, halt.value.verdict.cause) == (Action.ESCALATE, Cause.SPENDING)
    assert len(run.take_nudges()) == 1


def test_a_nudge_that_comes_again_after_it_was_handed_over_is_told_again() -> None:
    """The same facts may come twice in a run: before a call of the model and after it."""
    nudge = Verdict(action=Action.NUDGE, facts=DryRoundFacts(rounds=2, ready=False), event=1)
    supervisor = Planned(Verdict())
    run = ExecutionContext(supervisor=supervisor)
    nudges = []
    for event in (1, 2):
        for planned, kind in ((replace(nudge, event=event), "tool"), (Verdict(), "llm")):
            supervisor.planned = planned
            with run.call(kind, "look"):
                pass
            nudges.append(len(run.take_nudges()))
    assert nudges == [1, 0, 1, 0]
