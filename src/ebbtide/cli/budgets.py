"""`ebbtide budgets ...`: what is left of the budgets, and what a person decides about them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from ebbtide.budget.shared.budget_standing import BudgetStanding
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.budget.tally import dollars
from ebbtide.cli.declaration import FILE, Argument, CommandGroup, Option
from ebbtide.cli.result import Result
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line
from ebbtide.errors import ConfigError
from ebbtide.settings_file import meant

_HEADERS = ("id", "limit", "spent", "set aside", "left", "resets")
_RIGHT = (1, 2, 3, 4)
_LEAST_WIDTH = 16  # of the last column

budgets = CommandGroup(name="budgets", help="See what is left of budgets, and allow more spending.")

BudgetsFile = Annotated[
    str | None,
    Option("--budgets", metavar="FILE", type=FILE, help="TOML file with a [budgets] table."),
]
BudgetKey = Annotated[str, Argument(metavar="ID", help="Id of a budget, as `ebbtide budgets list` shows it.")]


@budgets.command(name="list")
def list_budgets(
    budgets: BudgetsFile = None,
    limit: Annotated[
        int, Option("--limit", "-n", metavar="N", at_least=1, at_most=100_000, help="Maximum number of rows.")
    ] = 50,
) -> Result:
    """List the budgets and what is left of each.

    The columns are the limit, the amounts spent, set aside for calls under way and left, and the next reset.
    """
    return _standings(_opened(budgets), limit=limit)


@budgets.command()
def approve(key: BudgetKey, budgets: BudgetsFile = None) -> Result:
    """Let a budget continue past its soft limit until its next reset."""
    store = _opened(budgets)
    store.approve(_named(store, key))
    return _standings(store, key)


@budgets.command()
def extend(
    key: BudgetKey,
    add: Annotated[
        float, Option("--add", metavar="USD", help="Dollars to add; a negative number subtracts.")
    ],
    budgets: BudgetsFile = None,
) -> Result:
    """Raise a budget until its next reset."""
    store = _opened(budgets)
    store.extend(_named(store, key), add)
    return _standings(store, key)


@budgets.command()
def reset(key: BudgetKey, budgets: BudgetsFile = None) -> Result:
    """Reset a budget now.

    The amounts spent and added, and the approval, are cleared.
    """
    store = _opened(budgets)
    store.reset(_named(store, key))
    return _standings(store, key)


def _opened(file: str | None) -> Budgets:
    """The budgets of a file.

    Raises:
        ConfigError: There is none, or it cannot be used.
        StoreError: Their store cannot be opened.
    """
    if file is None:
        raise ConfigError(
            "there are no budgets: add a [budgets] table to ebbtide.toml, or pass --budgets FILE"
        )
    return Budgets.load(file)


def _named(budgets: Budgets, key: str) -> str:
    """The id of a budget.

    Raises:
        ConfigError: There is none of this id.
    """
    keys = [standing.key for standing in budgets.standings()]
    if key not in keys:
        raise ConfigError(
            f"no budget has the id {key!r:.80}; `ebbtide budgets list` shows them{meant(key, keys)}"
        )
    return key


def _standings(budgets: Budgets, key: str | None = None, *, limit: int | None = None) -> Result:
    """Returns the budgets, or one.

    Args:
        key: The id of one; None returns all.
        limit: How many at most; None sets no limit.

    Raises:
        StoreError: Their store cannot be asked.
    """
    every = [each for each in budgets.standings() if key in (None, each.key)]
    standings = every[:limit]

    def wire() -> dict[str, Any]:
        return {"schema": 1, "budgets": [standing.to_dict() for standing in standings]}

    def text(width: int) -> Iterator[Line]:
        if not standings:
            yield Line("Nothing has been spent yet.")
            return
        table = Table(*_HEADERS, right=_RIGHT, least=_LEAST_WIDTH)
        for standing in standings:
            table.add(*_row(standing))
        yield from table.lines(width)
        if len(every) > len(standings):
            yield Line(f"{len(every) - len(standings):,} more: --limit {len(every)}")

    return Result(wire, text)


def _row(standing: BudgetStanding) -> list[Line]:
    rest_usd = standing.left_usd
    style = "bold red" if rest_usd == 0.0 else ""
    resets_at = standing.resets_at
    parts = ["never" if resets_at is None else f"{datetime.fromtimestamp(resets_at, UTC):%Y-%m-%d %H:%M} UTC"]
    if standing.soft_usd is not None:
        is_near = standing.spent_usd + standing.reserved_usd >= standing.soft_usd
        state = "approved" if standing.is_approved else "a person is asked" if is_near else "asks"
        parts.append(f"{state} from {dollars(standing.soft_usd)}")
    if standing.unpriced_calls:
        calls = standing.unpriced_calls
        parts.append(f"{calls} call{'s' * (calls != 1)} without a price")
    return [
        Line.safe(standing.key),
        Line("none" if standing.limit_usd is None else dollars(standing.limit_usd)),
        Line(dollars(standing.spent_usd)),
        Line(dollars(standing.reserved_usd)),
        Line("" if rest_usd is None else dollars(rest_usd), style),
        Line("; ".join(parts)),
    ]
