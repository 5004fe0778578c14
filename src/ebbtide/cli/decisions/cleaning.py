"""`ebbtide decisions audit | restore | purge`: noise out of a log, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import click

from ebbtide.cli.decisions.place import By, Limit, Place, Why, Yes, past_moment_of, with_log
from ebbtide.cli.declaration import Argument, Command, Option, Output, ProfileName
from ebbtide.cli.result import Result
from ebbtide.cli.terminal import Line, plain, write_text
from ebbtide.decision_log.cleaning import cleanup
from ebbtide.decision_log.cleaning.cleanup import Plan, PlannedRow
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.errors import ConfigError, StaleDecisionError
from ebbtide.profile import Profile
from ebbtide.report.plurals import count
from ebbtide.settings_file import read_text
from ebbtide.text.redaction import redacted

_LARGEST_PLAN = 256 << 20  # bytes of a file

_SHOWN = 160  # characters of a description
_LISTED = 20  # decisions that came back
_PURGED = (Status.QUARANTINED, Status.ABANDONED)


_PLAN = Option("--plan", metavar="FILE", help="Plan file that `decisions audit` wrote.")


@click.command(cls=Command)
@with_log("agent", "session")
def audit(
    place: Place,
    output: Output = None,
    plan: Annotated[Path | None, _PLAN] = None,
    yes: Yes = False,
    leave: Annotated[
        list[str] | None, Option("--except", metavar="ID", help="Id of a row to keep. Repeatable.")
    ] = None,
    by: By = "clean-up",
    profile: ProfileName = "default",
    limit: Limit = 50,
) -> Result:
    """Find noise and duplicates in the log, and write a plan.

    With --plan and --yes the rows of the plan move to quarantine, unless a row has changed since; `decisions
    restore` reverts this. Without --yes nothing changes.
    """
    if plan is not None:
        return _apply(place, plan, leave=tuple(leave or ()), by=by, really=yes)
    if yes or leave:
        raise ConfigError("--yes and --except need --plan FILE, which `audit --output FILE` writes")
    rules = Profile.load(profile)
    with place.open() as log:
        found = cleanup.audit(log, rules)
    if output is not None:
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        write_text(output, f"{text}\n")
    shown = redacted(found)
    return Result(shown.to_dict, partial(_plan_lines, shown, limit, output))


def _apply(place: Place, path: Path, *, leave: Sequence[str], by: str, really: bool) -> Result:
    """Puts the rows of a plan into quarantine, or says what would be done.

    Raises:
        ConfigError: The plan cannot be read, or is of another log.
        StaleDecisionError: Rows changed since.
    """
    plan = _read_plan(path)
    with place.open() as log:
        rows = cleanup.chosen_rows(log, plan, leave)
        stale = cleanup.changed_since(log, rows)
        if stale:
            raise StaleDecisionError(stale)
        if really:
            cleanup.apply(log, plan, leave=leave, by=by)

    def text(width: int) -> Iterator[Line]:
        decisions = count(len(rows), "decision")
        if really:
            yield Line("done", "bold green").append(f": {decisions} in quarantine.")
            yield Line.safe(f"`ebbtide decisions restore --plan {path}` brings them back.", "dim")
        else:
            yield from _row_lines(redacted(rows), width)
            line = f"{decisions} would move to quarantine. Nothing has changed yet; --yes moves them."
            yield from Line(line).wrap(width)

    wire = {"schema": 1, "applied": really, "plan": plan.hash, "quarantined": [row.id for row in rows]}
    return Result(lambda: wire, text)


@click.command(cls=Command)
@with_log("agent", "session")
def restore(
    place: Place,
    decisions: Annotated[
        list[str] | None, Argument(metavar="[ID...]", help="Ids of decisions, or the beginnings of ids.")
    ] = None,
    plan: Annotated[Path | None, _PLAN] = None,
    by: By = "a person",
    why: Why = "",
) -> Result:
    """Bring decisions back from quarantine.

    The ids name the decisions, or --plan names all decisions that a plan moved there.
    """
    if bool(decisions) == (plan is not None):
        raise ConfigError("name the decisions to restore by their ids, or pass --plan FILE")
    with place.open() as log:
        if plan is not None:
            restored: Sequence[Decision] = cleanup.restore(log, _read_plan(plan), by=by)
        else:
            restored = log.restore_batch([log.resolve(name) for name in decisions or ()], by=by, why=why)

    def text(_width: int) -> Iterator[Line]:
        yield Line("restored", "bold green").append(f": {count(len(restored), 'decision')}")
        for decision in redacted(restored[:_LISTED]):
            yield Line.safe(f"{decision.id} {plain(decision.candidate.description, _SHOWN)}", indent=2)
        if len(restored) > _LISTED:
            yield Line(f"  and {len(restored) - _LISTED} more", "dim")

    wire = {"schema": 1, "restored": [decision.id for decision in restored]}
    return Result(lambda: wire, text)


@click.command(cls=Command)
@with_log("agent")
def purge(
    place: Place,
    before: Annotated[
        str,
        Option(
            "--before",
            metavar="WHEN",
            help="Only decisions settled before this time: 2026-03-01, or 90d ago.",
        ),
    ],
    yes: Yes = False,
    by: By = "retention",
    why: Why = "",
) -> Result:
    """Erase the texts of quarantined and abandoned decisions.

    This cannot be undone. The log still records that the decisions existed.
    """
    end = past_moment_of(before, "--before") or 0.0
    with place.open() as log:
        if yes:
            ids: Sequence[str] = log.purge(before=end, status=_PURGED, by=by, why=why)
            place.forget_vectors()  # a vector says much of its text
        else:
            there = log.iterate(status=_PURGED)
            ids = [each.id for each in there if each.opened_at is not None and each.opened_at < end]
    done = "purged: their texts are gone; the log still records that they existed."
    line = f"{len(ids)} {done if yes else 'would be purged, which cannot be undone. --yes purges them.'}"
    return Result(lambda: {"schema": 1, "purged": yes, "ids": list(ids)}, Line(line).wrap)


def _read_plan(path: Path) -> Plan:
    try:
        table = json.loads(read_text(path, _LARGEST_PLAN))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ConfigError:
        raise
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: this is not a clean-up plan")
    try:
        return Plan.from_dict(table)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _plan_lines(plan: Plan, limit: int, output: Path | None, width: int) -> Iterator[Line]:
    going = plan.going
    yield Line(f"{len(going)} of {plan.examined} decisions would move to quarantine", "bold")
    for rule, number in plan.by_rule.items():
        yield Line(f"  {number:>6}  ", "bold").append(plain(rule))
    yield Line()
    yield from _row_lines(going[:limit], width)
    if len(going) > limit:
        more = f"and {len(going) - limit} more; --limit shows more, --output writes all"
        yield from Line(more, "dim").wrap(width)
    protected = [row for row in plan.rows if row.protected is not None]
    if protected:
        yield Line()
        yield Line(f"{len(protected)} more stay, because they are protected", "bold")
        for row in protected[:limit]:
            line = Line(f"  {row.protected}  ", "cyan").append(plain(row.description, _SHOWN))
            yield line.append(f"  {row.rule}", "dim")
    if plan.reversals:
        yield Line()
        yield Line("These may replace an earlier decision", "bold")
        for reversal in plan.reversals[:limit]:
            text = f"{reversal.id} that of {reversal.of}: {plain(reversal.difference, _SHOWN)}"
            yield Line.safe(text, indent=2)
    if output is not None and going:
        yield Line.safe(
            f"Nothing has changed yet. `ebbtide decisions audit --plan {output} --yes` moves them."
        )


def _row_lines(rows: Sequence[PlannedRow], width: int) -> Iterator[Line]:
    for row in rows:
        yield from Line.safe(plain(row.description, _SHOWN), indent=2).wrap(width)
        yield Line.safe(f"{row.id}  {row.rule}: {row.assessment.reason or ''}", "dim", indent=4)
