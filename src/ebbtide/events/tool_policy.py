"""Declarations about tools: their effect, what counts as the same call, and thresholds of their own.

Nothing is guessed from the words of a name. A tool that is not declared is judged by what it does alone.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from typing import Any, TypeGuard

from ebbtide.checks import flag, text, whole
from ebbtide.errors import ConfigError, expect, shown
from ebbtide.events.effect import Effect
from ebbtide.events.pace import COMMENTS, without_pace
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.events.sql_effect import sql_effect
from ebbtide.settings_file import meant, read_settings, refuse_unknown
from ebbtide.text.name_table import NameTable

_SEPARATOR = re.compile("[.:/]")
_WAITING = ("sleep", "wait", "watch", "Sleep", "status", "follow", "-f", "timeout", "read ")
_STATEMENTS = ("sql", "query", "statement")
_PASSING = (Effect.POLL, Effect.WAIT)
_REMEMBERED = 256  # names whose answer is kept: a model can make up any number of names


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """Declaration about one tool, or about all whose names match a pattern.

    Args:
        effect: Its effect if nothing below says more; None if it is not known.
        command: The argument that holds a shell command: what that does, the call does.
        by: Its effect by the value of one argument: ``{"argument": "action", "read": ["view"], ...}``; a
            missing argument counts as an empty text.
        sql: The argument that holds SQL.
        http: The argument that holds a method of HTTP.
        spawns: The argument that holds the order of an agent that the call starts.
        key_fields: Arguments that make the call what it is; the others are left out. None takes all.
        volatile_fields: Fields of a JSON answer that say nothing, such as a duration; ``a.b`` reaches inside.
        noise: Patterns of what says nothing in an answer: they are taken out of it.
        failure: Patterns of answers that mean that the call failed, where nothing else says so.
        ends: The outcome of the work when it is called, a `RunOutcome`, with a pattern that its arguments
            must have, as JSON; an empty one fits all. The first that fits counts.
        exempt: Leave the tool out of every rule; what it costs still counts.
        group: Name that it shares with tools that do the same, so that their calls count as one.
        repeats_at_least: Equal calls from which it is a loop; None as in the profile.
        same_answer_at_least: Calls in a row with other arguments and one answer; None as in the profile.
        failures_at_least: Failures in a row with one error; None as in the profile.

    Raises:
        ConfigError: A value that it cannot have.
    """

    effect: Effect | None = None
    command: str | None = None
    by: Mapping[str, Any] | None = None
    sql: str | None = None
    http: str | None = None
    spawns: str | None = None
    key_fields: tuple[str, ...] | None = None
    volatile_fields: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    exempt: bool = False
    group: str | None = None
    repeats_at_least: int | None = None
    same_answer_at_least: int | None = None
    failures_at_least: int | None = None
    source: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.effect is not None:
            if not isinstance(self.effect, str) or self.effect not in tuple(Effect):
                expected = f"expected one of {', '.join(Effect)}"
                like = meant(self.effect, Effect) if isinstance(self.effect, str) else ""
                raise ConfigError(f"effect = {shown(self.effect)}: {expected}{like}")
            object.__setattr__(self, "effect", Effect(self.effect))
        for name in ("key_fields", "volatile_fields", "noise", "failure"):
            value = getattr(self, name)
            if value is None and name == "key_fields":
                continue
            if not isinstance(value, list | tuple) or any(not isinstance(item, str) for item in value):
                raise ConfigError(f"{name} = {shown(value)}: expected a list of names")
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.ends, Mapping) or not all(
            isinstance(part, str) for part in self.ends.values()
        ):
            raise ConfigError(f"ends = {shown(self.ends)}: expected a table of patterns")
        for name in self.ends:
            if name not in tuple(RunOutcome):
                raise ConfigError(f"ends.{name}: no such outcome; there are {', '.join(RunOutcome)}")
        for pattern in (*self.noise, *self.failure, *self.ends.values()):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ConfigError(f"{shown(pattern)} is not a regular expression: {error}") from error
        if self.by is not None:
            object.__setattr__(self, "by", _by_value(self.by))
        flag("exempt", self.exempt)
        for name in ("group", "command", "sql", "http", "spawns"):
            if (value := getattr(self, name)) is not None:
                text(name, value)
        for name in ("repeats_at_least", "same_answer_at_least", "failures_at_least"):
            if (value := getattr(self, name)) is not None:
                whole(name, value, 2)

    @property
    def says_effect(self) -> bool:
        """True if anything is declared about what the tool does."""
        return any(part is not None for part in (self.effect, self.command, self.by, self.sql, self.http))

    def effect_of(self, args: object) -> Effect | None:
        """Returns the effect of a call with these arguments; None if it is not known."""
        if self.command is None and self.by is None and self.sql is None and self.http is None:
            return self.effect
        if isinstance(args, str):
            args = _from_text(args, self.command or self.sql)
        if not _is_table(args):
            return self.effect
        if self.by is not None:
            value = args.get(self.by["argument"], "")
            effect = self.by["effects"].get(str(value).lower() if isinstance(value, str | bool) else "?")
            if effect is not None:
                return Effect(effect)
        # These bring the tables of commands, which a run without them need not wait for.
        if self.command is not None and (command := _command(args.get(self.command))) is not None:
            from ebbtide.events.shell_commands import shell_effect

            return shell_effect(command)
        if self.sql is not None:
            # Servers of one name differ in what they call the statement.
            for name in (self.sql, *_STATEMENTS):
                if isinstance(statement := args.get(name), str):
                    return sql_effect(statement)
        if self.http is not None:
            method = str(args.get(self.http) or "GET").upper()
            return Effect.READ if method in {"GET", "HEAD", "OPTIONS"} else Effect.CHANGE
        return self.effect

    def order_of(self, args: object) -> str | None:
        """Returns the order of the agent that a call with these arguments starts; None if it starts none."""
        order = args.get(self.spawns) if self.spawns is not None and _is_table(args) else None
        return order if isinstance(order, str) and order else None

    def outcome_of(self, args: object) -> RunOutcome | None:
        """Returns the outcome of the work that a call with these arguments ends; None if it ends none."""
        if not self.ends:
            return None
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False, default=str)
        return next(
            (RunOutcome(name) for name, pattern in self.ends.items() if re.search(pattern, text)), None
        )

    def is_command(self, args: object) -> bool:
        """Returns True if the call gives a command to a shell."""
        return self.command is not None and (
            isinstance(args, str) or (_is_table(args) and self.command in args)
        )

    def may_wait(self, args: object) -> bool:
        """Returns True if a command may be one that waits; looking for the words of those is cheap."""
        if not _is_table(args):
            return True
        command = args.get(self.command)
        if not isinstance(command, str):
            return True
        for word in _WAITING:  # noqa: SIM110 - `any` takes twice the time
            if word in command:
                return True
        return False

    def head(self, name: str, args: object) -> str:
        """Returns the name that a person would give the call: its tool, and in a shell the command."""
        if self.command is None:
            return name
        if isinstance(args, str):
            args = _from_text(args, self.command)
        command = _command(args.get(self.command)) if isinstance(args, Mapping) else None
        if command is None:
            return name
        from ebbtide.events.shell_commands import command_name

        return command_name(command) or name

    def failed(self, answer: object) -> bool:
        """Returns True if an answer says that the call failed, by the patterns declared for it."""
        return (
            bool(self.failure)
            and isinstance(answer, str)
            and _any_of(self.failure).search(answer) is not None
        )

    def over(self, other: ToolPolicy) -> ToolPolicy:
        """Returns this declaration, completed by another one where it is silent."""
        silent = {
            name: getattr(other, name)
            for name in ("key_fields", "volatile_fields", "noise", "failure", "ends")
            if not getattr(self, name)
        }
        if self.spawns is None:
            silent["spawns"] = other.spawns
        if not self.says_effect:
            silent |= {name: getattr(other, name) for name in ("effect", "command", "by", "sql", "http")}
        return dataclasses.replace(self, **silent)

    def arguments(self, args: object, effect: Effect | None = None) -> object:
        """Returns the arguments that make a call what it is.

        Args:
            args: All of them.
            effect: Its effect, as far as it is known: of a call that passes time, its pace is no part of it.
        """
        if self.key_fields is not None:
            if isinstance(args, Mapping):
                return {name: args[name] for name in self.key_fields if name in args}
            return args
        if effect in _PASSING:
            return without_pace(args, self.command)
        if self.command is not None and type(args) is dict and not COMMENTS.isdisjoint(args):
            return {name: value for name, value in args.items() if name not in COMMENTS}
        return args

    def answer(self, result: object) -> object:
        """Returns the answer without its noise and its volatile fields."""
        if self.noise and isinstance(result, str):
            result = _any_of(self.noise).sub("", result)
        if not self.volatile_fields:
            return result
        if isinstance(result, str):
            if result.lstrip()[:1] not in ("{", "["):
                return result
            try:
                parsed = json.loads(result)
            except (ValueError, RecursionError):
                return result
            return self._without_volatile_fields(parsed)
        return self._without_volatile_fields(result)

    def _without_volatile_fields(self, value: object) -> object:
        for path in self.volatile_fields:
            value = _without(value, path.split("."))
        return value


class ToolPolicies:
    """Declarations of all tools, by name or pattern.

    >>> policies = ToolPolicies.from_dict({"*_status": {"effect": "poll"}})
    >>> policies.get("job_status").effect.value
    'poll'
    """

    def __init__(
        self, table: Mapping[str, ToolPolicy] | None = None, *, fallback: ToolPolicies | None = None
    ) -> None:
        expect("table", table, Mapping, optional=True)
        expect("fallback", fallback, ToolPolicies, optional=True)
        self.table = dict(table or {})
        self._names = NameTable(self.table)
        self._fallback = fallback
        self._policies: dict[str, ToolPolicy | None] = {}

    def __bool__(self) -> bool:
        return bool(self.table) or bool(self._fallback)

    def get(self, name: str) -> ToolPolicy | None:
        """Returns the declaration of the tool of that name, or None.

        The whole name comes first, then the name without that of an MCP server or a namespace:
        ``mcp__github__create_issue``, ``mcp_github_create_issue``, ``github.create_issue``.
        """
        try:
            return self._policies[name]
        except Exception:  # noqa: BLE001 - it is not there, or is no name at all
            policy = self._find(name)
            if len(self._policies) >= _REMEMBERED:
                self._policies.clear()
            self._policies[name] = policy
            return policy

    @property
    def fallback(self) -> ToolPolicies | None:
        """The declarations that are asked where these are silent."""
        return self._fallback

    def over(self, other: ToolPolicies) -> ToolPolicies:
        """Returns these declarations first, and another table's where they are silent."""
        return ToolPolicies(self.table, fallback=other)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> ToolPolicies:
        """Returns the declarations of a parsed TOML table: one table a tool.

        Raises:
            ConfigError: An unknown key or a value out of range.
        """
        expect("table", table, Mapping)
        known = [item.name for item in dataclasses.fields(ToolPolicy) if item.name != "source"]
        policies: dict[str, ToolPolicy] = {}
        for name, values in table.items():
            if not isinstance(name, str):
                raise ConfigError(f"tools: {shown(name)}: expected the name of a tool")
            if not isinstance(values, Mapping):
                raise ConfigError(f"[tools.{name}]: expected a table")
            refuse_unknown(values, known, of=f"tools.{name}.")
            try:
                policies[name] = ToolPolicy(**values, source="your file")
            except ConfigError as error:
                raise ConfigError(f"tools.{name}.{error}") from error
        return cls(policies)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ToolPolicies:
        """Returns the table ``[tools]`` of a TOML file.

        Raises:
            ConfigError: No such file, not TOML, no such table, an unknown key or a value out of range.
        """
        return read_settings(path, cls.from_dict, section="tools")

    def _find(self, name: str) -> ToolPolicy | None:
        expect("name", name, str)
        own = self._names.get(name)
        bare = bare_name(name)
        if own is None and bare != name:
            own = self._names.get(bare)
        other = None if self._fallback is None else self._fallback.get(name)
        return own.over(other) if own is not None and other is not None else own or other


def bare_name(name: str) -> str:
    """Returns the name of a tool without that of its MCP server or namespace.

    >>> [bare_name(name) for name in ("mcp__github__create_issue", "mcp_github_list_tags", "functions.exec")]
    ['create_issue', 'list_tags', 'exec']
    """
    if name.startswith("mcp__"):
        return name.split("__", 2)[-1]
    if name.startswith("mcp_"):
        return name.split("_", 2)[-1]
    return _SEPARATOR.split(name)[-1] or name


@lru_cache(maxsize=256)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.MULTILINE)


def _by_value(by: object) -> Mapping[str, Any]:
    if not isinstance(by, Mapping) or not isinstance(by.get("argument"), str):
        raise ConfigError(f"by = {shown(by, 80)}: expected a table with argument = ...")
    if "effects" in by:
        return by
    effects: dict[str, Effect] = {}
    for name, values in by.items():
        if name == "argument":
            continue
        if name not in tuple(Effect):
            raise ConfigError(f"by.{name}: no such effect; there are {', '.join(Effect)}")
        for value in [values] if isinstance(values, str) else values:
            effects[str(value).lower()] = Effect(name)
    return {"argument": by["argument"], "effects": effects}


def _from_text(args: str, argument: str | None) -> object:
    """Returns arguments that were recorded as a text: JSON, or the one argument itself."""
    if args.lstrip()[:1] == "{":
        try:
            return json.loads(args)
        except (ValueError, RecursionError):
            return None
    return {argument: args} if argument is not None else None


def _is_table(args: object) -> TypeGuard[Mapping[Any, Any]]:
    """Returns True for arguments with names: mostly a dict, which takes the least time to ask for."""
    return type(args) is dict or isinstance(args, Mapping)


def _command(value: object) -> str | list[str] | None:
    if isinstance(value, str):
        return value
    return [str(word) for word in value] if isinstance(value, list | tuple) and value else None


def _without(value: object, path: list[str]) -> object:
    head, rest = path[0], path[1:]
    if isinstance(value, list | tuple):
        return [_without(item, path) for item in value]
    if not isinstance(value, Mapping) or head not in value:
        return value
    if not rest:
        return {key: item for key, item in value.items() if key != head}
    return {key: _without(item, rest) if key == head else item for key, item in value.items()}
