"""Commands as functions: what the annotation of a parameter declares becomes an option or argument of click.

    @click.command(cls=Command)
    def stop(file: Annotated[str, Argument(help="A conversation.")], as_json: AsJson = False) -> None:

A declaration that several commands share has a name, such as `AsJson`, and type checkers see the parameter
itself. A parameter without a default is required.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import click

from ebbtide.cli.settings.options import SHOWS, settings_options

#: A path that shells complete; whether it can be read is for its reader to say.
FILE = click.Path(readable=False)
_PATH = click.Path(readable=False, path_type=Path)
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Option:
    """Declares an option.

    Args:
        *flags: Such as ``--json``; with a slash between them, what sets it and what unsets it.
        at_least: Smallest number; None for no bound.
        at_most: Largest number.
        section: Heading in the help.
        **settings: Further arguments of `click.Option`: help, metavar, envvar.
    """

    def __init__(
        self,
        *flags: str,
        at_least: int | None = None,
        at_most: int | None = None,
        section: str = "Options",
        **settings: Any,
    ) -> None:
        self.flags = flags
        self.bounds = (at_least, at_most)
        self.section = section
        self.settings = settings


class Argument:
    """Declares an argument.

    Args:
        **settings: Arguments of `click.Argument`: help, metavar, type.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = settings


class Command(click.Command):
    """A command whose parameters are those of its function; click's decorators make it by ``cls=Command``."""

    def __init__(self, name: str | None, *, callback: Callable[..., None], **settings: Any) -> None:
        signature = inspect.signature(callback, eval_str=True)
        parameters = [_parameter(item) for item in signature.parameters.values()]
        settings["params"] = [*parameters, *settings_options(parameters)]
        settings["context_settings"] = _SETTINGS
        super().__init__(name, callback=callback, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the function, or shows the settings that it would run with."""
        if ctx.meta.get(SHOWS):
            from ebbtide.cli.settings.shown import show_settings

            show_settings(ctx)
            return None
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options under the headings that they declare."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(row)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class CommandGroup(click.Group):
    """Commands under one name; some of them are imported when they are called.

    Args:
        places: Module and name of commands in it, by the name of the command.
        **settings: Further arguments of `click.Group`.
    """

    command_class = Command

    def __init__(
        self, name: str | None = None, *, places: Mapping[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(name, context_settings=_SETTINGS, no_args_is_help=True, **settings)
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, as they were declared."""
        return [*self._places, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name.

        Raises:
            NoSuchCommand: There is none; the message names those that are like it.
        """
        place = self._places.get(cmd_name)
        if place is not None:
            module, name = place.split(":")
            command: click.Command = getattr(import_module(module), name)
            return command
        command_here = super().get_command(ctx, cmd_name)
        if command_here is None and not ctx.resilient_parsing:
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=self.list_commands(ctx), ctx=ctx)
        return command_here


class _Words(click.Choice[Any]):
    """The values of an enumeration of words."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        return str(choice)


class _DeclaredArgument(click.Argument):
    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Whoever asks for the settings names no file."""
        return None if ctx.meta.get(SHOWS) else super().process_value(ctx, value)


class _DeclaredOption(click.Option):
    section = "Options"


def _parameter(parameter: inspect.Parameter) -> click.Parameter:
    annotation, declared = get_args(parameter.annotation)
    kind, several = _kind(annotation)
    settings = dict(declared.settings)
    default, required = parameter.default, parameter.default is parameter.empty
    if not required:
        # Of a member of an enumeration click would show the name instead of the word.
        settings["default"] = str(default) if isinstance(default, Enum) else default
    if several:
        settings["callback"] = _as_list
        settings["default"] = ()
    if isinstance(declared, Argument):
        settings.setdefault("type", _type(kind, (None, None)))
        return _DeclaredArgument([parameter.name], nargs=-1 if several else 1, required=required, **settings)
    if kind is bool:
        settings["is_flag"] = True
    else:
        settings["type"] = _type(kind, declared.bounds)
        settings["show_default"] = bool(default) and not required
        settings["required"] = required
    option = _DeclaredOption([parameter.name, *declared.flags], multiple=several, **settings)
    option.section = declared.section
    return option


def _kind(annotation: Any) -> tuple[Any, bool]:
    """The type of a value, and whether there may be several."""
    if get_origin(annotation) is UnionType:
        (annotation,) = (item for item in get_args(annotation) if item is not NoneType)
    if get_origin(annotation) is list:
        return get_args(annotation)[0], True
    return annotation, False


def _type(kind: Any, bounds: tuple[int | None, int | None]) -> Any:
    """How click reads a value."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _Words(list(kind))
    if kind is Path:
        return _PATH
    if get_origin(kind) is tuple:
        return get_args(kind)
    if bounds != (None, None):
        smallest, largest = bounds
        return (click.IntRange if kind is int else click.FloatRange)(min=smallest, max=largest)
    return kind


def _as_list(
    _context: click.Context, _parameter: click.Parameter, values: tuple[Any, ...]
) -> list[Any] | None:
    return list(values) or None
