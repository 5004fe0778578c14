"""Changes that undo each other: an edit turned round, a setting put back, and both again.

Two things show it without any knowledge of the tool. An edit whose old and new text have changed places: the
same values in another order. And a call that is made again, word for word, after the same thing was set to
something else: all its arguments but one are the same. A change that is made, undone and made again has got
nowhere.

It is a suspicion: switching to and fro can be a comparison.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.identity import Key, key_of, settled
from ebbtide.profile.divergence import LoopRules

_CONTENT = 12  # characters from which a value is content
_THINGS = 32  # that are followed at once
# Thing -> the latest change of it, those before, times turned round, number of the first event.
_Changes = dict[Key, tuple[Key, tuple[Key, ...], int, int]]


class Undone:
    """Follows what is changed to and fro in one chain.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("_registry", "_rules", "things")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self._rules = rules
        self._registry = registry
        self.things: _Changes = {}

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.things.clear()

    def change(self, tool: str, call: Key, args: object, now: int, event: int) -> Finding | None:
        """Take a deed that went well.

        Args:
            tool: Its name.
            call: Key of the call, settled or not.
            args: Its arguments.
            now: Place among the counted calls.
            event: Number of the event.
        """
        least = self._rules.undone_changes
        if least is None:
            return None
        finding = None
        for thing, times, first in _turned(self.things, tool, call, args, event):
            if times >= least and finding is None:
                finding = self._registry.streak(
                    LoopKind.UNDONE_CHANGES,
                    key_of(LoopKind.UNDONE_CHANGES, thing),
                    tool,
                    count=times,
                    at=least,
                    first=first,
                    now=now,
                    event=event,
                    is_proof=False,
                )
        return finding

    def to_state(self, pending: Iterable[tuple[str, Key, object, int, int]] = ()) -> list[Any]:
        """All that later findings depend on, with what `change` has still to be told; nothing changes."""
        things = dict(self.things)
        if self._rules.undone_changes is not None:
            for tool, call, args, _, event in pending:
                deque(_turned(things, tool, call, args, event), maxlen=0)
        return [
            [thing.hex(), latest.hex(), [call.hex() for call in earlier], times, event]
            for thing, (latest, earlier, times, event) in things.items()
        ]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self.things = {
            bytes.fromhex(thing): (
                bytes.fromhex(latest),
                tuple(bytes.fromhex(call) for call in earlier),
                times,
                event,
            )
            for thing, latest, earlier, times, event in state
        }


def _turned(
    things: _Changes, tool: str, call: Key, args: object, event: int
) -> Iterator[tuple[Key, int, int]]:
    """Take a deed; yield what it changed, how often that was turned round, and the first event of it."""
    if not isinstance(args, Mapping) or len(args) < 2 or not _has_content(args):
        return
    call = settled(call)
    for thing in _things(tool, args):
        before = things.pop(thing, None)
        if len(things) >= _THINGS:
            del things[next(iter(things))]
        if before is None:
            things[thing] = (call, (), 0, event)
            continue
        latest, earlier, times, first = before
        if call == latest:
            things[thing] = before
            continue
        times = times + 1 if call in earlier else 0
        things[thing] = (call, (*earlier[-3:], latest), times, first if times > 1 else event)
        yield thing, times, first


def _has_content(args: Mapping[Any, Any]) -> bool:
    """Whether a value is more than a name, a key or a place to click at."""
    return any(isinstance(value, str) and len(value) >= _CONTENT for value in args.values())


def _things(tool: str, args: Mapping[Any, Any]) -> list[Key]:
    """What a change may be a change of: its values in any order, and all but its last value."""
    values = [repr(value) for value in args.values()]
    return [key_of(tool, "values", *sorted(values)), key_of(tool, "but one", *values[:-1])]
