"""`ebbtide doctor`: would a loop be seen, and would the agent hear of it."""

from __future__ import annotations

from typing import Final

import click

from ebbtide.cli.declaration import Command
from ebbtide.cli.exits import Exit
from ebbtide.cli.result import Result
from ebbtide.cli.runs.options import with_thresholds
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line
from ebbtide.divergence.self_test import Wiring, self_test
from ebbtide.service.hooks.install.hook_check import check_hooks
from ebbtide.supervision.run_options import RunOptions

_STYLES: Final = {
    Wiring.FIRES: "green",
    Wiring.OFF: "dim",
    Wiring.SILENT: "yellow",
    Wiring.BROKEN: "bold red",
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
    """Test each loop detector, and the hooks in your settings, on a known loop."""
    checks = self_test(options.profile, tools=options.tools)
    hooks = check_hooks()
    table = Table("detector", "wiring", "first at event", broken=())
    rows = [(item.kind.value.replace("_", " "), item.wiring, item.event, item.problem) for item in checks]
    rows += [(f"hooks of {item.agent}", item.wiring, item.event, item.problem) for item in hooks]
    for name, wiring, event, problem in rows:
        at = ", ".join(part for part in (None if event is None else str(event), problem) if part)
        table.add(name, Line(wiring.value, _STYLES[wiring]), Line.safe(at))
    is_wired = all(wiring in (Wiring.FIRES, Wiring.OFF) for _, wiring, _, _ in rows)
    return Result(
        lambda: [item.to_dict() for item in (*checks, *hooks)],
        table.lines,
        Exit.DONE if is_wired else Exit.LOOP,
    )
