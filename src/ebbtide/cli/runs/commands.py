"""`ebbtide check | watch | demo | loops | doctor`: runs, recorded or still growing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from ebbtide.cli.declaration import FILE, Argument, Command, Option
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.options import with_run_options, with_thresholds
from ebbtide.cli.shared_options import AsJson
from ebbtide.supervision.run_options import RunOptions

_ANSWER = "What comes of it"

Page = Annotated[
    Path | None,
    Option("--html", metavar="FILE", help="Write a report into this HTML file.", section=_ANSWER),
]


@click.command(cls=Command)
@with_run_options
def check(
    options: RunOptions,
    traces: Annotated[
        list[str],
        Argument(
            metavar="TRACE...", type=FILE, help="Recorded runs: files, folders, or - for standard input."
        ),
    ],
    jobs: Annotated[
        int | None,
        Option("--jobs", metavar="N", at_least=1, help="Processes for many files; one a core by default."),
    ] = None,
    html: Page = None,
    fail_on: Annotated[
        list[str] | None,
        Option(
            "--fail-on",
            metavar="WHAT",
            help="End with 50 on: stuck, limit, stop, escalate, nudge, unread, cost=USD, tokens=N or "
            "events=N. May be repeated.",
            section=_ANSWER,
        ),
    ] = None,
    everything: Annotated[
        bool,
        Option("--all", help="Show everything, not what fits on one screen.", section=_ANSWER),
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON for machines.", section=_ANSWER)] = False,
) -> None:
    """Say what became of a run: the verdict, what it cost, where it went in circles, what it decided.

    Many files or a folder give a table, the worst first, and with --json one object a line.
    """
    from ebbtide.cli.runs import checking

    output = checking.Output.of(as_json=as_json, everything=everything, html=html, fail_on=fail_on or ())
    if checking.check(traces, options, output, jobs=jobs):
        raise SystemExit(Exit.CHECK_FAILED)


@click.command(cls=Command)
@with_run_options
def watch(
    options: RunOptions,
    trace: Annotated[
        str,
        Argument(metavar="TRACE", type=FILE, help="A run that is being recorded, or - for standard input."),
    ],
    on: Annotated[
        tuple[str, str] | None,
        Option(
            "--on",
            metavar="WHEN CMD",
            help="Run CMD when the verdict becomes WHEN: stop, escalate, finalize, nudge, allow or change.",
        ),
    ] = None,
    bell: Annotated[
        bool, Option("--bell/--no-bell", help="Ring the terminal's bell when the verdict changes.")
    ] = True,
    until_end: Annotated[
        bool, Option("--until-end", help="End where the file ends now, and do not wait for more.")
    ] = False,
    idle: Annotated[
        float | None,
        Option("--idle", metavar="S", at_least=0, help="End when nothing came for so many seconds."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch a run while it is recorded, and say when its verdict changes. Ctrl-C ends with a summary."""
    from ebbtide.cli.runs import verdict_command, watching

    command = None if on is None else verdict_command.VerdictCommand.read(*on)
    watching.watch(
        watching.Watch(
            name=trace,
            options=options,
            on=command,
            bell=bell,
            as_json=as_json,
            until_end=until_end,
            idle_s=idle,
        )
    )


@click.command(cls=Command)
def demo(
    out: Annotated[
        Path | None, Option("--out", metavar="FOLDER", help="Keep the runs in this folder.")
    ] = None,
    html: Page = None,
    as_json: AsJson = False,
) -> None:
    """Make a sample of runs, check them and say what became of each."""
    from ebbtide.cli.runs import demo as commands

    commands.demo(out=out, html=html, as_json=as_json)


@click.command(cls=Command)
@with_thresholds
def loops(
    options: RunOptions,
    file: Annotated[
        str,
        Argument(metavar="TRACE", type=FILE, help="A trace in any known format, or - for standard input."),
    ],
    as_json: AsJson = False,
) -> None:
    """Say where a run goes round in circles, and what that cost. Exits 0 if no loop is found, else 30."""
    from ebbtide.cli import loops as commands

    if commands.find(file, options, as_json=as_json):
        raise SystemExit(Exit.LOOP)


@click.command(cls=Command)
@with_thresholds
def doctor(options: RunOptions, as_json: AsJson = False) -> None:
    """Run a known loop of each kind through a configuration and say whether its detector fires."""
    from ebbtide.cli import loops as commands

    if not commands.check(options, as_json=as_json):
        raise SystemExit(Exit.LOOP)
