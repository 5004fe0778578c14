"""Changes that do not show: a thing is changed again and again, and a look at it shows what it showed before.

A deed and a look belong together where they name the same thing: an id, a path, an address that is a value of
both. Something else sets it back, it is the wrong thing, or the change is accepted and dropped. A check of a
shell is not meant: that all tests pass after each edit is how it should be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.divergence import LoopRules

_THINGS = 64  # whose deeds are counted
_LOOKS = 64  # that are known
_NAME, _LONG = 4, 200  # characters of a value that may name a thing
_PARTS = 24  # values of one call that are read


class ReadBack:
    """Counts deeds by the things that they name, and the looks in which none of them showed.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("_registry", "_rules", "deeds", "looks")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self._rules = rules
        self._registry = registry
        self.deeds: dict[Key, int] = {}  # thing -> deeds so far
        # Look -> its answer, deeds on its thing so far, looks since the answer came first that showed none of
        # the deeds before them, number of the first event.
        self.looks: dict[Key, tuple[Key, int, int, int]] = {}

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.deeds.clear()
        self.looks.clear()

    def change(self, args: object) -> None:
        """Take a deed that went well."""
        _count(self.deeds, args)

    def look(  # noqa: PLR0917
        self, tool: str, call: Key, args: object, answer: Key, now: int, event: int
    ) -> Finding | None:
        """Take a look.

        Args:
            tool: Its name.
            call: Key of the call.
            args: Its arguments.
            answer: Key of the answer, the same as before where it differs in noise alone.
            now: Place among the counted calls.
            event: Number of the event.
        """
        least = self._rules.unseen_changes
        if least is None or not self.deeds or not isinstance(args, Mapping):
            return None
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
        if times < least:
            return None
        return self._registry.streak(
            LoopKind.UNSEEN_CHANGES,
            key_of(LoopKind.UNSEEN_CHANGES, call),
            tool,
            count=times,
            at=least,
            first=before[3],
            now=now,
            event=event,
            is_proof=False,
        )

    def to_state(self, pending: Iterable[object] = ()) -> list[Any]:
        """All that later findings depend on, with what `change` has still to be told; nothing changes."""
        deeds = dict(self.deeds)
        for args in pending:
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
