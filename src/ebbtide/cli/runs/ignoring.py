"""Reads the `--ignore` options and the `[ignore]` settings of the project."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from ebbtide.cli.settings.options import current_settings
from ebbtide.cli.terminal import Line, print_lines, warn
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.report.plurals import count
from ebbtide.settings_file import meant, nearest_name

if TYPE_CHECKING:
    from ebbtide.supervision.summary.run_summary import RunSummary

_LEAVES_OUT = "check"
_FORMS = "a rule, tool=NAME or run=GLOB"


def with_ignored(profile: Profile, texts: Iterable[str]) -> Profile:
    """A profile that ignores more: what options name, and what the project's settings do.

    Args:
        profile: As it was loaded.
        texts: Values of ``--ignore``; what is about runs is passed over.

    Raises:
        ConfigError: There is no such rule, or a value has another form.
    """
    parts = [_parts(text) for text in texts]
    context = click.get_current_context(silent=True)
    is_other = context is not None and context.command.name != _LEAVES_OUT
    if is_other and any(form == "run" for form, _ in parts):
        raise ConfigError(f"--ignore run=...: only `ebbtide {_LEAVES_OUT}` leaves runs out")
    rules = [value for form, value in parts if form == "rule"]
    tools = [value for form, value in parts if form == "tool"]
    try:
        ignore = profile.ignore.and_also(rules, tools)
    except ConfigError as error:
        raise ConfigError(f"--ignore: {str(error).removeprefix('rules: ')}") from error
    settings = current_settings()
    if settings is not None:
        ignore = ignore.and_also(settings.ignore.rules, settings.ignore.tools)
    return dataclasses.replace(profile, ignore=ignore)


def ignored_runs() -> Callable[[str], bool]:
    """Returns a test that is True for the path of a run to leave out, by options or the project's settings.

    In a pattern ``*`` and ``?`` stand for anything, also for ``/``. Without a ``/`` it is about the name of
    the file, else about its path from the folder of the settings, or from here.

    Raises:
        ConfigError: A value of an option has another form.
    """
    patterns = [(value, "") for form, value in map(_parts, _options()) if form == "run"]
    settings = current_settings()
    if settings is not None:
        patterns += [(pattern, settings.folder) for pattern in settings.ignored_runs]
    return lambda path: any(_matches(pattern, folder, path) for pattern, folder in patterns)


def _matches(pattern: str, folder: str, path: str) -> bool:
    if "/" not in pattern:
        return fnmatchcase(os.path.basename(path), pattern)  # noqa: PTH119 - pathlib takes long
    try:
        name = os.path.relpath(path, folder or os.curdir)
    except ValueError:  # another drive
        return False
    return fnmatchcase(name.replace(os.sep, "/"), pattern.removeprefix("./"))


def ignored_by() -> str:
    """Names in words what ignores: the option, the file of settings, the profile."""
    settings = current_settings()
    context = click.get_current_context(silent=True)
    profile = "" if context is None else str(context.params.get("profile"))
    places = ["--ignore"] if _options() else []
    if settings is not None and settings.file and (settings.ignore or settings.ignored_runs):
        places.append(settings.file)
    if profile.endswith(".toml"):
        places.append(profile)
    return " and ".join(places) or "the profile"


def print_ignored(number: int) -> None:
    """Print how many findings were ignored, and by what; nothing where none was."""
    if number:
        print_lines([Line.safe(f"{count(number, 'finding')} ignored by {ignored_by()}", "dim")])


def warn_of_tools(summaries: Sequence[RunSummary]) -> None:
    """Warn of a tool that an option names and nothing is about, where there is one of nearly that name."""
    if any(summary.ignored for summary in summaries):
        return
    tools = {tool for summary in summaries for finding in summary.findings for tool in finding.tools}
    for form, name in map(_parts, _options()):
        like = nearest_name(name, tools) if form == "tool" and name not in tools else None
        if like is not None:
            warn(f"--ignore tool={name}: no finding involves this tool; did you mean {like}?")


def _options() -> Sequence[str]:
    context = click.get_current_context(silent=True)
    return () if context is None else context.params.get("ignore") or ()


def _parts(text: str) -> tuple[str, str]:
    form, equals, value = text.partition("=")
    if not equals:
        return "rule", text
    if form not in ("tool", "run") or not value:
        raise ConfigError(f"--ignore {text!r:.60}: expected {_FORMS}{meant(form, ('tool', 'run'))}")
    return form, value
