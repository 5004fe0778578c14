"""`ebbtide budgets ...`: what is left of the budgets, and what a person decides about them."""

from __future__ import annotations

from typing import Annotated

from ebbtide.cli.declaration import FILE, Argument, AsJson, CommandGroup, Option

budgets = CommandGroup(name="budgets", help="See what is left of budgets, and let somebody spend more.")

BudgetsFile = Annotated[
    str | None,
    Option("--budgets", metavar="FILE", type=FILE, help="TOML file with a table [budgets]."),
]
BudgetKey = Annotated[str, Argument(metavar="ID", help="As `ebbtide budgets list` shows it.")]


@budgets.command(name="list")
def list_budgets(
    budgets: BudgetsFile = None,
    limit: Annotated[
        int, Option("--limit", "-n", metavar="N", at_least=1, at_most=100_000, help="How many at most.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List the budgets: limit, spent, set aside for calls under way, left, and when they begin anew."""
    from ebbtide.cli.budgets import budget_table

    budget_table.print_standings(budget_table.opened(budgets), limit=limit, as_json=as_json)


@budgets.command()
def approve(key: BudgetKey, budgets: BudgetsFile = None, as_json: AsJson = False) -> None:
    """Let a budget go on beyond its soft limit, until it begins anew."""
    from ebbtide.cli.budgets import budget_table

    store = budget_table.opened(budgets)
    store.approve(budget_table.named(store, key))
    budget_table.print_standings(store, key, as_json=as_json)


@budgets.command()
def extend(
    key: BudgetKey,
    add: Annotated[float, Option("--add", metavar="USD", help="Dollars to add; below 0, to take away.")],
    budgets: BudgetsFile = None,
    as_json: AsJson = False,
) -> None:
    """Raise a budget, until it begins anew."""
    from ebbtide.cli.budgets import budget_table

    store = budget_table.opened(budgets)
    store.extend(budget_table.named(store, key), add)
    budget_table.print_standings(store, key, as_json=as_json)


@budgets.command()
def reset(key: BudgetKey, budgets: BudgetsFile = None, as_json: AsJson = False) -> None:
    """Let a budget begin anew now: what was spent, added and approved is forgotten."""
    from ebbtide.cli.budgets import budget_table

    store = budget_table.opened(budgets)
    store.reset(budget_table.named(store, key))
    budget_table.print_standings(store, key, as_json=as_json)
