"""Noise that is in a log already: found first, taken out when somebody agrees, and brought back on request.

`audit` judges every row as the gate would have judged it at its time and gives a plan. `apply` carries the
plan out, in one transaction, unless a row changed since. `restore` undoes that.

Source: decision quality gate, phase 4 (clause Q15).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ebbtide.decision_log.cleaning.cleaning_plan import (
    Plan,
    PlannedRow,
    Protection,
    Reversal,
    planned,
    state_of,
)
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Decision, Relation, Status
from ebbtide.decision_log.record.results import Change
from ebbtide.decisions.candidate import Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict, Repeat, duplicate_assessment
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.errors import ConfigError, StaleDecisionError, UnknownDecisionError
from ebbtide.profile import Profile

BY = "clean-up"  #: who says so, in the events of the log


def audit(log: DecisionLog, profile: Profile = Profile.DEFAULT) -> Plan:
    """Plans a clean-up of the rows that a view of a log sees. Nothing is changed.

    Looked at are the kept rows; in time, so that of two equal decisions the later one is the duplicate. A row
    that was recorded on purpose, brought back, reviewed or linked, or that took the place of another one, is
    listed and stays.

    Args:
        log: The log, or a view of one.
        profile: What the gate goes by.

    Raises:
        StoreError: The log cannot be read.
    """
    decisions = list(log.iterate(status=(Status.KEPT, Status.SUPERSEDED)))
    linked_ids = {link.to for decision in decisions for link in decision.links}
    standing = _Standing(profile)
    rows: list[PlannedRow] = []
    reversals: list[Reversal] = []
    candidates = [decision for decision in decisions if decision.status is Status.KEPT]
    for decision in candidates:
        assessment = assess(decision.candidate, profile=profile)
        protected = protection(decision, linked_ids)
        if not assessment.keep:
            rows.append(planned(decision, assessment, protected=protected))
        else:
            verdict = standing.verdict(decision)
            if verdict.repeat is Repeat.DUPLICATE:
                duplicate = duplicate_assessment(verdict, assessment, profile)
                rows.append(planned(decision, duplicate, duplicate_of=verdict.of, protected=protected))
            elif verdict.repeat is Repeat.POSSIBLE_REVERSAL and verdict.of is not None:
                difference = verdict.difference.kind.value if verdict.difference else ""
                reversals.append(Reversal(id=decision.id, of=verdict.of, difference=difference))
        if protected is not None or not (rows and rows[-1].id == decision.id):
            standing.add(decision)
    return Plan(
        tenant=log.tenant,
        agent=log.agent,
        session=log.session,
        profile=profile.name,
        examined=len(candidates),
        rows=tuple(rows),
        reversals=tuple(reversals),
    )


def protection(decision: Decision, linked_ids: Collection[str] = ()) -> Protection | None:
    """Returns the reason why a clean-up leaves a decision alone; None if it does not.

    Args:
        linked_ids: Ids that other decisions refer to.
    """
    if decision.candidate.source is Source.EXPLICIT:
        return Protection.EXPLICIT
    if decision.forced:
        return Protection.FORCED
    if decision.restored:
        return Protection.RESTORED
    if decision.reviews:
        return Protection.REVIEWED
    if any(link.relation is Relation.SUPERSEDES for link in decision.links):
        return Protection.SUPERSEDING
    return Protection.LINKED if decision.links or decision.id in linked_ids else None


def changed_since(log: DecisionLog, rows: Iterable[PlannedRow]) -> tuple[str, ...]:
    """The ids of rows that are not as they were when the plan was made, or that are gone."""
    return tuple(row.id for row in rows if not _unchanged(log, row))


def apply(log: DecisionLog, plan: Plan, *, leave: Collection[str] = (), by: str = BY) -> tuple[Decision, ...]:
    """Put the rows of a plan into quarantine, in one transaction.

    Args:
        log: The log that the plan was made of.
        plan: What `audit` gave.
        leave: Ids of rows that stay.
        by: Who says so.

    Raises:
        ConfigError: The plan is of another tenant, agent or session, or does not have a row of `leave`.
        StaleDecisionError: Rows changed since the plan was made; nothing was done.
        StoreError: The log cannot be written; nothing was done.
    """
    going = chosen_rows(log, plan, leave)
    changed = changed_since(log, going)
    if changed:
        raise StaleDecisionError(changed)
    changes = [Change(id=row.id, version=row.version, assessment=row.assessment) for row in going]
    return log.quarantine_batch(changes, by=by, why=f"plan {plan.hash[:12]}") if changes else ()


def restore(log: DecisionLog, plan: Plan, *, by: str = BY) -> tuple[Decision, ...]:
    """Bring back the rows of a plan that are in quarantine, in one transaction.

    Rows that stayed, that were brought back already, or whose text was purged, are passed over.

    Raises:
        ConfigError: The plan is of another tenant, agent or session.
        StoreError: The log cannot be written; nothing was done.
    """
    _check_scope(log, plan)
    there = (_find(log, row.id) for row in plan.going)
    ids = [
        decision.id for decision in there if decision is not None and decision.status is Status.QUARANTINED
    ]
    return log.restore_batch(ids, by=by, why=f"undo of plan {plan.hash[:12]}", undo=True) if ids else ()


def chosen_rows(log: DecisionLog, plan: Plan, leave: Collection[str] = ()) -> Sequence[PlannedRow]:
    """The rows that `apply` would put into quarantine.

    Raises:
        ConfigError: The plan is of another tenant, agent or session, or does not have a row of `leave`.
    """
    _check_scope(log, plan)
    unknown = set(leave) - {row.id for row in plan.going}
    if unknown:
        raise ConfigError(f"the plan does not take out {', '.join(sorted(unknown))}; nothing was done")
    return [row for row in plan.going if row.id not in leave]


class _Standing:
    """The decisions of each agent and session that still stand, as far as the window reaches."""

    def __init__(self, profile: Profile) -> None:
        self._rules = profile.duplicates
        self._rows: dict[tuple[str, str | None], list[Earlier]] = {}

    def verdict(self, decision: Decision) -> DuplicateVerdict:
        key, ts = _place(decision)
        if ts is None:
            return DuplicateVerdict(repeat=Repeat.NEW)  # it can be in no window
        window = self._rules.window_s
        rows = [row for row in self._rows.get(key, ()) if window is None or row.ts >= ts - window]
        self._rows[key] = rows
        return find_duplicate(decision.candidate.description, rows, self._rules, ts=ts)

    def add(self, decision: Decision) -> None:
        key, ts = _place(decision)
        if ts is None:
            return
        text = decision.candidate.description
        self._rows.setdefault(key, []).append(Earlier(id=decision.id, text=text, ts=ts))


def _place(decision: Decision) -> tuple[tuple[str, str | None], float | None]:
    at = decision.opened_at if decision.settled_at is None else decision.settled_at
    return (decision.scope.agent, decision.scope.session), at


def _unchanged(log: DecisionLog, row: PlannedRow) -> bool:
    decision = _find(log, row.id)
    return decision is not None and state_of(decision) == row.state


def _find(log: DecisionLog, decision_id: str) -> Decision | None:
    try:
        return log.get(decision_id)
    except UnknownDecisionError:
        return None


def _check_scope(log: DecisionLog, plan: Plan) -> None:
    here, there = (log.tenant, log.agent, log.session), (plan.tenant, plan.agent, plan.session)
    if here != there:
        raise ConfigError(
            f"the plan is of tenant {plan.tenant!r}, agent {plan.agent!r}, session {plan.session!r}, "
            f"and this log was opened as {log.tenant!r}, {log.agent!r}, {log.session!r}"
        )
