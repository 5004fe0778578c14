"""Finds the store that a setting means: a file, Redis, or the memory of this process."""

from __future__ import annotations

import os

from ebbtide.budget.shared.budget_store import BudgetStore
from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore
from ebbtide.errors import ConfigError, shown

_REDIS = ("redis://", "rediss://", "unix://")


def open_budget_store(place: object, folder: str = "") -> BudgetStore:
    """A store of budgets.

    Args:
        place: A path, ``redis://...``, or ``memory``.
        folder: Where a relative path begins.

    Raises:
        ConfigError: It is none of these, or what it needs is not installed.
        StoreError: The file cannot be opened.
    """
    if not isinstance(place, str) or not place or "\0" in place:
        raise ConfigError(
            f'store = {shown(place)}: expected a path such as "budgets.db" for the processes of this '
            'machine, "redis://host:6379/0" for many machines, or "memory" for one process'
        )
    if place == "memory":
        return SQLiteBudgetStore()
    if place.startswith(_REDIS):
        from ebbtide.budget.shared.redis_budget_store import RedisBudgetStore

        return RedisBudgetStore(place)
    if "://" in place:
        raise ConfigError(f"store = {shown(place)}: expected a path, redis://, rediss:// or unix://")
    return SQLiteBudgetStore(os.path.join(folder, os.path.expanduser(place)))  # noqa: PTH111, PTH118
