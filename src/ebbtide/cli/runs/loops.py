"""`ebbtide loops`: where a run goes round in circles."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import click

from ebbtide import checking
from ebbtide.cli.declaration import FILE, Argument, Command
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.runs.options import with_loop_options
from ebbtide.cli.runs.run_screen import ACTION_STYLES
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import Line, console, plain
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Cause
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import Cell, RunFinding
from ebbtide.supervision.summary.sentences import place

_LOOPS = (Cause.DIVERGENCE, Cause.SPENDING)
# Far enough apart to be distinguished on dark and on light ground.
_COLOURS = (33, 208, 41, 201, 220, 51, 196, 99, 118, 173, 27, 214, 83, 135, 160, 45, 142, 205, 29, 178)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NUMBER_WIDTH = 7


@click.command(cls=Command, exits={Exit.DONE: "there is no loop", Exit.LOOP: "there is a loop"})
@with_loop_options
def loops(
    options: RunOptions,
    file: Annotated[
        str,
        Argument(metavar="FILE", type=FILE, help="A trace in any known format, or - for standard input."),
    ],
) -> Result:
    """Find the loops of a run and what they cost."""
    name = single_file(file, f"`ebbtide check {shlex.quote(file)}` checks all of them.")
    summary = checking.check(name, dataclasses.replace(options, timeline=True))
    loops = [finding for finding in summary.findings if finding.cause in _LOOPS]

    def wire() -> dict[str, Any]:
        found = [dataclasses.asdict(loop) for loop in loops]
        return {"events": summary.spent.events, "loops": found, "degraded": summary.degraded}

    def text(width: int) -> Iterator[Line]:
        number = count(len(loops), "loop") if loops else "No loop"
        yield Line(f"{number} in {count(summary.spent.events, 'event')}", "bold")
        for loop in loops:
            yield from _description(loop)
        yield Line()
        yield from _timeline(summary.timeline, loops, width)
        if summary.degraded:
            first = f": {plain(summary.faults[0])}" if summary.faults else "."
            yield Line(f"{count(summary.degraded, 'event')} not read in full{first}")

    return Result(wire, text, Exit.LOOP if loops else Exit.DONE)


def _description(loop: RunFinding) -> Iterator[Line]:
    line = Line("  ").append(loop.action.value.upper(), ACTION_STYLES[loop.action])
    line.append(f" {loop.kind.replace('_', ' ')}, {place(loop)}: {plain(loop.sentence)}")
    spent = wording.amounts(loop.cost_usd, loop.tokens)
    yield line.append(f", {spent}" if spent else "")
    yield Line(f"      {plain(loop.advice)}", "italic")
    yield Line(f"      {plain(loop.evidence)}", "dim")


def _timeline(cells: Sequence[Cell], loops: Sequence[RunFinding], columns: int) -> Iterator[Line]:
    """One cell per event, coloured by what is called, so that a loop shows as stripes."""
    looping = {
        (loop.chain_id, number)
        for loop in loops
        for span in loop.spans
        for number in range(span.first, span.last + 1)
    }
    width = max(columns - _NUMBER_WIDTH - 2, 20)
    coloured = console().color_system is not None
    for start in range(0, len(cells), width):
        line, marks = Line(f"{start + 1:>{_NUMBER_WIDTH}} "), Line(" " * (_NUMBER_WIDTH + 1))
        for cell in cells[start : start + width]:
            if coloured:
                line.append("\u2588", f"color({_COLOURS[cell.identity % len(_COLOURS)]})")
            else:
                line.append(_LETTERS[cell.identity % len(_LETTERS)])
            marks.append("\u203e" if (cell.chain_id, cell.number) in looping else " ", "red")
        yield line
        if not marks.text.isspace():
            yield marks
    if not cells:
        return
    unit, same = ("cell", "colour") if coloured else ("letter", "letter")
    legend = f"Each {unit} is one event. Identical calls share a {same}. Lines below mark the loops."
    yield from Line(legend, "dim").wrap(columns)
