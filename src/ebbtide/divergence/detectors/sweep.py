"""Reading that goes over known ground: a second sweep over pages, and ranges inside what was read.

Both look at whole numbers among flat arguments and need no word of theirs. Pages: all but the numbers
stays, one number climbs, falls back to where it began, and climbs again over calls whose answers are known.
Ranges: two numbers beside a text are read as start and length. Where they are start and end, that reading
takes each range for longer than it is, and a range inside a range is still inside it.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass, field

from ebbtide.bounded import Bounded
from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.loop_kinds import LoopKind

_RESOURCES = 8  # that are followed at once
_TOOLS = 16  # whose latest numbers are known
_RANGES = 16  # that one resource may consist of


@dataclass(slots=True)
class Reading:
    """Progress of the reads of one resource."""

    numbers: tuple[int, ...]
    begin: int  # where the sweep began
    has_text: bool  # whether there is a text among the arguments
    pages: int = 1  # pages of the sweep so far
    again: int = 0  # pages of the second one
    again_event: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)
    covered: int = 0  # reads in a row inside the ranges
    covered_event: int = 0


class Sweeps(Detector):
    """Follows how resources are read, page by page or range by range."""

    readings: Bounded[Key, Reading] = Bounded(_RESOURCES)
    numbers: dict[str, tuple[int, ...]] = {}  # tool -> the numbers of its latest call

    def see(self, moment: Moment) -> Finding | None:
        """Take one more call."""
        args = moment.args
        if not moment.has_numbers or not isinstance(args, dict):
            return None
        name, event = moment.name, moment.number
        numbers = tuple([value for value in args.values() if type(value) is int])
        if self.numbers.get(name) == numbers:  # numbers that stand still, such as a depth, read no pages
            return None
        if len(self.numbers) >= _TOOLS:
            self.numbers.clear()
        self.numbers[name] = numbers
        rest = [name]
        has_text = False
        for key, value in args.items():
            rest.append(key)
            if type(value) is not int:
                rest.append(value)
                has_text = has_text or (type(value) is str and value != "")
        resource = marshal.dumps(rest, 2)
        if len(resource) > 64:
            resource = key_of(resource)
        reading = self.readings.get(resource)
        if reading is None:
            reading = self.readings[resource] = Reading(numbers, numbers[0], has_text)
            self._cover(reading)
            return None
        before, reading.numbers = reading.numbers, numbers
        if (
            self._page(reading, before, event, known=not moment.has_news)
            and self._rules.sweep_pages is not None
        ):
            return self._finding(LoopKind.SWEEP, name, resource, reading.again, 2, reading.again_event)
        within = self._cover(reading)
        if moment.memory is not None:
            return None
        reading.covered = reading.covered + 1 if within else 0
        if reading.covered == 1:
            reading.covered_event = event
        least = self._rules.covered
        if least is None or reading.covered < least:
            return None
        return self._finding(
            LoopKind.COVERED_RANGE, name, resource, reading.covered, least, reading.covered_event
        )

    def _page(self, reading: Reading, before: tuple[int, ...], event: int, *, known: bool) -> bool:
        """True if this page goes on with a second sweep."""
        numbers = reading.numbers
        if numbers == before:
            return False
        old, new = next((old, new) for old, new in zip(before, numbers, strict=True) if old != new)
        if new > old:
            if not reading.again:
                reading.pages += 1
                return False
            reading.again = reading.again + 1 if known else 0
            return reading.again > 1
        if known and new <= reading.begin and reading.pages >= (self._rules.sweep_pages or 0):
            reading.again = 1
            reading.again_event = event
        else:
            reading.again = 0
            reading.begin, reading.pages = new, 1
        return False

    def _cover(self, reading: Reading) -> bool:
        """True if the range lies inside what was read; it belongs to that from now on."""
        numbers, ranges = reading.numbers, reading.ranges
        if len(numbers) != 2 or not reading.has_text or numbers[0] < 0 or numbers[1] < 1:
            return False
        low, high = numbers[0], numbers[0] + numbers[1]
        apart = []
        for start, end in ranges:
            if start <= low and high <= end:
                return True
            if end < low or high < start:
                apart.append((start, end))
            else:
                low, high = min(low, start), max(high, end)
        reading.ranges = [*apart[-_RANGES + 1 :], (low, high)]
        return False

    def _finding(  # noqa: PLR0917
        self, kind: LoopKind, name: str, resource: Key, count: int, at: int, first: int
    ) -> Finding:
        return Finding(
            kind=kind,
            key=key_of(kind, resource),
            count=count,
            at=at,
            calls=count,
            first_event=first,
            begins=count == at,
            tools=(name,),
            is_proof=False,
            step=at if kind is LoopKind.COVERED_RANGE else self._rules.sweep_pages,
        )


def known_sweep(number: int) -> ToolCall:
    """An event of a run that reads twelve pages again and again."""
    page = number % 12
    return probe_call(number, f"page {page}", path="log", offset=100 * page, limit=100)


def known_covered_range(number: int) -> ToolCall:
    """An event of a run that reads parts of what it read as a whole."""
    if number == 0:
        return probe_call(0, "all of it", path="a", offset=0, limit=4_000)
    return probe_call(number, f"part {number}", path="a", offset=number, limit=3_000 - 7 * number)
