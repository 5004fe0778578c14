"""Events of a live run in, changes of its verdict out; all that is remembered in between is a few bytes.

It is what a stream processor calls for each run that has new events: the state is its value, the run its key.
Time comes with the events. An event whose number in its chain was seen already is passed over, so a source
that delivers twice is safe as long as events are numbered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from ebbtide.batch.results.arrow_types import arrow_library, arrow_schema
from ebbtide.budget.tally import usd
from ebbtide.codec import to_wire
from ebbtide.events.event import Event
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import DEFAULTS, RunOptions
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

if TYPE_CHECKING:
    import pyarrow as pa

CHANGE_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """One row of a stream: a verdict that came, or that holds no longer.

    Args:
        run_id: The run; None in a remark on rows that name none.
        event: Number of the event in the run at which it changed, from 1.
        ts: Time of that event; None where it has none.
        action: What to do now: allow, where what held before holds no longer.
        cause: Which engine speaks; ``stream`` in a `remark`.
        kind: What it is about; None where nothing is to be done.
        reason: Why, in one sentence.
        nudge: What to tell the model; None where there is nothing to tell it.
        chain_id: The chain that it is about; None where it is about the whole run.
        loop_id: The loop behind it.
        cost_usd: Dollars of the run so far; None where not known.
        tokens: Tokens of the run so far.
    """

    run_id: str | None
    version: int = CHANGE_VERSION
    event: int
    ts: float | None = None
    action: str
    cause: str
    kind: str | None = None
    reason: str
    nudge: str | None = None
    chain_id: str | None = None
    loop_id: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None


@cache
def change_schema() -> pa.Schema:
    """The columns of the changes, as a schema of Arrow.

    Raises:
        ConfigError: The package pyarrow is not installed.
    """
    return arrow_schema(VerdictChange, "ebbtide.changes", CHANGE_VERSION)


def change_batch(changes: Iterable[VerdictChange]) -> pa.RecordBatch:
    """Changes as a batch of Arrow, in `change_schema`."""
    return arrow_library().RecordBatch.from_pylist([to_wire(item) for item in changes], change_schema())


def advance(
    state: bytes | None, events: Iterable[Event], options: RunOptions = DEFAULTS, *, run_id: str
) -> tuple[bytes, list[VerdictChange]]:
    """Take the next events of a run.

    However the events are split over calls, the changes and the last state are the same.

    Args:
        state: What the call before returned; None for a new run.
        options: By what it is judged; the same at every call.

    Returns:
        The state for the next call, and a row for each verdict that came or was lifted.

    Raises:
        ConfigError: The state is of another version, or damaged.

    >>> from ebbtide.events.event import ToolCall
    >>> calls = [ToolCall(name="ls", args={}, result="a.txt")] * 4
    >>> state, changes = advance(None, calls[:3], run_id="run 7")
    >>> [(change.event, change.action) for change in changes]
    [(3, 'nudge')]
    >>> state, changes = advance(state, calls[3:], run_id="run 7")
    >>> [(change.event, change.action) for change in changes]
    [(4, 'stop')]
    """
    supervisor = _supervisor(state, options)
    changes = []
    holding = supervisor.verdict()
    for event in events:
        before = supervisor.events
        verdict = supervisor.record(event)
        if supervisor.events == before:
            continue  # it was reported before, or has only begun
        is_new = verdict.action is not Action.ALLOW and verdict.event == supervisor.events
        if not is_new and not holding.ends:
            continue
        earlier, holding = holding, supervisor.verdict()
        if is_new and not (earlier.ends and _subject(verdict) == _subject(earlier)):
            changes.append(_change(run_id, supervisor, event, verdict))
        elif earlier.ends and not holding.ends:
            changes.append(_change(run_id, supervisor, event, holding))
    return supervisor.to_bytes(), changes


def remark(
    state: bytes | None, options: RunOptions = DEFAULTS, *, run_id: str | None, kind: str, reason: str
) -> VerdictChange:
    """A row about a run whose verdict has not changed: nothing is heard of it, or one event cannot be read.

    Args:
        state: As for `advance`; None where nothing is known of the run.
        run_id: The run; None where the rows do not say.
        kind: What it is about.
        reason: In one sentence.

    Returns:
        The verdict that holds, with this kind and reason, and the cause ``stream``.
    """
    supervisor = _supervisor(state, options)
    tally, holding = supervisor.tally, supervisor.verdict()
    return VerdictChange(
        run_id=run_id,
        event=supervisor.events,
        action=holding.action.value,
        cause="stream",
        kind=kind,
        reason=reason,
        cost_usd=usd(tally.cost),
        tokens=tally.tokens,
    )


def _supervisor(state: bytes | None, options: RunOptions) -> Supervisor:
    if state is None:
        return Supervisor(**options.of_supervisor)
    return Supervisor.from_bytes(state, **options.of_supervisor)


def _subject(verdict: Verdict) -> tuple[object, ...]:
    """Returns the action and its object, without what changes as a verdict is reported again."""
    return verdict.action, verdict.kind, verdict.chain_id, verdict.loop_id


def _change(run_id: str, supervisor: Supervisor, event: Event, verdict: Verdict) -> VerdictChange:
    tally = supervisor.tally
    return VerdictChange(
        run_id=run_id,
        event=supervisor.events,
        ts=event.ts,
        action=verdict.action.value,
        cause=verdict.cause.value,
        kind=verdict.kind,
        reason=verdict.reason,
        nudge=verdict.nudge,
        chain_id=verdict.chain_id,
        loop_id=verdict.loop_id,
        cost_usd=usd(tally.cost),
        tokens=tally.tokens,
    )
