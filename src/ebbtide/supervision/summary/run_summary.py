"""A run as it came out: what `ebbtide check` prints and its report draws.

Everything that is not known is None. Events are numbered from 1 in the order of the run, over all its chains.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ebbtide.budget.bill.bill import Bill
from ebbtide.claims.claim import ClaimCheck
from ebbtide.codec import to_wire
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.ending import RunEnding
from ebbtide.supervision.summary.headline import SECOND, Course, Headline, course, headline, live_word
from ebbtide.supervision.summary.run_facts import RunFacts
from ebbtide.supervision.summary.run_shipped import RunShipped
from ebbtide.supervision.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by class; None where no event reported that class. The classes do not overlap."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def total(self) -> int | None:
        """All of them, or None where no class is known."""
        counts = [count for count in self if count is not None]
        return sum(counts) if counts else None

    def __iter__(self) -> Iterator[int | None]:
        """Yields the count of each class."""
        return iter((self.input, self.output, self.cache_read, self.cache_write))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Amounts that a run, or a part of it, took.

    Args:
        llm_calls: Messages and other calls of models.
        tokens: By class.
        cost_usd: Dollars, where known.
        unpriced: Model calls with tokens and without a known cost.
        unpriced_models: Their models.
        unrecorded: Calls of tools that agents of the run made and no record at hand shows, so that what they
            cost is in no sum. The answers that their parents got state how many.
        understated: True where the record states less output than the words in it can have.
        seconds: From the first to the last event; None where events have no time.
    """

    events: int = 0
    tool_calls: int = 0
    llm_calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost_usd: float | None = None
    unpriced: int = 0
    unpriced_models: tuple[str, ...] = ()
    unrecorded: int = 0
    understated: bool = False
    seconds: float | None = None

    @property
    def is_least(self) -> bool:
        """True where the cost is a lower bound."""
        return self.unpriced > 0 or self.unrecorded > 0 or self.understated


@dataclass(frozen=True, slots=True)
class EventSpan:
    """A stretch of a run, by the numbers of its first and its last event."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinding:
    """One thing that went wrong, from its first to its last event.

    Args:
        id: That of the signal; the same for the same loop in another process.
        kind: A `LoopKind` of the divergence engine, ``limit``, ``stuck_rounds`` or ``burn_without_progress``.
            A verdict may also have the kind ``ready_rounds``, which is no finding: the result was ready.
        action: The strictest action that it came to.
        cause: Which engine found it.
        sentence: What happened, in one sentence for a person, its size in it: "web_search and web_fetch in
            turn, 11 times, same results".
        advice: What to do about it.
        chain_id: The chain; empty for the main one.
        tools: Names of the calls of one turn.
        first_event: Number of its first event in the run.
        last_event: Number of its last.
        copies: What its rule counts, in all of them.
        cost_usd: Spent between the two, in its chain; None where unknown. Of a loop that ended and came back,
            the time in between is left out; so for tokens and seconds.
        tokens: Tokens of all classes between the two.
        seconds: Time between the two.
        evidence: The latest call, cut, or the measured value.
        parts: Its stretches, where it ended and came back; empty where it is one, or they are too many.
    """

    id: str
    kind: str
    action: Action
    cause: Cause
    sentence: str
    advice: str = ""
    chain_id: str = ""
    tools: tuple[str, ...] = ()
    first_event: int
    last_event: int
    copies: int = 1
    cost_usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    evidence: str = ""
    parts: tuple[EventSpan, ...] = ()

    @property
    def spans(self) -> tuple[EventSpan, ...]:
        """Its stretches; one, where it never came back."""
        return self.parts or (EventSpan(self.first_event, self.last_event),)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPoint:
    """One round of the conversation in the run.

    Args:
        number: The round, from 1.
        event: The event that completed it.
        novelty_rate: New claims over the most claims of any round, 0 to 1.
        new_claims: Claims that nobody had made.
        claims: Claims made.
        readiness: 0 to 1.
        signal: CONTINUE, SHIP or ESCALATE.
        chain_id: The chain of its conversation; empty for the main one.
    """

    number: int
    event: int
    agent: str | None
    novelty_rate: float
    new_claims: int
    claims: int
    readiness: float
    signal: str
    chain_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDecision:
    """A sentence that looked like a decision, and what the gate made of it.

    Args:
        event: Where it was said.
        agent: Who said it; None where that is not known.
        kept: Whether the gate keeps it.
        by_person: Whether a person said it, in the course of the run.
        accepted: Event by which somebody else accepts it, where it was put forward; None where none does.
        carried_out: Event of the call that carries it out; None where none is known to.
        reason: Why not; None where it is kept.
        duplicate_of: Event of the decision that it repeats; None where it repeats none.
        supersedes: Event of the decision that it may reverse; None where it reverses none.
    """

    event: int
    agent: str | None
    text: str
    kept: bool
    by_person: bool = False
    accepted: int | None = None
    carried_out: int | None = None
    reason: str | None = None
    duplicate_of: int | None = None
    supersedes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """Point at which the run would have been ended, and what came after that.

    Args:
        verdict: What would have ended it: a finalize, an escalate or a stop.
        after: What the run took from there until something resolved it, and likewise wherever it came back;
            where the verdict names a chain, what that chain took.
    """

    verdict: Verdict
    after: Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderStep:
    """Point at which the verdict first became so strict, and what the run took from there to its end.

    Args:
        action: What was to be done.
        kind: What it was about, as in `RunFinding.kind`.
        event: The event at which it came.
        events_after: Events after it; 0 where there was nothing left to end.
        calls_after: Those of them that are calls of tools and models.
        tokens_after: Their tokens; None where not known.
        usd_after: Their dollars; None where not known.
    """

    action: Action
    kind: str | None
    event: int
    events_after: int
    calls_after: int
    tokens_after: int | None = None
    usd_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One event of the timeline.

    Args:
        kind: ``tool``, ``llm``, ``user`` or ``system``.
        identity: Equal for equal calls, numbered from 0 by their first appearance.
        cost_usd: Spent in the run up to and with it; None where no cost is known yet.
        ts: Its time; None where unknown.
        excerpt: The call and its answer, cut.
    """

    number: int
    kind: str
    name: str
    identity: int
    error: bool
    chain_id: str
    cost_usd: float | None
    tokens: int | None
    ts: float | None
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as it came out.

    Args:
        source: The file, or what else it was read from.
        title: What it was about, in one line: its agent's own title, or else the first request of a person;
            empty where neither is recorded.
        project: The folder that the agent worked in; None where that is not recorded.
        verdict: The highest verdict that the run came to.
        reason: Why, in one sentence.
        latest: What to do now, after the last event.
        bill: Where the money went.
        ending: How the run ended, as it says itself.
        recovered: Whether something new came, in the same chain, after what the verdict was about, and the
            run did not end in a failure or at a limit. None where the verdict still held at the end, or there
            was none.
        inherited: The calls in its record that another run owns, such as the one it is a fork of; they are no
            part of `spent`. None where there are none, or nothing is known of other runs.
        began_from: The record of the run that owns most of them.
        id: The session of a coding agent that it is, as ``claude:UUID``; None where its record names none.
        parent: The id of the run that it comes from; None for one of its own.
        role: Its place beside that one: ``session``, ``sub-agent``, ``thread``, ``child session``, ``fork``.
        name: Its name among those that come from the same run, such as its kind of agent; empty for none.
        facts: What is known about its calls beside loops, and what was not recorded.
        findings: The most expensive first, then the longest.
        ignored: How many more there would be, were nothing ignored (`Profile.ignore`).
        rounds: One a round that was read; empty where no model said anything. Of a very long conversation
            those are the first 1,000, and those on which a verdict could depend.
        converged: The last signal of the convergence engine; None where there was no round.
        open_loop: Kind of the loop that it was to be ended for, and that still went on at its end.
        saving: None where nothing would have ended the run before its end.
        steps: Where the verdict became stricter than ever before, from nudge on, in order.
        decisions: In the order of the run, the first 2,000.
        decisions_left_out: How many more there were.
        claims: What its last words assert, and what its record says of each.
        shipped: What became of its commits; None where no repository was asked, or another run has them.
        timed: Whether events had times; rates are off where they had none.
        began_s: Time of the first event, on the clock of the trace; None where no event has a time.
        ended_s: Likewise of the latest.
        faults: Lines and events that could not be read, in words, at most 20 of them.
        degraded: How many those were.
        over: Whether nothing more will come; a run that is watched may go on.
        timeline: One cell an event, where that is wanted.
    """

    source: str
    format: str
    verdict: Verdict
    reason: str
    latest: Verdict
    spent: Spending
    facts: RunFacts = field(default_factory=RunFacts)
    bill: Bill = field(default_factory=Bill)
    ending: RunEnding = field(default_factory=RunEnding)
    inherited: Spending | None = None
    began_from: str | None = None
    id: str | None = None
    parent: str | None = None
    role: str = "session"
    name: str = ""
    recovered: bool | None = None
    findings: tuple[RunFinding, ...] = ()
    ignored: int = 0
    rounds: tuple[RoundPoint, ...] = ()
    converged: str | None = None
    open_loop: str | None = None
    saving: Saving | None = None
    steps: tuple[LadderStep, ...] = ()
    decisions: tuple[RunDecision, ...] = ()
    decisions_left_out: int = 0
    claims: tuple[ClaimCheck, ...] = ()
    shipped: RunShipped | None = None
    chains: tuple[str, ...] = ()
    timed: bool = True
    began_s: float | None = None
    ended_s: float | None = None
    faults: tuple[str, ...] = ()
    degraded: int = 0
    over: bool = True
    title: str = ""
    project: str | None = None
    timeline: tuple[Cell, ...] = ()

    @property
    def headline(self) -> Headline:
        """The run in one word: how it ended, or how it went where its end is not known."""
        if not self.over:
            return live_word(self.latest.action, self.latest.kind)
        return headline(
            self.ending.ending,
            self.verdict,
            self.latest,
            course=self.course,
            signal=self.converged,
            loop=self.open_loop,
        )

    @property
    def course(self) -> Course:
        """Course of the run, in one word."""
        steps = [(finding.action, finding.cause) for finding in self.findings]
        return course(steps, blind=self._is_blind)

    @property
    def words(self) -> str:
        """First and second word: "FINISHED, NOISY"; one word where the second would say nothing.

        Of a run that is not over it is one word, which is kept with each of its events.
        """
        word, second = self.headline, self.course
        if not self.over:
            return word.value
        return f"{word.value}, {second.value}" if second in SECOND[word] else word.value

    @property
    def _is_blind(self) -> bool:
        coverage = self.facts.coverage
        spent = self.spent
        is_empty = not (spent.tool_calls or spent.llm_calls or self.rounds)
        return is_empty or coverage.lacks_arguments or coverage.lacks_words

    def to_dict(self) -> dict[str, Any]:
        """The wire form, without the timeline."""
        wire = to_wire(dataclasses.replace(self, timeline=()))
        del wire["timeline"]
        return {"schema": 3, "headline": self.headline.value, "course": self.course.value, **wire}
