"""`ebbtide score | stop | extract | calibrate`: conversations, round by round."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import click

from ebbtide.cli.declaration import (
    FILE,
    Argument,
    AsJson,
    Command,
    Fields,
    Follow,
    JudgeModel,
    Option,
    Output,
    Plot,
    PricesFile,
    ProfileName,
    Redact,
    read_prices,
)
from ebbtide.cli.exits import Exit
from ebbtide.cli.single_file import single_file
from ebbtide.traces.transcripts.turns import RoundUnit


class SemanticUse(StrEnum):
    """Whether meanings are compared."""

    OFF = "off"
    AUTO = "auto"  #: where it can be; the result says whether it was
    ON = "on"  #: or fail


# By the words of `Signal`: its module brings the whole engine, which most commands do not need.
SIGNAL_EXITS = {"CONTINUE": Exit.DONE, "SHIP": Exit.SHIP, "ESCALATE": Exit.ESCALATE}

Unit = Annotated[
    RoundUnit,
    Option("--round", help="Round of a plain conversation: one turn, or one circle of all speakers."),
]
Semantic = Annotated[
    SemanticUse,
    Option("--semantic", help="Compare meanings too: off, on, or auto (on if it is installed)."),
]
Model = Annotated[
    str | None,
    Option(
        "--embedder",
        metavar="NAME",
        help="minilm, folder:PATH, sentence-transformers:NAME or openai:URL#MODEL; implies --semantic on.",
    ),
]
Cache = Annotated[
    str | None,
    Option("--embedding-cache", metavar="FILE", help="File that caches embeddings between runs."),
]


@click.command(
    cls=Command,
    exits={Exit.BAD_INPUT: "wrong usage, or a file that cannot be used, also one of many or in a folder"},
)
def score(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...", type=FILE, help="Conversations: files, folders, or - for standard input."
        ),
    ],
    profile: ProfileName = "default",
    unit: Unit = RoundUnit.TURN,
    semantic: Semantic = SemanticUse.OFF,
    embedder: Model = None,
    cache: Cache = None,
    judge: JudgeModel = None,
    prices: PricesFile = None,
    redact: Redact = True,
    as_json: AsJson = False,
    explain: Annotated[
        bool, Option("--explain", help="List each claim with the most similar earlier one.")
    ] = False,
    follow: Follow = False,
) -> None:
    """Score a conversation round by round: has it converged, and why?

    Several files or a folder give a table; with --json, one object per line.
    """
    from ebbtide.cli.rounds import scoring
    from ebbtide.cli.rounds.scoring_options import ScoringOptions, semantic_level

    level = semantic_level(semantic, embedder, cache)
    options = ScoringOptions.of(
        profile=profile,
        unit=unit,
        as_json=as_json,
        explain=explain,
        level=level,
        judge=judge,
        prices=prices,
        redact=redact,
    )
    if follow:
        scoring.score_following(files, options)
    elif not scoring.score(files, options):
        raise SystemExit(Exit.BAD_INPUT)


@click.command(
    cls=Command,
    exits={Exit.DONE: "CONTINUE", Exit.SHIP: "SHIP", Exit.ESCALATE: "ESCALATE"},
)
def stop(
    file: Annotated[
        str, Argument(metavar="FILE", type=FILE, help="A conversation, or - for standard input.")
    ],
    profile: ProfileName = "default",
    unit: Unit = RoundUnit.TURN,
    semantic: Semantic = SemanticUse.OFF,
    embedder: Model = None,
    cache: Cache = None,
    redact: Redact = True,
    as_json: AsJson = False,
    follow: Follow = False,
) -> None:
    """Report in three lines, and in the exit code, whether to go on.

    With --follow it ends at the first SHIP or ESCALATE.
    """
    from ebbtide.cli.rounds import stopping
    from ebbtide.cli.rounds.scoring_options import ScoringOptions, semantic_level

    file = single_file(file, f"`ebbtide score {shlex.quote(file)}` scores all of them.")
    level = semantic_level(semantic, embedder, cache)
    options = ScoringOptions.of(profile=profile, unit=unit, as_json=as_json, level=level, redact=redact)
    verdict = stopping.stop_following(file, options) if follow else stopping.stop(file, options)
    raise SystemExit(SIGNAL_EXITS[verdict])


@click.command(cls=Command)
def extract(
    file: Annotated[
        str, Argument(metavar="FILE", type=FILE, help="A conversation, or - for standard input.")
    ],
    unit: Unit = RoundUnit.TURN,
    judge: JudgeModel = None,
    prices: PricesFile = None,
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Show what is extracted from each turn of a plain conversation, and by which rule."""
    file = single_file(file, "Name one of its files.")
    if judge is None:
        from ebbtide.cli.rounds import extraction

        extraction.show(file, unit, redact=redact, as_json=as_json)
        return
    from ebbtide.cli.judging import open_judge
    from ebbtide.cli.rounds import extraction

    model = open_judge(judge, read_prices(prices))
    extraction.show_judged(file, unit, model, redact=redact, as_json=as_json)


@click.command(
    cls=Command,
    exits={Exit.BAD_INPUT: "wrong usage, a file that cannot be used, or no better thresholds to write"},
)
def calibrate(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...", type=FILE, help="Labelled pairs or conversations, or - for standard input."
        ),
    ],
    profile: ProfileName = "default",
    fields: Fields = None,
    semantic: Semantic = SemanticUse.OFF,
    embedder: Model = None,
    cache: Cache = None,
    precision: Annotated[
        float,
        Option(
            "--precision-at-least",
            metavar="P",
            at_least=0,
            at_most=1,
            help="Minimum precision of a fitted similarity threshold.",
        ),
    ] = 0.5,
    output: Output = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Measure the thresholds against your own labels, and fit better ones.

    The result is a profile in TOML, the diagram an SVG of precision over recall. Keys of labelled pairs that
    are not called a, b, same and group: --fields a=KEY,b=KEY,same=KEY,group=KEY
    """
    from ebbtide.cli.rounds import calibration
    from ebbtide.cli.rounds.scoring_options import semantic_level

    for file in files:
        single_file(file, "Name its files.")
    if not calibration.calibrate(
        files,
        profile=profile,
        fields=fields,
        level=semantic_level(semantic, embedder, cache),
        precision_at_least=precision,
        output=output,
        plot=plot,
        as_json=as_json,
    ):
        raise SystemExit(Exit.BAD_INPUT)
