"""Advices over some sessions: those that were applied, with what they have saved, and the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ebbtide.advice.applied_advice import AppliedAdvice
from ebbtide.advice.applying import is_in_force
from ebbtide.advice.estimate import Estimate
from ebbtide.advice.kinds import AdviceKind
from ebbtide.advice.measuring import RealisedSaving, measure
from ebbtide.advice.priced_advice import PricedAdvice, advices
from ebbtide.advice.session_record import SessionRecord
from ebbtide.codec import Record
from ebbtide.errors import ConfigError
from ebbtide.text.redaction import redact


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAdvice(Record):
    """An advice with the state of its setting.

    Args:
        name: What `--apply` and `--undo` take.
        state: ``not applied``, ``applied`` or ``changed since``.
        file: The file of the setting.
        before: The value that holds now, or held before it was applied; None where none is set.
        problem: Why that is not known, or why it is not measured; None where it is.
        example: The dearest answer that it is about, in words; None where it is about none.
        applied_at: Seconds since 1970; None where it is not applied.
        realised: What it has saved; None where that is not measured.
        priced: What it can be applied by; None where it is applied.
    """

    _WIRE: ClassVar = """
        name state kind=kind.name agent=kind.change.agent project what=kind.what effect=kind.effect file
        key=kind.change.keys after=kind.change.value before problem example expected applied_at realised
    """

    name: str
    state: str
    kind: AdviceKind
    project: str | None
    file: str
    before: Any
    problem: str | None
    expected: Estimate
    example: str | None = None
    applied_at: float | None = None
    realised: RealisedSaving | None = None
    priced: PricedAdvice | None = None

    @classmethod
    def of(cls, advice: PricedAdvice) -> ListedAdvice | None:
        """Returns an advice that is not applied; None where its setting does already what it would do."""
        change, current, problem = advice.kind.change, None, None
        if advice.project is not None and not Path(advice.project).is_dir():
            return None
        try:
            current = change.current(advice.project)
            if change.is_met(current):
                return None
        except ConfigError as error:
            problem = str(error)
        return cls(
            name=advice.name,
            state="not applied",
            kind=advice.kind,
            project=advice.project,
            file=str(change.path(advice.project)),
            before=current,
            problem=problem,
            expected=advice.expected,
            example=redact(advice.example) or None,
            priced=advice,
        )

    @classmethod
    def of_applied(cls, entry: AppliedAdvice, records: Sequence[SessionRecord]) -> ListedAdvice:
        """Returns an advice that was applied, with what the sessions after it say."""
        try:
            problem = None if is_in_force(entry) else "somebody has changed the setting since"
        except ConfigError as error:
            problem = str(error)
        after = [
            record
            for record in records
            if record.agent == entry.agent.value
            and entry.project in (None, record.project)
            and record.began is not None
            and record.began > entry.applied_at
        ]
        return cls(
            name=entry.name,
            state="applied" if problem is None else "changed since",
            kind=entry.advice_kind,
            project=entry.project,
            file=entry.path,
            before=entry.value_before,
            problem=problem,
            expected=entry.expected,
            applied_at=entry.applied_at,
            realised=measure(entry.advice_kind, entry.before, after) if problem is None else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceListing(Record):
    """All advices of this machine.

    Args:
        since: When the first of the sessions began; None where no time is known.
        unread: Sessions that cannot be read.
        made: Advices that were applied.
        others: Those that were not, the dearest first.
    """

    _SCHEMA: ClassVar = 1
    _WIRE: ClassVar = "sessions since unread advices"

    sessions: int
    since: float | None
    unread: int
    made: tuple[ListedAdvice, ...]
    others: tuple[ListedAdvice, ...]

    @property
    def advices(self) -> tuple[ListedAdvice, ...]:
        """All of them, those that were applied first."""
        return (*self.made, *self.others)

    @classmethod
    def of(
        cls, records: Sequence[SessionRecord], applied: Sequence[AppliedAdvice], *, unread: int = 0
    ) -> AdviceListing:
        """Returns what sessions say."""
        made = tuple(ListedAdvice.of_applied(entry, records) for entry in applied)
        in_force = {item.name for item in made if item.problem is None}
        found = [ListedAdvice.of(item) for item in advices(records) if item.name not in in_force]
        return cls(
            sessions=len(records),
            since=min((item.began for item in records if item.began is not None), default=None),
            unread=unread,
            made=made,
            others=tuple(item for item in found if item is not None),
        )
