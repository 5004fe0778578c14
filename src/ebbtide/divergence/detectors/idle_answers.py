"""Answers without an act: a person asks to go on, again and again, and the model says a few words each time.

A person who asks to go on says nothing new: a few words, no question, often the same. A model that means to
act calls a tool; one that has something to say says more than a line or two, or asks. Where it does neither,
turn after turn, only the person can change that. Text that a person has continued is long, work is calls.
"""

from __future__ import annotations

from typing import Final

from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Role, Stop
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.loop_kinds import LoopKind

_URGE: Final = 6  # words up to which a person only asks to go on
_ANSWER: Final = 40  # words up to which an answer only says that something will be done
_AGAIN: Final = 2  # of the urges, those that had come before, at least


class IdleAnswers(Detector):
    """Counts short answers to a person who asks to go on, with no call in between."""

    _again: int = 0
    _calls: int = 0
    _count: int = 0
    _first: int = 0
    _goes_on: bool = False
    _is_urged: bool = False
    _urges: dict[Key, None] = {}

    def see(self, moment: Moment) -> Finding | None:
        """Take what a person or the model said."""
        event = moment.event
        if isinstance(event, Message):
            if event.role is Role.USER:
                self._hear(event.text or "")
            return None
        if not isinstance(event, ModelCall) or event.part is not ModelPart.WHOLE:
            return None
        calls = self._memory.repetition.calls
        words = event.text or ""
        is_idle = (
            event.stop is Stop.END
            and not event.error
            and calls == self._calls
            and self._is_urged
            and not words.rstrip().endswith("?")
            and 0 < len(words.split()) <= _ANSWER
        )
        self._is_urged, self._calls = False, calls
        if not is_idle:
            self._count = self._again = 0
            self._urges.clear()
            return None
        self._count += 1
        if self._count == 1:
            self._first, self._goes_on = moment.number, False
        least = self._rules.idle_answers
        if least is None or self._count < least or self._again < _AGAIN:
            return None
        goes_on, self._goes_on = self._goes_on, True
        return Finding(
            kind=LoopKind.IDLE_ANSWERS,
            key=key_of(LoopKind.IDLE_ANSWERS),
            count=self._count,
            at=least,
            calls=0,
            first_event=self._first,
            begins=not goes_on,
            is_proof=False,
        )

    def _hear(self, words: str) -> None:
        """Take what a person said: it may only ask to go on."""
        self._is_urged = len(words.split()) <= _URGE and (not words.rstrip().endswith("?") or self._count > 1)
        if not self._is_urged:
            return
        key = key_of(words.strip().lower())
        self._again += key in self._urges
        self._urges[key] = None


def known_idle_answer(number: int) -> Event:
    """An event of a run in which a person asks to go on, and hears that it begins now."""
    if number % 2:
        return ModelCall(text=f"I begin with part {number} now.", stop=Stop.END)
    return Message(text="go on")
