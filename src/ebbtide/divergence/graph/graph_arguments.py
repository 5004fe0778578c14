"""Arguments of an execution graph, checked: bounds, groups of names, amounts."""

from __future__ import annotations

from collections.abc import Mapping

from ebbtide.errors import ConfigError, expect, shown
from ebbtide.text.name_table import NameTable

MOST = 1e12  #: dollars or tokens of one node: sums and rates of such stay finite


def bound(name: str, value: int | None, most: int) -> int | None:
    """A whole number from 1 to `most`, or None.

    Raises:
        ConfigError: It is something else.
    """
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most
    ):
        raise ConfigError(f"{name} = {shown(value)}: expected a whole number, 1 to {most:,}, or None")
    return value


def name_groups(groups: Mapping[str, str]) -> NameTable[str]:
    """Names and patterns with the group that each belongs to.

    Raises:
        ConfigError: A name or a group is no text.
    """
    expect("groups", groups, Mapping)
    for pattern, group in groups.items():
        if not (isinstance(pattern, str) and isinstance(group, str)):
            raise ConfigError(f"groups[{shown(pattern)}] = {shown(group)}: expected the name of a group")
    return NameTable(groups)


def check_amount(name: str, value: float, kinds: type | tuple[type, ...]) -> None:
    """Refuse what is no amount of dollars or tokens.

    Raises:
        ConfigError: It is negative, larger than `MOST`, or not of one of the kinds.
    """
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value <= MOST:
        raise ConfigError(f"{name} = {shown(value)}: expected a number from 0 to {MOST:g}; None if not known")
