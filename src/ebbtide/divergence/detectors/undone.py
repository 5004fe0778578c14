"""Changes that undo each other: an edit turned round, a setting put back, and both again.

Two things show it without any knowledge of the tool. An edit whose old and new text have changed places: the
same values in another order. And a call that is made again, word for word, after the same thing was set to
something else: all its arguments but one are the same. A change that is made, undone and made again has got
nowhere.

It is a suspicion: switching to and fro can be a comparison.
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
from ebbtide.events.identity import Key, key_of, settled
from ebbtide.profile.loop_kinds import LoopKind

_CONTENT = 12  # characters from which a value is content
_THINGS = 32  # that are followed at once
_PENDING = 64  # changes that are kept until one of them comes again
# Thing -> the latest change of it, those before, times turned round, number of the first event.
_Changes = dict[Key, tuple[Key, tuple[Key, ...], int, int]]


class Undone(Detector):
    """Follows what is changed to and fro in one chain."""

    things: _Changes = {}
    _pending: deque[Moment] = deque(maxlen=_PENDING)  # changes, which matter where one comes again

    def see(self, moment: Moment) -> Finding | None:
        """Take a deed that went well."""
        if moment.effect is not Effect.CHANGE or moment.has_failed or moment.text is None:
            return None
        if moment.command is not None or moment.is_command:
            return None
        self._pending.append(moment)
        if not moment.times:
            return None
        finding, least = None, self._rules.undone_changes
        while self._pending:
            change = self._pending.popleft()
            if least is not None:
                finding = self._change(change, least)
        return finding

    def _change(self, moment: Moment, least: int) -> Finding | None:
        finding = None
        for thing, times, first in _turned(self.things, moment):
            finding = finding or self._registry.streak(
                moment, LoopKind.UNDONE_CHANGES, thing, count=times, at=least, first=first
            )
        return finding

    def to_state(self) -> list[Any]:
        """All that later findings depend on, with the changes that wait; nothing changes."""
        things = dict(self.things)
        if self._rules.undone_changes is not None:
            for moment in self._pending:
                deque(_turned(things, moment), maxlen=0)
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


def _turned(things: _Changes, moment: Moment) -> Iterator[tuple[Key, int, int]]:
    """Take a deed; yield what it changed, how often that was turned round, and the first event of it."""
    tool, args, event = moment.name, moment.args, moment.number
    if not isinstance(args, Mapping) or len(args) < 2 or not _has_content(args):
        return
    call = settled(moment.key)
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
    """True if a value is more than a name, a key or a place to click at."""
    return any(isinstance(value, str) and len(value) >= _CONTENT for value in args.values())


def _things(tool: str, args: Mapping[Any, Any]) -> list[Key]:
    """Returns keys of what a change may change: its values in any order, and all but its last value."""
    values = [repr(value) for value in args.values()]
    return [key_of(tool, "values", *sorted(values)), key_of(tool, "but one", *values[:-1])]


def known_undone_change(number: int) -> ToolCall:
    """An event of a run that adds a column and drops it in turn."""
    sql = f"ALTER TABLE flags {('ADD', 'DROP')[number % 2]} COLUMN fast"
    return probe_call(number, "done", table="flags", sql=sql)
