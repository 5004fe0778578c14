"""The verdicts that hold, of a chain or of the whole run, until something new is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ebbtide.codec import State
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.verdict import Verdict

#: What a verdict is about: ``loop`` and its id, ``limit`` and its kind; ``rounds``, ``burn`` or ``budget``.
Subject = tuple[str, str]
ROUNDS: Subject = ("rounds", "")
BURN: Subject = ("burn", "")
BUDGET: Subject = ("budget", "")


@dataclass(slots=True)
class ActiveVerdict:
    """One verdict that holds until something new is known.

    Args:
        turn: Advice of the chain in which it came.
        handed_over_at: Events of the run when it was handed over first; None before.
    """

    verdict: Verdict
    turn: int
    handed_over_at: int | None = None

    @property
    def is_final(self) -> bool:
        """True if the last call was announced: what the model says in it is no reason to go on."""
        return self.handed_over_at is not None and self.verdict.action is Action.FINALIZE


class ActiveVerdicts(State):
    """The verdicts that hold, by what they are about; the highest of them counts, of equals the latest."""

    __slots__ = ("ending", "highest", "items", "silent_until")

    #: Advice up to which a person lets the run go on, whatever holds.
    silent_until: int
    items: dict[Subject, ActiveVerdict]

    def __init__(self) -> None:
        self.items = {}
        self.highest: ActiveVerdict | None = None
        #: The finalize, escalate or stop that holds, unless a person has silenced it.
        self.ending: Verdict | None = None
        self.silent_until = -1  # no turn: the first is number 0

    def put(self, subject: Subject, verdict: Verdict, turn: int) -> None:
        """Add a verdict; an earlier one about the same makes room."""
        self.items.pop(subject, None)
        self.items[subject] = ActiveVerdict(verdict, turn)
        self._rank()

    def lift(self, subjects: Iterable[Subject]) -> None:
        """Take back what is no longer so."""
        for subject in subjects:
            self.items.pop(subject, None)
        self._rank()

    def at(self, turn: int) -> ActiveVerdict | None:
        """The highest that holds in a turn; a person may have silenced the endings for a while."""
        highest = self.highest
        if highest is None or turn > self.silent_until or not highest.verdict.ends:
            return highest
        return max(reversed(self.nudges()), key=lambda item: item.verdict.rank, default=None)

    def ending_at(self, turn: int) -> Verdict | None:
        """The ending that holds in a turn."""
        return self.ending if turn > self.silent_until else None

    def silence(self, until: int) -> None:
        """A person lets the run go on up to a turn, whatever holds."""
        self.silent_until = until
        for item in self.items.values():
            item.handed_over_at = None

    def nudges(self) -> list[ActiveVerdict]:
        """The nudges for the model, the oldest first."""
        return [item for item in self.items.values() if item.verdict.action is Action.NUDGE]

    def _rank(self) -> None:
        self.highest = max(reversed(self.items.values()), key=lambda item: item.verdict.rank, default=None)
        verdict = None if self.highest is None else self.highest.verdict
        self.ending = verdict if verdict is not None and verdict.ends else None

    def restore(self, state: Any) -> None:
        """Take up what `to_state` gave."""
        super().restore(state)
        self._rank()


def hand_over(actives: list[tuple[ActiveVerdicts, int]], events: int, default: Verdict) -> Verdict:
    """Returns the verdict for the next call of the model: an ending, or the nudges not delivered yet.

    Args:
        actives: Of the run and of the chain, each with its turn.
        events: Events of the run so far.
        default: What to give where there is nothing to tell.
    """
    holding = [item for active, turn in actives if (item := active.at(turn)) is not None]
    highest = max(holding, key=lambda item: item.verdict.rank, default=None)
    if highest is not None and highest.verdict.ends:
        verdict = highest.verdict
        if verdict.action is Action.FINALIZE:
            if highest.handed_over_at is None:
                highest.handed_over_at = events
            elif events > highest.handed_over_at:
                return replace(verdict, action=Action.STOP, last_call_made=True, event=events)
        return verdict
    nudges = [item.verdict for active, _ in actives for item in active.nudges()]
    for active, _ in actives:
        active.lift(
            [subject for subject, item in active.items.items() if item.verdict.action is Action.NUDGE]
        )
    if not nudges:
        return default
    *others, latest = nudges
    return replace(latest, more=tuple(nudge.facts for nudge in others if nudge.facts is not None))
