"""`ebbtide loops` and `ebbtide doctor`: where a run goes round in circles, and if that would be seen."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from typing import Annotated

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ebbtide import checking
from ebbtide.cli.declaration import FILE, Argument, AsJson, Command
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.options import with_thresholds
from ebbtide.cli.runs.run_screen import ACTION_STYLES
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.divergence.self_test import Wiring, self_test
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Cause
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import Cell, RunFinding, RunSummary
from ebbtide.supervision.summary.sentences import place

_LOOPS = (Cause.DIVERGENCE, Cause.SPENDING)
_WIRING_STYLES = {
    Wiring.FIRES: "green",
    Wiring.OFF: "dim",
    Wiring.SILENT: "yellow",
    Wiring.BROKEN: "bold red",
}
# Far enough apart to be distinguished on dark and on light ground.
_COLOURS = (33, 208, 41, 201, 220, 51, 196, 99, 118, 173, 27, 214, 83, 135, 160, 45, 142, 205, 29, 178)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NUMBER_WIDTH = 7


@click.command(cls=Command, exits={Exit.DONE: "there is no loop", Exit.LOOP: "there is a loop"})
@with_thresholds
def loops(
    options: RunOptions,
    file: Annotated[
        str,
        Argument(metavar="FILE", type=FILE, help="A trace in any known format, or - for standard input."),
    ],
    as_json: AsJson = False,
) -> None:
    """Find the loops of a run and what they cost."""
    name = single_file(file, f"`ebbtide check {shlex.quote(file)}` checks all of them.")
    summary = checking.check(name, dataclasses.replace(options, timeline=True))
    loops = [finding for finding in summary.findings if finding.cause in _LOOPS]
    if as_json:
        wire = [dataclasses.asdict(loop) for loop in loops]
        print_json({"events": summary.spent.events, "loops": wire, "degraded": summary.degraded})
    else:
        _print_loops(summary, loops)
    if loops:
        raise SystemExit(Exit.LOOP)


def _print_loops(summary: RunSummary, loops: Sequence[RunFinding]) -> None:
    terminal = console()
    number = count(len(loops), "loop") if loops else "No loop"
    terminal.print(Text(f"{number} in {count(summary.spent.events, 'event')}", style="bold"))
    for loop in loops:
        terminal.print(_description(loop), soft_wrap=True)
    terminal.print()
    _print_timeline(terminal, summary.timeline, loops)
    if summary.degraded:
        first = f": {plain(summary.faults[0])}" if summary.faults else "."
        terminal.print(f"{count(summary.degraded, 'event')} not read in full{first}", soft_wrap=True)


@click.command(
    cls=Command,
    exits={Exit.DONE: "every detector that is on sees its loop", Exit.LOOP: "a detector is silent"},
)
@with_thresholds
def doctor(options: RunOptions, as_json: AsJson = False) -> None:
    """Test each loop detector on a known loop."""
    checks = self_test(options.profile, tools=options.tools)
    if as_json:
        wire = [
            {"kind": c.kind.value, "wiring": c.wiring.value, "event": c.event, "problem": c.problem}
            for c in checks
        ]
        print_json(wire)
    else:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for header in ("detector", "wiring", "first at event"):
            table.add_column(header, no_wrap=True)
        for item in checks:
            at = "" if item.event is None else str(item.event)
            wiring = Text(item.wiring.value, style=_WIRING_STYLES[item.wiring])
            table.add_row(item.kind.value.replace("_", " "), wiring, at or plain(item.problem or ""))
        console().print(table)
    if not all(item.wiring in (Wiring.FIRES, Wiring.OFF) for item in checks):
        raise SystemExit(Exit.LOOP)


def _description(loop: RunFinding) -> Text:
    line = Text.assemble("  ", (loop.action.value.upper(), ACTION_STYLES[loop.action]))
    line.append(f" {loop.kind.replace('_', ' ')}, {place(loop)}: {plain(loop.sentence)}")
    spent = wording.amounts(loop.cost_usd, loop.tokens)
    line.append(f", {spent}" if spent else "")
    line.append(f"\n      {plain(loop.advice)}", style="italic")
    line.append(f"\n      {plain(loop.evidence)}", style="dim")
    return line


def _print_timeline(terminal: Console, cells: Sequence[Cell], loops: Sequence[RunFinding]) -> None:
    """One cell an event, coloured by what is called, so that a loop shows as stripes."""
    looping = {
        (loop.chain_id, number)
        for loop in loops
        for span in loop.spans
        for number in range(span.first, span.last + 1)
    }
    width = max(terminal.width - _NUMBER_WIDTH - 2, 20)
    coloured = terminal.color_system is not None
    for start in range(0, len(cells), width):
        line, marks = Text(f"{start + 1:>{_NUMBER_WIDTH}} "), Text(" " * (_NUMBER_WIDTH + 1))
        for cell in cells[start : start + width]:
            if coloured:
                line.append("\u2588", style=f"color({_COLOURS[cell.identity % len(_COLOURS)]})")
            else:
                line.append(_LETTERS[cell.identity % len(_LETTERS)])
            marks.append("\u203e" if (cell.chain_id, cell.number) in looping else " ", style="red")
        terminal.print(line, soft_wrap=True)
        if not marks.plain.isspace():
            terminal.print(marks, soft_wrap=True)
    terminal.print(
        styled("One cell an event, alike where the same is called; marked where it is in a loop.", "dim")
    )
