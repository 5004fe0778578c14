"""How near a run has come to its hard limits, and which of them cannot be counted, from events that happened.

`Scope` keeps a call from being made; this says what follows once calls were made by somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from ebbtide.budget.limits import LimitKind, Limits, Missing, require_limits
from ebbtide.budget.tally import UNITS, Tally, is_model_call, units
from ebbtide.events.event import Event, NoticeKind, ToolCall
from ebbtide.events.identity import identify

_COST, _TOKENS, _STEPS, _LLM, _TOOL, _RETRIES, _WALL = range(len(LimitKind))
_KINDS = tuple(LimitKind)
_NUMBER, _LATEST_S = (int, float), 1e15  # a union would be built anew at every look
_FAILED = 256  # calls that failed and may be tried again
_CHAINS, _SUBJECT = 4096, 200  # chains whose latest model call came without usage; characters of a name


class Nearness(StrEnum):
    """How near a limit is."""

    WARN = "warn"  #: the share that was to be warned of is used
    LAST = "last"  #: there is room for one more call of the model
    UNKNOWN = "unknown"  #: it cannot be counted
    REACHED = "reached"  #: there is room for none


_ORDER = {None: 0, Nearness.WARN: 1, Nearness.LAST: 2, Nearness.UNKNOWN: 3, Nearness.REACHED: 4}


@dataclass(frozen=True, slots=True)
class LimitAlert:
    """A limit that has just come nearer, or cannot be counted.

    Args:
        kind: What is limited.
        nearness: How near it is.
        value: What was taken, as far as it is known: dollars, tokens, calls or seconds.
        limit: What may be taken.
        missing: What is not known; None where the limit can be counted.
        subject: The model or agent of which it is not known; ``""`` where it has no name.
    """

    kind: LimitKind
    nearness: Nearness
    value: float
    limit: float
    missing: Missing | None = None
    subject: str = ""


class UncountedLimits:
    """Looks for what has to be known to count the limits.

    Tokens without a known cost are missing their price at once. The usage of a model call may come later: it
    is missing when the next call of that chain is asked for, or made. A failed call is missing nothing.

    Args:
        limits: What the run may take.
        tally: What it took; it has counted an event before this one sees it.

    Attributes:
        marks: The limits that cannot be counted: what is missing, and of which model or agent.
    """

    __slots__ = ("_bare", "_limits", "_owed", "_tally", "marks")

    def __init__(self, limits: Limits, tally: Tally) -> None:
        self._limits = limits
        self._tally = tally
        self._bare: dict[str, dict[LimitKind, str]] = {}  # by chain: limits, and the call without usage
        self._owed: dict[LimitKind, int] = {}  # calls without usage for which none came later
        self.marks: dict[LimitKind, tuple[Missing, str]] = {}

    def see(self, event: Event, *, clocked: bool) -> bool:
        """Take an event.

        Args:
            event: The event.
            clocked: Whether a time came in another way.

        Returns:
            Whether a limit has just come to be uncounted.
        """
        before = len(self.marks)
        tally, usage = self._tally, event.usage
        is_call = is_model_call(event)
        if is_call and self._bare:
            self._give_up(event.chain_id)
        if is_call or usage is not None:
            cost = tokens = None
            if usage is not None:
                cost, tokens = tally.last_cost, tally.last_tokens
            if self._limits.cost_usd is not None:
                if tokens and cost is None:
                    self._mark(LimitKind.COST_USD, Missing.PRICE, (usage and usage.model) or "")
                else:
                    self._state(event, LimitKind.COST_USD, cost, is_call=is_call)
            if self._limits.tokens is not None:
                self._state(event, LimitKind.TOKENS, tokens, is_call=is_call)
        if self._lacks_time and not clocked and tally.model_calls + tally.tool_calls > 1:
            self._mark(LimitKind.WALL_S, Missing.TIME, "")
        return len(self.marks) > before

    def ask(self, chain_id: str | None, *, clocked: bool) -> bool:
        """Take that the next model call of a chain is asked for; gives what `see` gives."""
        before = len(self.marks)
        if chain_id is not None and self._bare:
            self._give_up(chain_id)
        if self._lacks_time and not clocked and self._tally.model_calls + self._tally.tool_calls:
            self._mark(LimitKind.WALL_S, Missing.TIME, "")
        return len(self.marks) > before

    def at_end(self, *, clocked: bool) -> dict[LimitKind, tuple[Missing, str]]:
        """The limits that could not be counted, if nothing more comes; usage may have come late."""
        marks = {kind: mark for kind, mark in self.marks.items() if mark[0] is Missing.PRICE}
        for kind, calls in self._owed.items():
            if calls:
                marks.setdefault(kind, self.marks.get(kind, (Missing.USAGE, "")))
        if self._lacks_time and not clocked and self._tally.model_calls + self._tally.tool_calls:
            marks[LimitKind.WALL_S] = (Missing.TIME, "")
        return marks

    def _state(self, event: Event, kind: LimitKind, amount: int | None, *, is_call: bool) -> None:
        bare = self._bare.get(event.chain_id)
        calls = self._owed.get(kind, 0)
        if amount is not None:
            if bare is not None:
                bare.pop(kind, None)
            if getattr(event, "kind", None) is NoticeKind.TOTAL:
                self._owed[kind] = 0
                self.marks.pop(kind, None)
            elif calls and not is_call:
                self._owed[kind] = calls - 1
        elif is_call and not getattr(event, "error", False):
            self._owed[kind] = calls + 1
            subject = str(event.agent or "")[:_SUBJECT]
            if bare is None and len(self._bare) >= _CHAINS:
                self._mark(kind, Missing.USAGE, subject)
            else:
                self._bare.setdefault(event.chain_id, {})[kind] = subject

    @property
    def _lacks_time(self) -> bool:
        return self._limits.wall_s is not None and self._tally.first_ts is None

    def _give_up(self, chain_id: str) -> None:
        for kind, subject in self._bare.pop(chain_id, {}).items():
            self._mark(kind, Missing.USAGE, subject)

    def _mark(self, kind: LimitKind, missing: Missing, subject: str) -> None:
        if missing is Missing.PRICE or kind not in self.marks:  # a usage may come late, and no price
            self.marks[kind] = (missing, subject)

    def to_state(self) -> list[Any]:
        """All that later answers depend on."""
        marks = [[kind.value, missing.value, subject] for kind, (missing, subject) in self.marks.items()]
        bare = [[chain, list(map(list, kinds.items()))] for chain, kinds in self._bare.items()]
        return [marks, bare, list(map(list, self._owed.items()))]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        marks, bare, owed = state
        self.marks = {LimitKind(kind): (Missing(missing), subject) for kind, missing, subject in marks}
        self._bare = {chain: {LimitKind(kind): name for kind, name in kinds} for chain, kinds in bare}
        self._owed = {LimitKind(kind): calls for kind, calls in owed}


class LimitAlerts:
    """Compares what a run took with its limits.

    Args:
        limits: What the run may take.
        tally: What it took.
    """

    __slots__ = (
        "_asked_first",
        "_at",
        "_failed",
        "_last",
        "_limits",
        "_retries",
        "_tally",
        "_uncounted",
        "_wall_s",
        "_warn",
        "limits",
        "nearness_reported",
    )

    def __init__(self, limits: Limits, tally: Tally) -> None:
        self.limits = limits
        self._tally = tally
        self._limits: list[float | None] = [getattr(limits, kind) for kind in _KINDS]
        if limits.cost_usd is not None:
            self._limits[_COST] = units(limits.cost_usd)
        self._warn = inf if limits.warn_at is None else limits.warn_at
        self._last: list[float] = [0, 0, 1, 1, 0, 0, 0]  # what one more call of the model takes
        self._failed: dict[bytes, None] = {}
        self._retries = 0
        self._asked_first: float | None = None  # where no event had a time
        self._wall_s = 0.0
        self._uncounted = UncountedLimits(limits, tally)
        self._at = [inf] * len(_KINDS)  # value from which there is something to report
        self.nearness_reported: dict[int, Nearness] = {}
        self._mark()

    def left(self, kind: LimitKind) -> float | None:
        """What may still be taken, money in units of the tally; None where there is no limit."""
        place = _KINDS.index(kind)
        limit = self._limits[place]
        return None if limit is None else max(0, limit - self._values()[place])

    def counting(self, tally: Tally) -> LimitAlerts:
        """The same limits, of another tally."""
        return LimitAlerts(self.limits, tally)

    def replaced(self, limits: Limits) -> LimitAlerts:
        """Other limits for the same run: what was taken so far counts against them."""
        alerts = LimitAlerts(limits, self._tally)
        alerts._last, alerts._failed = list(self._last), dict(self._failed)
        alerts._retries, alerts._wall_s, alerts._asked_first = self._retries, self._wall_s, self._asked_first
        alerts._uncounted.restore(self._uncounted.to_state())
        alerts._mark()
        return alerts

    def uncounted(self) -> list[LimitAlert]:
        """The limits that could not be counted, if nothing more comes, whatever `when_unknown` is."""
        return [
            self._alert(_KINDS.index(kind), Nearness.UNKNOWN, what)
            for kind, what in self._uncounted.at_end(clocked=self._asked_first is not None).items()
            if getattr(self.limits, kind) is not None
        ]

    def see(self, event: Event) -> list[LimitAlert]:
        """The limits that have come nearer with an event that the tally has counted."""
        tally, due = self._tally, self._at
        near = False
        if isinstance(event, ToolCall):
            if self._limits[_RETRIES] is not None:
                self._try(event)
                near = self._retries >= due[_RETRIES]
            near = (
                near or tally.tool_calls >= due[_TOOL] or tally.model_calls + tally.tool_calls >= due[_STEPS]
            )
        elif is_model_call(event):
            cost = tokens = 0
            if event.usage is not None:
                cost, tokens = tally.last_cost or 0, tally.last_tokens or 0
            if (cost, tokens) != (self._last[_COST], self._last[_TOKENS]):
                self._last[_COST], self._last[_TOKENS] = cost, tokens
                self._mark()
            # What one more call takes has changed with this one, and with it how near the end is.
            near = (
                (tally.cost or 0) >= due[_COST]
                or (tally.tokens or 0) >= due[_TOKENS]
                or tally.model_calls >= due[_LLM]
                or tally.model_calls + tally.tool_calls >= due[_STEPS]
            )
        if event.usage is not None and not near:
            near = (tally.cost or 0) >= due[_COST] or (tally.tokens or 0) >= due[_TOKENS]
        if self._limits[_WALL] is not None and tally.latest_ts is not None and tally.first_ts is not None:
            elapsed = tally.latest_ts - tally.first_ts
            if elapsed > self._wall_s:
                self._wall_s = elapsed
                near = near or elapsed >= due[_WALL]
        if self._uncounted.see(event, clocked=self._asked_first is not None):
            self._mark()
            near = True
        return self._alerts() if near else []

    def before_model(self, chain_id: str | None, now: float | None) -> list[LimitAlert]:
        """The limits that have come nearer when the next model call of a chain is asked for.

        Args:
            chain_id: The chain; None where there was no event.
            now: Seconds on the clock of the events; None where it is not known.
        """
        alerts = [] if now is None else self.at(now)
        if self._uncounted.ask(chain_id, clocked=self._asked_first is not None):
            self._mark()
            alerts += self._alerts()
        return alerts

    def at(self, now: float) -> list[LimitAlert]:
        """The limits that have come nearer by now; seconds on the clock of the events."""
        if isinstance(now, _NUMBER) and not isinstance(now, bool) and abs(now) < _LATEST_S:
            if self._asked_first is None:
                self._asked_first = now
            first = self._tally.first_ts
            self._wall_s = max(self._wall_s, now - (self._asked_first if first is None else first))
        return self._alerts()

    def _values(self) -> tuple[float, ...]:
        tally = self._tally
        return (
            tally.cost or 0,
            tally.tokens or 0,
            tally.model_calls + tally.tool_calls,
            tally.model_calls,
            tally.tool_calls,
            self._retries,
            self._wall_s,
        )

    def _mark(self) -> None:
        """Note the values from which there is something to report."""
        for place, limit in enumerate(self._limits):
            if limit is not None and self.nearness_reported.get(place) is not Nearness.REACHED:
                warn = inf if self.nearness_reported.get(place) else limit * self._warn
                at_once = (
                    self._is_unknown(place) and self.nearness_reported.get(place) is not Nearness.UNKNOWN
                )
                self._at[place] = 0 if at_once else min(warn, limit - self._last[place], limit)
            else:
                self._at[place] = inf

    def _try(self, call: ToolCall) -> None:
        identity = identify(call.name, call.args)
        if identity is None:
            return
        key = identity[0]
        if self._failed.pop(key, 0) is None:
            self._retries += 1
        if call.error:
            if len(self._failed) >= _FAILED:
                del self._failed[next(iter(self._failed))]
            self._failed[key] = None

    def _alerts(self) -> list[LimitAlert]:
        alerts = []
        for place, (value, limit) in enumerate(zip(self._values(), self._limits, strict=True)):
            if limit is None or value < self._at[place]:
                continue
            nearness = self._nearness(place, value, limit)
            if nearness is not None and _ORDER[nearness] > _ORDER[self.nearness_reported.get(place)]:
                self.nearness_reported[place] = nearness
                what = self._uncounted.marks[_KINDS[place]] if nearness is Nearness.UNKNOWN else None
                alerts.append(self._alert(place, nearness, what))
        if alerts:
            self._mark()
        return alerts

    def _alert(self, place: int, nearness: Nearness, what: tuple[Missing, str] | None) -> LimitAlert:
        scale = UNITS if place == _COST else 1
        missing, subject = what or (None, "")
        value, limit = self._values()[place] / scale, (self._limits[place] or 0) / scale
        return LimitAlert(_KINDS[place], nearness, value, limit, missing, subject)

    def _is_unknown(self, place: int) -> bool:
        return self.limits.refuses_unknown and _KINDS[place] in self._uncounted.marks

    def _nearness(self, place: int, value: float, limit: float) -> Nearness | None:
        if place == _TOOL:
            # Without tools the model can still answer: the limit is passed by one call more.
            if value > limit:
                return Nearness.REACHED
            return Nearness.LAST if value == limit else Nearness.WARN if value >= limit * self._warn else None
        if value >= limit:
            return Nearness.REACHED
        if self._is_unknown(place):
            return Nearness.UNKNOWN
        if value and value + self._last[place] >= limit:
            return Nearness.LAST
        return Nearness.WARN if value >= limit * self._warn else None

    def to_state(self) -> list[Any]:
        """All that later alerts depend on, beside the tally."""
        nearnesses = {str(place): nearness.value for place, nearness in self.nearness_reported.items()}
        return [
            self._last,
            self._retries,
            self._asked_first,
            self._wall_s,
            nearnesses,
            list(map(bytes.hex, self._failed)),
            self._uncounted.to_state(),
            [kind.value for kind, limit in zip(_KINDS, self._limits, strict=True) if limit is not None],
        ]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave.

        Raises:
            ConfigError: There was a limit of a kind that has none now.
        """
        last, self._retries, self._asked_first, self._wall_s, nearnesses, failed, uncounted, kinds = state
        require_limits(kinds, self.limits)
        self._uncounted.restore(uncounted)
        self._last = list(last)
        self.nearness_reported = {int(place): Nearness(nearness) for place, nearness in nearnesses.items()}
        self._failed = dict.fromkeys(map(bytes.fromhex, failed))
        self._mark()
