"""The row that an archive keeps of a run, with columns to filter by and lists to look into.

The columns are the fields of `RunResult`, in their order. `RESULT_VERSION` counts changes that a reader has
to know of; new columns come at the end and do not change it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ebbtide.batch.results.arrow_types import arrow_library, arrow_schema
from ebbtide.budget.bill.bill import Amount, BillLine, WasteLine
from ebbtide.claims.claim import ClaimCheck
from ebbtide.clock import calendar_seconds
from ebbtide.codec import at_paths, to_wire
from ebbtide.errors import TranscriptError, error_text
from ebbtide.supervision.summary.run_shipped import RunShipped
from ebbtide.supervision.summary.run_summary import (
    LadderStep,
    RoundPoint,
    RunDecision,
    RunFinding,
    RunSummary,
)

if TYPE_CHECKING:
    import pyarrow as pa


RESULT_VERSION: Final = 1
_LONGEST: Final = 240  # characters of an error


class ResultStatus(StrEnum):
    """The result of the attempt to check a run."""

    CHECKED = "checked"
    UNREADABLE = "unreadable"  #: nothing of it could be read: `error` says why
    NO_TRACE = "no_trace"  #: something else than a trace, such as a picture
    OUT_OF_TIME = "out_of_time"  #: it took longer than a run may, and was given up


def _at(place: str) -> Any:
    """Returns a column that holds what the summary has there; None where a part of the way is None."""
    return field(default=None, metadata={"place": place})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One row of the results of an archive.

    Everything that is not known is None. Of a run that is not checked only the first seven columns are known.

    Args:
        run_id: The run: the path or URL of its file, or its id in a table.
        source: The file or the table that it was read from.
        status: Whether it was checked.
        error_line: The line or row of the source where that is, from 1.
        error_path: The place in the document.
        headline: How it ended, in one word.
        course: How it went, in one word.
        action: The highest verdict: allow, nudge, finalize, escalate, stop.
        cause: Which engine gave it.
        kind: What it is about, as in `findings`.
        reason: Why, in one sentence.
        verdict_event: Number of the event at which it came, from 1.
        chain_id: The chain that it is about.
        latest_action: What to do after the last event.
        recovered: Whether something resolved what the verdict was about.
        ending: How the run ended, as it says itself.
        agent: The agent that took most of the money, or of the tokens where no cost is known.
        model: Likewise the model.
        began_s: Seconds since 1970 of the first event; None where it has no date.
        ended_s: Likewise of the last.
        seconds: Between the two.
        tokens: Of all classes.
        cost_usd: Dollars.
        unpriced_calls: Calls of models with tokens and without a known cost.
        wasted_usd: Dollars of what bought nothing.
        wasted_tokens: Its tokens.
        avoidable_usd: Dollars of what could have been had for less.
        avoidable_tokens: Its tokens.
        saved_usd: Dollars that came after the verdict that would have ended the run.
        saved_tokens: Its tokens.
        calls_without_arguments: Calls whose arguments were not recorded: no loop can be proven with them.
        calls_without_answer: Calls whose answer was not recorded.
        converged: The last signal of the conversation: CONTINUE, SHIP, ESCALATE.
        degraded: Lines and events that could not be read.
        faults: The first of them, in words.
        findings: What went wrong, the most expensive first.
        waste: What bought nothing or could have been had for less, by kind; kinds do not overlap.
        agents: The bill by agent.
        models: The bill by model.
        tools: The bill by tool: reading and carrying its answers.
        contents: The bill by what the tokens carried.
        decisions: What sounded like a decision, and what the gate made of it.
        rounds: The conversation, round by round.
        steps: Where the verdict first became as strict as a nudge, a finalize, an escalate, a stop, and what
            came after that.
        session: The session of a coding agent that it is; None where its record names none.
        parent: The session that it comes from; None for one of its own.
        inherited_cost_usd: Dollars of calls in its record that another run of the archive owns, and that are
            no part of `cost_usd`; None where there are none.
        project: The folder that the agent worked in.
        claims: What its last words assert, and what its record says of each.
        shipped: What became of its commits, and of those of the sessions that it started; None where no
            repository was asked, and of runs that another session started.
    """

    run_id: str | None
    source: str
    version: int = RESULT_VERSION
    status: ResultStatus
    error: str | None = None
    error_line: int | None = None
    error_path: str | None = None
    format: str | None = _at("format")
    headline: str | None = _at("headline")
    course: str | None = _at("course")
    action: str | None = _at("verdict.action")
    cause: str | None = _at("verdict.cause")
    kind: str | None = _at("verdict.kind")
    reason: str | None = _at("reason")
    verdict_event: int | None = _at("verdict.event")
    chain_id: str | None = _at("verdict.chain_id")
    latest_action: str | None = _at("latest.action")
    recovered: bool | None = _at("recovered")
    ending: str | None = _at("ending.ending")
    agent: str | None = None
    model: str | None = None
    began_s: float | None = None
    ended_s: float | None = None
    seconds: float | None = _at("spent.seconds")
    events: int | None = _at("spent.events")
    tool_calls: int | None = _at("spent.tool_calls")
    model_calls: int | None = _at("spent.llm_calls")
    tokens: int | None = _at("spent.tokens.total")
    cost_usd: float | None = _at("spent.cost_usd")
    unpriced_calls: int | None = _at("spent.unpriced")
    wasted_usd: float | None = _at("bill.wasted.cost_usd")
    wasted_tokens: int | None = None
    avoidable_usd: float | None = _at("bill.avoidable.cost_usd")
    avoidable_tokens: int | None = None
    saved_usd: float | None = _at("saving.after.cost_usd")
    saved_tokens: int | None = _at("saving.after.tokens.total")
    saved_events: int | None = _at("saving.after.events")
    calls_without_arguments: int | None = _at("facts.coverage.without_arguments")
    calls_without_answer: int | None = _at("facts.coverage.without_answer")
    converged: str | None = _at("converged")
    degraded: int | None = _at("degraded")
    faults: tuple[str, ...] | None = _at("faults")
    findings: tuple[RunFinding, ...] | None = _at("findings")
    waste: tuple[ResultWaste, ...] | None = None
    agents: tuple[ResultLine, ...] | None = None
    models: tuple[ResultLine, ...] | None = None
    tools: tuple[ResultLine, ...] | None = None
    contents: tuple[ResultLine, ...] | None = None
    decisions: tuple[RunDecision, ...] | None = _at("decisions")
    rounds: tuple[RoundPoint, ...] | None = _at("rounds")
    steps: tuple[LadderStep, ...] | None = _at("steps")
    session: str | None = _at("id")
    parent: str | None = _at("parent")
    inherited_cost_usd: float | None = _at("inherited.cost_usd")
    project: str | None = _at("project")
    claims: tuple[ClaimCheck, ...] | None = _at("claims")
    shipped: RunShipped | None = _at("shipped")  # noqa: RUF009 - a field


_PLACES: Final = {
    column.name: column.metadata["place"].split(".")
    for column in dataclasses.fields(RunResult)
    if "place" in column.metadata
}


@cache
def result_schema() -> pa.Schema:
    """The columns of the results, as a schema of Arrow.

    Raises:
        ConfigError: The package pyarrow is not installed.
    """
    return arrow_schema(RunResult, "ebbtide.results", RESULT_VERSION)


def result_of(run_id: str | None, summary: RunSummary) -> RunResult:
    """Makes the row of a run that was checked."""
    bill, are_tokens_known = summary.bill, summary.spent.tokens.total is not None
    items = zip(_PLACES, at_paths(_PLACES.values(), summary), strict=True)
    columns: dict[str, Any] = {
        name: item.value if isinstance(item, StrEnum) else item for name, item in items
    }
    return RunResult(
        run_id=run_id,
        source=summary.source,
        status=ResultStatus.CHECKED,
        **columns,
        agent=_largest(bill.agents),
        model=_largest(bill.models),
        began_s=calendar_seconds(summary.began_s),
        ended_s=calendar_seconds(summary.ended_s),
        wasted_tokens=bill.wasted.tokens if are_tokens_known else None,
        avoidable_tokens=bill.avoidable.tokens if are_tokens_known else None,
        waste=result_waste(bill.waste, are_tokens_known=are_tokens_known),
        agents=result_lines(bill.agents, are_tokens_known=are_tokens_known),
        models=result_lines(bill.models, are_tokens_known=are_tokens_known),
        tools=result_lines(bill.tools, are_tokens_known=are_tokens_known),
        contents=result_lines(bill.contents, are_tokens_known=are_tokens_known),
    )


def refusal(
    run_id: str | None, source: str, error: Exception, *, status: ResultStatus = ResultStatus.UNREADABLE
) -> RunResult:
    """Makes the row of a run that could not be checked: where, and why.

    Args:
        run_id: The run; None where even that is not known.
        status: What that means; an error that says so makes it no trace.
    """
    if not isinstance(error, TranscriptError):
        return RunResult(run_id=run_id, source=source, status=status, error=error_text(error, _LONGEST))
    what = error.what if error.hint is None else f"{error.what}. {error.hint}"
    return RunResult(
        run_id=run_id,
        source=source,
        status=ResultStatus.NO_TRACE if error.no_trace else status,
        error=what.partition("\n")[0][:_LONGEST],
        error_line=error.line,
        error_path=error.path,
    )


def result_batch(results: Iterable[RunResult]) -> pa.RecordBatch:
    """Results as a batch of Arrow, in `result_schema`."""
    return arrow_library().RecordBatch.from_pylist(
        [_in_utf8(to_wire(item)) for item in results], result_schema()
    )


def _in_utf8(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row whose texts have a form in UTF-8: the name of a file may have none, nor the id in it."""
    return {
        name: value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }


def _largest(lines: Iterable[BillLine]) -> str | None:
    line = max(lines, key=lambda line: (line.amount.share, line.amount.tokens), default=None)
    return None if line is None else line.name or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAmount:
    """Money and tokens.

    Args:
        cost_usd: Dollars; None where they are not known.
        tokens: Tokens that were paid for, each time that they were; None where they are not known.
        share: Of the whole bill, 0 to 1.
    """

    cost_usd: float | None
    tokens: int | None
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLine:
    """One line of the bill; as `BillLine`.

    Args:
        amount: What it took.
        first: Of it, what was paid when it was read for the first time.
        count: Events behind it.
        failures: Failed calls among them, of a tool.
        event: Where it began, of a request.
    """

    name: str
    amount: ResultAmount
    first: ResultAmount
    count: int
    failures: int
    event: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultWaste:
    """One kind of waste; as `WasteLine`.

    Args:
        amount: What would not have been spent without it.
        events: The first of them, by number in the run.
        example: One of them in words.
        tools: Of it, what belongs to calls of a tool.
    """

    kind: str
    amount: ResultAmount
    count: int
    events: tuple[int, ...]
    example: str
    tools: tuple[ResultLine, ...]


def result_lines(lines: Iterable[BillLine], *, are_tokens_known: bool) -> tuple[ResultLine, ...]:
    """The lines of a breakdown.

    Args:
        are_tokens_known: Whether the run reported any tokens.
    """
    return tuple(
        ResultLine(
            name=line.name,
            amount=_amount(line.amount, are_tokens_known=are_tokens_known),
            first=_amount(line.first, are_tokens_known=are_tokens_known),
            count=line.count,
            failures=line.failures,
            event=line.event,
        )
        for line in lines
    )


def result_waste(lines: Iterable[WasteLine], *, are_tokens_known: bool) -> tuple[ResultWaste, ...]:
    """Returns the lines of `result_lines` about what bought nothing or could have been had for less."""
    return tuple(
        ResultWaste(
            kind=line.kind.value,
            amount=_amount(line.amount, are_tokens_known=are_tokens_known),
            count=line.count,
            events=line.events,
            example=line.example,
            tools=result_lines(line.tools, are_tokens_known=are_tokens_known),
        )
        for line in lines
    )


def _amount(amount: Amount, *, are_tokens_known: bool) -> ResultAmount:
    tokens = amount.tokens if are_tokens_known else None
    return ResultAmount(cost_usd=amount.cost_usd, tokens=tokens, share=amount.share)
