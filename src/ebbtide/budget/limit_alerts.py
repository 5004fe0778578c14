"""What a run took, against its hard limits, from events that have happened.

`Scope` keeps a call from being made; this says what follows once calls were made by somebody else.
"""

from __future__ import annotations

from enum import StrEnum
from math import inf
from typing import Any, NamedTuple

from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.events.event import Call
from ebbtide.events.identity import identify

_COST, _TOKENS, _STEPS, _LLM, _TOOL, _RETRIES, _WALL = range(len(LimitKind))
_KINDS = tuple(LimitKind)
_NUMBER = (int, float)  # a union would be built anew at every look
_MOST = 1e12  # dollars or tokens of one event
_LATEST_S = 1e15
_FAILED = 256  # calls that failed and may be tried again
_ASIDE = frozenset({"stream", "thought"})  # parts of a model's call, not calls


class Near(StrEnum):
    """How near a limit is."""

    WARN = "warn"  #: the share that was to be warned of is used
    LAST = "last"  #: there is room for one more call of the model
    REACHED = "reached"  #: there is room for none


_ORDER = {None: 0, Near.WARN: 1, Near.LAST: 2, Near.REACHED: 3}


class LimitState(NamedTuple):
    """A limit that has just come nearer."""

    kind: LimitKind
    near: Near
    value: float
    limit: float


def amount(value: object) -> float | None:
    """A cost or a count as a number; None where it is no number, negative or infinite."""
    if value is None or isinstance(value, bool) or not isinstance(value, _NUMBER):
        return None
    return value if 0 <= value <= _MOST else None  # NaN fails every comparison


def has_spending(call: Call) -> bool:
    """Whether an event tells a cost, or tokens of any class."""
    return (
        call.cost_usd is not None
        or call.input_tokens is not None
        or call.output_tokens is not None
        or call.cache_read_tokens is not None
        or call.cache_write_tokens is not None
    )


class LimitWatch:
    """Counts what the events of a run took.

    Args:
        limits: What the run may take.
    """

    __slots__ = ("_at", "_failed", "_last", "_limits", "_warn", "first_ts", "said", "values")

    def __init__(self, limits: Limits) -> None:
        self._limits: list[float | None] = [getattr(limits, kind) for kind in _KINDS]
        self._warn = inf if limits.warn_at is None else limits.warn_at
        self._last: list[float] = [0, 0, 1, 1, 0, 0, 0]  # what one more call of the model takes
        self._failed: dict[bytes, None] = {}
        self._at = [inf] * len(_KINDS)  # value from which there is something to say
        self.values: list[float] = [0.0, 0, 0, 0, 0, 0, 0.0]
        self.said: dict[int, Near] = {}
        self.first_ts: float | None = None
        self._mark()

    def left(self, kind: LimitKind) -> float | None:
        """What may still be taken; None where there is no limit."""
        place = _KINDS.index(kind)
        limit = self._limits[place]
        return None if limit is None else max(0.0, limit - self.values[place])

    def go_on_from(self, before: LimitWatch) -> None:
        """Take over what was taken under other limits."""
        self.values, self.first_ts = list(before.values), before.first_ts
        self._last, self._failed = list(before._last), dict(before._failed)
        self._mark()

    def take(self, call: Call) -> list[LimitState]:
        """Count an event; the limits that have come nearer with it."""
        values, at = self.values, self._at
        kind = call.kind
        if kind == "llm":
            called = call.name not in _ASIDE
            if called:
                values[_STEPS] += 1
                values[_LLM] += 1
            near = values[_LLM] >= at[_LLM]
        elif kind in ("user", "system"):
            near = called = False
        else:
            called = False
            values[_STEPS] += 1
            values[_TOOL] += 1
            near = values[_TOOL] >= at[_TOOL]
            if self._limits[_RETRIES] is not None:
                self._try(call)
                near = near or values[_RETRIES] >= at[_RETRIES]
        if called or has_spending(call):
            self._spend(call, called=called)
            near = near or values[_COST] >= at[_COST] or values[_TOKENS] >= at[_TOKENS]
        if self._limits[_WALL] is not None:
            self._pass(call.ts)
        return self._near() if near or values[_STEPS] >= at[_STEPS] or values[_WALL] >= at[_WALL] else []

    def at(self, now: float) -> list[LimitState]:
        """The limits that have come nearer by now; seconds on the clock of the events."""
        self._pass(now)
        return self._near()

    def _spend(self, call: Call, *, called: bool) -> None:
        cost = amount(call.cost_usd) or 0
        tokens = sum(
            amount(count) or 0
            for count in (
                call.input_tokens,
                call.output_tokens,
                call.cache_read_tokens,
                call.cache_write_tokens,
            )
        )
        self.values[_COST] += cost
        self.values[_TOKENS] += tokens
        if called and (cost, tokens) != (self._last[_COST], self._last[_TOKENS]):
            self._last[_COST], self._last[_TOKENS] = cost, tokens
            self._mark()

    def _mark(self) -> None:
        """Note the values from which there is something to say."""
        for place, limit in enumerate(self._limits):
            if limit is not None and self.said.get(place) is not Near.REACHED:
                warn = inf if self.said.get(place) else limit * self._warn
                self._at[place] = min(warn, limit - self._last[place], limit)
            else:
                self._at[place] = inf

    def _pass(self, now: object) -> None:
        if not isinstance(now, _NUMBER) or isinstance(now, bool) or not abs(now) < _LATEST_S:
            return
        if self.first_ts is None:
            self.first_ts = now
        self.values[_WALL] = max(self.values[_WALL], now - self.first_ts)

    def _try(self, call: Call) -> None:
        identity = identify(call.name, call.args)
        if identity is None:
            return
        key = identity[0]
        if self._failed.pop(key, 0) is None:
            self.values[_RETRIES] += 1
        if call.error:
            if len(self._failed) >= _FAILED:
                del self._failed[next(iter(self._failed))]
            self._failed[key] = None

    def _near(self) -> list[LimitState]:
        found = []
        for place, limit in enumerate(self._limits):
            value = self.values[place]
            if limit is None or value < self._at[place]:
                continue
            near = self._how_near(place, value, limit)
            if near is not None and _ORDER[near] > _ORDER[self.said.get(place)]:
                self.said[place] = near
                found.append(LimitState(_KINDS[place], near, value, limit))
        if found:
            self._mark()
        return found

    def _how_near(self, place: int, value: float, limit: float) -> Near | None:
        if place == _TOOL:
            # Without tools the model can still answer: the limit is passed by one call more.
            if value > limit:
                return Near.REACHED
            return Near.LAST if value == limit else Near.WARN if value >= limit * self._warn else None
        if value >= limit:
            return Near.REACHED
        if value and value + self._last[place] >= limit:
            return Near.LAST
        return Near.WARN if value >= limit * self._warn else None

    def to_state(self) -> list[Any]:
        """All that later states depend on."""
        said = {str(place): near.value for place, near in self.said.items()}
        return [self.values, self._last, said, list(map(bytes.hex, self._failed)), self.first_ts]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` told."""
        values, last, said, failed, self.first_ts = state
        self.values, self._last = list(values), list(last)
        self.said = {int(place): Near(near) for place, near in said.items()}
        self._failed = dict.fromkeys(map(bytes.fromhex, failed))
        self._mark()
