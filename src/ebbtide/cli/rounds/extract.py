"""`ebbtide extract`: the claims and decisions of raw text, and by which rule each was found."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any

import click

from ebbtide.cli.declaration import FILE, Argument, Command, Redact
from ebbtide.cli.result import Result
from ebbtide.cli.rounds.scoring_options import Unit
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import Line, plain
from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.text.extraction.turn import Extraction, ItemKind
from ebbtide.text.redaction import redacted
from ebbtide.traces.input.source import source_name
from ebbtide.traces.reading import load
from ebbtide.traces.transcripts.turns import RoundUnit

_STYLES = {
    ItemKind.CLAIM: "",
    ItemKind.DECISION: "green",
    ItemKind.OPEN_QUESTION: "magenta",
    ItemKind.NEXT_ACTION: "cyan",
}

_NO_TEXT = "This transcript already lists its claims; it has no raw text to extract from."


@click.command(cls=Command)
def extract(
    file: Annotated[
        str, Argument(metavar="FILE", type=FILE, help="A conversation, or - for standard input.")
    ],
    unit: Unit = RoundUnit.TURN,
    redact: Redact = True,
) -> Result:
    """Show what is extracted from each turn of a conversation.

    Each item names the rule that extracted it. The conversation is plain text.
    """
    name = single_file(file, "Name one of its files.")
    try:
        transcript = load(name, unit=unit)
    except TranscriptError as error:
        raise error.located(source=source_name(name)) from error
    rounds = [item for item in transcript.rounds if item.text is not None]
    texts_before = [None, *(item.text for item in rounds)]
    turns = [(item, item.extraction(before)) for item, before in zip(rounds, texts_before, strict=False)]
    if redact:
        turns = redacted(turns)
    return Result(
        lambda: [_wire(item, extraction) for item, extraction in turns], partial(_turn_lines, turns)
    )


def _turn_lines(turns: Sequence[tuple[Round, Extraction]], width: int) -> Iterator[Line]:
    """Yields the items of each turn with their rules; those that were set aside come last, dimmed."""
    if not turns:
        yield from Line(_NO_TEXT).wrap(width)
    for item, extraction in turns:
        yield from Line(f"Round {item.number} {plain(item.agent or '')}", "bold").wrap(width)
        for entry in extraction.items:
            line = Line("  ").append(f"{entry.kind.replace('_', ' '):<15}", _STYLES[entry.kind])
            line.append(plain(entry.text)).append(f"  {entry.rule}", "dim")
            if entry.approves is not None:
                line.append(f"  approves: {plain(entry.approves)}", "dim")
            yield line
        for aside in extraction.set_aside:
            yield Line(f"  {'set aside':<15}{plain(aside.text, 80)}  {aside.rule}", "dim")


def _wire(item: Round, extraction: Extraction) -> dict[str, Any]:
    return {
        "round": item.number,
        "agent": item.agent,
        "items": [dataclasses.asdict(entry) for entry in extraction.items],
        "set_aside": [dataclasses.asdict(aside) for aside in extraction.set_aside],
    }
