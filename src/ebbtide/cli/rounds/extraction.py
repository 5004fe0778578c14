"""`ebbtide extract`: what is read out of raw text, and by which rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from ebbtide.cli.judging import JudgeReport, judge_progress
from ebbtide.cli.terminal import Line, console, plain, print_json, print_lines, terminal_width
from ebbtide.convergence.llm_rounds import judge_rounds
from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.text.extraction.turn import Extraction, ItemKind
from ebbtide.text.llm.chat_endpoint import ChatModel
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


def show(name: str, unit: RoundUnit, *, redact: bool, as_json: bool) -> None:
    """Print each turn's items with their rules; what was set aside comes last, dimmed."""
    try:
        transcript = load(name, unit=unit)
    except TranscriptError as error:
        raise error.located(source=source_name(name)) from error
    rounds = [item for item in transcript.rounds if item.text is not None]
    texts_before = [None, *(item.text for item in rounds)]
    turns = [(item, item.extraction(before)) for item, before in zip(rounds, texts_before, strict=False)]
    if redact:
        turns = redacted(turns)
    if as_json:
        print_json([turn_dict(item, extraction) for item, extraction in turns])
    else:
        print_turns(turns)


def print_turns(turns: Sequence[tuple[Round, Extraction]]) -> None:
    """Print what was read out of each turn."""
    terminal = console()
    if not turns:
        terminal.print("This transcript already lists its claims; it has no raw text to extract from.")
    for item, extraction in turns:
        terminal.print(Text(f"Round {item.number} {plain(item.agent or '')}", style="bold"))
        for entry in extraction.items:
            kind = entry.kind.replace("_", " ")
            line = Text.assemble("  ", (f"{kind:<15}", _STYLES[entry.kind]), plain(entry.text))
            line.append(f"  {entry.rule}", style="dim")
            if entry.approves is not None:
                line.append(f"  approves: {plain(entry.approves)}", style="dim")
            terminal.print(line, soft_wrap=True)
        for aside in extraction.set_aside:
            terminal.print(
                Text(f"  {'set aside':<15}{plain(aside.text, 80)}  {aside.rule}", style="dim"), soft_wrap=True
            )


def turn_dict(item: Round, extraction: Extraction) -> dict[str, Any]:
    """What was read out of a turn, as plain data."""
    return {
        "round": item.number,
        "agent": item.agent,
        "items": [dataclasses.asdict(entry) for entry in extraction.items],
        "set_aside": [dataclasses.asdict(aside) for aside in extraction.set_aside],
    }


def show_judged(name: str, unit: RoundUnit, judge: ChatModel, *, redact: bool, as_json: bool) -> None:
    """Print each turn's items as a model reads them, where it differs from the rules, and what it took.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
        TranscriptError: The file cannot be read.
    """
    rounds = load(name, unit=unit).rounds
    with judge_progress(len(rounds)) as advance:
        judged_rounds = judge_rounds(rounds, judge, agreements=False, advance=advance)
    if redact:
        judged_rounds = redacted(judged_rounds)
    raw_rounds = tuple(item for item in judged_rounds if item.extraction is not None)
    differences = tuple(difference for item in raw_rounds for difference in item.disagreements())
    report = JudgeReport(model=judge.model, rounds=raw_rounds, disagreements=differences)
    turns = [(item.item, item.reading) for item in raw_rounds if item.reading is not None]
    if as_json:
        by_round = {item.item.number: item.to_dict() for item in raw_rounds}
        wires = [turn_dict(*turn) | by_round[turn[0].number] for turn in turns]
        print_json({"rounds": wires, "judge": report.to_dict()})
        return
    print_turns(turns)
    print_lines([Line(), *report.lines(terminal_width())])
