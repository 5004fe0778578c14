"""The options that say which settings hold, and what a command does with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ebbtide.errors import ConfigError
from ebbtide.settings_file import has_settings, read_settings

if TYPE_CHECKING:
    from ebbtide.cli.settings.project_settings import ProjectSettings


_SETTABLE = frozenset("profile tools prices limits fail_on baseline ignore budgets alerts".split())
_HERE = "ebbtide.settings"
#: The options that say which settings hold; they stand before the command.
SETTINGS_OPTIONS = (
    click.Option(
        ["--config"],
        metavar="FILE",
        type=click.Path(readable=False),
        envvar="EBBTIDE_CONFIG",
        help="Read settings from FILE, not from the nearest ebbtide.toml or pyproject.toml.",
    ),
    click.Option(["--no-config"], is_flag=True, help="Read no settings."),
    click.Option(
        ["--show-config"], is_flag=True, help="Print every setting of the command and where it comes from."
    ),
)


def shows_settings(context: click.Context) -> bool:
    """Returns True for a call that only shows the settings."""
    return bool(context.find_root().params.get("show_config"))


def load_settings(context: click.Context, parameters: Iterable[click.Parameter]) -> None:
    """Lets settings stand in for what a command line leaves out, where the command has an option for one.

    Raises:
        UsageError: Options contradict each other, or no setting is about this command.
        ConfigError: The file, or the list of trusted folders, cannot be used.
    """
    root = context.find_root()
    if not any(parameter.name in _SETTABLE for parameter in parameters):
        if shows_settings(context):
            raise click.UsageError("--show-config: no setting is about this command", context)
        return
    named = root.params.get("config")
    if root.params.get("no_config"):
        if named is not None and root.get_parameter_source("config") is not ParameterSource.ENVIRONMENT:
            raise click.UsageError("--config and --no-config: say one of them", context)
        return
    path = named if named is not None else nearest_file(os.getcwd())  # noqa: PTH109
    if path is None:
        return
    from ebbtide.cli.settings.trusted_folders import settings_at

    settings = settings_at(path, found=named is None, wanted=[item.name or "" for item in parameters])
    context.meta[_HERE] = settings
    context.default_map = {**settings.options}


def current_settings() -> ProjectSettings | None:
    """The settings of the project, for the command that runs; None where there are none."""
    context = click.get_current_context(silent=True)
    settings: ProjectSettings | None = None if context is None else context.meta.get(_HERE)
    return settings


def origin(option: str, flag: str) -> str:
    """Returns the beginning of an error about the value of an option.

    Args:
        option: The name of its parameter.
        flag: How it is called on the command line.
    """
    context, settings = click.get_current_context(silent=True), current_settings()
    if context is None or settings is None:
        return flag
    if context.get_parameter_source(option) is not ParameterSource.DEFAULT_MAP:
        return flag
    return f"{settings.file}: {flag.removeprefix('--')}"


def limits_table(file: str | None, most: Mapping[str, float | None]) -> dict[str, Any]:
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
    return table


def _limits_table(table: Mapping[str, Any]) -> dict[str, Any]:
    from ebbtide.budget.limits import Limits

    inside = table.get("limits", table)
    if not isinstance(inside, dict):
        raise ConfigError(f"limits = {inside!r:.60}: expected a table")
    Limits.from_dict(inside)
    return dict(inside)


_OWN, _SHARED = "ebbtide.toml", "pyproject.toml"


def nearest_file(folder: str) -> str | None:
    """The nearest file of settings, from a folder upwards; the root of a repository and home are the last.

    Raises:
        ConfigError: A ``pyproject.toml`` on the way cannot be read.
    """
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - pathlib takes long to load
    here = os.path.realpath(folder)
    while True:
        own, shared = os.path.join(here, _OWN), os.path.join(here, _SHARED)  # noqa: PTH118
        if os.path.lexists(own):
            if os.path.exists(own) and not os.path.isfile(own):  # noqa: PTH110, PTH113
                name = os.path.relpath(own, folder)
                raise ConfigError(
                    f"{name}: no file, but a folder, a pipe or a device: --no-config reads none"
                )
            return own
        if os.path.isfile(shared) and has_settings(shared):  # noqa: PTH113
            return shared
        above = os.path.dirname(here)  # noqa: PTH120
        if here in (home, above) or os.path.lexists(os.path.join(here, ".git")):  # noqa: PTH118
            return None
        here = above
