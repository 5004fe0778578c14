"""Plans of clean-ups, as files that people read before anything is done.

Source: decision quality gate, phase 4 (clause Q15).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from ebbtide.codec import Record
from ebbtide.decision_log.record.record import Decision
from ebbtide.decision_log.record.wire import decision_document, from_wire, to_wire
from ebbtide.decisions.assessment import Assessment
from ebbtide.errors import ConfigError

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
        return digest(self._body())

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


def planned(
    decision: Decision,
    assessment: Assessment,
    *,
    duplicate_of: str | None = None,
    protected: Protection | None = None,
) -> PlannedRow:
    """The row of a plan for a decision."""
    return PlannedRow(
        id=decision.id,
        description=decision.candidate.description[:_SHOWN],
        assessment=assessment,
        duplicate_of=duplicate_of,
        version=decision.version,
        state=state_of(decision),
        protected=protected,
    )


def state_of(decision: Decision) -> str:
    """The hash of a row as it stands: another state has another one."""
    return digest(decision_document(decision))


def digest(table: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, written in one way: keys sorted, no spaces."""
    text = json.dumps(table, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
