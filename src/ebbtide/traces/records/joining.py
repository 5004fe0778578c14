"""Calls and their results, which stand apart in most traces: joined by id, each once, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event, Phase, ToolCall

_MOST_SEEN = 100_000  # ids that are remembered
_MOST_OPEN = 10_000  # calls that wait for their results


#: Tools that start an agent: its tree is reported while it grows, so their calls are given out twice.
STARTS_AGENTS: Final = frozenset(("Agent", "Task", "task", "spawn_agent"))


def _begun(call: ToolCall) -> ToolCall:
    """Returns a call at the time at which it is made."""
    return replace(call, phase=Phase.STARTED, usage=None, call=None)


class Seen:
    """Memory of the ids that were there before; the oldest of very many are forgotten.

    Args:
        most: So many are remembered.
    """

    def __init__(self, most: int = _MOST_SEEN) -> None:
        self._ids: Bounded[str, None] = Bounded(most)

    def before(self, name: str) -> bool:
        """True if the id was there before; from now on it was."""
        if name in self._ids:
            return True
        self._ids[name] = None
        return False


class OpenCalls:
    """Calls that wait for their results. They are its own until it gives them out: their fields are set.

    A call whose id was there before is dropped and counted. One whose result does not come is given out
    without it: at the end, or when very many wait.

    Attributes:
        duplicates: Calls and results that were there before.
    """

    def __init__(self) -> None:
        self.duplicates = 0
        self._seen = Seen()
        self._open: Bounded[str, ToolCall] = Bounded(_MOST_OPEN)

    def __len__(self) -> int:
        return len(self._open)

    def open(self, name: str | None, call: ToolCall) -> Sequence[ToolCall]:
        """A call was asked for.

        Args:
            name: Its id; None where it has none: then it is given out at once.
            call: What is known of it.

        Returns:
            Calls that need not wait any longer, mostly none.
        """
        if name is None:
            return (call,)
        if self._seen.before(name):
            self.duplicates += 1
            return ()
        dropped = self._open.put(name, call)
        begun = (_begun(call),) if call.name in STARTS_AGENTS else ()
        return begun if dropped is None else (dropped[1], *begun)

    def close(
        self,
        name: str | None,
        *,
        else_call: ToolCall | None = None,
        ts: float | None = None,
        **result: Any,
    ) -> Sequence[ToolCall]:
        """The result of a call is there.

        Args:
            name: The id of the call.
            else_call: What to give out if nobody made that call; None gives nothing.
            ts: When it came; None leaves the time of the call.
            result: Other fields of `ToolCall` that are known now: ``result``, ``error``, ``status``.

        Returns:
            The call with its result; nothing if it was there before, or is not known.
        """
        call = self._open.pop(name, None) if name is not None else None
        if call is None:
            if name is not None and self._seen.before(name):
                self.duplicates += 1
                return ()
            if else_call is None:
                return ()
            call = else_call
        return (_set(call, result if ts is None else {**result, "ts": ts}),)

    def amend(self, name: str | None, **fields: Any) -> None:
        """Something is known of a call that still waits for its result."""
        if name is not None and (call := self._open.get(name)) is not None:
            _set(call, fields)

    def first_waiting(self) -> str | None:
        """The id of the call that waits longest."""
        return next(iter(self._open), None)

    def finish(self) -> Sequence[ToolCall]:
        """The calls whose results never came, in their order.

        The time of an event is that at which it was over, so theirs is not known.
        """
        calls = tuple(self._open.values())
        for call in calls:
            call.ts = None
        self._open.clear()
        return calls


def _set(call: ToolCall, fields: dict[str, Any]) -> ToolCall:
    for name, value in fields.items():
        setattr(call, name, value)
    return call


class JoiningReader:
    """Reader of a trace in which calls and their results stand apart. A subclass reads the records."""

    def __init__(self) -> None:
        self._calls = OpenCalls()

    @property
    def duplicates(self) -> int:
        """Calls and results that were there before."""
        return self._calls.duplicates

    def finish(self) -> Sequence[Event]:
        """Returns the calls whose results never came."""
        return self._calls.finish()
