"""Options that several commands have, named once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ebbtide.cli.declaration import FILE, Option

if TYPE_CHECKING:
    from ebbtide.budget.prices import Prices

#: Help of options that commands of different kinds have: the same name means the same everywhere.
OF_AGENT = "Of which agent; without it, of all."
SINCE = "From then on: 24h, 7d or 2w ago, or a day such as 2026-11-01."
FORMAT = "Name of the format."
OUTPUT = "Write the result to FILE."

AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
Redact = Annotated[bool, Option("--redact/--no-redact", help="Mask keys and passwords in what is shown.")]
ProfileName = Annotated[
    str,
    Option("--profile", "-p", metavar="NAME", help="Thresholds: default, spec, or a TOML file."),
]
JudgeModel = Annotated[
    str | None,
    Option(
        "--judge",
        metavar="URL#MODEL",
        help="Ask this chat model too, which costs money and sends it the texts; "
        "the key is taken from EBBTIDE_CHAT_API_KEY.",
    ),
]
Jobs = Annotated[
    int | None,
    Option(
        "--jobs",
        metavar="N",
        at_least=1,
        help="Number of processes for many files; by default one per core.",
    ),
]
Output = Annotated[Path | None, Option("--output", "--out", "-o", metavar="FILE", help=OUTPUT)]
Page = Annotated[
    Path | None,
    Option("--html", metavar="FILE", help="Write an HTML report to FILE.", section="Output"),
]
Plot = Annotated[Path | None, Option("--plot", metavar="FILE", help="Draw a diagram into FILE.")]
Fields = Annotated[
    str | None,
    Option("--fields", metavar="NAME=KEY,...", help="What keys are called that are named otherwise."),
]
Follow = Annotated[bool, Option("--follow", help="Keep reading a growing JSONL file.")]
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
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command options that others have too; its first argument is what is made of them.

    Args:
        options: Annotation and default of each, by its name.
        build: Takes the options by their names.
    """
    shared_parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in options.items()
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            value = build(**{name: values.pop(name) for name in options})
            command(**{first.name: value}, **values)

        signature = inspect.signature(command, eval_str=True)
        first, *own = (item.replace(kind=item.KEYWORD_ONLY) for item in signature.parameters.values())
        # What `inspect.signature` gives; `--json` is the last option of every command.
        parameters = [*own[:-1], *shared_parameters, own[-1]]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {item.name: item.annotation for item in parameters}
        return run

    return decorated
