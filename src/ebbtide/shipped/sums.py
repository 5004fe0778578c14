"""Sums of what sessions shipped and cost, by any key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ebbtide.budget.tally import UNITS, units, usd
from ebbtide.codec import Record
from ebbtide.supervision.summary.run_shipped import Fate, Known, RunShipped


@dataclass(slots=True)
class ShippedSums(Record):
    """Sums of sessions: costs are those of sessions with known commits, so that parts add up to the whole.

    Args:
        sessions: How many of them have commits here.
        unknown: How many changed files that no commit here has.
        unchanged: How many changed no file.
        cost_units: What those with commits cost, as far as prices are known; None where none is.
        unpriced: Their calls without a price.
        fates: Changes by their fate.
        surviving: Lines of them that remain; None where that is not known of one.
    """

    _WIRE: ClassVar = """
        sessions unknown unchanged cost_usd unpriced changes lines_added lines_surviving
        usd_per_landed_change usd_per_surviving_line
    """

    sessions: int = 0
    unknown: int = 0
    unchanged: int = 0
    cost_units: int | None = None
    unpriced: int = 0
    fates: Counter[Fate] = field(default_factory=Counter)
    added: int = 0
    surviving: int | None = 0

    @classmethod
    def of(cls, items: Iterable[RunShipped]) -> ShippedSums:
        """Returns the sums of sessions."""
        sums = cls()
        for item in items:
            sums.add(item)
        return sums

    def add(self, shipped: RunShipped) -> None:
        """Add one more session."""
        self.unknown += shipped.known is Known.UNKNOWN
        self.unchanged += shipped.known is Known.NOTHING
        if shipped.known is not Known.COMMITS:
            return
        self.sessions += 1
        self.unpriced += shipped.unpriced
        if shipped.cost_usd is not None:
            self.cost_units = (self.cost_units or 0) + units(shipped.cost_usd)
        self.fates.update(commit.fate for commit in shipped.own)
        self.added += shipped.lines_added or 0
        surviving = shipped.lines_surviving
        self.surviving = None if self.surviving is None or surviving is None else self.surviving + surviving

    def changes_of(self, *fates: Fate) -> int | None:
        """Changes with these fates; None where no session has commits."""
        return sum(self.fates[fate] for fate in fates) if self.sessions else None

    @property
    def changes(self) -> dict[str, int] | None:
        """Changes by their fate; None where no session has commits."""
        return {fate.value: self.fates[fate] for fate in Fate} if self.sessions else None

    @property
    def landed(self) -> int | None:
        """Changes that landed, and that nobody took back."""
        return self.changes_of(Fate.LANDED, Fate.REWRITTEN)

    @property
    def reverted(self) -> int | None:
        """Changes that were taken back."""
        return self.changes_of(Fate.REVERTED)

    @property
    def open(self) -> int | None:
        """Changes on other branches."""
        return self.changes_of(Fate.OPEN)

    @property
    def lost(self) -> int | None:
        """Changes on no branch."""
        return self.changes_of(Fate.LOST)

    @property
    def lines_added(self) -> int | None:
        """Lines of landed changes."""
        return self.added if self.sessions else None

    @property
    def lines_surviving(self) -> int | None:
        """Lines of them that remain; None where that is not known of one."""
        return self.surviving if self.sessions else None

    @property
    def cost_usd(self) -> float | None:
        """Dollars of the sessions with commits, as far as prices are known; None where none is."""
        return None if self.cost_units is None else usd(self.cost_units)

    @property
    def usd_per_landed_change(self) -> float | None:
        """Dollars for a landed change; None where the cost is unknown, or nothing landed."""
        return self._per(self.landed)

    @property
    def usd_per_surviving_line(self) -> float | None:
        """Dollars for a surviving line, likewise."""
        return self._per(self.surviving)

    def _per(self, number: int | None) -> float | None:
        return None if self.cost_units is None or not number else self.cost_units / UNITS / number


def grouped(items: Iterable[tuple[str, RunShipped]]) -> dict[str, ShippedSums]:
    """Returns sums of sessions by a name, the dearest first."""
    groups: dict[str, ShippedSums] = {}
    for name, shipped in items:
        groups.setdefault(name, ShippedSums()).add(shipped)
    return dict(sorted(groups.items(), key=lambda item: (-(item[1].cost_units or 0), item[0])))
