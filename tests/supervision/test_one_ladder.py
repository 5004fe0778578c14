"""One ladder: the same events give the same verdicts wherever they are watched.

Recorded in a `Supervisor`, made through an `ExecutionContext`, folded by a `RunRecorder`, or read from a file
by `check`: which rung comes, and when, does not depend on who looks on.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.checking import check
from ebbtide.errors import RunStopped
from ebbtide.events.event import Event, ModelCall, ModelPart, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Case:
    """Events, and the rungs that they give.

    Args:
        events: One after the other.
        actions: A rung an event, up to the first that ends the run; after it the ending stays.
        reason: That of the ending, as `check` gives it for the run as a whole.
        nudge: How the text for the model begins.
        limits: What the run may take.
        kind: What is found.
        after: The rung of the ending.
    """

    events: list[Event]
    actions: str
    reason: str
    nudge: str
    limits: Limits | None = None
    kind: str
    after: str = "stop"


LS = ToolCall(name="ls", args={"path": "."}, result="a b")
SEARCH = ToolCall(name="web_search", args={"q": "x"}, result="none")
OPEN = ToolCall(name="web_fetch", args={"url": "y"}, result="not there")
FAIL = ToolCall(name="fetch", args={"url": "y"}, result="ValueError: no", error=True)
CHANT = [*[ModelCall(part=ModelPart.CHUNK, text="no no no no no no ")] * 12, ModelCall()]
IDLE = [
    ToolCall(name=f"t{number % 5}", args={"n": number % 5}, result="same", usage=Usage(cost_usd=0.2))
    for number in range(20)
]
ANSWERS = [ModelCall(text=f"Part {number} of the answer is {number * 7}.") for number in range(12)]

CASES = {
    "six equal calls": Case(
        events=[LS] * 7,
        actions="allow allow nudge stop",
        kind="repeat",
        reason="ls 7 times in a row, same arguments, same result (calls 1-7).",
        nudge="The same call returned the same result again",
    ),
    "a cycle of two calls": Case(
        events=[SEARCH, OPEN] * 6,
        actions="allow allow allow allow allow nudge allow stop",
        kind="cycle",
        reason="web_search and web_fetch in turn, 6 times, same results (calls 1-12).",
        nudge="The same calls returned the same results in turn",
    ),
    "a call that fails": Case(
        events=[FAIL] * 7,
        actions="allow allow nudge stop",
        kind="repeat",
        reason="fetch 7 times in a row, same arguments, same result (calls 1-7).",
        nudge="The same call returned the same result again",
    ),
    "a call that fails in other words": Case(
        events=[
            ToolCall(name="fetch", args={"url": "y"}, result=f"ValueError: {number}", error=True)
            for number in range(7)
        ],
        actions="allow allow nudge allow stop",
        kind="failing_call",
        reason="fetch sent 7 times unchanged, and failed every time (calls 3-7).",
        nudge="This call keeps failing",
    ),
    "a stream that chants": Case(
        events=CHANT * 3,
        actions="allow allow allow nudge allow stop",
        kind="chanting",
        reason="A text that ends in 216 copies of itself (events 4-38).",
        nudge="The text ends in copies of itself.",
    ),
    "spending without news": Case(
        events=IDLE,
        actions=f"{'allow ' * 10}nudge allow allow allow escalate",
        kind="spend_without_news",
        reason="Spending continued without new results (calls 11-20, $2.00).",
        nudge="Spending continues without new results.",
        after="escalate",
    ),
    "a limit of model calls": Case(
        events=ANSWERS,
        limits=Limits(llm_calls=10),
        actions=f"{'allow ' * 6}nudge allow finalize stop",
        kind="limit",
        reason="Model call limit reached (10 of 10).",
        nudge="70% of the model call limit used (7 of 10). Finish with a result",
    ),
    "a limit of money": Case(
        events=[
            ToolCall(name="read", args={"n": number}, result=f"page {number}", usage=Usage(cost_usd=0.1))
            for number in range(12)
        ],
        limits=Limits(cost_usd=1.0),
        actions=f"{'allow ' * 6}nudge allow allow stop",
        kind="limit",
        reason="Cost limit reached ($1.00 of $1.00).",
        nudge="70% of the cost limit used ($0.70 of $1.00). Finish with a result",
    ),
}
ALL_CASES = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


class Watching(Supervisor):
    """A supervisor that keeps the rungs of what is recorded."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.verdicts: list[Verdict] = []

    def record(self, event: Event | Round) -> Verdict:
        verdict = super().record(event)
        self.verdicts.append(verdict)
        return verdict

    @property
    def actions(self) -> list[str]:
        return [verdict.action.value for verdict in self.verdicts]


def expected(case: Case) -> list[str]:
    """The rung of every event: what has ended a run stays."""
    actions = case.actions.split()
    return actions + [case.after] * (len(case.events) - len(actions))


def play(run: ExecutionContext, event: Event) -> None:
    """Make the call that an event tells of."""
    if isinstance(event, ToolCall):
        with suppress(ValueError), run.call("tool", event.name, event.args) as call:
            call.result, call.usage = event.result, event.usage
            if event.error:
                raise ValueError(str(event.result).removeprefix("ValueError: "))
    elif isinstance(event, ModelCall):
        run.wrap_llm_call(lambda: event.text, usage=lambda _: event.usage)()


def play_stream(run: ExecutionContext, events: list[Event]) -> None:
    """Make one call whose answer comes in pieces."""
    for _ in run.wrap_llm_call(lambda: (event.text for event in events if event.text))():
        pass


def guarded(case: Case) -> tuple[Watching, ExecutionContext, list[str], RunStopped]:
    """The events of a case as calls, up to the one that is not made; and the nudges on the way."""
    supervisor = Watching(limits=case.limits)
    run = ExecutionContext(supervisor=supervisor, clock=lambda: 0.0)
    nudges: list[str] = []

    def agent() -> None:
        if case.kind == "chanting":
            for _ in case.events:
                play_stream(run, CHANT)
                nudges.extend(run.take_nudges())
        for event in case.events:
            play(run, event)
            nudges.extend(run.take_nudges())

    with pytest.raises(RunStopped) as halt:
        agent()
    nudges.extend(run.take_nudges())
    return supervisor, run, nudges, halt.value


def plain_form(event: Event) -> dict[str, Any]:
    usage = {} if event.usage is None else {"cost_usd": event.usage.cost_usd}
    if isinstance(event, ToolCall):
        return {"name": event.name, "args": event.args, "result": event.result, "error": event.error, **usage}
    assert isinstance(event, ModelCall)
    return {"kind": "llm", "name": event.part.value, "text": event.text, **usage}


@ALL_CASES
def test_recorded(case: Case) -> None:
    """In a supervisor the rungs come event by event, and the ending stays."""
    supervisor = Watching(limits=case.limits)
    for event in case.events:
        supervisor.record(event)
    assert supervisor.actions == expected(case)
    assert supervisor.verdicts[-1].kind == case.kind
    (nudge,) = [verdict.nudge for verdict in supervisor.verdicts if verdict.action.value == "nudge"]
    assert (nudge or "").startswith(case.nudge)


@ALL_CASES
def test_guarded(case: Case) -> None:
    """Through the guard they are the same up to the ending; the next call is not made, and says why."""
    supervisor, run, nudges, halt = guarded(case)
    assert supervisor.actions == case.actions.split()
    plain = Supervisor(limits=case.limits)
    for event, verdict in zip(case.events, supervisor.verdicts, strict=False):
        other = plain.record(event)
        assert (other.cause, other.reason, other.nudge) == (verdict.cause, verdict.reason, verdict.nudge)
    assert halt.verdict == supervisor.verdicts[-1]
    assert halt.verdict.kind == case.kind
    assert str(halt) == halt.verdict.reason
    assert nudges[0].startswith(case.nudge)
    assert len(nudges) == 1 + case.actions.count("finalize")
    assert run.report().halted is not None
    assert run.report().halted.args == halt.args


@ALL_CASES
def test_folded_and_read_from_a_file(case: Case, tmp_path: Path) -> None:
    """A recorder and `check` come to the same: the same ending at the same event, with its reason."""
    recorder = RunRecorder(RunOptions(limits=case.limits))
    assert [recorder.record(event).action.value for event in case.events] == expected(case)
    summary = recorder.summary("run", "test")
    path = tmp_path / "run.jsonl"
    lines = [json.dumps(plain_form(event)) for event in case.events]
    path.write_text("\n".join(lines), encoding="utf-8")
    checked = check(path, RunOptions(limits=case.limits))
    assert checked.degraded == 0
    for each in (summary, checked):
        assert each.verdict.action.value == case.after
        assert each.reason == case.reason
        assert each.saving is not None
        ending = next(
            at for at, action in enumerate(case.actions.split(), 1) if action not in ("allow", "nudge")
        )
        assert each.saving.verdict.event == ending
    assert (checked.verdict, checked.findings, checked.saving) == (
        summary.verdict,
        summary.findings,
        summary.saving,
    )


def test_six_equal_calls() -> None:
    """The example of the documents: a nudge after the third, an end after the fourth, no fifth."""
    run = ExecutionContext(supervisor=Supervisor())
    ls = run.wrap_tool_call(lambda path: f"a b in {path}", name="ls")
    nudges = []
    for _ in range(4):
        ls(path=".")
        nudges.append(run.take_nudges())
    assert [len(texts) for texts in nudges] == [0, 0, 1, 0]
    with pytest.raises(RunStopped, match="; the loop continued after the first warning"):
        ls(path=".")
    supervisor = Supervisor()
    actions = [supervisor.record(LS).action.value for _ in range(6)]
    assert actions == ["allow", "allow", "nudge", "stop", "stop", "stop"]
