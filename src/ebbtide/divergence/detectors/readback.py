"""Changes that do not show: a thing is changed again and again, and a look at it shows what it showed before.

A deed and a look belong together where they name the same thing: an id, a path, an address that is a value of
both. Something else sets it back, it is the wrong thing, or the change is accepted and dropped. A check of a
shell is not meant: that all tests pass after each edit is how it should be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of, settled, settled_answer
from ebbtide.profile.loop_kinds import LoopKind

_THINGS = 64  # whose deeds are counted
_LOOKS = 64  # that are known
_PENDING = 64  # deeds that are kept until something is looked at again
_NAME, _LONG = 4, 200  # characters of a value that may name a thing
_PARTS = 24  # values of one call that are read


class ReadBack(Detector):
    """Counts deeds by the things that they name, and the looks in which none of them showed."""

    deeds: dict[Key, int] = {}  # thing -> deeds so far
    _pending: deque[object] = deque(maxlen=_PENDING)  # arguments of deeds
    # Look -> its answer, deeds on its thing so far, looks since the answer came first that showed none of
    # the deeds before them, number of the first event.
    looks: dict[Key, tuple[Key, int, int, int]] = {}

    def see(self, moment: Moment) -> Finding | None:
        """Take a deed that went well, or a look."""
        effect = moment.effect
        if effect is Effect.ACKNOWLEDGE or moment.has_failed or moment.text is None:
            return None
        if moment.command is not None or moment.is_command:
            return None
        if effect is not Effect.READ:
            self._pending.append(moment.args)
        if effect is Effect.CHANGE or not moment.times:
            return None
        while self._pending:
            _count(self.deeds, self._pending.popleft())
        return self._look(moment)

    def _look(self, moment: Moment) -> Finding | None:
        least, args, event = self._rules.unseen_changes, moment.args, moment.number
        if least is None or not self.deeds or not isinstance(args, Mapping):
            return None
        call, answer = settled(moment.key), settled_answer(moment.answer)
        deeds = max((self.deeds.get(thing, 0) for thing in _things(args)), default=0)
        if not deeds:
            return None
        before = self.looks.pop(call, None)
        if len(self.looks) >= _LOOKS:
            del self.looks[next(iter(self.looks))]
        if before is None or before[0] != answer:
            self.looks[call] = (answer, deeds, 0, event)
            return None
        times = before[2] + (deeds > before[1])
        self.looks[call] = (answer, deeds, times, before[3])
        return self._registry.streak(
            moment, LoopKind.UNSEEN_CHANGES, call, count=times, at=least, first=before[3]
        )

    def to_state(self) -> list[Any]:
        """All that later findings depend on, with the deeds that wait; nothing changes."""
        deeds = dict(self.deeds)
        for args in self._pending:
            _count(deeds, args)
        looks = [[call.hex(), look[0].hex(), *look[1:]] for call, look in self.looks.items()]
        return [[[thing.hex(), count] for thing, count in deeds.items()], looks]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        deeds, looks = state
        self.deeds = {bytes.fromhex(thing): count for thing, count in deeds}
        self.looks = {
            bytes.fromhex(call): (bytes.fromhex(answer), count, times, event)
            for call, answer, count, times, event in looks
        }


def _count(deeds: dict[Key, int], args: object) -> None:
    if not isinstance(args, Mapping) or len(args) < 2:
        return
    for thing in set(_things(args)):
        count = deeds.pop(thing, 0)
        if len(deeds) >= _THINGS:
            del deeds[next(iter(deeds))]
        deeds[thing] = count + 1


def _things(args: Mapping[Any, Any]) -> list[Key]:
    """Keys of the values that may name a thing."""
    return [key_of(value) for value, _ in zip(_values(args), range(_PARTS), strict=False)]


def _values(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if _NAME <= len(value) <= _LONG and "\n" not in value:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list | tuple):
        for item in value[:_PARTS]:
            yield from _values(item)
    elif isinstance(value, int) and not isinstance(value, bool) and value > 9:
        yield str(value)


def known_unseen_change(number: int) -> ToolCall:
    """An event of a run that sets an owner, and each time sees none."""
    if number % 2:
        return probe_call(number, "the owner is nobody", id="order-17")
    return probe_call(number, "done", id="order-17", owner=f"person {number}")
