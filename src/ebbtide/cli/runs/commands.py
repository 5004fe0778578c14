"""`ebbtide check | watch | demo | loops | doctor`: runs, recorded or still growing."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from ebbtide.cli.declaration import (
    FILE,
    FORMAT,
    Argument,
    AsJson,
    Command,
    Jobs,
    JudgeModel,
    Option,
    Page,
    Redact,
)
from ebbtide.cli.exits import Exit
from ebbtide.cli.runs.ci.check_format import CheckFormat
from ebbtide.cli.runs.options import with_run_options, with_thresholds
from ebbtide.cli.runs.session_filter import SessionFilter, with_session_filter
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import warn
from ebbtide.errors import ConfigError
from ebbtide.supervision.run_options import RunOptions

if TYPE_CHECKING:
    from ebbtide.cli.runs.verdict_command import VerdictCommand

_OUTPUT = "Output"


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "the runs were checked",
        Exit.BAD_INPUT: "wrong usage, a named file is UNREADABLE (with --fail-on also one in a folder), "
        "or there is nothing to check",
        Exit.CHECK_FAILED: "a run meets a condition of --fail-on",
    },
)
@with_run_options
@with_session_filter
def check(
    selection: SessionFilter,
    options: RunOptions,
    traces: Annotated[
        list[str] | None,
        Argument(
            metavar="[FILE...]", type=FILE, help="Recorded runs: files, folders, or - for standard input."
        ),
    ] = None,
    jobs: Jobs = None,
    judge: JudgeModel = None,
    html: Page = None,
    fail_on: Annotated[
        list[str] | None,
        Option(
            "--fail-on",
            metavar="WHAT",
            help="Exit with 50 on: stuck, limit, failed, stop, escalate, nudge, unknown, unread, cost=USD, "
            "tokens=N or events=N. Repeatable.",
            section=_OUTPUT,
        ),
    ] = None,
    form: Annotated[
        CheckFormat | None,
        Option(
            "--format",
            metavar="FORMAT",
            help=FORMAT,
            section=_OUTPUT,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            metavar="FILE",
            help="Findings that FILE lists are known: they do not count for --fail-on.",
            section=_OUTPUT,
        ),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        Option(
            "--write-baseline", metavar="FILE", help="Write all findings to FILE as known.", section=_OUTPUT
        ),
    ] = None,
    top: Annotated[
        int | None,
        Option(
            "--top",
            metavar="N",
            at_least=1,
            help="Of many runs show the N worst rows, with equal reasons in one row.",
            section=_OUTPUT,
        ),
    ] = None,
    everything: Annotated[
        bool,
        Option("--all", help="Show everything, not just one screen.", section=_OUTPUT),
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON.", section=_OUTPUT)] = False,
) -> None:
    """Check a recorded run: its verdict, its cost, its loops, its decisions.

    Several files or a folder give a table, worst first; with --json, one object per line.

    Without a FILE, `ebbtide check` finds the sessions of Claude Code, Codex and Gemini CLI on this machine:
    what those of the last seven days cost, by day and project, and how much of it bought nothing. One project
    since yesterday: ebbtide check --since 24h --project shop; without regard to time: --since all

    With --format github, junit, sarif or markdown the result is printed for a CI system.
    """
    is_report = form is not None and form.is_report
    for_files = {f"--format {form}": is_report, "--write-baseline": write_baseline, "--top": top}
    if traces is None and any(for_files.values()):
        option = next(option for option, value in for_files.items() if value)
        raise ConfigError(f"{option} needs a FILE")
    if is_report and judge is not None:
        raise ConfigError(f"--format {form} cannot go with --judge")
    if traces is None:
        # Before the engines are imported: where there are no sessions, that is quickly said.
        from ebbtide.cli.runs.machine_sessions import MachineSessions

        machine = MachineSessions.of(selection)
    else:
        selection.refuse_beside_trace()
    from ebbtide.cli.runs import checking

    output = checking.Output.of(
        as_json=as_json,
        form=form,
        everything=everything,
        top=top,
        html=html,
        fail_on=fail_on or (),
        baseline=baseline,
        write_baseline=write_baseline,
    )
    if traces is None:
        from ebbtide.cli.runs import sessions

        code = sessions.check_sessions(machine, options, output, jobs=jobs, judge=judge)
    else:
        code = checking.check(traces, options, output, jobs=jobs, judge=judge)
    if code is not Exit.DONE:
        raise SystemExit(code)


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "the watch ended, also by Ctrl-C",
        Exit.INTERRUPTED: "interrupted by Ctrl-C before anything was read",
    },
)
@with_run_options
@with_session_filter
def watch(
    selection: SessionFilter,
    options: RunOptions,
    trace: Annotated[
        str | None,
        Argument(
            metavar="[FILE]", type=FILE, help="A run that is still being recorded, or - for standard input."
        ),
    ] = None,
    on: Annotated[
        tuple[str, str] | None,
        Option(
            "--on",
            metavar="WHEN CMD",
            help="Run CMD when the verdict becomes WHEN: stop, escalate, finalize, nudge, allow or change.",
        ),
    ] = None,
    bell: Annotated[
        bool, Option("--bell/--no-bell", help="Ring the terminal bell when the verdict changes.")
    ] = True,
    until_end: Annotated[bool, Option("--until-end", help="Stop at the current end of the file.")] = False,
    idle: Annotated[
        float | None,
        Option("--idle", metavar="S", at_least=0, help="Stop after S seconds without new data."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch a run while it is recorded, and report each change of its verdict.

    Without a FILE, the newest session of a coding agent on this machine is watched.

    Ctrl-C stops the watch and prints a summary.
    """
    command = None if on is None else _verdict_command(on, trace)
    if trace is None:
        from ebbtide.cli.runs.machine_sessions import MachineSessions

        newest = MachineSessions.of(selection).newest()
        trace = newest.file.path
        warn(f"watching {newest}")
    else:
        selection.refuse_beside_trace()
    from ebbtide.cli.runs import watching

    trace = watching.growing_run(single_file(trace, "Name the file in it that grows."))
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


def _verdict_command(on: tuple[str, str], trace: str | None) -> VerdictCommand:
    """What `--on` runs; it takes the two words after it, whatever they are.

    Raises:
        ConfigError: One of them was not meant as a part of it.
    """
    from ebbtide.cli.runs.verdict_command import VerdictCommand

    when, command = on
    if command.startswith("-"):
        raise ConfigError(f"--on {when}: a command is missing before {command}. Write --on {when} 'COMMAND'")
    if trace is None and Path(command).is_file() and not os.access(command, os.X_OK):
        raise ConfigError(
            f"--on {when}: a command is missing before the file {command}. Write --on {when} 'COMMAND'"
        )
    return VerdictCommand.read(when, command)


@click.command(cls=Command)
def demo(
    out: Annotated[Path | None, Option("--keep", metavar="DIR", help="Keep the runs in DIR.")] = None,
    html: Page = None,
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Make four sample runs and check them."""
    from ebbtide.cli.runs import demo as commands

    commands.demo(out=out, html=html, redact=redact, as_json=as_json)


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
    from ebbtide.cli.runs import loops as commands

    name = single_file(file, f"`ebbtide check {shlex.quote(file)}` checks all of them.")
    if commands.find(name, options, as_json=as_json):
        raise SystemExit(Exit.LOOP)


@click.command(
    cls=Command,
    exits={
        Exit.DONE: "every detector that is on sees its loop, an adapter is wired, or a trace was shown",
        Exit.LOOP: "a detector is silent, or an adapter is not wired",
    },
)
@with_thresholds
def doctor(
    options: RunOptions,
    trace: Annotated[
        str | None,
        Option("--trace", metavar="FILE", type=FILE, help="Show instead what is known of a trace's tools."),
    ] = None,
    adapter: Annotated[
        str | None,
        Option("--adapter", metavar="NAME", help="Test instead the adapter of a framework: langchain."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test each loop detector on a known loop."""
    from ebbtide.cli.runs import loops as commands

    if adapter is not None:
        from ebbtide.cli.runs import adapter_check

        if not adapter_check.check(adapter, as_json=as_json):
            raise SystemExit(Exit.LOOP)
        return
    if trace is not None:
        from ebbtide.cli.runs import tool_census

        name = single_file(trace, "Name one of its files.")
        tool_census.show(name, options, as_json=as_json)
        return
    if not commands.check(options, as_json=as_json):
        raise SystemExit(Exit.LOOP)
