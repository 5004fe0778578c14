"""Reason for a SHIP: somebody says that it is finished, or there are next actions and nothing is open.

Low novelty alone means that the rounds repeat themselves. They do so when the work is done, and when it is
stuck. So the latest report of an outcome is kept from round to round: what failed later takes back what was
finished before, and a round that brings something new reopens the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.codec import State
from ebbtide.convergence.outcome_rules import SIGNALS
from ebbtide.convergence.outcomes import OutcomeReading, read_outcome
from ebbtide.convergence.readiness import ActionKind, RoundReadiness
from ebbtide.events.run_outcome import SETBACKS, RunOutcome
from ebbtide.events.transcript import Round
from ebbtide.text.extraction.turn import Speaker


class WitnessKind(StrEnum):
    """Kinds of reasons for a SHIP."""

    FINISHED = "finished"  #: somebody says that the work is done
    CONSENSUS = "consensus"  #: all agree, and nobody changed the answer
    ACTIONS = "actions"  #: there are next actions, and nothing is open


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Reason for a SHIP.

    Args:
        text: The words, cut.
        round: The round that has it; None if it is not of one round.
    """

    kind: WitnessKind
    rule: str
    text: str
    round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Standing of the work after a round.

    Args:
        witness: The reason for a SHIP; None if there is none.
        setback: The report that speaks against one: it failed, is blocked, at a limit or handed to a person.
        dry_rounds: Rounds in a row, up to now, without a single new claim or question.
    """

    witness: Witness | None
    setback: OutcomeReading | None
    dry_rounds: int


class WorkOutcome(State):
    """Memory of the latest report of an outcome, round by round.

    A turn that brings something new is read once a round that brings nothing follows it: till then nothing
    depends on what it reports.
    """

    _latest: OutcomeReading | None
    _actions: Witness | None  # of the latest round that had any, until something is open again
    _dry_rounds: int

    def __init__(self) -> None:
        self._latest = None
        self._unread: tuple[str, Speaker] | None = None  # the latest turn that brought something new
        self._actions = None
        self._dry_rounds = 0

    def update(self, item: Round, readiness: RoundReadiness, *, low: bool, dry: bool) -> Standing | None:
        """Takes one more round, and returns the standing of the work.

        Args:
            readiness: Readiness of the round.
            low: True if it brought next to nothing.
            dry: True if it brought nothing at all.

        Returns:
            The standing of the work; None after a round that brought something.
        """
        self._dry_rounds = self._dry_rounds + 1 if dry else 0
        text = item.text if item.text is not None else item.summary
        speaker = Speaker.PERSON if item.is_by_person else Speaker.MODEL
        if not low and item.text is not None:
            self._latest, self._actions, self._unread = None, None, (item.text, speaker)
            return None
        self._read()
        reading = None if text is None else read_outcome(text, speaker)
        if reading is not None and not _only_ends(reading, self._latest):
            self._latest = reading
        elif reading is None and not low:
            self._latest = None
        goes_on = self._latest is not None and self._latest.outcome is RunOutcome.GOING_ON
        actions = None if goes_on else _actions(readiness, item.number)
        # What a turn of raw text wants done is mostly the next step of the talk, and done by the next turn.
        passes = item.text is not None
        if passes or actions is not None or not low or readiness.open_questions_score < 1.0:
            self._actions = actions
        return self._standing() if low else None

    def report(self) -> OutcomeReading | None:
        """Latest report; None if there is none, or something new came after it."""
        self._read()
        return self._latest

    def to_state(self) -> Any:
        """Returns what later rounds depend on, as plain data."""
        self._read()
        return super().to_state()

    def _read(self) -> None:
        """Reads the turn that was put off."""
        if self._unread is not None:
            self._latest, self._unread = read_outcome(*self._unread), None

    def _standing(self) -> Standing:
        latest = self._latest
        setback = latest if latest is not None and latest.outcome in SETBACKS else None
        return Standing(
            witness=None if setback is not None else _finished(latest) or self._actions,
            setback=setback,
            dry_rounds=self._dry_rounds,
        )


def _only_ends(reading: OutcomeReading, latest: OutcomeReading | None) -> bool:
    """Returns True if a report says that a talk ends that had failed: "TERMINATE" takes back no failure."""
    return latest is not None and latest.outcome in SETBACKS and reading.rule in SIGNALS


def _finished(latest: OutcomeReading | None) -> Witness | None:
    if latest is None or latest.outcome is not RunOutcome.FINISHED:
        return None
    return Witness(kind=WitnessKind.FINISHED, rule=latest.rule, text=latest.text)


def _actions(readiness: RoundReadiness, number: int) -> Witness | None:
    if readiness.blocked or readiness.open_questions_score < 1.0:
        return None
    action = next((one for one in readiness.actions if one.kind is ActionKind.SPECIFIC), None)
    if action is None:
        return None
    return Witness(kind=WitnessKind.ACTIONS, rule=action.rule, text=action.text, round=number)
