"""Checks of settings; each raises a ConfigError that names the setting."""

from __future__ import annotations

from ebbtide.errors import ConfigError


def unit(section: object, name: str) -> None:
    """Refuses what is no number from 0 to 1."""
    value = getattr(section, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{name} = {value!r}: expected a number from 0 to 1")


def at_least(section: object, name: str, least: int) -> None:
    """Refuses what is no whole number from `least` on."""
    value = getattr(section, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} = {value!r}: expected a whole number, {least} or more")


def flag(section: object, name: str) -> None:
    """Refuses what is neither true nor false."""
    value = getattr(section, name)
    if not isinstance(value, bool):
        raise ConfigError(f"{name} = {value!r}: expected true or false")
