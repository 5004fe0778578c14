"""Deeds of a run that a wait can be for: what it has set going or changed of late, and how long it may take.

What a run starts goes on until the record shows that it ended: an answer says so, or a call ends it.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any, Final, NamedTuple
from zlib import crc32

from ebbtide.codec import State
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import argument_text
from ebbtide.events.awaited import announced_s, ends_work, is_over, starts_work
from ebbtide.events.effect import Effect
from ebbtide.events.tool_policy import ToolPolicy

_LATELY: Final = 64  # calls for which one that starts something counts
_READ: Final = 500  # characters of a call, and of its answer, that say so
_DEEDS: Final = 16  # changes of late that are known by their words
_WORDS: Final = 64  # words of one, a quarter of those that are read
#: Words that name a thing: those of tools and of places on the disk are in every call.
_WORD: Final = re.compile(r"[\w.#@-]+")
_LONG: Final = 5  # characters from which a word without a digit may name a thing
_COMMON: Final = frozenset(
    "https http localhost false true json-output status state describe deployment command timeout sleep "
    "message content string number default production".split()
)


def names_in(text: str) -> frozenset[int]:
    """Returns the words of a text that may name a thing, as numbers."""
    words = {word.strip(".-_#@") for word in _WORD.findall(text[: 4 * _READ].lower())[: 4 * _WORDS]}
    named = (word for word in words if len(word) >= _LONG or (len(word) > 1 and word.isdecimal()))
    return frozenset(crc32(word.encode("utf-8", "surrogatepass")) for word in named if word not in _COMMON)


class Deed(NamedTuple):
    """A call that started or changed something.

    Args:
        place: Its place in the chain.
        names: Words that name what it is about.
        made: Those by which its answer names what it started, if it did.
        announced_s: The longest time that its answer names.
        is_ended: Whether a call ended that.
    """

    place: int
    names: frozenset[int]
    made: frozenset[int] | None
    announced_s: float = 0.0
    is_ended: bool = False


class StartedWork(State):
    """Calls of late that started or changed something: they are read when it matters."""

    _deeds: list[Deed] = []
    _latest: int = -_LATELY  # place of the latest call that started something
    _person_s: float = 0.0  # the longest time that a person named

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[tuple[int, ToolPolicy | None, object, str]] = deque(maxlen=_LATELY)
        self._asked_to = 0  # place of the latest call that was asked if it starts something
        self._heard_at = 0  # that of the latest call before the latest words of a person
        self._said = ""  # those words, until they are read

    def wait(self, moment: Moment) -> None:
        """Take a call that did not fail, to be read later."""
        if moment.text is not None and moment.effect is not Effect.READ:
            self._waiting.append((moment.now, moment.policy, moment.args, moment.text[:_READ]))

    def hear(self, text: str) -> None:
        """Take new words of a person, which may say how long it takes: changes before count no more."""
        self._said = text[: 2 * _READ]
        self._person_s = 0.0
        if self._waiting:
            self._heard_at = self._waiting[-1][0]
        self._deeds = [deed for deed in self._deeds if deed.made is not None]

    def is_any(self, now: int) -> bool:
        """Returns True if something was started of late, `now` being the place of the latest call."""
        for place, policy, args, text in reversed(self._waiting):
            if place <= self._asked_to:
                break
            if not _is_order(policy) and not starts_work(argument_text(args)[:_READ], text):
                continue
            if policy is None or policy.effect_of(args) is not Effect.READ:
                self._latest = max(self._latest, place)
        if self._waiting:
            self._asked_to = self._waiting[-1][0]
        return now - self._latest < _LATELY

    def latest_deed(self, names: frozenset[int], now: int) -> Deed | None:
        """Returns the latest call that changed a thing which one of the names stands for."""
        return next((deed for deed in reversed(self._lately(now)) if not names.isdisjoint(deed.names)), None)

    def holds(self, names: frozenset[int], now: int) -> bool:
        """Returns True if one of the names is that of something which was started and has not ended."""
        return any(deed.made and not names.isdisjoint(deed.made) for deed in self._lately(now))

    def announced_s(self, now: int) -> float:
        """Returns the longest time that a person, or the answer of one of the calls, named."""
        return max([self._person_s, *(deed.announced_s for deed in self._lately(now))])

    def _lately(self, now: int) -> list[Deed]:
        self._read()
        return [deed for deed in self._deeds if now - deed.place < _LATELY]

    def _read(self) -> None:
        """Read the calls that wait."""
        if self._said:
            self._person_s, self._said = announced_s(self._said), ""
        for place, policy, args, text in self._waiting:
            effect = None if policy is None else policy.effect_of(args)
            if effect is Effect.READ:
                continue
            command = argument_text(args)
            if _is_order(policy) or starts_work(command[:_READ], text):
                made = names_in(text)
                self._deeds.append(Deed(place, names_in(command), made, announced_s(text)))
            elif (is_ended := ends_work(command[:_READ])) or is_over(text):
                self._end(names_in(f"{command} {text}"), is_ended=is_ended)
            elif effect is Effect.CHANGE and place > self._heard_at:
                self._deeds.append(Deed(place, names_in(command), None, announced_s(text)))
        del self._deeds[:-_DEEDS]
        self._waiting.clear()

    def _end(self, names: frozenset[int], *, is_ended: bool) -> None:
        """Something ended, or was ended: what was started under one of the names goes on no more."""
        self._deeds = [
            deed._replace(made=None, is_ended=is_ended)
            if deed.made and not names.isdisjoint(deed.made | deed.names)
            else deed
            for deed in self._deeds
        ]

    def to_state(self) -> Any:
        """All that later answers depend on: what was read of the calls."""
        self.is_any(0)
        self._read()
        return super().to_state()


def _is_order(policy: ToolPolicy | None) -> bool:
    return policy is not None and policy.spawns is not None
