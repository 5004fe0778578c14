"""Everything that a replay needs of one session: answers of tools with their price, and the cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, NamedTuple, Self

from ebbtide.advice.cache_replay import CacheReplay
from ebbtide.budget.bill.bill_recorder import BillRecorder, CallReview
from ebbtide.budget.bill.context import Item
from ebbtide.budget.ledger.inherited_calls import InheritedCalls
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally
from ebbtide.checking import RunShare
from ebbtide.errors import EbbtideError
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, ModelCall, Notice, ToolCall
from ebbtide.events.shipped_tools import shipped
from ebbtide.events.transcript import Round
from ebbtide.traces.reading import open_trace

_LEAST: Final = 1_000  # characters of an answer that is kept


class Work(StrEnum):
    """Kinds of work: sessions of one kind are held against each other."""

    CHANGES = "changes"  #: a call changed something
    LOOKS = "looks"  #: tools were called, and nothing was changed
    TALKS = "talks"  #: no tool was called


class SessionPath(NamedTuple):
    """A file of a session.

    Args:
        is_main: Whether it is the session itself, and no sub-agent of it.
        inherited: Calls in it that another file owns.
    """

    path: str
    is_main: bool = True
    inherited: InheritedCalls | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LongAnswer:
    """A long answer of a tool, and what it took to read it in all calls until a compaction.

    Args:
        title: The call in words.
        file: The file that the call names; None where it names none.
        length: Characters.
        tokens: Tokens of it that all calls read together.
        reads: Calls that read it.
        cost: Units that they paid.
    """

    tool: str
    title: str
    file: str | None
    length: int
    tokens: int
    reads: int
    cost: int
    has_failed: bool


@dataclass(slots=True, kw_only=True)
class SessionRecord:
    """One session with what it started.

    Args:
        project: The folder that the agent worked in; None where unknown.
        began: Seconds since 1970; None where no time is recorded.
        cost: Units that they cost; None where nothing of it is known.
        answers: Answers of tools of 1,000 characters or more.
        hour: Units that a cache of an hour would have saved in the main conversation; None: unknown.
        minutes: Units that a cache of five minutes would have saved there; None: unknown.
        writes: Tokens that the main conversation wrote into the cache for five minutes.
        long_writes: Tokens that it wrote for an hour.
    """

    session: str
    project: str | None = None
    agent: str = ""
    began: float | None = None
    ended: float | None = None
    calls: int = 0
    cost: int | None = None
    work: Work = Work.TALKS
    answers: list[LongAnswer] = field(default_factory=list)
    hour: int | None = None
    minutes: int | None = None
    writes: int = 0
    long_writes: int = 0

    @classmethod
    def of(
        cls, session: str, project: str | None, agent: str, files: Sequence[SessionPath], prices: Prices
    ) -> Self | EbbtideError:
        """Returns the record of a session, or why one of its files cannot be read.

        Args:
            project: The folder that the agent worked in; None where unknown.
        """
        record = cls(session=session, project=project, agent=agent)
        try:
            for file in files:
                trace = open_trace(file.path, is_growing=True)
                record.read(trace, prices, inherited=file.inherited, is_main=file.is_main)
        except EbbtideError as error:
            return error
        return record

    def read(
        self,
        events: Iterable[Event | Round],
        prices: Prices,
        *,
        inherited: InheritedCalls | None = None,
        is_main: bool = True,
    ) -> None:
        """Adds the events of one file of the session.

        Args:
            inherited: Calls in the file that another file owns.
            is_main: Whether it is the session itself, and no sub-agent of it.
        """
        run, chains = Tally(prices), dict[str, Tally]()
        bill, cache = BillRecorder(prices), CacheReplay()
        bill.ledger.answers = []
        charges = bill.ledger.charges
        if inherited is not None:
            events = map(RunShare(inherited, prices).own, events)
        for number, event in enumerate((item for item in events if isinstance(item, Event)), start=1):
            tally = chains.get(event.chain_id)
            if tally is None:
                tally = chains[event.chain_id] = Tally(prices, run)
            tally.add(event, event.ts)
            review = None
            if isinstance(event, ToolCall):
                review = CallReview(event.name, has_failed=event.error is True)
                if self.work is not Work.CHANGES:
                    self.work = Work.CHANGES if _is_change(event) else Work.LOOKS
            # The calls of a stated total are counted themselves.
            is_total = isinstance(event, Notice) and event.stated is not None
            billed = replace(event, usage=None) if is_total else event
            bill.add(billed, number, None if billed.usage is None else tally.last_cost, review)
            if isinstance(event, ModelCall) and charges and charges[-1].event == number and event.usage:
                usage, size = event.usage, charges[-1].size
                rates = usage.model and prices.rates(
                    usage.model, input_tokens=size, ts=event.ts, tier=usage.tier
                )
                cache.see(charges[-1], event.ts, rates or None)
        self.calls += run.model_calls
        self.cost = run.cost if self.cost is None else self.cost + (run.cost or 0)
        self.began = min(filter(None, (self.began, run.first_ts)), default=None)
        self.ended = max(filter(None, (self.ended, run.latest_ts)), default=None)
        self.answers += map(_answer, bill.folded().answers or ())
        self.answers = [answer for answer in self.answers if answer.length >= _LEAST]
        if is_main:
            self.hour, self.minutes = cache.hour(), cache.minutes()
            self.writes, self.long_writes = cache.writes, cache.long_writes


def _is_change(call: ToolCall) -> bool:
    policy = shipped().get(call.name)
    return policy is not None and call.error is not True and policy.effect_of(call.args) is Effect.CHANGE


def _answer(item: Item) -> LongAnswer:
    return LongAnswer(
        tool=item.tool or "",
        title=item.title,
        file=item.file,
        length=item.length or 0,
        tokens=item.reading,
        reads=item.reads,
        cost=item.cost,
        has_failed=item.has_failed,
    )
