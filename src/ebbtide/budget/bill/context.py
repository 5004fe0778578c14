"""The context of a model as its calls read it, token by token, and what each part of it was charged.

What a call reads is the context of the call before with something behind it, and a cache holds its beginning:
of ``size`` tokens the first come from the cache, the next are written to it, the rest are read at the full
price. So every token of the context has a place, and every call charges a rate at each place. The charges of
many calls are added up in one pass over the places, when the context becomes smaller or at the end: a long
run is not walked once a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from operator import attrgetter, itemgetter

from ebbtide.budget.bill.bill import ContextPart, WasteKind

_EPOCH = 4_096  # calls whose charges are added up at once
_SHRINKS = 200  # of a context that is followed in all of its parts
_LATEST = 64  # parts that are followed beyond that


@dataclass(slots=True, eq=False)
class Item:
    """Something that came into a context: an event, or a part of what stood there from the start.

    Attributes:
        length: Characters; None where they are not known.
        size: Tokens of it in the context.
        reads: Calls that read it.
        cost: Units that they paid for it, where their cost by class is known.
        entry_cost: Of those, at the first call.
        net_cost: Of those, in calls that were not for nothing, as if the cache had held.
        reading: Tokens of it that they read; `entry_reading` and `net_reading` likewise.
    """

    event: int
    part: ContextPart
    length: int | None
    tool: str | None = None
    file: str | None = None
    title: str = ""
    waste: WasteKind | None = None
    has_failed: bool = False
    is_estimated: bool = False
    size: int = 0
    reads: int = 0
    entry_cost: int = 0
    cost: int = 0
    net_cost: int = 0
    entry_reading: int = 0
    reading: int = 0
    net_reading: int = 0

    def again(self) -> Item:
        """The same for another context, where nothing was charged for it yet."""
        return Item(
            self.event,
            self.part,
            self.length,
            self.tool,
            self.file,
            self.title,
            self.waste,
            self.has_failed,
        )

    def __copy__(self) -> Item:
        # A bill copies every item; what the standard library does by itself takes five times as long.
        return Item(*_values_of(self))


_values_of = attrgetter(*(item.name for item in fields(Item)))


@dataclass(slots=True, eq=False)
class Charge:
    """Payment of one call of a model by class, and the number of tokens that it read in each.

    Args:
        hits: Tokens from the cache.
        writes: Tokens put into it.
        fresh: Tokens at the full price.
        output: Tokens written.
        cost: Units; None where they are not known.
        size: All tokens that were read.
        hit_cost: Units for them; so are the next three.
        long_writes: Those of `writes` that stay in the cache for an hour.
        long_write_cost: Those of `write_cost` that they cost.
        is_split: Whether there is a cost by class; else all of them are 0.
        is_estimated: Whether it was shared out as most providers charge.
        hit_rate: Units a token that the cache charges; None where that is not known.
        before: Tokens of the context that the call before had read.
        is_stated: Whether the provider states the cost.
        misses: Tokens that the cache had held and did not give.
        miss_cost: Units that they cost above a hit.
        waste: Of the turn that the call began.
    """

    event: int
    hits: int = 0
    writes: int = 0
    fresh: int = 0
    output: int = 0
    cost: int | None = None
    size: int = 0
    hit_cost: int = 0
    write_cost: int = 0
    fresh_cost: int = 0
    output_cost: int = 0
    long_writes: int = 0
    long_write_cost: int = 0
    is_split: bool = False
    is_estimated: bool = False
    hit_rate: float | None = None
    before: int = 0
    is_stated: bool = False
    misses: int = 0
    miss_cost: int = 0
    waste: WasteKind | None = None


@dataclass(slots=True, eq=False)
class Segment:
    """A part of the context with one owner: `size` tokens from `start` on."""

    item: Item
    start: int
    size: int
    since: int  # calls of this context before the first that read it


_Edge = tuple[int, int, int]


@dataclass(slots=True, eq=False)
class Context:
    """One context: its segments in order, and the calls that were not added up yet.

    Attributes:
        position: Items of the chain that it has read.
        waiting: Characters of those that it has not.
        follows: The one that it seems to have replaced.
        began: Tokens that its first call read.
        calls: Calls that read it.
        shrinks: How often something was dropped.
        size: Tokens of all segments.
        cached: Tokens from the start on that were in the cache after the latest call.
        keeps_for_an_hour: Whether a call put something into the cache for an hour.
    """

    agent: str | None = None
    position: int = 0
    waiting: int = 0
    follows: Context | None = None
    began: int = 0
    calls: int = 0
    shrinks: int = 0
    size: int = 0
    cached: int = 0
    keeps_for_an_hour: bool = False
    latest: Charge | None = None
    own_words: Item | None = None
    segments: list[Segment] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)

    def grow(self, parts: Iterable[tuple[Item, int]]) -> None:
        """Put something behind what is there, before the call that reads it is charged."""
        since = len(self.charges)
        for item, size in parts:
            if size > 0:
                item.size += size
                self.segments.append(Segment(item, self.size, size, since))
                self.size += size

    def charge(self, charge: Charge) -> None:
        """Charge a call that reads all that is there; the turns of the calls before it have ended."""
        if len(self.charges) >= _EPOCH:
            self.settle()
        for segment in reversed(self.segments):
            if segment.since < len(self.charges):
                break
            end = segment.start + segment.size
            if charge.is_split:
                segment.item.entry_cost += cost_between(charge, segment.start, end)
            segment.item.entry_reading += segment.size
        self.charges.append(charge)
        self.began = self.began or charge.size
        self.calls += 1
        self.latest = charge
        self.keeps_for_an_hour = self.keeps_for_an_hour or charge.long_writes > 0

    def settle(self, *, open_calls: int = 0) -> None:
        """Add up what the calls so far charge to each segment, but for the latest `open_calls`."""
        ended = len(self.charges) - open_calls
        if ended <= 0:
            return
        _add_up(self.charges[:ended], self.segments, [segment.item for segment in self.segments])
        for segment in self.segments:
            segment.since = max(segment.since - ended, 0)
        del self.charges[:ended]

    def items(self) -> list[Item]:
        """Returns the items in the context, with their charges so far; the latest turn may still go on."""
        self.settle(open_calls=1)
        items = [copy(segment.item) for segment in self.segments]
        _add_up(self.charges, self.segments, items)
        return items

    def shrink(self, tokens: int, unchanged: int) -> list[Item]:
        """Take away what a call does not read any more.

        Args:
            unchanged: Tokens from the start on that are known to be the same, since the cache had them.

        Returns:
            Items of which nothing is left.
        """
        self.settle()
        behind = [segment for segment in self.segments if segment.start + segment.size > unchanged]
        # Thoughts are dropped first, the latest at the start of a turn; then what comes after the change.
        own = [segment for segment in reversed(behind) if segment.item.part is ContextPart.OWN_WORDS]
        rest = [segment for segment in behind if segment.item.part is not ContextPart.OWN_WORDS]
        for segment in (*own, *rest, *reversed(self.segments)):
            if not tokens:
                break
            share = min(tokens, segment.size)
            segment.size -= share
            tokens -= share
        self.shrinks += 1
        empty = [segment.item for segment in self.segments if not segment.size]
        self.segments = [segment for segment in self.segments if segment.size]
        if self.shrinks > _SHRINKS and len(self.segments) > 2 * _LATEST:
            # A context that changes all the time is not followed in all of its parts.
            older = self.segments[:-_LATEST]
            item = Item(older[0].item.event, ContextPart.UNRECORDED, None)
            item.size = sum(segment.size for segment in older)
            self.segments[:-_LATEST] = [Segment(item, 0, item.size, 0)]
            empty += [segment.item for segment in older]
        self.size = 0
        for segment in self.segments:
            segment.start = self.size
            self.size += segment.size
        return empty


def cost_between(charge: Charge, start: int, end: int) -> int:
    """Units that a call paid for the tokens from `start` to `end`."""
    total = 0
    for first, tokens, rate, rest in _ranges(charge):
        overlap = min(end, first + tokens) - max(start, first)
        if overlap > 0:
            total += overlap * rate + max(0, min(end, first + rest) - max(start, first))
    return total


def _ranges(charge: Charge) -> Iterator[tuple[int, int, int, int]]:
    """Yields the range of each class of tokens: start, tokens, units a token, and how many pay one more."""
    start = 0
    # What stays for longer stands first: https://docs.claude.com/en/docs/build-with-claude/prompt-caching
    for tokens, cost in (
        (charge.hits, charge.hit_cost),
        (charge.long_writes, charge.long_write_cost),
        (charge.writes - charge.long_writes, charge.write_cost - charge.long_write_cost),
        (charge.fresh, charge.fresh_cost),
    ):
        if tokens:
            yield start, tokens, *divmod(cost, tokens)
            start += tokens


def missed_ranges(charge: Charge) -> Iterator[tuple[int, int, int]]:
    """Yields the ranges that the cache missed, class by class: start, tokens, and units above a hit."""
    end = charge.hits + charge.misses
    for first, count, _, _ in _ranges(charge):
        start = max(first, charge.hits)
        tokens = min(end, first + count) - start
        if tokens > 0 and charge.hit_rate is not None:
            paid_cost = cost_between(charge, start, start + tokens)
            yield start, tokens, max(0, paid_cost - round(charge.hit_rate * tokens))


def _cost_edges(charges: list[Charge]) -> list[_Edge]:
    """Returns the edges at which the rates of calls change: the place, the step, and its useful part."""
    edges: list[_Edge] = []
    for charge in charges:
        useful = 1 if charge.waste is None else 0
        for start, tokens, rate, rest in _ranges(charge):
            edges += ((start, rate, useful * rate), (start + tokens, -rate, -useful * rate))
            if rest:
                edges += ((start, 1, useful), (start + rest, -1, -useful))
        if useful and charge.miss_cost:
            for start, tokens, above in missed_ranges(charge):
                rate, rest = divmod(above, tokens)
                edges += ((start, 0, -rate), (start + tokens, 0, rate))
                if rest:
                    edges += ((start, 0, -1), (start + rest, 0, 1))
    return edges


def _add_up(charges: list[Charge], segments: list[Segment], items: list[Item]) -> None:
    """Add what calls charge to the items of segments."""
    edges = [edge for charge in charges for edge in _token_edges(charge)]
    for item, (tokens, net) in zip(items, _sums(segments, edges), strict=True):
        item.reading += tokens
        item.net_reading += net
    edges = _cost_edges([charge for charge in charges if charge.is_split])
    if edges:
        for item, (cost, net) in zip(items, _sums(segments, edges), strict=True):
            item.cost += cost
            item.net_cost += net
    for item, segment in zip(items, segments, strict=True):
        item.reads += max(len(charges) - segment.since, 0)


def _token_edges(charge: Charge) -> tuple[_Edge, _Edge]:
    rate = 1 if charge.waste is None else 0
    return (0, 1, rate), (charge.size, -1, -rate)


def _sums(segments: list[Segment], edges: list[_Edge]) -> list[tuple[int, int]]:
    """Returns the cost of each segment, and the useful part of it; sorts the edges."""
    edges.sort(key=itemgetter(0))
    sums = []
    index, place = 0, 0
    rate = net_rate = 0
    for segment in segments:
        end = segment.start + segment.size
        cost = net = 0
        while index < len(edges) and edges[index][0] < end:
            at, step, net_step = edges[index]
            if at > place:
                cost += rate * (at - place)
                net += net_rate * (at - place)
                place = at
            rate += step
            net_rate += net_step
            index += 1
        cost += rate * (end - place)
        net += net_rate * (end - place)
        place = end
        sums.append((cost, net))
    return sums
