"""The shapes of answers, as the OpenAPI document shows them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

ActionName = Literal["allow", "nudge", "finalize", "escalate", "stop"]


class VerdictFields(BaseModel):
    """The action to take on a run, and the reason."""

    action: ActionName = Field(description="From mild to strict.", examples=["nudge"])
    cause: str = Field(description="Which engine speaks; `person` where somebody ended the run.")
    kind: str | None = Field(description="What was found.", examples=["retry"])
    reason: str = Field(
        description="Why, in one sentence.", examples=["search 3 times in a row, same answer."]
    )
    nudge: str | None = Field(description="What to tell the model.")
    for_person: bool = Field(description="Whether the model can mend nothing of it: a person has to hear.")
    remedy: str | None = Field(description="What a person is to change then.")
    event: int | None = Field(description="Number of the event at which it came.")
    chain_id: str | None = Field(description="The agent that it is about; null for the whole run.")
    facts: dict[str, Any] | None = Field(description="What the sentences are made of.")


class EventsAnswer(BaseModel):
    """The state of a run after some events."""

    run_id: str
    events: int = Field(description="Events that were new.", examples=[2])
    repeated: int = Field(description="Events that were there before, by chain and `seq`.", examples=[0])
    verdict: VerdictFields


class AdviceAnswer(BaseModel):
    """The advice for the next call of the model."""

    run_id: str
    action: ActionName
    note: str | None = Field(description="Put this before the model.")
    without_tools: bool = Field(description="The last call: give the model no tools.")
    ask: str | None = Field(description="Why a person has to be asked first.")
    end: str | None = Field(description="Why the call is not to be made: the run is over.")
    verdict: VerdictFields


class VerdictAnswer(BaseModel):
    """The state of a run."""

    run_id: str
    verdict: VerdictFields


class ClaimFields(BaseModel):
    """One claim of a report, with what the record of its run says."""

    kind: str = Field(description="What it is about.", examples=["tests_pass"])
    answer: Literal["contradicted", "stale", "narrower", "unsupported", "unknown", "proven"] = Field(
        description="What the record says, the gravest first."
    )
    text: str = Field(description="The sentence that makes it.")
    start: int = Field(description="Place of its words in the report, in characters.")
    event: int | None = Field(description="Number of the event that shows it.")
    changed: int | None = Field(description="Number of the event that changed what was checked.")
    line: str = Field(description="The line of the record that shows it; empty where none does.")
    reason: str = Field(description="Why, in words.")


class ClaimsAnswer(BaseModel):
    """The claims of a report, held against the record of its run."""

    run_id: str
    line: str = Field(
        description="How they stand, in one line; empty where it makes none.",
        examples=["2 claims: 1 proven, 1 unknown"],
    )
    correct: str | None = Field(description="What to correct before it is said; null where nothing is.")
    claims: list[ClaimFields]


class RunFields(BaseModel):
    """One run."""

    run_id: str
    project: str | None
    agent: str | None
    user: str | None
    source: str = Field(description="How its events come.", examples=["api", "hooks"])
    started: float = Field(description="Seconds since 1970.")
    latest: float = Field(description="When it was heard of last, likewise.")
    events: int
    title: str = Field(description="What it is about, in one line; empty where that is not known yet.")
    word: str = Field(description="What holds of it while it goes on.", examples=["GOING ON"])
    words: str | None = Field(
        description="How it ended and how it went, as its report says; null while more may come.",
        examples=["FINISHED, NOISY"],
    )
    action: ActionName
    kind: str | None
    reason: str
    cost_usd: float | None = Field(description="Null where it is not known.")
    tokens: int | None
    wasted_usd: float | None = Field(description="What bought nothing; null where it is not known yet.")
    shipped: str | None = Field(
        description="What became of its commits in the repository of its folder; null where not asked.",
        examples=["2 landed, 1 reverted"],
    )
    ended: bool
    stop_reason: str | None = Field(description="What the person said who ended it; null where nobody did.")
    stuck_since: float | None = Field(
        description="When nothing new came any more; null where it is not stuck."
    )
    stuck_usd: float | None = Field(description="What it cost since; null where that is not known.")
    can_stop: bool = Field(
        description="False where spans or a session file tell of it: it does not ask, so it cannot be ended."
    )
    note: str = Field(
        description="What to know before judging it; empty where there is nothing.",
        examples=["Content capture is off: loops cannot be judged. Set ENABLE_SENSITIVE_DATA=true."],
    )


class RunList(BaseModel):
    """A page of runs."""

    runs: list[RunFields]
    next_cursor: str | None = Field(description="For `cursor`, to get the next page; null at the end.")


class NamedRun(RunFields):
    """A run that the sentence is about."""

    label: str = Field(description="What people call it.", examples=["invoice-agent"])
    line: str = Field(description="What is the matter.", examples=["14 min, $3.10 since anything new"])


class StateCounts(BaseModel):
    """The number of runs in each state that have not ended, and were heard of in the last 24 hours."""

    stuck: int
    silent: int
    working: int
    waiting: int = Field(
        description="Coding agents that were silent for a while, as when their person thinks."
    )
    stopped: int = Field(description="Ended by a person.")


class NowAnswer(BaseModel):
    """The runs that are stuck now."""

    sentence: str = Field(examples=["1 of 7 runs is stuck: invoice-agent, 14 min, $3.10 since anything new."])
    connect: str | None = Field(description="A command that connects a run; null where one has reported.")
    counts: StateCounts
    stuck: list[NamedRun] = Field(description="The most expensive first.")
    silent: list[NamedRun]
    silent_after_s: float = Field(description="Seconds without an event after which a run is silent.")


class SpendingGroup(BaseModel):
    """The spending of one group."""

    name: str | None = Field(description="A day, project, agent, user or model; null for what names none.")
    cost_usd: float | None
    tokens: int
    model_calls: int
    unpriced_calls: int = Field(description="Calls whose cost is not known.")
    runs: int
    wasted_usd: float | None = Field(
        description="Of these runs, in all their time; null where not known yet."
    )


class SpendingAnswer(BaseModel):
    """The spending of all groups."""

    by: str
    groups: list[SpendingGroup]


class BudgetFields(BaseModel):
    """The state of a budget in its present period."""

    key: str = Field(description="Names it.", examples=["project:billing:day:2026-11-23"])
    scope: Literal["run", "agent", "project", "user", "all"]
    name: str = Field(description="Whose it is; empty for those that name none, and for `all`.")
    per: Literal["day", "month", "total"]
    limit_usd: float | None = Field(description="A run is ended before it; null where nothing ends it.")
    soft_usd: float | None = Field(description="From here on a person is asked; null where nobody is.")
    spent_usd: float
    reserved_usd: float = Field(description="Set aside for calls under way.")
    left_usd: float | None = Field(description="What a call may still set aside; null without a limit.")
    projected_usd: float | None = Field(
        description="Spent by the end of the period, if it goes on so; null where too little of it is over."
    )
    unpriced_calls: int = Field(description="Calls whose cost is not known.")
    is_approved: bool = Field(description="Whether a person has let it go on beyond `soft_usd`.")
    resets_at: float | None = Field(description="When it begins anew, in seconds since 1970.")


class BudgetsAnswer(BaseModel):
    """The state of the budgets: in each scope, the one of which most was spent first."""

    budgets: list[BudgetFields] = Field(description="Empty where none are set.")


class AuditEntry(BaseModel):
    """Something that a person did."""

    at: float = Field(description="Seconds since 1970.")
    act: str = Field(examples=["stop", "acknowledge", "extend", "delete", "expire"])
    run_id: str
    caller: str
    detail: str


class AuditAnswer(BaseModel):
    """The acts of people, the latest first."""

    entries: list[AuditEntry]


class HealthAnswer(BaseModel):
    """The health of the service."""

    status: Literal["ok"]
    version: str
    runs_at_hand: int
    readers: int
    faults: dict[str, int]
    proof: str | None = Field(description="Of the token, where the request had a `nonce`.")
