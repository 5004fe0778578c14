"""Sums of what sessions shipped and cost, by any key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ebbtide.budget.ledger.call_ledger import CallSums
from ebbtide.budget.tally import UNITS, usd
from ebbtide.shipped.outcome import SessionOutcome
from ebbtide.supervision.summary.run_shipped import Fate, Known


@dataclass(slots=True)
class ShippedSums:
    """Sums of sessions: costs are those of sessions with known commits, so that parts add up to the whole.

    Args:
        sessions: How many of them have commits here.
        unknown: How many changed files that no commit here has.
        unchanged: How many changed no file.
        sums: The calls of those with commits.
        fates: Changes by their fate.
        added: Lines of landed changes.
        surviving: Lines of them that remain; None where that is not known of one.
    """

    sessions: int
    unknown: int
    unchanged: int
    sums: CallSums
    fates: Counter[Fate]
    added: int
    surviving: int | None

    @classmethod
    def of(cls, items: Iterable[tuple[SessionOutcome, CallSums | None]]) -> ShippedSums:
        """Returns the sums of sessions with their calls; None where no call of a session is recorded."""
        group = cls(0, 0, 0, CallSums(), Counter(), 0, 0)
        for outcome, sums in items:
            group.unknown += outcome.known is Known.UNKNOWN
            group.unchanged += outcome.known is Known.NOTHING
            if outcome.known is not Known.COMMITS:
                continue
            group.sessions += 1
            if sums is not None:
                group._add(sums)
            for change in outcome.own:
                group.fates[change.fate] += 1
                if change.is_landed:
                    group.added += change.added
                    known = None not in (group.surviving, change.surviving)
                    group.surviving = (group.surviving or 0) + (change.surviving or 0) if known else None
        return group

    def _add(self, sums: CallSums) -> None:
        self.sums.calls += sums.calls
        self.sums.cost_units += sums.cost_units
        self.sums.unpriced += sums.unpriced

    @property
    def landed(self) -> int:
        """Changes that landed, and that nobody took back."""
        return self.fates[Fate.LANDED] + self.fates[Fate.REWRITTEN]

    @property
    def cost_usd(self) -> float | None:
        """Dollars of the sessions with commits, as far as prices are known; None where none is."""
        sums = self.sums
        return None if not sums.calls or (sums.unpriced and not sums.cost_units) else usd(sums.cost_units)

    @property
    def per_landed_usd(self) -> float | None:
        """Dollars for a landed change; None where the cost is unknown, or nothing landed."""
        return self._per(self.landed)

    @property
    def per_line_usd(self) -> float | None:
        """Dollars for a surviving line, likewise."""
        return self._per(self.surviving)

    def _per(self, number: int | None) -> float | None:
        return None if self.cost_usd is None or not number else self.sums.cost_units / UNITS / number

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        counts = {fate.value: self.fates[fate] for fate in Fate}
        has_any = self.sessions > 0
        return {
            "sessions": self.sessions,
            "unknown": self.unknown,
            "unchanged": self.unchanged,
            "cost_usd": self.cost_usd,
            "unpriced": self.sums.unpriced,
            "changes": counts if has_any else None,
            "lines_added": self.added if has_any else None,
            "lines_surviving": self.surviving if has_any else None,
            "usd_per_landed_change": self.per_landed_usd,
            "usd_per_surviving_line": self.per_line_usd,
        }


def grouped(
    items: Iterable[tuple[SessionOutcome, CallSums | None]], key: Callable[[SessionOutcome], str]
) -> dict[str, ShippedSums]:
    """Returns sums by a key, the dearest first."""
    parts: dict[str, list[tuple[SessionOutcome, CallSums | None]]] = {}
    for outcome, sums in items:
        parts.setdefault(key(outcome), []).append((outcome, sums))
    groups = {name: ShippedSums.of(part) for name, part in parts.items()}
    return dict(sorted(groups.items(), key=lambda item: (-item[1].sums.cost_units, item[0])))
