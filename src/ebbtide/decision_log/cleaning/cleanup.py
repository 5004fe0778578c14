"""Noise that is in a log already: found first, taken out when somebody agrees, and brought back on request.

`audit` judges every row as the gate would have judged it at its time and gives a plan. `apply` carries the
plan out, in one transaction, unless a row changed since. `restore` undoes that.

Source: decision quality gate, phase 4 (clause Q15).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from ebbtide.codec import Record
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Decision, Relation, Status
from ebbtide.decision_log.record.results import Change
from ebbtide.decision_log.record.wire import decision_document, from_wire, to_wire
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict, Repeat, duplicate_assessment
from ebbtide.decisions.repeats.duplicates import Earlier, find_duplicate
from ebbtide.errors import ConfigError, StaleDecisionError, UnknownDecisionError
from ebbtide.profile import Profile

BY = "clean-up"  #: who says so, in the events of the log
_SHOWN = 200  # characters of a description


class Protection(StrEnum):
    """Reasons why a row stays, whatever the gate says of it."""

    EXPLICIT = "explicit"  #: it was recorded on purpose
    FORCED = "forced"  #: it was recorded over the objection of the gate
    RESTORED = "restored"  #: somebody brought it back from quarantine
    REVIEWED = "reviewed"  #: somebody looked how it turned out
    SUPERSEDING = "superseding"  #: it took the place of another one
    LINKED = "linked"  #: another one refers to it, or it to another one


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow(Record):
    """A row that the gate would have refused.

    Args:
        id: Of the decision.
        description: Its first 200 characters, for people.
        assessment: What the gate says of it; its `primary` is the rule.
        duplicate_of: The decision that it repeats; None where it is refused for another reason.
        version: Of the row, when the plan was made.
        state: Hash of the row, when the plan was made.
        protected: Why it stays all the same; None where it goes.
    """

    _WIRE: ClassVar = "rule reason=assessment.reason *"

    id: str
    description: str
    assessment: Assessment
    duplicate_of: str | None
    version: int
    state: str
    protected: Protection | None = None

    @property
    def rule(self) -> str:
        """The rule that refuses it."""
        return "" if self.assessment.primary is None else self.assessment.primary.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversal:
    """A row that may take the place of an earlier one. A question to people; the plan does nothing about it.

    Args:
        id: Of the later decision.
        of: Of the earlier one.
        difference: What sets them apart.
    """

    id: str
    of: str
    difference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan of a clean-up.

    Args:
        tenant: Whose log.
        agent: Of which agent; None: of all.
        session: Of which session; None: of all.
        profile: Name of the profile that judged.
        examined: How many rows were looked at.
        rows: Those that the gate would have refused, oldest first.
        reversals: Those that may take the place of an earlier one.
    """

    tenant: str
    agent: str | None
    session: str | None
    profile: str
    examined: int
    rows: tuple[PlannedRow, ...]
    reversals: tuple[Reversal, ...] = ()

    @property
    def going(self) -> tuple[PlannedRow, ...]:
        """The rows that would go to quarantine."""
        return tuple(row for row in self.rows if row.protected is None)

    @property
    def by_rule(self) -> dict[str, int]:
        """Counts the rows that would go, by the rule that refuses them, the most frequent first."""
        return dict(Counter(row.rule for row in self.going).most_common())

    @property
    def hash(self) -> str:
        """Name of the plan: another plan has another one."""
        return _digest(self._body())

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {**self._body(), "hash": self.hash}

    def _body(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "ebbtide.clean-up",
            "going": len(self.going),
            "by_rule": self.by_rule,
            **to_wire(self),
        }

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Plan:
        """The plan that `to_dict` described.

        Raises:
            ConfigError: It is no such plan, or it was changed.
        """
        if table.get("kind") != "ebbtide.clean-up" or table.get("schema") != 1:
            raise ConfigError("this is not a clean-up plan; `ebbtide decisions audit --output` writes one")
        try:
            plan = from_wire(cls, table)
        except ConfigError as error:
            raise ConfigError(f"the plan cannot be read: {error}. Make a new one.") from error
        if plan.hash != table.get("hash"):
            raise ConfigError(
                "the plan was changed after it was made; make a new one, and leave rows out with --except"
            )
        return plan


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
            rows.append(_planned(decision, assessment, protected))
        else:
            verdict = standing.verdict(decision)
            if verdict.repeat is Repeat.DUPLICATE:
                duplicate = duplicate_assessment(verdict, assessment, profile)
                rows.append(_planned(decision, duplicate, protected, duplicate_of=verdict.of))
            elif verdict.may_reverse is not None:
                difference = verdict.difference.kind.value if verdict.difference else ""
                reversals.append(Reversal(id=decision.id, of=verdict.may_reverse, difference=difference))
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


def _planned(
    decision: Decision,
    assessment: Assessment,
    protected: Protection | None,
    *,
    duplicate_of: str | None = None,
) -> PlannedRow:
    return PlannedRow(
        id=decision.id,
        description=decision.candidate.description[:_SHOWN],
        assessment=assessment,
        duplicate_of=duplicate_of,
        version=decision.version,
        state=_digest(decision_document(decision)),
        protected=protected,
    )


def _digest(table: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, written in one way: keys sorted, no spaces."""
    text = json.dumps(table, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


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
    return decision is not None and _digest(decision_document(decision)) == row.state


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
