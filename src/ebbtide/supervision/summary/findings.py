"""Findings as they grow: a loop is reported several times, and one finding comes of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ebbtide.divergence.signals import LoopSignal
from ebbtide.supervision import wording
from ebbtide.supervision.facts import BurnFacts, LoopFacts
from ebbtide.supervision.ladder import Cause
from ebbtide.supervision.summary.run_summary import EventSpan, RunFinding
from ebbtide.supervision.summary.sentences import came_back
from ebbtide.supervision.summary.spending import plus
from ebbtide.supervision.summary.tally_history import Stretch, TallyHistory
from ebbtide.supervision.verdict import Verdict

_MOST = 2_000  # kinds and chains of findings that are no loops
_APART = 3  # stretches of one kind in one chain that are findings of their own
_PARTS = 100  # stretches that a finding lists; one with more is listed as a whole
_STRETCHES = 2_000  # of one finding, whose cost is taken apart from what was between


@dataclass(slots=True)
class LoopNote:
    """A loop of one chain, so far.

    Args:
        signal: The latest signal.
        verdict: The highest verdict about it.
        first_seq: Number in its chain of the first event of the stretch that goes on.
        last_seq: Likewise of the latest event.
        now: That stretch.
        before: The stretches before it, where the loop came back, in order; none of them overlap.
        copies_before: What its rule counted in them.
    """

    signal: LoopSignal
    verdict: Verdict
    first_seq: int
    last_seq: int
    now: Stretch
    before: list[Stretch] = field(default_factory=list)
    copies_before: int = 0

    @classmethod
    def of(cls, signal: LoopSignal, verdict: Verdict, history: TallyHistory) -> LoopNote:
        """A loop that is reported for the first time."""
        now = history.stretch(signal.first_event, signal.last_event)
        return cls(signal, verdict, signal.first_event, signal.last_event, now)

    def extend(self, signal: LoopSignal, verdict: Verdict, history: TallyHistory) -> None:
        """It is reported again."""
        if signal.first_event > self.last_seq:
            is_reported = signal.relapses == self.signal.relapses + 1
            end = max(self.last_seq, signal.earlier_last if is_reported else 0)
            self.before.append(history.stretch(self.first_seq, end))
            self.copies_before += max(self.signal.copies, signal.earlier_copies if is_reported else 0)
            if len(self.before) > _STRETCHES:
                del self.before[0]
        self.signal = signal
        if verdict.rank > self.verdict.rank:
            self.verdict = verdict
        self.reach(signal.first_event, signal.last_event, history)

    def reach(self, first_seq: int, last_seq: int, history: TallyHistory) -> None:
        """It went on to an event."""
        self.first_seq, self.last_seq = first_seq, last_seq
        self.now = history.stretch(first_seq, last_seq)

    def finding(self, copies: int) -> RunFinding:
        """The finding as it is at the end of the run.

        Args:
            copies: What its rule counts in the stretch that goes on, at the end.
        """
        signal, stretches = self.signal, (*self.before, self.now)
        copies += self.copies_before
        facts = self.verdict.facts
        answers_known = not isinstance(facts, LoopFacts) or facts.answers_known
        return RunFinding(
            id=signal.id,
            kind=signal.kind.value,
            action=self.verdict.action,
            cause=self.verdict.cause,
            sentence=wording.loop(signal, copies, answers_known=answers_known),
            advice=wording.nudge(LoopFacts(signal=signal, answers_known=answers_known)),
            chain_id=signal.chain_id,
            tools=signal.tools,
            first_event=min(stretch.first for stretch in stretches),
            last_event=max(stretch.last for stretch in stretches),
            parts=parts_of(stretches),
            copies=copies,
            cost_usd=plus(stretch.cost_usd for stretch in stretches),
            tokens=plus(stretch.tokens for stretch in stretches),
            seconds=plus(stretch.seconds for stretch in stretches),
            evidence=wording.evidence(signal),
        )


@dataclass(slots=True)
class OtherNote:
    """A limit, a dry stretch of rounds, or spending without progress, so far.

    Args:
        verdict: The highest verdict about it, of equals the latest.
        first_event: Number in the run of its first event.
        last_event: Likewise of its latest.
        returns: Times that it had ended and came back; the stretches of those are in `before`.
        before: The first and last event of each stretch before the one that goes on.
        since: First event of that.
    """

    verdict: Verdict
    first_event: int
    last_event: int
    returns: int = 0
    before: list[tuple[int, int]] = field(default_factory=list)
    since: int | None = None

    def finding(self, number: int, *parts: Stretch | None) -> RunFinding:
        """All occurrences as one finding.

        Args:
            number: Of the finding, among its like.
            parts: What was taken in each stretch.
        """
        verdict, kind, facts = self.verdict, self.verdict.kind or "", self.verdict.facts
        spent = [part for part in parts if part is not None]
        sentence, evidence, advice = "", "", ""
        if facts is not None:
            # Beside a finding stands what it cost, so the measure is not in the sentence.
            sentence = wording.burn(facts) if isinstance(facts, BurnFacts) else wording.reason(facts)
            evidence = wording.measured(facts)
            advice = verdict.nudge or wording.advice(facts)
        return RunFinding(
            id=f"{kind}-{number}",
            kind=kind,
            action=verdict.action,
            cause=verdict.cause,
            sentence=came_back(sentence, self.returns),
            advice=advice,
            chain_id=verdict.chain_id or "",
            first_event=self.first_event,
            last_event=self.last_event,
            parts=parts_of(spent) if self.before else (),
            copies=self.returns + 1,
            cost_usd=plus(one.cost_usd for one in spent),
            tokens=plus(one.tokens for one in spent),
            seconds=plus(one.seconds for one in spent),
            evidence=evidence,
        )


class OtherNotes:
    """All findings that are no loops, as they grow.

    A stretch that goes on is one finding. The first few that come back after something new are findings of
    their own; of more than that, all those of a kind and chain are one, with the number of its returns.
    """

    def __init__(self) -> None:
        self._notes: dict[tuple[str | None, str | None, str], list[OtherNote]] = {}

    def add(self, verdict: Verdict, first_event: int) -> None:
        """A limit, dry rounds, or the joint rule was reported.

        Args:
            first_event: First event of the stretch.
        """
        # The last call before a limit, and the limit itself, are two things.
        rung = verdict.action.value if verdict.cause is Cause.LIMIT else ""
        key = (verdict.kind, verdict.chain_id, rung)
        event = verdict.event or first_event
        first = min(first_event, event)
        notes = self._notes.get(key)
        if notes is None:
            if len(self._notes) < _MOST:
                self._notes[key] = [OtherNote(verdict, first, event, since=first)]
            return
        note = notes[-1]
        if first > note.last_event + 1:
            if len(notes) < _APART and not notes[0].returns:
                notes.append(OtherNote(verdict, first, event, since=first))
                return
            note = self._merged(notes)
            note.returns += 1
            note.before.append((note.since or note.first_event, note.last_event))
            note.since = first
            if len(note.before) > _STRETCHES:
                # The two oldest become one, with what was between them: memory has an end.
                (begin, _), (_, end), *rest = note.before
                note.before = [(begin, end), *rest]
        note.last_event = max(note.last_event, event)
        if verdict.rank >= note.verdict.rank:
            note.verdict = verdict

    def latest(self, verdict: Verdict) -> Verdict:
        """A verdict about rounds with the facts of its latest report: how many rounds it came to be."""
        notes = self._notes.get((verdict.kind, verdict.chain_id, ""))
        return verdict if notes is None else replace(verdict, facts=notes[-1].verdict.facts)

    def findings(self, histories: Mapping[str, TallyHistory]) -> list[RunFinding]:
        """The findings, the earliest first.

        Args:
            histories: What each chain took.
        """
        findings = []
        notes = sorted(itertools.chain(*self._notes.values()), key=lambda note: note.first_event)
        for number, note in enumerate(notes, start=1):
            if note.verdict.kind == "ready_rounds":
                continue  # to have come to a result is no finding
            history = histories.get(note.verdict.chain_id or "")
            now = (note.since or note.first_event, note.last_event)
            parts = [] if history is None else [history.stretch_of_run(*one) for one in (*note.before, now)]
            findings.append(note.finding(number, *parts))
        return findings

    @staticmethod
    def of_run(verdicts: Sequence[Verdict]) -> list[RunFinding]:
        """Returns the findings about the run as a whole, from its first event to the event of the verdict."""
        return [
            OtherNote(verdict, 1, verdict.event or 1).finding(number)
            for number, verdict in enumerate(verdicts, start=1)
        ]

    @staticmethod
    def _merged(notes: list[OtherNote]) -> OtherNote:
        """All stretches so far as one note."""
        first, *later = notes
        for note in later:
            first.before.append((first.since or first.first_event, first.last_event))
            first.since, first.last_event = note.since, note.last_event
            first.returns += 1
            if note.verdict.rank >= first.verdict.rank:
                first.verdict = note.verdict
        notes[:] = [first]
        return first


def parts_of(stretches: Sequence[Stretch]) -> tuple[EventSpan, ...]:
    """Returns the stretches of a finding, where they are several, and few enough to be listed."""
    if not 1 < len(stretches) <= _PARTS:
        return ()
    return tuple(EventSpan(stretch.first, stretch.last) for stretch in stretches)


def most_expensive_first(findings: list[RunFinding]) -> tuple[RunFinding, ...]:
    """The most expensive first, then those with the most tokens, then the longest."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                -(finding.cost_usd or 0.0),
                -(finding.tokens or 0),
                finding.first_event - finding.last_event,
                finding.first_event,
            ),
        )
    )
