"""Checks of values: each raises a ConfigError that names it, shows it and says what was expected."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TypeVar

from ebbtide.errors import ConfigError, shown

_Label = TypeVar("_Label", bound=StrEnum)


def whole(
    name: str, value: object, least: int, most: float = math.inf, *, expected: str | None = None
) -> None:
    """Refuse what is no whole number from `least` to `most`.

    >>> whole("turns", 0, 1)
    Traceback (most recent call last):
    ebbtide.errors.ConfigError: turns = 0: expected a whole number, 1 or more
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        bounds = f", {least} or more" if most == math.inf else f" from {least} to {most:.0f}"
        raise ConfigError(f"{name} = {shown(value)}: expected {expected or f'a whole number{bounds}'}")


def number(
    name: str,
    value: object,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    expected: str,
) -> None:
    """Refuse what is no finite number, or out of bounds.

    Args:
        name: What the message calls it.
        value: It.
        above: It has to be more than this.
        least: It has to be at least this.
        most: It has to be at most this.
        expected: What the message says of the bounds.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (above < value < math.inf and least <= value <= most)
    ):
        raise ConfigError(f"{name} = {shown(value)}: expected {expected}")


def share(name: str, value: object) -> None:
    """Refuse what is no number from 0 to 1."""
    number(name, value, least=0, most=1, expected="a number from 0 to 1")


def flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} = {shown(value)}: expected true or false")


def member(name: str, value: object, kind: type[_Label]) -> _Label:
    """Returns the label that a value is; refuses what is none of the kind."""
    if not isinstance(value, str) or value not in tuple(kind):
        raise ConfigError(f"{name} = {shown(value)}: expected one of {', '.join(kind)}")
    return kind(value)


def text(name: str, value: object) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} = {shown(value)}: expected a text")
