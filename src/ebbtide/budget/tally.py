"""Counter of what was spent, the only one: everybody who needs to know reads it here.

Money is counted in whole units, so that a hundred times 0.01 dollars is 1 dollar.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, Final

from ebbtide.budget.prices import Prices
from ebbtide.budget.reconciling import ModelSum, Settlement, settle
from ebbtide.codec import State
from ebbtide.errors import ConfigError, error_text, expect
from ebbtide.events.event import Event, ModelCall, ModelPart, Notice, ToolCall
from ebbtide.events.usage import CLASSES, MOST_TOKENS, Usage, is_cost, possible_part

UNITS: Final = 10**12  #: of a dollar
_CACHE_READ = 2  # its place among the classes of tokens
_MODELS = 64  # without a price that are named
_OTHERS = "others"
_CALLS = (ModelPart.WHOLE, ModelPart.EMBEDDING)  # the other parts belong to a call that is counted


def units(cost_usd: float) -> int:
    """Returns dollars in whole units.

    >>> sum(units(0.01) for _ in range(100)) == units(1.0)
    True
    """
    return round(cost_usd * UNITS)


def usd(cost: int | None) -> float | None:
    """Returns whole units in dollars."""
    return None if cost is None else cost / UNITS


def dollars(amount: float) -> str:
    """Returns dollars for a sentence; a small amount with two significant digits, so that it is not zero.

    >>> dollars(1234.5), dollars(0.00421), dollars(0.0), dollars(0.0000012)
    ('$1,234.50', '$0.0042', '$0.00', 'under $0.0001')
    """
    if 0 < amount < 0.01:
        return f"${amount:.2g}" if amount >= 0.0001 else "under $0.0001"
    return f"${amount:,.2f}"


def is_model_call(event: Event) -> bool:
    """Returns True if an event is a whole call of a model, and not a part of one."""
    return isinstance(event, ModelCall) and event.part in _CALLS


class Tally(State):
    """Amounts that one chain took, or a whole run. None stands for what no event stated.

    The tallies of several chains add up in the one of their run; a copy stands alone. A number that cannot be
    (negative, infinite, no number) counts as not stated, and in `faults`.

    Args:
        prices: Prices of tokens, for events that state tokens and no cost; None knows no price.
        run: The tally of the run, which counts what this one counts.

    Attributes:
        events: Events of any kind.
        cost: Units of money.
        tokens: Tokens of all classes.
        by_class: Tokens by class, in the order of `CLASSES`.
        agents: Agents that were started.
        depth: Levels of agents below the first, as far as the record shows who started whom.
        unpriced_calls: Model calls with tokens and without a known cost. While there are some, a sum of 0 is
            not known either.
        unpriced_models: Their models, at most 64; ``""`` where none was named.
        faults: Costs and counts that could not be.
        first_ts: Time of the first event, in seconds.
        latest_ts: Time of the latest.
        last_cost: Units that the latest event with usage took.
        last_tokens: Tokens of the latest event with usage.
        last_cache_read: Tokens of that event that were read from a cache.
    """

    __slots__ = (
        "_prices",
        "agents",
        "by_class",
        "by_model",
        "cost",
        "depth",
        "events",
        "faults",
        "first_ts",
        "last_cache_read",
        "last_cost",
        "last_tokens",
        "latest_ts",
        "model_calls",
        "run",
        "settlement",
        "tokens",
        "tool_calls",
        "unpriced_calls",
        "unpriced_models",
    )

    events: int
    tool_calls: int
    model_calls: int
    agents: int
    depth: int
    cost: int | None
    tokens: int | None
    by_class: list[int | None]
    unpriced_calls: int
    unpriced_models: dict[str, None]
    faults: int
    first_ts: float | None
    latest_ts: float | None
    last_cost: int | None
    last_tokens: int | None
    last_cache_read: int
    by_model: dict[str, ModelSum]

    def __init__(self, prices: Prices | None = None, run: Tally | None = None) -> None:
        expect("prices", prices, Prices, optional=True)
        expect("run", run, Tally, optional=True)
        self._prices = prices
        self.run = run
        self.events = 0
        self.tool_calls = 0
        self.model_calls = 0
        self.agents = 0
        self.depth = 0
        self.cost = None
        self.tokens = None
        self.by_class = [None] * 4
        self.unpriced_calls = 0
        self.unpriced_models = {}
        self.faults = 0
        self.first_ts = None
        self.latest_ts = None
        self.last_cost = None
        self.last_tokens = None
        self.last_cache_read = 0
        self.by_model = {}
        self.settlement: Settlement | None = None

    def add(self, event: Event, ts: float | None = None) -> None:
        """Counts an event.

        Args:
            ts: Its time, where that is known and can be.
        """
        if not isinstance(event, Event):
            expect("event", event, Event)
        run = self.run
        kind = type(event)
        self.events += 1
        if run is not None:
            run.events += 1
        if kind is ToolCall:
            self.tool_calls += 1
            if run is not None:
                run.tool_calls += 1
        elif is_model_call(event):
            self.model_calls += 1
            if run is not None:
                run.model_calls += 1
        if ts is not None and (self.latest_ts is None or ts > self.latest_ts):
            self.at(ts)
        if kind is Notice and event.stated is not None:  # type: ignore[attr-defined] # `kind` is its class
            self.settle(event.stated, ts, source=event.source or "")  # type: ignore[attr-defined] # likewise
        elif event.usage is not None:
            self.spend(event.usage, ts, by_model=kind is ModelCall)

    def add_round(self) -> None:
        """Counts a round that somebody handed over: an event that took nothing."""
        self.events += 1
        if self.run is not None:
            self.run.events += 1

    def add_agent(self, depth: int) -> None:
        """Counts an agent that is started, here and in the run.

        Args:
            depth: Its level: 1 where the first agent starts it.
        """
        for tally in (self,) if self.run is None else (self, self.run):
            tally.agents += 1
            tally.depth = max(tally.depth, depth)

    def at(self, ts: float) -> None:
        """Takes a time, in seconds; one before the latest changes nothing."""
        run = self.run
        if self.latest_ts is None:
            self.first_ts = self.latest_ts = ts
        elif ts > self.latest_ts:
            self.latest_ts = ts
        if run is not None:
            if run.latest_ts is None:
                run.first_ts = run.latest_ts = ts
            elif ts > run.latest_ts:
                run.latest_ts = ts

    def spend(self, usage: Usage, ts: float | None = None, *, by_model: bool = True) -> None:
        """Counts what an event took, here and in the run.

        Args:
            ts: Time in seconds; prices are those of that day.
            by_model: True if a model took it, whose cost ought to be known.
        """
        if not isinstance(usage, Usage):
            expect("usage", usage, Usage)
        run = self.run
        tokens: int | None = None
        faults = part_faults = 0
        cached = self.by_class[_CACHE_READ] or 0
        for place, count in enumerate(
            (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        ):
            if count is None:
                continue
            if type(count) is not int or not 0 <= count <= MOST_TOKENS:
                faults += 1
                continue
            tokens = count if tokens is None else tokens + count
            self.by_class[place] = count + (self.by_class[place] or 0)
            if run is not None:
                run.by_class[place] = count + (run.by_class[place] or 0)
        reasoning, hour = usage.reasoning_tokens, usage.cache_write_1h_tokens
        if reasoning is not None and possible_part(reasoning, usage.output_tokens) is None:
            part_faults += 1
        if hour is not None and possible_part(hour, usage.cache_write_tokens) is None:
            part_faults += 1
        self.last_cache_read = (self.by_class[_CACHE_READ] or 0) - cached
        cost_usd = usage.stated_cost
        if cost_usd is None:
            if not faults and by_model and usage.input_tokens == usage.output_tokens == tokens == 0:
                cost_usd = 0.0
            elif tokens and not faults and usage.model and self._prices is not None:
                cost_usd = self._prices.cost(usage, ts)
        elif not is_cost(cost_usd):
            faults += 1
            cost_usd = None
        cost = None if cost_usd is None else round(cost_usd * UNITS)
        counted = self if run is None else run
        model = usage.model or ""
        part = counted.by_model.get(model)
        if part is None:
            model = model if len(counted.by_model) < _MODELS else _OTHERS
            part = counted.by_model.setdefault(model, ModelSum())
        part.add(usage, cost, is_unpriced=cost is None and bool(tokens) and by_model)
        unpriced = (usage.model or "") if cost is None and tokens and by_model else None
        self.charge(cost, tokens, unpriced=unpriced)
        faults += part_faults  # without it the cost is that of its class
        self.faults += faults
        if run is not None:
            run.charge(cost, tokens, unpriced=unpriced)
            run.faults += faults

    def settle(self, stated: tuple[Usage, ...], ts: float | None = None, *, source: str = "") -> None:
        """Holds a total that is stated of the whole run against what was counted, and counts the difference.

        Args:
            stated: The usage by model, or one without a model for all of them.
            source: The record that states it.
        """
        expect("stated", stated, tuple)
        for row in stated:
            expect("stated", row, Usage)
        run = self if self.run is None else self.run
        settled = settle(stated, run.by_model, self._prices, ts=ts, source=source)
        self.settlement = run.settlement = settled
        last_cost: int | None = None
        last_tokens = 0
        for item in settled.remainders:
            for tally in (self,) if run is self else (self, run):
                for place, name in enumerate(CLASSES):
                    count = getattr(item.usage, name)
                    if count is not None and count <= MOST_TOKENS:
                        tally.by_class[place] = count + (tally.by_class[place] or 0)
                if item.cost is not None:
                    tally.unpriced_calls = max(0, tally.unpriced_calls - item.priced)
                    if not tally.unpriced_calls:
                        tally.unpriced_models.clear()
                tokens = item.usage.tokens
                is_unpriced = item.cost is None and bool(tokens)
                tally.charge(item.cost, tokens, unpriced=(item.usage.model or "") if is_unpriced else None)
            part = run.by_model.setdefault(item.usage.model or "", ModelSum())
            part.add(item.usage, item.cost, is_unpriced=False)
            if item.cost is not None:
                part.unpriced = max(0, part.unpriced - item.priced)
                last_cost = item.cost + (last_cost or 0)
            last_tokens += item.usage.tokens or 0
        for tally in (self, run):
            tally.last_cost, tally.last_tokens, tally.last_cache_read = last_cost, last_tokens, 0

    def charge(self, cost: int | None, tokens: int | None, *, unpriced: str | None = None) -> None:
        """Adds money and tokens, here alone.

        Args:
            cost: Units of money; None where it is not known.
            tokens: Tokens of all classes; None if they are not known.
            unpriced: The model that took tokens at a cost that nobody knows; None where there is none.
        """
        if type(cost) is not int or type(tokens) is not int:
            expect("cost", cost, int, optional=True)
            expect("tokens", tokens, int, optional=True)
        self.last_cost, self.last_tokens = cost, tokens
        if cost is not None and (cost or self.cost is not None or not self.unpriced_calls):
            self.cost = cost if self.cost is None else self.cost + cost
        if tokens is not None:
            self.tokens = tokens if self.tokens is None else self.tokens + tokens
        if unpriced is not None:
            self.unpriced_calls += 1
            self.cost = self.cost or None
            if len(self.unpriced_models) < _MODELS:
                self.unpriced_models[unpriced] = None

    def restore(self, state: Any) -> None:
        """Takes up what `to_state` gave.

        Raises:
            ConfigError: It is no such state.
        """
        try:
            super().restore(state)
        except Exception as error:
            raise ConfigError(f"not the state of a tally: {error_text(error)}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (self._prices, self.to_state())

    def __deepcopy__(self, memo: dict[int, Any]) -> Tally:
        twin = memo[id(self)] = copy(self)
        return twin


def _revived(prices: Prices | None, state: list[Any]) -> Tally:
    tally = Tally(prices)
    tally.restore(deepcopy(state))
    return tally
