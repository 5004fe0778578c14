"""The limits that options and a file set together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.errors import ConfigError
from ebbtide.settings_file import read_settings


def limits_table(
    file: str | None, most: Mapping[str, float | None], when_unknown: str | None = None
) -> dict[str, Any]:
    """The limits that options set, by their names in the file.

    Raises:
        ConfigError: The file cannot be used.
    """
    from ebbtide.budget.limits import LimitKind

    table: dict[str, Any] = {} if file is None else read_settings(file, _limits_table)
    for name, value in most.items():
        if value is not None:
            whole = LimitKind(name) not in (LimitKind.COST_USD, LimitKind.WALL_S)
            table[name] = int(value) if whole else value
    if when_unknown is not None:
        table["when_unknown"] = when_unknown
    return table


def _limits_table(table: Mapping[str, Any]) -> dict[str, Any]:
    from ebbtide.budget.limits import Limits

    inside = table.get("limits", table)
    if not isinstance(inside, dict):
        raise ConfigError(f"limits = {inside!r:.60}: expected a table")
    Limits.from_dict(inside)
    return dict(inside)
