"""Puts hooks into the settings of a coding agent, and takes them out again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ebbtide.adapters.hooks.codecs import CODECS
from ebbtide.errors import ConfigError
from ebbtide.service.hooks.install import opencode_plugin
from ebbtide.service.hooks.install.hook_places import PLACES, HookPlace, client_command, is_ours, words_of
from ebbtide.service.hooks.install.settings_json import SettingsJson

AGENTS: Final = (*PLACES, "opencode")
_STATUS_LINE: Final = "statusLine"
_FLAGS: Final = ("--shadow", "--stop", "--decisions")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """Options of hooks.

    Args:
        decisions: Whether they keep what was decided, and hand it back after a compaction.
    """

    shadow: bool = False
    stops: bool = False
    status_line: bool = False
    decisions: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """For the client."""
        chosen = zip(_FLAGS, (self.shadow, self.stops, self.decisions), strict=True)
        return tuple(flag for flag, is_chosen in chosen if is_chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledHooks:
    """Hooks that are in a settings file.

    Args:
        flags: Their options, such as ``--stop``.
        absent: A program that they need and that is not there any more; None where all is there.
    """

    path: Path
    flags: tuple[str, ...] = ()
    absent: str | None = None
    command: tuple[str, ...] = ()


def install_hooks(agent: str, options: HookOptions, *, project: Path | None = None) -> Path:
    """Put the hooks of an agent into its settings, in the place of those that are there; the file.

    Args:
        agent: One of `AGENTS`.
        project: The folder of a project; None takes the settings of the user.

    Raises:
        ConfigError: The file cannot be read or written, or the agent cannot do it.
    """
    codec = CODECS[agent]
    if options.stops and not codec.can_end:
        raise ConfigError(
            f"--stop: no hook of {codec.title} can end a run; it hears what is wrong all the same"
        )
    if options.status_line and agent != "claude":
        raise ConfigError("--statusline: Claude Code alone has a status line that a command can fill")
    if options.decisions and agent != "claude":
        raise ConfigError("--decisions: Claude Code alone tells a hook of a compaction before and after it")
    if agent == "opencode":
        return opencode_plugin.install(options.flags, project)
    place = PLACES[agent]
    settings = SettingsJson(place.path(os.environ, project))
    hooks = _without_ours(settings)
    command = client_command(agent, *options.flags)
    handler = {"type": "command", "command": command, "timeout": place.timeout}
    for event, tools in place.events.items():
        matcher = {"matcher": tools} if tools else {}
        group = {**matcher, **handler} if place.is_flat else {**matcher, "hooks": [dict(handler)]}
        hooks.setdefault(event, []).append(group)
    settings.value |= {name: value for name, value in place.heading.items() if name not in settings.value}
    settings.value["hooks"] = hooks
    if options.status_line:
        line = settings.value.get(_STATUS_LINE)
        if isinstance(line, dict) and not is_ours(line.get("command")):
            raise ConfigError(
                f"{settings.path}: there is a status line already. Take it out first; nothing was changed"
            )
        settings.value[_STATUS_LINE] = {"type": "command", "command": client_command("statusline")}
    settings.write()
    return settings.path


def uninstall_hooks(agent: str, *, project: Path | None = None) -> Path | None:
    """Take the hooks of an agent out of its settings; the file, or None where there were none.

    Raises:
        ConfigError: The file cannot be read or written.
    """
    if agent == "opencode":
        return opencode_plugin.uninstall(project)
    place = PLACES[agent]
    settings = SettingsJson(place.path(os.environ, project))
    if not _commands(settings.value):
        return None
    original = settings.original()
    own = original or {}
    empty: dict[str, Any] = {event: [] for event, groups in _events(own).items() if groups == []}
    hooks = {**empty, **_without_ours(settings)}
    if hooks or "hooks" in own:
        settings.value["hooks"] = hooks
    else:
        settings.value.pop("hooks", None)
    if original is not None or settings.value == place.heading:
        for name in place.heading:
            if name not in own:
                settings.value.pop(name, None)
    line = settings.value.get(_STATUS_LINE)
    if isinstance(line, dict) and is_ours(line.get("command")):
        del settings.value[_STATUS_LINE]
    settings.restore()
    return settings.path


def find_hooks(agent: str, *, project: Path | None = None) -> InstalledHooks | None:
    """The hooks of an agent; None where there are none.

    Raises:
        ConfigError: The file cannot be read.
    """
    if agent == "opencode":
        path = opencode_plugin.path_of(project)
        if not path.exists():
            return None
        flags, programs = opencode_plugin.parts_of(path)
        command = (programs[0], "-I", "-S", *programs[1:], agent) if programs else ()
        return InstalledHooks(path=path, flags=flags, absent=_absent(programs), command=command)
    place: HookPlace = PLACES[agent]
    settings = SettingsJson(place.path(os.environ, project))
    commands = [command for command in _commands(settings.value) if not command.endswith("statusline")]
    if not commands:
        return None
    words = words_of(commands[0])
    flags = tuple(word for word in words if word in _FLAGS)
    absent = _absent(word for word in words if Path(word).is_absolute())
    return InstalledHooks(path=settings.path, flags=flags, absent=absent, command=tuple(words))


def _absent(programs: Iterable[str]) -> str | None:
    return next((program for program in programs if not Path(program).exists()), None)


def _commands(value: dict[str, Any]) -> list[str]:
    """Commands of ours."""
    groups = [group for groups in _events(value).values() for group in _list(groups)]
    handlers = [handler for group in groups for handler in _list(_get(group, "hooks"))]
    commands = [_get(handler, "command") for handler in [*groups, *handlers, value.get(_STATUS_LINE)]]
    return [command for command in commands if isinstance(command, str) and is_ours(command)]


def _without_ours(settings: SettingsJson) -> dict[str, Any]:
    """The hooks of others, each event with what it had.

    Raises:
        ConfigError: The hooks have another shape than this agent gives them.
    """
    hooks = settings.value.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise ConfigError(f"{settings.path}: `hooks` has a shape that is not known; nothing was changed")
    rest: dict[str, Any] = {}
    for event, groups in hooks.items():
        others = [other for group in groups if (other := _group_without_ours(group)) is not None]
        if others or not groups:
            rest[event] = others
    return rest


def _group_without_ours(group: Any) -> Any:
    """A group of handlers, or one handler, without those of ours; None where nothing is left."""
    if is_ours(_get(group, "command")):
        return None
    handlers = _list(_get(group, "hooks"))
    others = [handler for handler in handlers if not is_ours(_get(handler, "command"))]
    if len(others) == len(handlers):
        return group
    return {**group, "hooks": others} if others else None


def _events(value: dict[str, Any]) -> dict[str, Any]:
    """The hooks of a file by their event; none where they have another shape."""
    hooks = value.get("hooks")
    return hooks if isinstance(hooks, dict) else {}


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
