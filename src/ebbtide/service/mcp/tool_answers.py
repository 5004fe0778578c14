"""The shapes of what tools answer: their schemas are part of what a model reads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict  # that of Python 3.11 does not show its fields to pydantic

ActionWord = Annotated[
    Literal["allow", "nudge", "finalize", "escalate", "stop"],
    Field(description="What is to be done about the run, from mild to strict; allow: nothing."),
]
Dollars = Annotated[float | None, Field(description="US dollars; null where it is not known.")]


class RunRow(TypedDict):
    """One run in a list."""

    run_id: str
    project: str | None
    agent: str | None
    action: ActionWord
    kind: Annotated[str | None, Field(description="What was found, such as repeat or cycle.")]
    reason: Annotated[str, Field(description="Why, in one sentence.")]
    events: int
    cost_usd: Dollars
    minutes: Annotated[float, Field(description="From its first to its latest event.")]
    silent_minutes: Annotated[float, Field(description="Since anything was heard of it.")]
    ended: bool
    stop_reason: Annotated[str | None, Field(description="What the person said who ended it.")]


class RunRows(TypedDict):
    """Some runs."""

    runs: list[RunRow]
    more: Annotated[bool, Field(description="Whether there are more than these.")]


class StuckRuns(TypedDict):
    """The runs that are stuck."""

    sentence: Annotated[str, Field(description="The answer in words.")]
    stuck: Annotated[
        list[RunRow], Field(description="They may not go on by themselves: most expensive first.")
    ]
    silent: Annotated[list[RunRow], Field(description="Nothing was heard of them for a while.")]
    connect: Annotated[
        str | None, Field(description="A command that connects an agent; null where a run has reported.")
    ]


class StuckAnswer(TypedDict):
    """The answer to whether one run is stuck."""

    run_id: str
    is_guess: Annotated[bool, Field(description="No id was given: it is the run that was heard of last.")]
    stuck: bool
    action: ActionWord
    answer: Annotated[str, Field(description="Yes or no, and why.")]
    evidence: Annotated[str | None, Field(description="The call or the value that shows it.")]
    do_differently: Annotated[str | None, Field(description="What to do now instead.")]
    events: int
    cost_usd: Dollars


class FindingRow(TypedDict):
    """One finding of a run."""

    kind: str
    action: ActionWord
    sentence: str
    advice: str
    first_event: int
    last_event: int
    cost_usd: Dollars
    evidence: str


class Explanation(TypedDict):
    """The outcome of a run, and the reasons."""

    source: str
    headline: Annotated[str, Field(description="How it ended, in one word, such as FINISHED or STUCK.")]
    course: Annotated[str, Field(description="How it went: HEALTHY, NOISY, COSTLY or UNKNOWN.")]
    action: ActionWord
    reason: str
    findings: Annotated[list[FindingRow], Field(description="The first ten.")]
    more_findings: int
    ending: Annotated[str, Field(description="How the run ended, as far as its events say.")]
    events: int
    tool_calls: int
    model_calls: int
    cost_usd: Dollars
    wasted_usd: Dollars
    money: Annotated[str | None, Field(description="Where the money went, in one sentence.")]
    claims: Annotated[
        str, Field(description="Its last words against its record; empty where they claim nothing.")
    ]
    stop_reason: Annotated[str | None, Field(description="What the person said who ended it.")]


class ClaimRow(TypedDict):
    """One claim of a report, with what the record says of it."""

    kind: str
    answer: Annotated[
        Literal["contradicted", "stale", "narrower", "unsupported", "unknown", "proven"],
        Field(description="stale: changed since; narrower: less was checked; unknown: cannot be shown."),
    ]
    text: str
    event: Annotated[int | None, Field(description="Number of the event that shows it.")]
    line: Annotated[str, Field(description="The line of the record that shows it.")]
    reason: str


class ReportAnswer(TypedDict):
    """The answer to whether a report is true, as far as the record of its run says."""

    run_id: str
    is_guess: Annotated[bool, Field(description="No id was given: it is the run that was heard of last.")]
    answer: Annotated[str, Field(description="How its claims stand, in one line.")]
    correct: Annotated[str | None, Field(description="What to correct before you say it; null: nothing.")]
    claims: list[ClaimRow]


class SpendingRow(TypedDict):
    """The spending of one group."""

    name: Annotated[str | None, Field(description="Null for what names none.")]
    cost_usd: Dollars
    tokens: int
    model_calls: int
    unpriced_calls: Annotated[int, Field(description="Calls whose cost is not known.")]
    runs: int
    wasted_usd: Annotated[
        float | None, Field(description="What bought nothing in these runs; null where it is not known.")
    ]


class BudgetRow(TypedDict):
    """The state of a budget."""

    key: str
    limit_usd: Annotated[float | None, Field(description="Null where nothing ends a run.")]
    soft_usd: Annotated[float | None, Field(description="From here on a person is asked.")]
    spent_usd: float
    left_usd: float | None
    projected_usd: Annotated[float | None, Field(description="Spent by the end of its period, at this pace.")]


class SpendingRows(TypedDict):
    """The spending of all groups."""

    by: str
    since: str
    cost_usd: Dollars
    groups: list[SpendingRow]
    budgets: Annotated[list[BudgetRow], Field(description="Of the runs together; empty where none are set.")]


class ActAnswer(TypedDict):
    """The state of a run after somebody did something about it."""

    run_id: str
    action: ActionWord
    reason: str


class GateAnswer(TypedDict):
    """The gate's answer to a decision."""

    verdict: Annotated[
        Literal["opened", "kept", "quarantined", "duplicate", "not_captured"],
        Field(description="Only a kept one is in the log."),
    ]
    id: str | None
    reason: Annotated[str | None, Field(description="What speaks against it; null where nothing does.")]
    same_as: Annotated[str | None, Field(description="Id of the earlier decision that it repeats.")]
    reverses: Annotated[list[str], Field(description="Ids of earlier decisions that it may take back.")]
    next_step: Annotated[str | None, Field(description="What to do now; null where nothing is.")]


class DecisionRow(TypedDict):
    """One decision."""

    id: str
    text: str
    status: str
    reasons: list[str]
    agent: str | None
    day: Annotated[str | None, Field(description="When it was decided (UTC).")]


class DecisionRows(TypedDict):
    """Some decisions."""

    decisions: list[DecisionRow]
