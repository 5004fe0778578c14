"""Sums of what runs took, as tables keep them: by quarter of an hour and model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.budget.tally import usd
from ebbtide.database.session import Session
from ebbtide.events.usage import Usage
from ebbtide.service.runs import statements
from ebbtide.service.runs.run_database import RunDatabase


@dataclass(slots=True)
class BookedRow:
    """The share of a model in a run, in a quarter of an hour.

    Args:
        units: Units of money of calls whose price is known.
        tokens: Of all classes.
        calls: Calls of models.
        unpriced: Calls with tokens whose price nobody knows.
    """

    units: int = 0
    tokens: int = 0
    calls: int = 0
    unpriced: int = 0

    def add(self, usage: Usage, cost_units: int | None, *, is_call: bool = True) -> None:
        """Count a call.

        Args:
            usage: What it took.
            cost_units: Units of money; None where nobody knows.
            is_call: Whether it is one, and not a part of a stated total.
        """
        self.units += cost_units or 0
        self.tokens += usage.tokens or 0
        self.calls += is_call
        self.unpriced += cost_units is None and usage.has_tokens


@dataclass(frozen=True, slots=True)
class BookedSums:
    """All that a run took.

    Args:
        rows: By quarter of an hour since 1970, and model; ``""`` where none is named.
    """

    rows: Mapping[tuple[int, str], BookedRow]

    @property
    def cost_usd(self) -> float | None:
        """Dollars as far as prices are known; None where none is."""
        cost = sum(row.units for row in self.rows.values())
        return None if not cost and any(row.unpriced for row in self.rows.values()) else usd(cost)

    @property
    def tokens(self) -> int:
        """Tokens of all classes."""
        return sum(row.tokens for row in self.rows.values())


def book(database: RunDatabase, sums: Mapping[str, BookedSums]) -> None:
    """Keep what runs took, in the place of what was kept of them; one that is not known is passed over.

    Args:
        database: The runs.
        sums: By run.

    Raises:
        StoreError: It cannot be written.
    """

    def write(session: Session) -> None:
        for run_id, booked in sums.items():
            found = session.rows(statements.BOOKED, (booked.cost_usd, booked.tokens, run_id))
            if not found:
                continue
            run = found[0][0]
            session.run("DELETE FROM spending WHERE run = ?", (run,))
            session.run_many(
                statements.SPENT,
                [
                    (run, quarter, model, usd(row.units), row.tokens, row.calls, row.unpriced)
                    for (quarter, model), row in booked.rows.items()
                ],
            )

    database.write(write)
