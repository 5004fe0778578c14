"""Advice for the next call of a model, so that no caller has to know the actions."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.events.identity import MARK
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice for the next call of a model. If nothing is to be done, every part is empty.

    Args:
        verdict: The verdict that it is made of.

    >>> turn = Advice(Verdict())
    >>> turn.note, turn.without_tools, turn.ask, turn.end, turn.refusal
    (None, False, None, None, None)
    """

    verdict: Verdict

    @property
    def note(self) -> str | None:
        """Text to put before the model, marked as ours; None where there is nothing to tell it."""
        text = self.verdict.nudge
        return None if text is None else MARK + text

    @property
    def without_tools(self) -> bool:
        """True if this is the last call: the model is to answer, and gets no tools."""
        return self.verdict.action is Action.FINALIZE

    @property
    def ask(self) -> str | None:
        """Why a person is to be asked before the call is made; None where none has to be.

        End the run where there is nobody to ask. A person who wants it to go on is `Runs.acknowledge`,
        `Runs.extend`, or a new message.
        """
        return self.verdict.explanation if self.verdict.action is Action.ESCALATE else None

    @property
    def end(self) -> str | None:
        """Why the call is not to be made, and the run is over; None where it goes on."""
        return self.verdict.explanation if self.verdict.action is Action.STOP else None

    @property
    def refusal(self) -> str | None:
        """Why the call is not to be made where nobody can be asked: `end` or `ask`."""
        return self.end or self.ask
