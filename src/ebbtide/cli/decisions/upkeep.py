"""The commands that look after a decision log: counting, cleaning, checking, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ebbtide.cli.decisions.browsing import Place
from ebbtide.cli.decisions.recording import (
    By,
    Limit,
    Statuses,
    Users,
    Why,
    with_log,
)
from ebbtide.cli.declaration import (
    FORMAT,
    Argument,
    AsJson,
    CommandGroup,
    Fields,
    Option,
    Output,
    ProfileName,
    Redact,
)
from ebbtide.cli.exits import Exit
from ebbtide.cli.single_file import single_file
from ebbtide.decision_log.exchange.reading import FileFormat, WriteFormat

app = CommandGroup()

_PLAN = Option("--plan", metavar="FILE", help="A plan that audit wrote.")
PlanFile = Annotated[Path, _PLAN]
Yes = Annotated[bool, Option("--yes", "-y", help="Do it; without it, say what would be done.")]


@app.command()
@with_log(session=False)
def stats(
    place: Place,
    prometheus: Annotated[bool, Option("--prometheus", help="Print metrics for Prometheus.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count what was kept and what was refused, by rule."""
    from ebbtide.cli.decisions import browsing as commands

    commands.stats(place, prometheus=prometheus, as_json=as_json)


@app.command()
@with_log(session=False)
def sample(
    place: Place,
    size: Annotated[
        int, Option("--size", metavar="N", at_least=1, at_most=10_000, help="How many of each.")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Draw decisions to look at, kept and refused, with the missed and noise rates of those reviewed."""
    from ebbtide.cli.decisions import browsing as commands

    commands.sample(place, size=size, as_json=as_json)


@app.command()
@with_log(session=True)
def audit(
    place: Place,
    output: Output = None,
    profile: ProfileName = "default",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Say which rows of the log are noise or duplicates, and write that as a plan. Nothing is changed."""
    from ebbtide.cli.decisions import cleaning as commands

    commands.audit(place, profile=profile, output=output, limit=limit, as_json=as_json)


@app.command()
@with_log(session=True)
def apply(
    place: Place,
    plan: PlanFile,
    yes: Yes = False,
    leave: Annotated[
        list[str] | None, Option("--except", metavar="ID", help="Id of a row that stays. Repeatable.")
    ] = None,
    by: By = "clean-up",
    as_json: AsJson = False,
) -> None:
    """Put the rows of a plan into quarantine, unless one of them changed since; restore undoes it."""
    from ebbtide.cli.decisions import cleaning as commands

    commands.apply(place, plan, leave=tuple(leave or ()), by=by, really=yes, as_json=as_json)


@app.command()
@with_log(session=True)
def restore(
    place: Place,
    decisions: Annotated[
        list[str] | None, Argument(metavar="[ID...]", help="Ids, or their beginnings.")
    ] = None,
    plan: Annotated[Path | None, _PLAN] = None,
    by: By = "a person",
    why: Why = "",
    as_json: AsJson = False,
) -> None:
    """Bring decisions back from quarantine: those named, or all that a plan put there."""
    from ebbtide.cli.decisions import cleaning as commands

    commands.restore(place, tuple(decisions or ()), plan, by=by, why=why, as_json=as_json)


@app.command()
@with_log(session=False)
def purge(
    place: Place,
    before: Annotated[
        str, Option("--before", metavar="WHEN", help="Settled before: 2026-03-01, or 90d ago.")
    ],
    yes: Yes = False,
    by: By = "retention",
    why: Why = "",
    as_json: AsJson = False,
) -> None:
    """Erase the texts of quarantined and abandoned decisions, which cannot be undone.

    That they were there stays on record.
    """
    from ebbtide.cli.decisions import cleaning as commands
    from ebbtide.cli.decisions.recording import past_moment_of

    at = past_moment_of(before, "--before")
    commands.purge(place, before=at or 0.0, by=by, why=why, really=yes, as_json=as_json)


@app.command(
    exits={
        Exit.DONE: "everything is as it was written",
        Exit.NOT_VERIFIED: "something was changed or is missing",
    }
)
@with_log(session=False)
def verify(
    place: Place,
    heads: Annotated[
        Path | None,
        Option("--heads", metavar="FILE", help="Heads that --write-heads noted; they must be in the log."),
    ] = None,
    write_heads: Annotated[
        Path | None, Option("--write-heads", metavar="FILE", help="Note the heads of the chains in FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the chain of hashes over all events."""
    from ebbtide.cli.decisions import browsing as commands

    if not commands.verify(place, heads=heads, write_heads=write_heads, as_json=as_json):
        raise SystemExit(Exit.NOT_VERIFIED)


@app.command()
@with_log(session=False)
def calibration(
    place: Place,
    as_json: AsJson = False,
) -> None:
    """Say how right the stated confidence was: Brier score, and reliability by bin, category and agent."""
    from ebbtide.cli.decisions import calibrating as commands

    commands.calibration(place, as_json=as_json)


@app.command()
@with_log(session=True)
def export(
    place: Place,
    to: Annotated[
        Path | None,
        Argument(metavar="[FILE|DIR]", help="Folder for pages, file for JSON; none prints JSON."),
    ] = None,
    kind: Annotated[WriteFormat | None, Option("--format", metavar="FORMAT", help=FORMAT)] = None,
    status: Statuses = None,
    as_json: AsJson = False,
) -> None:
    """Write decisions as markdown records, one a page, or as JSON that import reads back.

    The format is told by the name: madr for a folder, jsonl or json for a file.
    """
    from ebbtide.cli.decisions import exchange as commands

    commands.export(place, to, kind=kind, status=tuple(status) if status else None, as_json=as_json)


@app.command(
    name="import",
    exits={Exit.BAD_INPUT: "wrong usage, or a file or a part of one that cannot be used"},
)
@with_log(session=True)
def import_files(
    place: Place,
    files: Annotated[
        list[str], Argument(metavar="FILE...", help="Files, folders of records, or - for standard input.")
    ],
    kind: Annotated[FileFormat | None, Option("--format", metavar="FORMAT", help=FORMAT)] = None,
    fields: Fields = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Read only, and say what there is.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read decisions of another log. Importing the same file again is safe.

    The format is recognised by the content. In tables, --fields description=COLUMN,time=COLUMN names columns.
    """
    from ebbtide.cli.decisions import exchange as commands

    whole = commands.import_files(place, files, kind=kind, fields=fields, dry_run=dry_run, as_json=as_json)
    if not whole:
        raise SystemExit(Exit.BAD_INPUT)


@app.command(name="from")
@with_log(session=True)
def from_trace(
    place: Place,
    trace: Annotated[str, Argument(metavar="FILE", help="A conversation, or - for standard input.")],
    everyone: Users = False,
    save: Annotated[bool, Option("--save", help="Record what is kept in the log.")] = False,
    refused: Annotated[bool, Option("--refused/--no-refused", help="List what is refused.")] = True,
    profile: ProfileName = "default",
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Run a conversation through the gate: what would be kept, what not, and why."""
    from ebbtide.cli.decisions import from_trace as commands

    options = commands.TraceOptions(
        everyone=everyone, save=save, refused=refused, redact=redact, as_json=as_json
    )
    commands.from_trace(single_file(trace, "Name one of its files."), place, profile, options)
