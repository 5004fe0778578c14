"""The commands, and the exit codes that scripts can rely on.

0 done (for ``stop``: CONTINUE), 2 input or usage that cannot be used, 10 SHIP, 20 ESCALATE,
30 a loop (``loops``) or a detector that does not fire (``doctor``), 130 interrupted.
"""

from __future__ import annotations

import sys
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Annotated

import typer

import ebbtide
from ebbtide.convergence.recommendation import Signal
from ebbtide.errors import EbbtideError
from ebbtide.traces.turns import RoundUnit


class Exit(IntEnum):
    """Exit codes of the command."""

    DONE = 0
    BAD_INPUT = 2
    SHIP = 10
    ESCALATE = 20
    LOOP = 30
    INTERRUPTED = 130


class SemanticUse(StrEnum):
    """Whether meanings are compared."""

    OFF = "off"
    AUTO = "auto"  #: where it can be; the result says whether it was
    ON = "on"  #: or fail


SIGNAL_EXITS = {Signal.CONTINUE: Exit.DONE, Signal.SHIP: Exit.SHIP, Signal.ESCALATE: Exit.ESCALATE}

app = typer.Typer(
    name="ebbtide",
    help="Is an agent's conversation still getting anywhere? CONTINUE, SHIP or ESCALATE, with the evidence.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ProfileName = Annotated[
    str, typer.Option("--profile", "-p", help="default, spec, or a TOML file with your own thresholds.")
]
Unit = Annotated[
    RoundUnit,
    typer.Option(
        "--round", help="What is a round of a plain conversation: a turn, or a circle of the speakers."
    ),
]
Tools = Annotated[
    str | None, typer.Option("--tools", help="TOML file that declares tools: effect, key fields, ...")
]
Semantic = Annotated[
    SemanticUse,
    typer.Option("--semantic", help="Compare meanings too: off, on, or auto (on where it is installed)."),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="minilm, folder:PATH, sentence-transformers:NAME or openai:URL#MODEL; implies --semantic on.",
    ),
]
Cache = Annotated[
    str | None, typer.Option("--embedding-cache", help="File that keeps embeddings between runs.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        print(f"ebbtide {ebbtide.__version__}")
        raise typer.Exit


@app.command()
def score(
    files: Annotated[
        list[str], typer.Argument(help="Conversations: files, folders, or - for standard input.")
    ],
    profile: ProfileName = "default",
    unit: Unit = RoundUnit.TURN,
    semantic: Semantic = SemanticUse.OFF,
    embedder: Model = None,
    cache: Cache = None,
    as_json: AsJson = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="List each claim with the nearest one said before.")
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Keep reading a growing JSONL file.")] = False,
) -> None:
    """Say whether a conversation has converged, why, and how it went.

    Many files or a folder give a table, and with --json one object a line.
    """
    from ebbtide.cli import scoring

    level = scoring.semantic_level(semantic, embedder, cache)
    options = scoring.Options.of(profile=profile, unit=unit, as_json=as_json, explain=explain, level=level)
    if follow:
        scoring.score_following(files, options)
    elif not scoring.score(files, options):
        raise typer.Exit(Exit.BAD_INPUT)


@app.command()
def stop(
    file: Annotated[str, typer.Argument(help="A conversation, or - for standard input.")],
    profile: ProfileName = "default",
    unit: Unit = RoundUnit.TURN,
    semantic: Semantic = SemanticUse.OFF,
    embedder: Model = None,
    cache: Cache = None,
    as_json: AsJson = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep reading a growing JSONL file until it says stop.")
    ] = False,
) -> None:
    """Say in three lines whether to go on. Exit code 0 CONTINUE, 10 SHIP, 20 ESCALATE."""
    from ebbtide.cli import scoring

    level = scoring.semantic_level(semantic, embedder, cache)
    options = scoring.Options.of(profile=profile, unit=unit, as_json=as_json, level=level)
    verdict = scoring.stop_following(file, options) if follow else scoring.stop(file, options)
    raise typer.Exit(SIGNAL_EXITS[verdict])


@app.command()
def extract(
    file: Annotated[str, typer.Argument(help="A conversation, or - for standard input.")],
    unit: Unit = RoundUnit.TURN,
    as_json: AsJson = False,
) -> None:
    """Show what is read out of each turn of a plain conversation, by which rule, and what is set aside."""
    from ebbtide.cli import extraction

    extraction.show(file, unit, as_json=as_json)


@app.command()
def calibrate(
    files: Annotated[
        list[str], typer.Argument(help="Labelled pairs or conversations, or - for standard input.")
    ],
    profile: ProfileName = "default",
    fields: Annotated[
        str | None,
        typer.Option("--fields", help="How the keys of a pair are called: a=...,b=...,same=...,group=..."),
    ] = None,
    semantic: Semantic = SemanticUse.OFF,
    embedder: Model = None,
    cache: Cache = None,
    precision: Annotated[
        float, typer.Option("--precision-at-least", help="What a fitted similarity threshold must reach.")
    ] = 0.5,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the fitted profile to this TOML file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw precision over recall into this SVG file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how right the thresholds are on labels of your own, and write better ones into a profile."""
    from ebbtide.cli import calibration, scoring

    if not calibration.calibrate(
        files,
        profile=profile,
        fields=fields,
        level=scoring.semantic_level(semantic, embedder, cache),
        precision_at_least=precision,
        output=output,
        plot=plot,
        as_json=as_json,
    ):
        raise typer.Exit(Exit.BAD_INPUT)


@app.command()
def loops(
    file: Annotated[str, typer.Argument(help="Events of a run as JSON or JSONL, or - for standard input.")],
    profile: ProfileName = "default",
    tools: Tools = None,
    as_json: AsJson = False,
) -> None:
    """Say where a run goes round in circles, and what that cost. Exit code 0 nowhere, 30 somewhere."""
    from ebbtide.cli import loops as commands

    if commands.find(file, profile=profile, tools=tools, as_json=as_json):
        raise typer.Exit(Exit.LOOP)


@app.command()
def doctor(profile: ProfileName = "default", tools: Tools = None, as_json: AsJson = False) -> None:
    """Run a known loop of each kind through a configuration and say whether its detector fires."""
    from ebbtide.cli import loops as commands

    if not commands.check(profile=profile, tools=tools, as_json=as_json):
        raise typer.Exit(Exit.LOOP)


@app.command()
def formats(as_json: AsJson = False) -> None:
    """List the conversation formats that are recognised."""
    from ebbtide.cli import reference

    reference.print_formats(as_json=as_json)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the transcript format."""
    from ebbtide.cli import reference

    reference.print_schema()


def main() -> None:
    """Run the command line."""
    try:
        app()
    except EbbtideError as error:
        _fail(str(error), Exit.BAD_INPUT)
    except KeyboardInterrupt:
        _fail("interrupted", Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader went away, as `head` does: nothing is left to say, and nobody to say it to.
        sys.stderr.close()
        raise SystemExit(Exit.DONE) from None


def _fail(message: str, code: Exit) -> None:
    from ebbtide.cli.terminal import plain

    print(f"ebbtide: {plain(message)}", file=sys.stderr)
    raise SystemExit(code)
