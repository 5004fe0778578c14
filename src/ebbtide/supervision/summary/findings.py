"""Findings as they grow: a loop is told several times, and one finding comes of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from ebbtide.divergence.signals import Signal
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.summary.ledger import Ledger, Stretch
from ebbtide.supervision.summary.run_summary import RunFinding
from ebbtide.supervision.summary.spending import plus
from ebbtide.supervision.verdict import Cause, Verdict

_MOST = 2_000  # kinds and chains of findings that are no loops
_APART = 3  # stretches of one kind in one chain that are findings of their own
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
        before: The stretches before it, where the loop came back.
    """

    signal: Signal
    verdict: Verdict
    first_seq: int
    last_seq: int
    now: Stretch
    before: tuple[Stretch, ...] = ()

    @classmethod
    def of(cls, signal: Signal, verdict: Verdict, ledger: Ledger) -> LoopNote:
        """A loop that is told for the first time."""
        now = ledger.stretch(signal.first_event, signal.last_event)
        return cls(signal, verdict, signal.first_event, signal.last_event, now)

    def tell(self, signal: Signal, verdict: Verdict, ledger: Ledger) -> None:
        """It is told again."""
        if signal.relapses != self.signal.relapses:
            self.before = (*self.before, self.now)
        self.signal = signal
        if verdict.rank > self.verdict.rank:
            self.verdict = verdict
        self.reach(signal.first_event, signal.last_event, ledger)

    def reach(self, first_seq: int, last_seq: int, ledger: Ledger) -> None:
        """It went on to an event."""
        self.first_seq, self.last_seq = first_seq, last_seq
        self.now = ledger.stretch(first_seq, last_seq)

    def finding(self, copies: int) -> RunFinding:
        """What came of it.

        Args:
            copies: What its rule counts, at the end.
        """
        signal, stretches = self.signal, (*self.before, self.now)
        kind = signal.kind
        # Only the supervisor knows whether there were answers; it has said so.
        answers = sentences.NO_ANSWERS not in self.verdict.reason
        return RunFinding(
            id=signal.id,
            kind=kind.value,
            action=self.verdict.action,
            cause=self.verdict.cause,
            sentence=sentences.loop(kind, signal.tools, copies, answers=answers),
            advice=sentences.loop_nudge(signal, answers=answers),
            chain_id=signal.chain_id,
            tools=signal.tools,
            first_event=min(stretch.first for stretch in stretches),
            last_event=max(stretch.last for stretch in stretches),
            copies=copies,
            cost_usd=plus(stretch.cost_usd for stretch in stretches),
            tokens=plus(stretch.tokens for stretch in stretches),
            seconds=plus(stretch.seconds for stretch in stretches),
            evidence=signal.evidence,
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
        """What came of it.

        Args:
            number: Of the finding, among its like.
            parts: What was taken in each stretch.
        """
        verdict, kind = self.verdict, self.verdict.kind or ""
        taken = [one for one in parts if one is not None]
        sentence, evidence = sentences.without_measure(verdict)
        return RunFinding(
            id=f"{kind}-{number}",
            kind=kind,
            action=verdict.action,
            cause=verdict.cause,
            sentence=sentences.came_back(sentence, self.returns),
            advice=verdict.nudge or sentences.ADVICE.get(verdict.cause, ""),
            chain_id=verdict.chain_id or "",
            first_event=self.first_event,
            last_event=self.last_event,
            copies=self.returns + 1,
            cost_usd=plus(one.cost_usd for one in taken),
            tokens=plus(one.tokens for one in taken),
            seconds=plus(one.seconds for one in taken),
            evidence=evidence,
        )


class OtherNotes:
    """All findings that are no loops, as they grow.

    A stretch that goes on is one finding. The first few that come back after something new are findings of
    their own; of more than that, all those of a kind and chain are one, with the number of its returns.
    """

    def __init__(self) -> None:
        self._notes: dict[tuple[str | None, str | None, str], list[OtherNote]] = {}

    def said(self, verdict: Verdict, first_event: int) -> None:
        """A limit, dry rounds, or the joint rule was told.

        Args:
            verdict: What was said.
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

    def findings(self, ledgers: Mapping[str, Ledger]) -> list[RunFinding]:
        """What came of them.

        Args:
            ledgers: What each chain took.
        """
        found = []
        notes = sorted(itertools.chain(*self._notes.values()), key=lambda note: note.first_event)
        for number, note in enumerate(notes, start=1):
            if note.verdict.kind == "ready_rounds":
                continue  # to have come to a result is no finding
            ledger = ledgers.get(note.verdict.chain_id or "")
            now = (note.since or note.first_event, note.last_event)
            parts = [] if ledger is None else [ledger.stretch_of_run(*one) for one in (*note.before, now)]
            found.append(note.finding(number, *parts))
        return found

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


def dearest_first(findings: list[RunFinding]) -> tuple[RunFinding, ...]:
    """The dearest first, then those with the most tokens, then the longest."""
    return tuple(
        sorted(
            findings,
            key=lambda found: (
                -(found.cost_usd or 0.0),
                -(found.tokens or 0),
                found.first_event - found.last_event,
                found.first_event,
            ),
        )
    )
