"""`--show-config`: every setting, its value, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from ebbtide.cli.result import Result
from ebbtide.cli.settings.options import current_settings
from ebbtide.cli.settings.project_settings import KEYS, ProjectSettings
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, plain
from ebbtide.codec import Record

_DEFAULT, _COMMAND_LINE = "default", "command line"
_NOTHING = {"prices": "public prices, where they are installed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSetting(Record):
    """One setting.

    Args:
        name: As in the file.
        value: What holds; None where nothing is set.
        source: A file, "default" or "command line".
        line: In that file, from 1; None where it is not plain.
    """

    name: str
    value: Any
    source: str = _DEFAULT
    line: int | None = None

    def row(self) -> tuple[str, str, str]:
        """The setting in words."""
        text = ", ".join(self.value) if isinstance(self.value, list) else str(self.value)
        if self.value is None:
            text = _NOTHING.get(self.name, "none")
        return self.name, plain(text), self.source if self.line is None else f"{self.source}:{self.line}"


def show_settings(context: click.Context) -> None:
    """Print the settings that a call would run with.

    Raises:
        ConfigError: A file that they name cannot be used.
    """
    settings = current_settings() or ProjectSettings()
    every = list(_settings(context, settings))

    def wire() -> dict[str, Any]:
        return {"schema": 1, "file": settings.file, "settings": [item.to_dict() for item in every]}

    def text(_width: int) -> Iterator[Line]:
        yield Line.safe(f"settings in {settings.file}" if settings.file else "no file of settings")
        table = Table("", "", "", broken=())
        for item in every:
            table.add(*item.row())
        yield from table.lines(0, header=False)

    Result(wire, text).print(as_json=bool(context.params.get("as_json")))


def _settings(context: click.Context, settings: ProjectSettings) -> Iterator[ShownSetting]:
    for key, option in KEYS.items():
        if key == "limits":
            yield from _limits(context, settings)
        elif key == "ignore":
            yield from _ignored(context, settings)
        else:
            value = context.params.get(option, settings.options.get(option))
            source, line = _source(context, settings, key)
            yield ShownSetting(name=key, value=value, source=source, line=line)


def _source(context: click.Context, settings: ProjectSettings, key: str) -> tuple[str, int | None]:
    option = KEYS[key]
    if context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
        return _COMMAND_LINE, None
    if option in settings.options:
        return settings.file or "", settings.lines.get(key)
    return _DEFAULT, None


def _limits(context: click.Context, settings: ProjectSettings) -> Iterator[ShownSetting]:
    from ebbtide.budget.limits import LimitKind
    from ebbtide.cli.settings.options import limits_table

    file = context.params.get("limits", settings.options.get("limits"))
    single = {kind.value: context.params.get(kind.value) for kind in LimitKind}
    table = limits_table(file, single)
    if not table:
        yield ShownSetting(name="limits", value=None)
    of_file, line = _source(context, settings, "limits")
    for name, value in table.items():
        if context.params.get(name) is not None:
            yield ShownSetting(name=f"limits.{name}", value=value, source=_COMMAND_LINE)
        else:
            yield ShownSetting(name=f"limits.{name}", value=value, source=of_file, line=line)


def _ignored(context: click.Context, settings: ProjectSettings) -> Iterator[ShownSetting]:
    from ebbtide.profile import Profile

    profile = context.params.get("profile", settings.options.get("profile", "default"))
    of_profile = Profile.load(profile).ignore
    of_file = settings.ignore
    places = [
        (_DEFAULT if not profile.endswith(".toml") else profile, of_profile.rules, of_profile.tools, ()),
        (settings.file or "", of_file.rules, of_file.tools, settings.ignored_runs),
    ]
    rows = [
        ([*rules, *(f"tool={tool}" for tool in tools), *(f"run={run}" for run in runs)], source)
        for source, rules, tools, runs in places
    ]
    rows.append((list(context.params.get("ignore") or ()), _COMMAND_LINE))
    every = [(value, source) for value, source in rows if value]
    if not every:
        yield ShownSetting(name="ignore", value=None)
    for value, source in every:
        line = settings.lines.get("ignore") if source == settings.file else None
        yield ShownSetting(name="ignore", value=value, source=source, line=line)
