"""`ebbtide loops` and `ebbtide doctor`: where a run goes round in circles, and whether it would be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.divergence.self_test import Wiring, self_test
from ebbtide.divergence.signals import Level, Signal
from ebbtide.divergence.snapshot import LoopSnapshot, MonitorSnapshot
from ebbtide.events.event import Call
from ebbtide.events.identity import identify
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.spending import plus
from ebbtide.traces.reading import load_events

_LEVEL_STYLES = {Level.HINT: "yellow", Level.BLOCK: "bold yellow", Level.STOP: "bold red"}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLoop:
    """One loop of a recorded run, up to its last event.

    Args:
        signals: The monitor's signals while it went on.
        end: How it stood at the end.
        cost_usd: What the calls from its first to its last event cost; None where no cost is known.
        tokens: Their tokens of all classes; None where none are known.
    """

    signals: tuple[Signal, ...]
    end: LoopSnapshot
    cost_usd: float | None
    tokens: int | None

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        amounts = {"cost_usd": self.cost_usd, "tokens": self.tokens}
        return {**self.end.to_dict(), **amounts, "signals": [signal.to_dict() for signal in self.signals]}


def find(name: str, options: RunOptions, *, as_json: bool) -> bool:
    """Print the loops of a recorded run.

    Returns:
        Whether there is one.

    Raises:
        TranscriptError: The events cannot be read.
    """
    calls = load_events(name)
    monitor = LoopMonitor(options.profile, tools=options.tools)
    signals = [signal for call in calls for signal in monitor.update(call)]
    state = monitor.snapshot()
    loops = _loops(signals, state, calls)
    if as_json:
        wire = [loop.to_dict() for loop in loops]
        print_json({"events": len(calls), "loops": wire, "degraded": state.degraded})
        return bool(loops)
    terminal = console()
    number = count(len(loops), "loop") if loops else "No loop"
    terminal.print(Text(f"{number} in {count(len(calls), 'event')}", style="bold"))
    for loop in loops:
        terminal.print(_description(loop), soft_wrap=True)
    terminal.print()
    _print_timeline(terminal, calls, loops)
    if state.degraded:
        terminal.print(f"{count(state.degraded, 'event')} not read in full.")
    return bool(loops)


def check(options: RunOptions, *, as_json: bool) -> bool:
    """Print whether each detector sees a known loop under a configuration.

    Returns:
        Whether all of them do.
    """
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
    return all(item.wiring in (Wiring.FIRES, Wiring.OFF) for item in checks)


def _loops(signals: Sequence[Signal], state: MonitorSnapshot, calls: Sequence[Call]) -> list[RecordedLoop]:
    """The loops, the most expensive first, then the earliest."""
    signals_of: dict[tuple[str, str], list[Signal]] = defaultdict(list)
    for signal in signals:
        signals_of[signal.chain_id, signal.id].append(signal)
    calls_of: dict[str, dict[int, Call]] = defaultdict(dict)
    for number, call in _with_numbers(calls):
        calls_of[call.chain_id][number] = call
    loops = []
    for chain in state.chains:
        numbers = calls_of[chain.chain_id]
        for end in chain.loops:
            loop_signals = signals_of.get((chain.chain_id, end.id))
            if not loop_signals:
                continue
            inside = [numbers[at] for at in range(end.first_event, end.last_event + 1) if at in numbers]
            loops.append(
                RecordedLoop(
                    signals=tuple(loop_signals),
                    end=end,
                    cost_usd=plus([call.cost_usd for call in inside]),
                    tokens=plus([_tokens(call) for call in inside]),
                )
            )
    return sorted(loops, key=lambda loop: (-(loop.cost_usd or 0.0), loop.end.first_event))


def _with_numbers(calls: Iterable[Call]) -> list[tuple[int, Call]]:
    """The events with the numbers that the monitor gives them in their chains."""
    latest: dict[str, int] = defaultdict(int)
    pairs = []
    for call in calls:
        latest[call.chain_id] = latest[call.chain_id] + 1 if call.seq is None else call.seq
        pairs.append((latest[call.chain_id], call))
    return pairs


def _tokens(call: Call) -> int | None:
    classes = (call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_write_tokens)
    return plus(classes)


def _description(loop: RecordedLoop) -> Text:
    end, signal = loop.end, loop.signals[-1]
    tools = ", ".join(dict.fromkeys(plain(name) for name in end.tools))
    kind = f" {end.kind.replace('_', ' ')}"
    line = Text.assemble("  ", (end.level.value.upper(), _LEVEL_STYLES[end.level]), kind)
    line.append(f", {_place(end)}")
    line.append(f": {tools}" if tools else "")
    line.append(f", {signal.period} in turn" if (signal.period or 1) > 1 else "")
    line.append(f", {end.copies} times" if end.copies > 1 else "")
    amounts = wording.amounts(loop.cost_usd, loop.tokens)
    line.append(f", {amounts}" if amounts else "")
    line.append(f"\n      {signal.message}", style="italic")
    line.append(f"\n      {plain(signal.evidence)}", style="dim")
    return line


def _place(end: LoopSnapshot) -> str:
    if end.first_event == end.last_event:
        return f"event {end.first_event:,}"
    return f"events {end.first_event:,}-{end.last_event:,}"


def _print_timeline(terminal: Console, calls: Sequence[Call], loops: Sequence[RecordedLoop]) -> None:
    """One cell an event, coloured by what is called, so that a loop shows as stripes."""
    looping = {
        (loop.signals[-1].chain_id, number)
        for loop in loops
        for number in range(loop.end.first_event, loop.end.last_event + 1)
    }
    numbered = _with_numbers(calls)
    symbols: dict[object, int] = {}
    width = max(terminal.width - _NUMBER_WIDTH - 2, 20)
    coloured = terminal.color_system is not None
    for start in range(0, len(calls), width):
        row = numbered[start : start + width]
        line, marks = Text(f"{start + 1:>{_NUMBER_WIDTH}} "), Text(" " * (_NUMBER_WIDTH + 1))
        for number, call in row:
            symbol = symbols.setdefault(_identity(call), len(symbols))
            if coloured:
                line.append("\u2588", style=f"color({_COLOURS[symbol % len(_COLOURS)]})")
            else:
                line.append(_LETTERS[symbol % len(_LETTERS)])
            marks.append("\u203e" if (call.chain_id, number) in looping else " ", style="red")
        terminal.print(line, soft_wrap=True)
        if not marks.plain.isspace():
            terminal.print(marks, soft_wrap=True)
    terminal.print(styled("One cell per event; equal calls look the same, and a line marks a loop.", "dim"))


def _identity(call: Call) -> object:
    identity = identify(call.name, call.args)
    return (call.kind, call.name, identity[0] if identity else None, call.text)
