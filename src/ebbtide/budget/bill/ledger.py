"""Sums of the charges so far, by everything that a bill shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, field, fields, replace
from heapq import heappush, heappushpop
from operator import attrgetter
from typing import Final

from ebbtide.budget.bill.bill import Compaction, ContextPart, ContextSize, TokenClass, WasteKind
from ebbtide.budget.bill.charges import charge_of, scaled_charge, tokens_by_class
from ebbtide.budget.bill.context import Charge, Item, cost_between
from ebbtide.budget.reconciling import Settlement, StatedTotal
from ebbtide.clock import calendar_seconds
from ebbtide.events.event import Event, ModelCall, is_total
from ebbtide.events.usage import Usage, possible_part
from ebbtide.text.excerpt import one_line

LARGE_TOKENS: Final = 5_000  #: a larger answer is one whose reading again is worth a word
_LONG_CARRIED: Final = 10  # calls that read it
_NAMES: Final = 2_000  # tools, files and requests that are kept apart
_OTHERS: Final = "others"
_TOTALS: Final = "a sum that is stated at the end"
_NO_CALL: Final = "spending that no call states"
_NO_TOKENS: Final = "calls of models that state no tokens"
_DEAREST: Final = 10
_EXAMPLES: Final = 8
_TASK_WORDS: Final = 5  # of a request that can be a new task: "yes, go on" is none
#: A request that goes on from what was done before.
_REFERS: Final = re.compile(
    r"^\W*\d|\b(?:session|go back|again|so far|above|earlier|previous|continue|those|these|them|that|it)\b",
    re.IGNORECASE,
)
_KEEPS_MISSES: Final = (None, WasteKind.TODO_LIST)  # turns without which the next one would have missed
_INTERRUPTION: Final = "[Request interrupted"  # what coding agents write down for a pressed key
QUARTER_S: Final = 900  #: seconds; a day begins with one in any time zone
_SIZES: Final = 800
_CHARGES: Final = 20_000
_SHOWN: Final = 100


@dataclass(slots=True)
class Sum:
    """Units and tokens, some of them at the first reading, and how many events took them.

    `unpriced` counts events whose cost is not known, so that a sum of those alone has none.
    """

    cost: int = 0
    tokens: int = 0
    entry_cost: int = 0
    entry_tokens: int = 0
    count: int = 0
    failures: int = 0
    unpriced: int = 0

    def add(self, cost: int, tokens: int, entry_cost: int = 0, entry_tokens: int = 0) -> None:
        """Add an amount."""
        self.cost += cost
        self.tokens += tokens
        self.entry_cost += entry_cost
        self.entry_tokens += entry_tokens

    def add_event(self, cost: int, tokens: int, *, is_unpriced: bool = False) -> None:
        """Add what one event took."""
        self.cost += cost
        self.tokens += tokens
        self.count += 1
        self.unpriced += is_unpriced

    def __copy__(self) -> Sum:
        # What the standard library does by itself takes six times as long.
        return Sum(*_values_of(self))


_values_of = attrgetter(*(item.name for item in fields(Sum)))


@dataclass(slots=True)
class WasteSum:
    """Units and tokens of one kind of waste, with its calls."""

    cost: int = 0
    tokens: int = 0
    count: int = 0
    events: tuple[int, ...] = ()
    example: str = ""

    def see(self, event: int) -> None:
        """Counts one more, at an event."""
        self.count += 1
        if len(self.events) < _EXAMPLES:
            self.events += (event,)

    def __copy__(self) -> WasteSum:
        return WasteSum(self.cost, self.tokens, self.count, self.events, self.example)


@dataclass(slots=True)
class RequestSum:
    """Request of a person, and what it took."""

    event: int
    text: str
    sum: Sum = field(default_factory=Sum)


class Ledger:
    """The sums of one run. Money is in units; what has no known cost counts by its tokens."""

    def __init__(self) -> None:
        self.is_least = False  #: a call states less output than its words can have
        self.is_estimated = False  #: a cost was shared out as most providers charge
        self.is_dated = True  #: False if a stated total has what no call states: nobody knows when it fell
        self.settled: StatedTotal | None = None  #: the latest stated total
        self.beyond_list = 0  #: units of stated totals above the list price, for `share_out`
        self.now: float | None = None  #: the latest time of an event, whatever the ones before it said
        self.spent = Sum()  #: of all events
        self.failures = Sum()  #: of failed calls
        self.classes: dict[TokenClass, Sum] = {}
        self.parts: dict[ContextPart, Sum] = {}
        self.unattributed: dict[str, Sum] = {}  #: by reason
        self.models: dict[str, Sum] = {}
        self.agents: dict[str, Sum] = {}
        self.tasks: dict[str, str] = {}  #: of agents that were started
        self.tools: dict[str, Sum] = {}
        self.files: dict[str, Sum] = {}
        self.quarters: dict[int | None, Sum] = {}  #: by `QUARTER_S` since 1970; None where no time is known
        self.requests: list[RequestSum] = []  #: of people, in order
        self.openings: list[int] = []  #: events at which a person may have begun a new task
        self.first_change: Sum | None = None  #: what was spent before the first change
        self.latest_change: Sum | None = None
        self.waste_sums: dict[WasteKind, WasteSum] = {}
        self.waste_tools: dict[tuple[WasteKind, str], Sum] = {}
        self.misses = Sum()  #: calls that the cache missed: their tokens, and units above a hit
        self.late_misses = Sum()  #: those of them after a pause
        self.longest_pause_s: float | None = None  #: before one of those
        self.compactions: list[Compaction] = []
        self.instructions = 0  #: tokens of the main chain that stand before everything else
        self.charges: list[Charge] = []  #: of the main chain, the first 20,000
        self.calls = 0  #: of the main chain
        self.sizes: list[ContextSize] = []  #: of every so many of those calls
        self.every = 1
        self.dearest: list[tuple[int, int, int, Item]] = []  #: items, as a heap
        self.pushes = 0
        self.answers: list[Item] | None = None  #: all answers of tools; None where nobody asks for each

    def copy(self) -> Ledger:
        """The same sums, apart: what is added to one is not in the other. Calls and items are shared."""
        twin = Ledger()
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(twin, name, {key: copy(part) for key, part in value.items()})
            else:
                setattr(twin, name, copy(value) if isinstance(value, list | Sum) else value)
        return twin

    def request(self, number: int, text: str, *, is_answer: bool) -> None:
        """A person asks for something, or answers what the model has asked."""
        if len(self.requests) < _NAMES and not text.startswith(_INTERRUPTION):
            if not is_answer and len(text.split()) >= _TASK_WORDS and not _REFERS.search(text):
                self.openings.append(number)
            self.requests.append(RequestSum(number, one_line(text[: 4 * _SHOWN], _SHOWN)))

    def call(self, item: Item, *, changes: bool) -> None:
        """A call of a tool has ended."""
        if changes:
            now = Sum(self.spent.cost, self.spent.tokens)
            self.first_change = self.first_change or now
            self.latest_change = now
        if item.tool is not None:
            tool = _of(self.tools, item.tool)
            tool.count += 1
            tool.failures += item.has_failed
        if item.file is not None:
            _of(self.files, item.file).count += 1
        if item.has_failed:
            self.failures.count += 1

    def start(self, agent: str, task: str) -> None:
        """A call has started an agent with a task."""
        if task and len(self.tasks) < _NAMES:
            self.tasks[agent] = task

    def charge(self, charge: Charge, usage: Usage, *, agent: str) -> None:
        """A call of a model, of which the input is attributed by what it carried."""
        self.is_estimated = self.is_estimated or charge.is_estimated
        self._take(charge, usage, agent)
        self._classify(charge, usage)
        self._part(ContextPart.NEW_OUTPUT).add(charge.output_cost, charge.output)
        if charge.cost is not None and not charge.is_split:
            self.leave("no price by class of tokens", charge.cost, 0)
        elif not charge.size:
            rest = (charge.cost or 0) - charge.output_cost
            if rest:
                self.leave("calls that state no input", rest, 0)

    def charge_call(self, item: Item, charge: Charge, usage: Usage, *, agent: str) -> None:
        """A call of a tool that states itself what it took."""
        cost, tokens = charge.cost or 0, charge.size + charge.output
        self.is_estimated = self.is_estimated or charge.is_estimated
        self._take(charge, usage, agent)
        self._classify(charge, usage)
        self._part(ContextPart.TOOL_CALL).add_event(cost, tokens)
        self._attribute(item, cost, tokens)
        own = replace(item.again(), part=ContextPart.TOOL_CALL, cost=cost, reading=tokens)
        self._rank(own)

    def spend_apart(self, event: Event, usage: Usage, cost: int | None) -> None:
        """Spending that is tied to no call."""
        tokens = sum(tokens_by_class(usage))
        self._spend(cost or 0, tokens)
        if usage.model:
            _of(self.models, usage.model).add(cost or 0, tokens)
        reason = _TOTALS if is_total(event) else _NO_TOKENS if isinstance(event, ModelCall) else _NO_CALL
        self.leave(reason, cost or 0, tokens)

    def settle(self, settlement: Settlement) -> None:
        """Takes what a stated total has beside the calls: its tokens at list price, and the rest."""
        self.settled = settlement.total
        for item in settlement.remainders:
            self.is_dated = False
            usage, cost = item.usage, item.cost or 0
            list_cost = item.list_cost if item.rates else cost if usage.has_tokens else 0
            charge = charge_of(0, usage, list_cost, item.rates)
            tokens = charge.size + charge.output
            rest = cost - (charge.cost or 0)
            if usage.model:
                _of(self.models, usage.model).add(cost, tokens)
            self._classify(charge, usage)
            self._part(ContextPart.NEW_OUTPUT).add(charge.output_cost, charge.output)
            read = (charge.cost or 0) - charge.output_cost
            if read or charge.size:
                self.leave(_TOTALS, read, charge.size)
            if item.listed:
                self.beyond_list += rest
            elif rest:
                self.leave(settlement.total.cause or _TOTALS, rest, 0)
            self._spend(cost - rest if item.listed else cost, tokens)

    def share_out(self) -> None:
        """Shares what was charged beyond the list price out over everything, in proportion to its list price.

        Models have theirs already. Sums of parts stay the sum of the whole, to the unit.
        """
        listed, beyond = self.spent.cost, self.beyond_list
        self.beyond_list = 0
        if not beyond:
            return
        if listed <= 0:
            self._spend(beyond, 0)
            self.leave(_TOTALS, beyond, 0)
            return

        def scaled(cost: int) -> int:
            return cost + cost * beyond // listed

        def scale(sums: Iterable[Sum | WasteSum]) -> None:
            for part in sums:
                part.cost = scaled(part.cost)
                if isinstance(part, Sum):
                    part.entry_cost = scaled(part.entry_cost)

        def scale_parts(sums: Collection[Sum]) -> None:
            whole = scaled(sum(part.cost for part in sums))
            scale(sums)
            if sums:
                max(sums, key=lambda part: part.cost).cost += whole - sum(part.cost for part in sums)

        self.requests = [replace(request, sum=copy(request.sum)) for request in self.requests]
        self.first_change, self.latest_change = copy(self.first_change), copy(self.latest_change)
        for sums in (self.classes, self.parts, self.quarters, self.unattributed):
            scale_parts(sums.values())
        unexplained = self.parts.get(ContextPart.UNATTRIBUTED)
        if unexplained is not None:
            # The reasons add up to it, and the contents to the whole.
            units = sum(part.cost for part in self.unattributed.values()) - unexplained.cost
            unexplained.cost += units
            max(self.parts.values(), key=lambda part: (part is not unexplained, part.cost)).cost -= units
        changes = (self.first_change, self.latest_change)
        scale([self.spent, self.failures, self.misses, self.late_misses])
        scale(part for part in changes if part is not None)
        scale(request.sum for request in self.requests)
        for group in (self.agents, self.tools, self.files, self.waste_sums, self.waste_tools):
            scale(group.values())
        self.dearest = [
            (scaled(cost), tokens, push, replace(item, cost=scaled(item.cost)))
            for cost, tokens, push, item in self.dearest
        ]
        self.charges = [scaled_charge(charge, scaled) for charge in self.charges]

    def fold(self, item: Item) -> None:
        """Adds an item that is not read any more to the sums, with all that it was charged."""
        amounts = (item.cost, item.reading, item.entry_cost, item.entry_reading)
        part = self._part(item.part)
        part.add(*amounts)
        part.count += 1
        self._attribute(item, *amounts)
        if self.answers is not None and item.part is ContextPart.TOOL_OUTPUT:
            self.answers.append(item)
        if item.waste is WasteKind.TODO_LIST:
            pass  # it would be carried along all the same, had it come with other calls
        elif item.waste is not None:
            self.waste(item.waste, item.net_cost, item.net_reading, tool=item.tool)
        elif item.part is ContextPart.TOOL_OUTPUT and item.size > LARGE_TOKENS and item.reads > _LONG_CARRIED:
            beyond = item.size - LARGE_TOKENS
            cost = max(item.net_cost - item.entry_cost, 0) * beyond // item.size
            tokens = max(item.net_reading - item.entry_reading, 0) * beyond // item.size
            self.waste(WasteKind.LARGE_OUTPUT, cost, tokens, item, tool=item.tool)
        if item.part is not ContextPart.INSTRUCTIONS or item.title:
            self._rank(item)

    def _attribute(self, item: Item, *amounts: int) -> None:
        """Adds what was paid for an item to the sums of its tool, its file and the failures."""
        if item.tool is not None:
            _of(self.tools, item.tool).add(*amounts)
        if item.file is not None:
            _of(self.files, item.file).add(*amounts)
        if item.has_failed:
            self.failures.add(*amounts)

    def _rank(self, item: Item) -> None:
        self.pushes += 1
        entry = (item.cost, item.reading, -self.pushes, item)
        if len(self.dearest) < _DEAREST:
            heappush(self.dearest, entry)
        elif entry[:2] > self.dearest[0][:2]:
            heappushpop(self.dearest, entry)

    def end_turn(self, charge: Charge, words: Item, calls: Iterable[tuple[Item, int]]) -> None:
        """A turn of the model has ended: what of it was for nothing."""
        if charge.waste in _KEEPS_MISSES and charge.misses:
            self.waste(WasteKind.CACHE_MISS, charge.miss_cost, charge.misses)
            self.waste_sums[WasteKind.CACHE_MISS].see(words.event)
        for place, (item, length) in enumerate(calls):
            share = length / words.length if words.length else 0.0
            output_cost = int(charge.output_cost * min(share, 1.0))
            output = int(charge.output * min(share, 1.0))
            if item.has_failed:
                self.failures.add(output_cost, output)
            if item.waste is None:
                continue
            if charge.waste is None:
                self.waste(item.waste, output_cost, output, item, tool=item.tool)
            elif place:
                self.waste(item.waste, 0, 0, item, tool=item.tool)
            elif charge.waste is WasteKind.TODO_LIST:
                # The list is written, and what is new is read, by the next call otherwise.
                reading = cost_between(charge, 0, charge.before) - charge.miss_cost
                self.waste(item.waste, max(0, reading), charge.before, item, tool=item.tool)
            else:
                tokens = charge.size + charge.output
                self.waste(item.waste, charge.cost or 0, tokens, item, tool=item.tool)

    def waste(
        self,
        kind: WasteKind,
        cost: int,
        tokens: int,
        item: Item | None = None,
        example: str = "",
        *,
        tool: str | None = None,
    ) -> None:
        """Count waste, by its tool where it has one; with an item, as one more of its kind."""
        line = self.waste_sums.setdefault(kind, WasteSum())
        line.cost += cost
        line.tokens += tokens
        if item is not None:
            line.see(item.event)
            line.example = line.example or example or item.title
        if tool is not None:
            key = (kind, tool)
            if key not in self.waste_tools and len(self.waste_tools) >= _NAMES:
                key = (kind, _OTHERS)
            part = self.waste_tools.setdefault(key, Sum())
            part.add(cost, tokens)
            part.count += item is not None

    def miss(self, charge: Charge, pause_s: float | None) -> None:
        """A call that read anew what the cache had held, after a pause of so many seconds."""
        self.misses.add_event(charge.miss_cost, charge.misses)
        if pause_s is not None:
            self.late_misses.add_event(charge.miss_cost, charge.misses)
            self.longest_pause_s = max(pause_s, self.longest_pause_s or 0.0)

    def read_context(self, charge: Charge) -> None:
        """A call of the main chain read its context."""
        if len(self.charges) < _CHARGES:
            self.charges.append(charge)
        self.calls += 1
        if self.calls % self.every == 0:
            self.sizes.append(ContextSize(event=charge.event, tokens=charge.size))
            if len(self.sizes) >= _SIZES:
                del self.sizes[::2]
                self.every *= 2

    def _take(self, charge: Charge, usage: Usage, agent: str) -> None:
        """Adds what a call took to the sums of its model and its agent."""
        cost, tokens = charge.cost or 0, charge.size + charge.output
        is_unpriced = charge.cost is None and tokens > 0
        self._spend(cost, tokens, is_unpriced=is_unpriced)
        for sums, name in ((self.models, usage.model or ""), (self.agents, agent)):
            _of(sums, name).add_event(cost, tokens, is_unpriced=is_unpriced)

    def book(self, cost: int, tokens: int, *, is_unpriced: bool = False) -> None:
        """Book an amount at the latest time."""
        ts = calendar_seconds(self.now)
        quarter = None if ts is None else int(ts // QUARTER_S)
        self.quarters.setdefault(quarter, Sum()).add_event(cost, tokens, is_unpriced=is_unpriced)

    def _spend(self, cost: int, tokens: int, *, is_unpriced: bool = False) -> None:
        self.spent.add_event(cost, tokens)
        self.book(cost, tokens, is_unpriced=is_unpriced)
        if self.requests:
            self.requests[-1].sum.add_event(cost, tokens, is_unpriced=is_unpriced)

    def _classify(self, charge: Charge, usage: Usage) -> None:
        reasoning = possible_part(usage.reasoning_tokens, charge.output) or 0
        thought = charge.output_cost * reasoning // charge.output if charge.output else 0
        for name, cost, tokens in (
            (TokenClass.INPUT, charge.fresh_cost, charge.fresh),
            (
                TokenClass.CACHE_WRITE,
                charge.write_cost - charge.long_write_cost,
                charge.writes - charge.long_writes,
            ),
            (TokenClass.CACHE_WRITE_1H, charge.long_write_cost, charge.long_writes),
            (TokenClass.CACHE_READ, charge.hit_cost, charge.hits),
            (TokenClass.OUTPUT, charge.output_cost - thought, charge.output - reasoning),
            (TokenClass.REASONING, thought, reasoning),
        ):
            if tokens:
                self.classes.setdefault(name, Sum()).add(cost, tokens)

    def _part(self, part: ContextPart) -> Sum:
        return self.parts.setdefault(part, Sum())

    def leave(self, reason: str, cost: int, tokens: int) -> None:
        """Spending that no event can be charged with."""
        self.unattributed.setdefault(reason, Sum()).add(cost, tokens)
        self._part(ContextPart.UNATTRIBUTED).add(cost, tokens)


def _of(sums: dict[str, Sum], name: str) -> Sum:
    """The sum of a name; of too many names, that of the others."""
    line = sums.get(name)
    if line is None:
        name = name if len(sums) < _NAMES else _OTHERS
        line = sums.setdefault(name, Sum())
    return line
