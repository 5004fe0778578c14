"""`ebbtide decisions audit | restore | purge`: noise out of a log, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click
from rich.console import Console
from rich.text import Text

from ebbtide.cli.decisions.place import By, Limit, Place, Why, Yes, past_moment_of, with_log
from ebbtide.cli.declaration import Argument, AsJson, Command, Option, Output, ProfileName
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.decision_log.cleaning import cleanup
from ebbtide.decision_log.cleaning.cleaning_plan import Plan, PlannedRow
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.errors import ConfigError, StaleDecisionError
from ebbtide.profile import Profile
from ebbtide.report.plurals import count
from ebbtide.settings_file import read_text

_LARGEST_PLAN = 256 << 20  # bytes of a file

_SHOWN = 160  # characters of a description
_LISTED = 20  # decisions that came back
_PURGED = (Status.QUARANTINED, Status.ABANDONED)


_PLAN = Option("--plan", metavar="FILE", help="A plan that audit wrote.")


@click.command(cls=Command)
@with_log(session=True)
def audit(
    place: Place,
    output: Output = None,
    plan: Annotated[Path | None, _PLAN] = None,
    yes: Yes = False,
    leave: Annotated[
        list[str] | None, Option("--except", metavar="ID", help="Id of a row that stays. Repeatable.")
    ] = None,
    by: By = "clean-up",
    profile: ProfileName = "default",
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Say which rows of the log are noise or duplicates, and write that as a plan; or do what a plan says.

    With --plan and --yes the rows of the plan go to quarantine, unless one of them changed since; restore
    undoes it. Without --yes nothing is changed.
    """
    if plan is not None:
        _apply(place, plan, leave=tuple(leave or ()), by=by, really=yes, as_json=as_json)
        return
    if yes or leave:
        raise ConfigError("--yes and --except go with --plan FILE, which `audit --output FILE` writes")
    rules = Profile.load(profile)
    with place.open() as log:
        found = cleanup.audit(log, rules)
    if output is not None:
        text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        try:
            output.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{output}: cannot be written: {error.strerror or error}") from error
    if as_json:
        print_json(found.to_dict())
        return
    terminal = console()
    _print_plan(terminal, found, limit)
    if output is not None and found.going:
        terminal.print(
            styled(f"Nothing is changed yet. `ebbtide decisions audit --plan {output} --yes` does it."),
            soft_wrap=True,
        )


def _apply(place: Place, path: Path, *, leave: Sequence[str], by: str, really: bool, as_json: bool) -> None:
    """Put the rows of a plan into quarantine, or say what would be done.

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
    if as_json:
        ids = [row.id for row in rows]
        print_json({"schema": 1, "applied": really, "plan": plan.hash, "quarantined": ids})
        return
    decisions = count(len(rows), "decision")
    terminal = console()
    if not really:
        _print_rows(terminal, rows)
        terminal.print(f"{decisions} would go to quarantine. Nothing is changed yet; --yes does it.")
        return
    terminal.print(Text.assemble(("done", "bold green"), f": {decisions} in quarantine."))
    terminal.print(
        styled(f"`ebbtide decisions restore --plan {path}` brings them back.", "dim"), soft_wrap=True
    )


@click.command(cls=Command)
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
    if bool(decisions) == (plan is not None):
        raise ConfigError("what is to come back? Name decisions by their ids, or give --plan FILE")
    with place.open() as log:
        if plan is not None:
            restored: Sequence[Decision] = cleanup.restore(log, _read_plan(plan), by=by)
        else:
            restored = log.restore_batch([log.resolve(name) for name in decisions or ()], by=by, why=why)
    if as_json:
        print_json({"schema": 1, "restored": [decision.id for decision in restored]})
        return
    terminal = console()
    number = count(len(restored), "decision")
    terminal.print(Text.assemble(("restored", "bold green"), f": {number}"))
    for decision in restored[:_LISTED]:
        line = f"{decision.id} {plain(decision.candidate.description, _SHOWN)}"
        terminal.print(styled(line, indent=2), soft_wrap=True)
    if len(restored) > _LISTED:
        terminal.print(styled(f"and {len(restored) - _LISTED} more", "dim", indent=2))


@click.command(cls=Command)
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
    end = past_moment_of(before, "--before") or 0.0
    with place.open() as log:
        if yes:
            ids: Sequence[str] = log.purge(before=end, status=_PURGED, by=by, why=why)
            place.forget_vectors()  # a vector says much of its text
        else:
            there = log.iterate(status=_PURGED)
            ids = [each.id for each in there if each.opened_at is not None and each.opened_at < end]
    if as_json:
        print_json({"schema": 1, "purged": yes, "ids": list(ids)})
    elif yes:
        console().print(f"{len(ids)} purged: their texts are gone, that they were there is not.")
    else:
        console().print(f"{len(ids)} would be purged, which cannot be undone. --yes does it.")


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
        raise ConfigError(f"{path}: this is no plan of a clean-up")
    try:
        return Plan.from_dict(table)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _print_plan(terminal: Console, plan: Plan, limit: int) -> None:
    going = plan.going
    headline = f"{len(going)} of {plan.examined} decisions would go to quarantine"
    terminal.print(Text(headline, style="bold"))
    for rule, number in plan.by_rule.items():
        terminal.print(Text.assemble((f"  {number:>6}  ", "bold"), plain(rule)))
    terminal.print()
    _print_rows(terminal, going[:limit])
    if len(going) > limit:
        terminal.print(
            styled(f"and {len(going) - limit} more; --limit shows more, --output writes all", "dim")
        )
    protected = [row for row in plan.rows if row.protected is not None]
    if protected:
        terminal.print(Text(f"\n{len(protected)} more stay, because they are protected", style="bold"))
        for row in protected[:limit]:
            line = Text.assemble((f"  {row.protected}  ", "cyan"), plain(row.description, _SHOWN))
            terminal.print(line.append(f"  {row.rule}", style="dim"), soft_wrap=True)
    if plan.reversals:
        terminal.print(Text("\nThese may take the place of an earlier one", style="bold"))
        for reversal in plan.reversals[:limit]:
            text = f"{reversal.id} that of {reversal.of}: {plain(reversal.difference, _SHOWN)}"
            terminal.print(styled(text, indent=2), soft_wrap=True)


def _print_rows(terminal: Console, rows: Sequence[PlannedRow]) -> None:
    for row in rows:
        terminal.print(styled(plain(row.description, _SHOWN), indent=2))
        why = f"{row.id}  {row.rule}: {row.assessment.reason or ''}"
        terminal.print(styled(why, "dim", indent=4), soft_wrap=True)
