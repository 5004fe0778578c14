"""What is declared about tools: their effect, what counts as the same call, and thresholds of their own.

Nothing is guessed from the words of a name. A tool that is not declared is judged by what it does alone.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from typing import Any

from ebbtide.errors import ConfigError
from ebbtide.settings_file import read_settings
from ebbtide.text.name_table import NameTable


class Effect(StrEnum):
    """What calling a tool does."""

    READ = "read"  #: looks something up; the same answer again is no progress
    CHANGE = "change"  #: changes something; a new success means that what is looked up later may differ
    POLL = "poll"  #: asks whether something has happened; the same answer is fine for some time
    WAIT = "wait"  #: passes time; is never part of a loop
    CLOCK = "clock"  #: its answer moves by itself, which is no progress
    ACKNOWLEDGE = "acknowledge"  #: its answer only says "received"; the same answer says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """What is declared about one tool, or about all whose names match a pattern.

    Args:
        effect: None where it is not known.
        key_fields: Arguments that make the call what it is; the others are left out. None takes all.
        volatile_fields: Fields of a JSON answer that say nothing, such as a duration; ``a.b`` reaches inside.
        exempt: Leave the tool out of every rule; what it costs still counts.
        group: Name that it shares with tools that do the same, so that their calls count as one.
        repeats_at_least: Equal calls from which it is a loop; None as in the profile.
        same_answer_at_least: Calls in a row with other arguments and one answer; None as in the profile.
        failures_at_least: Failures in a row with one error; None as in the profile.

    Raises:
        ConfigError: A value that it cannot have.
    """

    effect: Effect | None = None
    key_fields: tuple[str, ...] | None = None
    volatile_fields: tuple[str, ...] = ()
    exempt: bool = False
    group: str | None = None
    repeats_at_least: int | None = None
    same_answer_at_least: int | None = None
    failures_at_least: int | None = None

    def __post_init__(self) -> None:
        if self.effect is not None:
            if self.effect not in tuple(Effect):
                raise ConfigError(f"effect = {self.effect!r}: expected one of {', '.join(Effect)}")
            object.__setattr__(self, "effect", Effect(self.effect))
        for name in ("key_fields", "volatile_fields"):
            value = getattr(self, name)
            if value is None and name == "key_fields":
                continue
            if not isinstance(value, list | tuple) or any(not isinstance(field, str) for field in value):
                raise ConfigError(f"{name} = {value!r}: expected a list of names")
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.exempt, bool):
            raise ConfigError(f"exempt = {self.exempt!r}: expected true or false")
        if self.group is not None and not isinstance(self.group, str):
            raise ConfigError(f"group = {self.group!r}: expected a text")
        for name in ("repeats_at_least", "same_answer_at_least", "failures_at_least"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 2):
                raise ConfigError(f"{name} = {value!r}: expected a whole number, 2 or more")

    def effect_of(self, args: object) -> Effect | None:
        """What a call with these arguments does."""
        return self.effect

    def head(self, name: str, args: object) -> str:
        """What a person would call the attempt."""
        return name

    def arguments(self, args: object) -> object:
        """The arguments that make a call what it is."""
        if self.key_fields is None or not isinstance(args, Mapping):
            return args
        return {name: args[name] for name in self.key_fields if name in args}

    def answer(self, result: object) -> object:
        """The answer without its volatile fields."""
        if not self.volatile_fields:
            return result
        if isinstance(result, str):
            if result.lstrip()[:1] not in ("{", "["):
                return result
            try:
                parsed = json.loads(result)
            except (ValueError, RecursionError):
                return result
            return self._stripped(parsed)
        return self._stripped(result)

    def _stripped(self, value: object) -> object:
        for field in self.volatile_fields:
            value = _without(value, field.split("."))
        return value


class ToolPolicies:
    """The declarations of all tools, by name or pattern.

    >>> policies = ToolPolicies.from_dict({"*_status": {"effect": "poll"}})
    >>> policies.get("job_status").effect.value
    'poll'
    """

    def __init__(self, table: Mapping[str, ToolPolicy] | None = None) -> None:
        self.table = dict(table or {})
        self._names = NameTable(self.table)

    def __bool__(self) -> bool:
        return bool(self.table)

    def get(self, name: str) -> ToolPolicy | None:
        """What is declared about the tool of that name, or None."""
        return self._names.get(name)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> ToolPolicies:
        """The declarations of a parsed TOML table: one table a tool.

        Raises:
            ConfigError: An unknown key or a value out of range.
        """
        names = [field.name for field in dataclasses.fields(ToolPolicy)]
        policies = {}
        for name, values in table.items():
            if not isinstance(values, Mapping):
                raise ConfigError(f"[tools.{name}]: expected a table")
            for key in values:
                if key not in names:
                    raise ConfigError(f"tools.{name}.{key}: no such setting; there are {', '.join(names)}")
            try:
                policies[name] = ToolPolicy(**values)
            except ConfigError as error:
                raise ConfigError(f"tools.{name}.{error}") from error
        return cls(policies)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ToolPolicies:
        """The table ``[tools]`` of a TOML file.

        Raises:
            ConfigError: No such file, not TOML, no such table, an unknown key or a value out of range.
        """
        return read_settings(path, cls.from_dict, section="tools")


def _without(value: object, path: list[str]) -> object:
    head, rest = path[0], path[1:]
    if isinstance(value, list | tuple):
        return [_without(item, path) for item in value]
    if not isinstance(value, Mapping) or head not in value:
        return value
    if not rest:
        return {key: item for key, item in value.items() if key != head}
    return {key: _without(item, rest) if key == head else item for key, item in value.items()}
