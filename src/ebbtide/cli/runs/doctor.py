"""`ebbtide doctor`: would a loop be seen, and would the agent hear of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import click

from ebbtide.cli.declaration import Command
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.runs.options import with_thresholds
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line
from ebbtide.divergence.self_test import Wiring, self_test
from ebbtide.report.plurals import count
from ebbtide.service.hooks.install.hook_check import check_hooks
from ebbtide.supervision.run_options import RunOptions

_STYLES: Final = {
    Wiring.FIRES: "green",
    Wiring.OFF: "dim",
    Wiring.SILENT: "yellow",
    Wiring.BROKEN: "bold red",
}


_MEANINGS: Final = {
    Wiring.FIRES: "the known loop was reported, at the event shown",
    Wiring.OFF: "switched off, or without the budget or stated actions that it needs",
    Wiring.SILENT: "the known loop was not reported",
    Wiring.BROKEN: "the test failed",
}


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "every detector that is on sees its loop, and every installed hook reports it",
        Exit.LOOP: "a detector or a hook is silent",
    },
)
@with_thresholds
def doctor(options: RunOptions) -> Result:
    """Test each loop detector and hook on a known loop.

    The hooks are those in your settings.
    """
    checks = self_test(options.profile, tools=options.tools)
    hooks = check_hooks()
    table = Table("detector", "result", "first event", broken=())
    rows = [(item.kind.value.replace("_", " "), item.wiring, item.event, item.problem) for item in checks]
    rows += [(f"hooks of {item.agent}", item.wiring, item.event, item.problem) for item in hooks]
    for name, wiring, event, problem in rows:
        at = ", ".join(part for part in (None if event is None else str(event), problem) if part)
        table.add(name, Line(wiring.value, _STYLES[wiring]), Line.safe(at))
    is_wired = all(wiring in (Wiring.FIRES, Wiring.OFF) for _, wiring, _, _ in rows)
    counts = Counter(wiring for _, wiring, _, _ in rows)

    def text(width: int) -> Iterator[Line]:
        yield from table.lines(width)
        yield Line()
        totals = ", ".join(f"{counts[wiring]} {wiring}" for wiring in Wiring if counts[wiring])
        yield from Line(f"{count(len(rows), 'test')}: {totals}.", "bold").wrap(width)
        legend = [f"{wiring}: {_MEANINGS[wiring]}." for wiring in Wiring if counts[wiring]]
        yield from Line(" ".join(legend), "dim").wrap(width)

    return Result(
        lambda: [item.to_dict() for item in (*checks, *hooks)], text, Exit.DONE if is_wired else Exit.LOOP
    )
