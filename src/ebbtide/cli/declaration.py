"""Commands as functions: what the annotation of a parameter declares becomes an option or argument of click.

    @click.command(cls=Command)
    def stop(file: Annotated[str, Argument(help="A conversation.")]) -> Result:

A declaration that several commands share has a name, such as `Jobs`, and type checkers see the parameter
itself. A parameter without a default is required. The `Result` that a command returns is printed, as text or
with ``--json`` as JSON.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from importlib import import_module
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import click

from ebbtide.cli.result import EVERY_EXIT, Exit, Result
from ebbtide.cli.settings.options import SETTINGS_OPTIONS, load_settings, shows_settings
from ebbtide.regular_file import special_kind
from ebbtide.settings_file import meant

if TYPE_CHECKING:
    from ebbtide.budget.prices import Prices


#: A path that shells complete; whether it can be read is for its reader to say.
FILE = click.Path(readable=False)
_PATH = click.Path(readable=False, path_type=Path)
_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


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
    """A command whose parameters are those of its function; click's decorators make it by ``cls=Command``.

    Args:
        exits: When it ends with which code, where that differs from `EVERY_EXIT`.
    """

    def __init__(
        self,
        name: str | None,
        *,
        callback: Callable[..., Any],
        exits: Mapping[Exit, str] | None = None,
        **settings: Any,
    ) -> None:
        self.exits = {**EVERY_EXIT, **(exits or {})}
        signature = inspect.signature(callback, eval_str=True)
        parameters = dict(signature.parameters)
        if Result in (signature.return_annotation, *get_args(signature.return_annotation)):
            parameters[_AS_JSON.name] = _AS_JSON
            callback = functools.partial(_print_result, callback)
        # `--json` is the last option of every command.
        ordered = sorted(parameters.values(), key=lambda item: item.name == _AS_JSON.name)
        settings["params"] = [_parameter(item) for item in ordered]
        settings["context_settings"] = _SETTINGS | {"allow_extra_args": True}
        super().__init__(name, callback=callback, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the command line; what is wrong with it is about this command.

        Raises:
            UsageError: It cannot be read.
        """
        if not ctx.resilient_parsing:
            load_settings(ctx, self.params)
        try:
            rest = super().parse_args(ctx, args)
            self._refuse_special(ctx)
        except click.NoSuchOption as error:
            if any(error.option_name in option.opts for option in SETTINGS_OPTIONS):
                first, _, command = ctx.command_path.partition(" ")
                hint = f"It belongs before the command: {first} {error.option_name} ... {command}"
                raise click.UsageError(f"No such option {error.option_name!r} here. {hint}", ctx) from error
            raise
        except click.BadOptionUsage as error:
            option = next((item for item in self.params if error.option_name in item.opts), None)
            message = error.message
            if option is not None and option.nargs > 1:
                message = f"Option {error.option_name!r} needs {option.make_metavar(ctx)}."
            raise click.BadOptionUsage(error.option_name, message, ctx=ctx) from error
        if rest and not ctx.resilient_parsing:
            takes = [item.make_metavar(ctx) for item in self.params if isinstance(item, click.Argument)]
            what = f"takes {' '.join(takes) or 'no argument'}."
            raise click.UsageError(f"{rest[0]!r} is an extra argument: `{ctx.command_path}` {what}", ctx)
        return rest

    def _refuse_special(self, ctx: click.Context) -> None:
        """Refuses a pipe, a device or a socket as a file of an option; arguments are for their readers."""
        for option in self.params:
            values = ctx.params.get(option.name or "") if isinstance(option, click.Option) else None
            for value in values if isinstance(values, list) else (values,):
                try:
                    kind = special_kind(value) if isinstance(value, str | Path) else None
                except (OSError, ValueError):  # nothing is there, or it is no path
                    continue
                if kind is not None:
                    raise click.UsageError(f"{option.opts[0]} {value}: {kind}, not a file", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the function, or shows the settings that it would run with."""
        if shows_settings(ctx):
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
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), words) for code, words in sorted(self.exits.items())])


class CommandGroup(click.Group):
    """Commands under one name; some of them are imported when they are called.

    Args:
        places: Module and name of each command, or the command itself, by the name that it is called by.
    """

    command_class = Command

    def __init__(
        self,
        name: str | None = None,
        *,
        places: Mapping[str, str | click.Command] | None = None,
        **settings: Any,
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
        if isinstance(place, click.Command):
            return place
        if place is not None:
            module, name = place.split(":")
            command: click.Command = getattr(import_module(module), name)
            return command
        command_here = super().get_command(ctx, cmd_name)
        if command_here is None and not ctx.resilient_parsing:
            raise click.exceptions.NoSuchCommand(cmd_name, possibilities=self.list_commands(ctx), ctx=ctx)
        return command_here


class WordChoice(click.Choice[Any]):
    """Words of which one is taken."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        """The word as it is written."""
        return str(choice)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Returns that a value is not one of the words, and which one it resembles."""
        words = list(map(str, self.choices))
        return f"{value!r:.60} is not one of {', '.join(words)}{meant(str(value), words)}"


class _Number(click.ParamType[Any]):
    """A number, whole or not, between two bounds."""

    def __init__(self, kind: type[int | float], at_least: float | None, at_most: float | None) -> None:
        self.name = "number"
        self._kind = kind
        self._bounds = (-inf if at_least is None else at_least, inf if at_most is None else at_most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        lowest, highest = self._bounds
        try:
            number = self._kind(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r:.60} is not a {'whole ' * (self._kind is int)}number", param, ctx)
        if number < lowest:
            self.fail(f"{value} is too small; the minimum is {lowest:,}", param, ctx)
        if number > highest:
            self.fail(f"{value} is too large; the maximum is {highest:,}", param, ctx)
        return number


class _DeclaredArgument(click.Argument):
    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Whoever asks for the settings names no file."""
        return None if shows_settings(ctx) else super().process_value(ctx, value)


_LONGEST_LIST = 60  # characters of the words that an option takes


class _DeclaredOption(click.Option):
    section = "Options"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its line in the help: where a metavar hides the words that it takes, they follow."""
        record = super().get_help_record(ctx)
        if record is None or self.metavar is None or not isinstance(self.type, click.Choice):
            return record
        words = "|".join(map(str, self.type.choices))
        # A list that is longer than a line breaks between words, not in one.
        return record[
            0
        ], f"{record[1]}  [{words if len(words) <= _LONGEST_LIST else words.replace('|', ' | ')}]"


def _print_result(command: Callable[..., Result | None], *, as_json: bool, **values: Any) -> None:
    result = command(**values)
    if result is not None:
        result.print(as_json=as_json)


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
        settings.setdefault("type", _type(kind, declared.bounds))
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
    """Returns the click type that reads a value."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return WordChoice(list(kind))
    if kind is Path:
        return _PATH
    if get_origin(kind) is tuple:
        return get_args(kind)
    return _Number(kind, *bounds) if kind in (int, float) else kind


def _as_list(
    _context: click.Context, _parameter: click.Parameter, values: tuple[Any, ...]
) -> list[Any] | None:
    return list(values) or None


#: Help of options that commands of different kinds have: the same name means the same everywhere.
OF_AGENT = "Only this agent; the default is all agents."
SINCE = "Start of the period: 24h, 7d or 2w ago, or a day such as 2026-11-01."
UNTIL = "End of the period, in the same forms as --since."
FORMAT = "Output format."
OUTPUT = "Write the result to FILE."
STOP = "End a run that is stuck. Without this option, no run is ended."

AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
_AS_JSON = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
Redact = Annotated[bool, Option("--redact/--show-secrets", help="Mask keys and passwords in what is shown.")]
ProfileName = Annotated[
    str,
    Option("--profile", "-p", metavar="NAME", help="Thresholds: default, spec, or a TOML file."),
]
JudgeModel = Annotated[
    str | None,
    Option(
        "--judge",
        metavar="URL#MODEL",
        help="Ask this chat model too. It costs money, and the model receives the texts. "
        "EBBTIDE_CHAT_API_KEY holds the key.",
    ),
]
Jobs = Annotated[
    int | None,
    Option(
        "--jobs",
        metavar="N",
        at_least=1,
        help="Number of processes for many files; the default is one per core.",
    ),
]
Output = Annotated[Path | None, Option("--output", "--out", "-o", metavar="FILE", help=OUTPUT)]
Page = Annotated[
    Path | None,
    Option("--html", metavar="FILE", help="Write an HTML report to FILE.", section="Output"),
]
Repo = Annotated[
    Path | None,
    Option(
        "--repo",
        metavar="DIR",
        help="Show what became of the sessions' commits in this git repository, and what each cost.",
        section="Output",
    ),
]
Fields = Annotated[
    str | None,
    Option("--fields", metavar="NAME=KEY,...", help="Names of keys that differ from the standard names."),
]
Idle = Annotated[
    float | None,
    Option("--idle", metavar="S", at_least=0, help="Stop after S seconds without new data."),
]
PricesFile = Annotated[
    str | None,
    Option(
        "--prices", metavar="FILE", type=FILE, help="TOML file of prices: USD per million tokens, by model."
    ),
]


def read_prices(file: str | None) -> Prices:
    """The prices in a file; None takes public prices where they are installed.

    Raises:
        ConfigError: The file cannot be used.
    """
    from ebbtide.budget.prices import Prices

    return Prices() if file is None else Prices.load(file)


def shared(
    options: Mapping[str, tuple[Any, Any]], build: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command options that others have too; its first argument is what is made of them.

    Args:
        options: Annotation and default of each, by its name.
        build: Takes the options by their names.
    """
    shared_parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in options.items()
    ]

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(**values: Any) -> Any:
            value = build(**{name: values.pop(name) for name in options})
            return command(**{first.name: value}, **values)

        signature = inspect.signature(command, eval_str=True)
        first, *own = (item.replace(kind=item.KEYWORD_ONLY) for item in signature.parameters.values())
        parameters = [*own, *shared_parameters]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {item.name: item.annotation for item in parameters}
        return run

    return decorated
