"""Advices over some sessions: those that were applied, with what they have saved, and the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ebbtide.advice.applied_advice import AppliedAdvice
from ebbtide.advice.applying import is_in_force
from ebbtide.advice.kinds import AdviceKind
from ebbtide.advice.measuring import RealisedSaving, measure
from ebbtide.advice.priced_advice import PricedAdvice, advices
from ebbtide.advice.session_record import SessionRecord
from ebbtide.errors import ConfigError
from ebbtide.text.redaction import redact


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAdvice:
    """An advice that is not applied.

    Args:
        current: The value that holds now; None where none is set.
        problem: Why that is not known; None where it is.
    """

    advice: PricedAdvice
    current: Any
    problem: str | None

    @classmethod
    def of(cls, advice: PricedAdvice) -> OpenAdvice | None:
        """Returns an advice with its setting; None where its value does already what the change would do."""
        change = advice.kind.change
        if advice.project is not None and not Path(advice.project).is_dir():
            return None
        try:
            current = change.current(advice.project)
        except ConfigError as error:
            return cls(advice=advice, current=None, problem=str(error))
        return None if change.is_met(current) else cls(advice=advice, current=current, problem=None)

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        item = self.advice
        return {
            "name": item.name,
            "state": "not applied",
            **_change(item.kind, item.project, str(item.kind.change.path(item.project))),
            "before": self.current,
            "problem": self.problem,
            "example": redact(item.example) or None,
            "expected": item.expected.to_dict(),
            "applied_at": None,
            "realised": None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAdvice:
    """An advice that was applied.

    Args:
        entry: What was kept of it.
        problem: Why it is not measured: somebody has changed the setting since; None where it is.
        realised: What it has saved.
    """

    entry: AppliedAdvice
    problem: str | None
    realised: RealisedSaving | None

    @classmethod
    def of(cls, entry: AppliedAdvice, records: Sequence[SessionRecord]) -> MadeAdvice:
        """Returns an advice with what the sessions after it say."""
        try:
            problem = None if is_in_force(entry) else "somebody has changed the setting since"
        except ConfigError as error:
            problem = str(error)
        if problem is not None:
            return cls(entry=entry, problem=problem, realised=None)
        after = [
            record
            for record in records
            if record.agent == entry.agent.value
            and entry.project in (None, record.project)
            and record.began is not None
            and record.began > entry.applied_at
        ]
        return cls(entry=entry, problem=None, realised=measure(entry.advice_kind, entry.before, after))

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        entry = self.entry
        return {
            "name": entry.name,
            "state": "applied" if self.problem is None else "changed since",
            **_change(entry.advice_kind, entry.project, entry.path),
            "before": entry.value_before,
            "problem": self.problem,
            "example": None,
            "expected": entry.expected.to_dict(),
            "applied_at": entry.applied_at,
            "realised": None if self.realised is None else self.realised.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceListing:
    """All advices of this machine.

    Args:
        since: When the first of them began; None where no time is known.
        made: Advices that were applied.
        others: Those that were not, the dearest first.
    """

    sessions: int
    since: float | None
    unread: int
    made: list[MadeAdvice]
    others: list[OpenAdvice]

    @classmethod
    def of(
        cls, records: Sequence[SessionRecord], applied: Sequence[AppliedAdvice], *, unread: int = 0
    ) -> AdviceListing:
        """Returns what sessions say."""
        made = [MadeAdvice.of(entry, records) for entry in applied]
        in_force = {item.entry.name for item in made if item.problem is None}
        found = [OpenAdvice.of(item) for item in advices(records) if item.name not in in_force]
        return cls(
            sessions=len(records),
            since=min((item.began for item in records if item.began is not None), default=None),
            unread=unread,
            made=made,
            others=[item for item in found if item is not None],
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "sessions": self.sessions,
            "since": self.since,
            "unread": self.unread,
            "advices": [
                *(item.to_dict() for item in self.made),
                *(item.to_dict() for item in self.others),
            ],
        }


def _change(kind: AdviceKind, project: str | None, file: str) -> dict[str, Any]:
    change = kind.change
    return {
        "kind": kind.name,
        "agent": change.agent.value,
        "project": project,
        "what": kind.what,
        "effect": kind.effect,
        "file": file,
        "key": list(change.keys),
        "after": change.value,
    }
