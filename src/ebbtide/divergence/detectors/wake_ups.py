"""Wake-ups that never came: an agent lays itself to rest until a time, and nothing wakes it.

Whatever happens about the time that was set is the wake-up, whoever brings it. Where the first thing after
it comes much later, the agent slept on, and what it wanted to watch was not watched.
"""

from __future__ import annotations

import re
from typing import Final

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.events.event import Event, Message
from ebbtide.events.identity import key_of
from ebbtide.profile.loop_kinds import LoopKind

_SHORT: Final = 300  # characters up to which an answer may say when it wakes somebody up
#: How an answer says so.
_ASKED: Final = re.compile(
    r"\b(?:wake-?ups?|wake (?:you |me )?up|timer|alarm|reminder)\b[^\n]{0,60}?"
    r"\b(?:in|after) (\d{1,7}) ?(s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b",
    re.IGNORECASE,
)
_HINTS: Final = ("ake", "imer", "larm", "emind")  # one of which stands in each such answer
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600}
_EARLY_S: Final = 60.0  # seconds before its time from which on an event may be the wake-up


class WakeUps(Detector):
    """Holds the time of each event against the wake-up that was asked for."""

    _asked: int = 0  # number of the event that asked for it
    _missed: int = 0
    _name: str = ""

    @property
    def at(self) -> float | None:
        """Time of the wake-up; None where none is awaited."""
        return self._memory.session.wake_ups.get(self._memory.name)

    def reset(self) -> None:
        """Begin afresh."""
        self._memory.session.wake_ups.pop(self._memory.name, None)

    def ask(self, moment: Moment) -> None:
        """Take a call that ended: its answer may say when it wakes somebody up."""
        text = moment.text
        if moment.ts is None or text is None or len(text) > _SHORT or moment.has_failed:
            return
        if any(hint in text for hint in _HINTS) and (asked := _ASKED.search(text)) is not None:
            self._memory.session.wake_ups[self._memory.name] = (
                moment.ts + int(asked[1]) * _SECONDS[asked[2][0].lower()]
            )
            self._asked, self._name = moment.number, moment.name

    def see(self, moment: Moment) -> Finding | None:
        """Take any event, before anything else sees it."""
        at, late_s, ts = self.at, self._rules.wake_up_late_s, moment.ts
        if at is None or ts is None or late_s is None:
            return None
        if ts < at - _EARLY_S:
            if isinstance(moment.event, Message):
                self.reset()  # somebody woke it before
            return None
        self.reset()
        if ts < at + late_s:
            return None
        self._missed += 1
        return Finding(
            kind=LoopKind.MISSED_WAKE_UP,
            key=key_of(LoopKind.MISSED_WAKE_UP),
            count=self._missed,
            at=1,
            calls=0,
            first_event=self._asked,
            begins=True,
            tools=(self._name,),
            measure=Measurement(Unit.SECONDS, ts - at, late_s),
        )


def known_missed_wake_up(number: int) -> Event:
    """An event of a run in which nobody wakes an agent up."""
    if number % 2:
        return Message(text=f"Good morning, day {number}.", ts=number * 40_000.0)
    call = probe_call(number, "Next wake-up in 60 s.", at=number)
    call.ts = number * 40_000.0
    return call
