"""Retry storms: a service says that it has too much to do, and is asked again at once, in whatever words.

The second half is about the service of the model itself: where it does not answer, nobody is there to hear
anything, and the harness, or a person who starts it again, is all that goes on.
"""

from __future__ import annotations

import re
from typing import Final

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Role, ToolCall
from ebbtide.events.identity import key_of
from ebbtide.events.outcome import is_refused_for_load
from ebbtide.profile.loop_kinds import LoopKind

_REST: Final = re.compile(r"\bsleep (\d{1,6})\b")
_RETRIES: Final = (
    4  # retries that a harness makes by itself, and reports, that weigh as much as one failed answer
)
_NEW_TRY_S: Final = 1_800.0
_KNOWN: Final = 3  # words of a person that are known again


class Refusals(Detector):
    """Counts calls of tools that are refused for load, with no rest between and none that goes through."""

    _count: int = 0
    _first: int = 0
    _last: int = 0
    _name: str = ""

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that ended."""
        if not moment.has_failed:
            if self._count and moment.name == self._name and moment.effect is not Effect.READ:
                self.reset()
            return None
        if not is_refused_for_load(moment.beginning):
            return None
        last, self._last = self._last, moment.now
        if self._has_rested(moment, last):
            return None  # as it was asked to
        self._name = moment.name
        self._count += 1
        if self._count == 1:
            self._first = moment.number
        return self._registry.streak(
            moment,
            LoopKind.REFUSALS,
            moment.name,
            count=self._count,
            at=self._rules.refusals,
            first=self._first,
            is_proof=True,
        )

    def _has_rested(self, moment: Moment, last: int) -> bool:
        """Returns True if time was given to the service before the call, or in it."""
        if moment.gap_s is not None and moment.gap_s >= self._rules.wait_s:
            return True
        if moment.effect is Effect.POLL or self._memory.repetition.latest_rest > last > 0:
            return True
        rest = _REST.search(moment.arguments)
        return rest is not None and int(rest[1]) >= self._rules.wait_s


class Silence(Detector):
    """Counts calls of the model that brought an error in place of an answer.

    Errors count by their number, and by the turns that ended with one: who says the same again after each
    hears no more than a program that sends the call again.
    """

    _LASTING = ("_urges",)
    _errors: int = 0
    _first: int = 0
    _failed_at: float | None = None
    _is_asked: bool = True
    _turns: int = 0
    _urges: tuple[str | None, ...] = ()  # words of a person
    _weight: int = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take a call of the model, a report of one that did not get through, or words to it."""
        event = moment.event
        if isinstance(event, ModelCall):
            if event.part is not ModelPart.WHOLE:
                return None
            if not event.error:
                self.reset()
                return None
            weight = _RETRIES
            self._end_turn(moment.ts)
        elif isinstance(event, Notice) and event.kind is NoticeKind.ERROR:
            weight = 1
        else:
            self._ask(event)
            return None
        if not self._weight:
            self._first = moment.number
        self._weight += weight
        self._errors += 1
        return self._judge(moment, weight)

    def _judge(self, moment: Moment, weight: int) -> Finding | None:
        least, turns = self._rules.failed_answers, self._rules.failed_turns
        if least is None:
            return None
        is_many = self._weight >= least * _RETRIES
        is_turn = turns is not None and self._turns >= turns
        if not (is_many or is_turn):
            return None
        key, count = key_of(LoopKind.NO_ANSWERS), self._errors
        now = self._memory.repetition.calls
        begins = key not in self._registry.loops or (not is_turn and self._weight - weight < least * _RETRIES)
        if not begins and self._registry.carry(key, count, now, moment.number):
            return CARRIED_ON
        return Finding(
            kind=LoopKind.NO_ANSWERS,
            key=key,
            count=count,
            at=least,
            calls=0,
            first_event=self._first,
            begins=begins,
        )

    def _end_turn(self, ts: float | None) -> None:
        """A turn ended with an error; one long after the turn before is a new try."""
        if ts is not None and self._failed_at is not None and ts - self._failed_at > _NEW_TRY_S:
            self._turns = 0
        self._turns += self._is_asked
        self._is_asked, self._failed_at = False, ts

    def _ask(self, event: Event) -> None:
        """Take words to the model: the same again only ask to go on."""
        if isinstance(event, Message) and event.role is Role.USER:
            if event.text not in self._urges:
                self.reset()
                self._urges = (*self._urges[-_KNOWN:], event.text)
            self._is_asked = True
        elif isinstance(event, Notice) and event.kind is NoticeKind.NOTE:
            self._is_asked = True


def known_refusal(number: int) -> ToolCall:
    """An event of a run that asks a service again and again which is at its limit."""
    return probe_call(number, "error: 429 Too Many Requests", error=True, page=f"p{number * number}")


def known_silence(number: int) -> Event:
    """An event of a run whose model does not answer."""
    return ModelCall(text=f"API error 529, request {number}", error=True)
