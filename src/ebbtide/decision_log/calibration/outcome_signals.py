"""Signals: what evidence says of how a decision turned out.

A signal never sees how sure the agent was, nor a word of what it decided: it would find what it looks for,
and the calibration of confidence would measure the signal. It gets a `BlindDecision`, which has neither, and
evidence that names what it is about. No evidence, no finding: that nothing was heard of a decision does not
make it a success.

Source: decision quality gate, related 008.5 (clause Q17).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ebbtide.decision_log.record.record import Decision, DecisionOutcome, Relation, Review
from ebbtide.decision_log.record.review import SIGNAL, Basis
from ebbtide.errors import ConfigError

_DAY_S = 86_400.0
_SHOWN = 5  # pieces of evidence that a review names


class EvidenceKind(StrEnum):
    """What a piece of evidence is."""

    CHECK = "check"  #: a command, a test run or a CI job, which passed or failed
    REVERT = "revert"  #: a change was taken back
    VERDICT = "verdict"  #: a person says how it turned out


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something that happened after a decision, and what it is about.

    Args:
        kind: What it is.
        about: What it is about, in the words of the decision's references: ``commit:4f2a9c1``, ``pr:90``,
            ``test:tests/test_api.py``; or ``decision:ID`` for the decision itself.
        source: Where it can be looked up: ``ci run 881``, ``revert 77b1d02``, ``pytest -q``. Two checks of
            one source are two runs of one check.
        ts: Seconds since the epoch.
        passed: Whether a check passed.
        outcome: What a verdict says.
        by: Whose verdict it is.

    Raises:
        ConfigError: A check does not say whether it passed, or a verdict not what or by whom.
    """

    kind: EvidenceKind
    about: str
    source: str
    ts: float
    passed: bool | None = None
    outcome: DecisionOutcome | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        if self.kind is EvidenceKind.CHECK and not isinstance(self.passed, bool):
            raise ConfigError(f"check {self.source!r}: passed = {self.passed!r}: expected true or false")
        if self.kind is EvidenceKind.VERDICT:
            if self.outcome is None:
                raise ConfigError(f"verdict {self.source!r}: it has no outcome")
            if not self.by or self.by.startswith(SIGNAL):
                raise ConfigError(f"verdict {self.source!r}: by = {self.by!r}: expected a person")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindLink:
    """A relation to another decision, without the words that explain it.

    Args:
        relation: What the decision is to the other one.
        to: The other one.
        ts: When that one was settled, seconds since the epoch; None where it is not known.
    """

    relation: Relation
    to: str
    ts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindDecision:
    """What a signal may know of a decision: neither its words nor its confidence.

    Args:
        id: Its id.
        settled_at: When it was taken, seconds since the epoch; None where nobody knows, so that nothing is
            known to have happened since.
        category: Its category.
        links: Its relations to others.
        superseded_by: The decision that took its place.
        superseded_at: When, seconds since the epoch; None where that is not known.
        refs: What it led to, as far as somebody noted it: ``commit:4f2a9c1``, ``pr:90``.
    """

    id: str
    settled_at: float | None
    category: str | None = None
    links: tuple[BlindLink, ...] = ()
    superseded_by: str | None = None
    superseded_at: float | None = None
    refs: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, decision: Decision, *, refs: Sequence[str] = (), times: Mapping[str, float] | None = None
    ) -> BlindDecision:
        """The decision as a signal may see it.

        Args:
            decision: The decision.
            refs: What it led to.
            times: When other decisions were settled, by their ids, as far as that is known.
        """
        times_of = times or {}
        settled_at = decision.opened_at if decision.settled_at is None else decision.settled_at
        return cls(
            id=decision.id,
            settled_at=settled_at,
            category=decision.candidate.category,
            links=tuple(
                BlindLink(relation=link.relation, to=link.to, ts=times_of.get(link.to))
                for link in decision.links
            ),
            superseded_by=decision.superseded_by,
            superseded_at=times_of.get(decision.superseded_by or ""),
            refs=tuple(refs),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFinding:
    """What a signal makes of the evidence.

    Args:
        outcome: How the decision turned out.
        basis: What that rests on.
        strength: How much the evidence says of it, over 0 to 1, as the signal's documentation has it; an
            order, not a probability.
        evidence: What it rests on, by source; never empty.
        ts: When the latest of it happened, seconds since the epoch.
        by: The person who says so, where one does; else None.

    Raises:
        ConfigError: It names no evidence, or its strength is out of range.
    """

    outcome: DecisionOutcome
    basis: Basis
    strength: float
    evidence: tuple[str, ...]
    ts: float
    by: str | None = None

    def __post_init__(self) -> None:
        if not any(name.strip() for name in self.evidence):
            raise ConfigError("a finding has to name its evidence")
        if not 0 < self.strength <= 1:
            raise ConfigError(f"strength = {self.strength!r}: expected more than 0, up to 1")
        if (self.by is not None) != (self.basis is Basis.ATTESTED):
            raise ConfigError(f"by = {self.by!r}: what is attested, and only that, has a person behind it")

    def review(self, signal: str) -> Review:
        """The finding as an entry of the log.

        Args:
            signal: The name of the signal.
        """
        evidence = "; ".join(self.evidence[:_SHOWN])
        more = f"; and {len(self.evidence) - _SHOWN} more" if len(self.evidence) > _SHOWN else ""
        return Review(
            outcome=self.outcome,
            by=self.by or SIGNAL + signal,
            evidence=f"{self.basis.value}, strength {self.strength:g}: {evidence}{more}",
            ts=self.ts,
            observed=self.basis is Basis.OBSERVED,
        )


class OutcomeSignal(Protocol):
    """Something that reads evidence."""

    @property
    def name(self) -> str:
        """Its name, as reviews show it."""

    def read(self, decision: BlindDecision, evidence: Sequence[Evidence]) -> OutcomeFinding | None:
        """What the evidence says of the decision; None where it says nothing.

        Args:
            decision: All that may be known of it.
            evidence: What is about it and happened since it was taken, oldest first.
        """


def evidence_of(decision: BlindDecision, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """What is about the decision and happened since it was taken, oldest first."""
    subjects = {*decision.refs, f"decision:{decision.id}"}
    since = decision.settled_at
    if since is None:
        return ()
    items = [item for item in evidence if item.about in subjects and item.ts >= since]
    return tuple(sorted(items, key=lambda item: item.ts))


def review_by_signals(
    decision: BlindDecision, evidence: Iterable[Evidence], signals: Sequence[OutcomeSignal] | None = None
) -> tuple[Review, ...]:
    """What each signal that has something to say finds, as reviews for the log.

    Args:
        decision: What the signals may know.
        evidence: Whatever there is; only what is about the decision is shown to a signal.
        signals: None takes all that are built in.
    """
    about = evidence_of(decision, evidence)
    sources = (ChangeSignal(), VerdictSignal(), ReversalSignal()) if signals is None else signals
    findings = ((signal.name, signal.read(decision, about)) for signal in sources)
    return tuple(finding.review(name) for name, finding in findings if finding is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSignal:
    """What became of the changes that a decision led to: observed.

    A change that was taken back failed (strength 0.9), whatever the checks said before. Otherwise the last
    run of each check counts: all failed is a failure (0.8), some is partial (0.6), none is a success (0.5):
    that a check passes shows only that nothing broke where it looked.
    """

    @property
    def name(self) -> str:
        """Its name, as reviews show it."""
        return "changes"

    def read(self, decision: BlindDecision, evidence: Sequence[Evidence]) -> OutcomeFinding | None:
        """What checks and reverts say; None without any."""
        checks = {item.source: item for item in evidence if item.kind is EvidenceKind.CHECK}
        reverts = [item for item in evidence if item.kind is EvidenceKind.REVERT]
        if reverts:
            return _observed(DecisionOutcome.FAILURE, 0.9, reverts)
        failed = [item for item in checks.values() if not item.passed]
        if not checks:
            return None
        if not failed:
            return _observed(DecisionOutcome.SUCCESS, 0.5, list(checks.values()))
        if len(failed) == len(checks):
            return _observed(DecisionOutcome.FAILURE, 0.8, failed)
        return _observed(DecisionOutcome.PARTIAL, 0.6, list(checks.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSignal:
    """What a person said, somewhere else than in a review: attested. The newest verdict counts."""

    @property
    def name(self) -> str:
        """Its name, as reviews show it."""
        return "verdict"

    def read(self, decision: BlindDecision, evidence: Sequence[Evidence]) -> OutcomeFinding | None:
        """The newest verdict; None without one."""
        verdicts = [item for item in evidence if item.kind is EvidenceKind.VERDICT]
        if not verdicts or verdicts[-1].outcome is None:
            return None
        last = verdicts[-1]
        return OutcomeFinding(
            outcome=verdicts[-1].outcome,
            basis=Basis.ATTESTED,
            strength=1.0,
            evidence=(last.source,),
            ts=last.ts,
            by=last.by,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalSignal:
    """A decision that another one replaced or contradicted within days: inferred, partial (0.3).

    It is no failure. That somebody thought better of it shows that it did not last, and not why: it may
    have been right until something changed. So the outcome is only inferred, gives way to whatever is
    observed or attested, and does not count in the calibration by default. It is not circular: only the link
    and the two times are read. Whether the words contradict each other was settled when the link was made,
    and how sure the agent was of either is not known here. After `within_days` it says nothing: decisions
    grow old.

    Args:
        within_days: Days from the decision to the one that took its place, over 0.
    """

    within_days: float = 14.0

    def __post_init__(self) -> None:
        if not self.within_days > 0:
            raise ConfigError(f"within_days = {self.within_days!r}: expected more than 0")

    @property
    def name(self) -> str:
        """Its name, as reviews show it."""
        return "reversal"

    def read(self, decision: BlindDecision, evidence: Sequence[Evidence]) -> OutcomeFinding | None:
        """That it was replaced early; None where it was not, or the time is not known."""
        since = decision.settled_at
        if since is None:
            return None
        places = [(decision.superseded_by, decision.superseded_at)]
        places += [(link.to, link.ts) for link in decision.links if link.relation is Relation.CONTRADICTS]
        within_s = self.within_days * _DAY_S
        early = [
            (ts, other)
            for other, ts in places
            if other is not None and ts is not None and 0 <= ts - since <= within_s
        ]
        if not early:
            return None
        ts, other = min(early)
        return OutcomeFinding(
            outcome=DecisionOutcome.PARTIAL,
            basis=Basis.INFERRED,
            strength=0.3,
            evidence=(f"superseded by {other} after {(ts - since) / _DAY_S:.1f} days",),
            ts=ts,
        )


def _observed(outcome: DecisionOutcome, strength: float, items: Sequence[Evidence]) -> OutcomeFinding:
    words = {True: " passed", False: " failed", None: ""}
    return OutcomeFinding(
        outcome=outcome,
        basis=Basis.OBSERVED,
        strength=strength,
        evidence=tuple(f"{item.source}{words[item.passed]} ({item.about})" for item in items),
        ts=max(item.ts for item in items),
    )
