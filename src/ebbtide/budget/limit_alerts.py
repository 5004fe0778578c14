"""Nearness of a run to its hard limits, and limits that cannot be counted, from events that happened.

`Scope` keeps a call from being made; this says what follows once calls were made by somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from ebbtide.budget.limits import LimitKind, Limits, Missing, require_limits
from ebbtide.budget.tally import UNITS, Tally, is_model_call, units
from ebbtide.budget.uncounted import UncountedLimits
from ebbtide.codec import State
from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall, is_spending
from ebbtide.events.identity import identify, key_of

_COST, _TOKENS, _STEPS, _LLM, _TOOL, _RETRIES, _WALL, _AGENTS, _DEPTH = range(len(LimitKind))
_KINDS = tuple(LimitKind)
_NUMBER, _LATEST_S = (int, float), 1e15  # a union would be built anew at every look
_FAILED = 256  # calls that failed and may be tried again
_CHAINS = 4096  # whose calls under way are counted apart


class Nearness(StrEnum):
    """Nearness of a limit."""

    WARN = "warn"  #: the share that was to be warned of is used
    LAST = "last"  #: there is room for one more call of the model
    UNKNOWN = "unknown"  #: it cannot be counted
    REACHED = "reached"  #: there is room for none


_ORDER = {None: 0, Nearness.WARN: 1, Nearness.LAST: 2, Nearness.UNKNOWN: 3, Nearness.REACHED: 4}


@dataclass(frozen=True, slots=True)
class LimitAlert:
    """Alert that a limit has just come nearer, or cannot be counted.

    Args:
        value: The amount that was taken, as far as it is known: dollars, tokens, calls or seconds.
        limit: The most that may be taken.
        missing: The fact that is not known; None if the limit can be counted.
        subject: The model or agent of which it is not known; ``""`` where it has no name.
    """

    kind: LimitKind
    nearness: Nearness
    value: float
    limit: float
    missing: Missing | None = None
    subject: str = ""


class CallsUnderWay(State):
    """Counter of the model calls that each chain has asked for since its latest one was recorded.

    So agents that ask at the same time share what is left, and a run whose model calls nobody records is
    counted by its questions.

    Attributes:
        count: How many there are, over all chains.
    """

    __slots__ = ("_chains", "count")

    _chains: dict[str | None, int]
    count: int

    def __init__(self) -> None:
        self._chains = {}
        self.count = 0

    def add(self, chain_id: str | None) -> None:
        """Counts a call that is let through; None where its chain was not named."""
        if chain_id not in self._chains and len(self._chains) >= _CHAINS:
            chain_id = None
        self._chains[chain_id] = self._chains.get(chain_id, 0) + 1
        self.count += 1

    def end(self, chain_id: str) -> None:
        """Ends the calls of a chain, of which one was recorded: of those before it nothing more comes."""
        self.count -= self._chains.pop(chain_id, 0) + self._chains.pop(None, 0)


class LimitAlerts(State):
    """Comparison of what a run took with its limits."""

    __slots__ = (
        "_asked_first",
        "_at",
        "_failed",
        "_last",
        "_limits",
        "_retries",
        "_tally",
        "_uncounted",
        "_under_way",
        "_wall_s",
        "_warn",
        "limits",
        "nearness_reported",
    )

    _last: list[float]  # what one more call of the model takes
    _failed: dict[bytes, None]
    _retries: int
    _asked_first: float | None  # where no event had a time
    _wall_s: float
    _uncounted: UncountedLimits
    _under_way: CallsUnderWay
    nearness_reported: dict[int, Nearness]

    def __init__(self, limits: Limits, tally: Tally) -> None:
        self.limits = limits
        self._tally = tally
        self._limits: list[float | None] = [getattr(limits, kind) for kind in _KINDS]
        if limits.cost_usd is not None:
            self._limits[_COST] = units(limits.cost_usd)
        self._warn = inf if limits.warn_at is None else limits.warn_at
        self._last = [0, 0, 1, 1, *[0] * (len(_KINDS) - 4)]
        self._failed = {}
        self._retries = 0
        self._asked_first = None
        self._wall_s = 0.0
        self._uncounted = UncountedLimits(limits, tally)
        self._under_way = CallsUnderWay()
        self._at = [inf] * len(_KINDS)  # value from which there is something to report
        self.nearness_reported = {}
        self._mark()

    def left(self, kind: LimitKind) -> float | None:
        """Returns what may still be taken, money in units of the tally; None if there is no limit."""
        place = _KINDS.index(kind)
        limit = self._limits[place]
        return None if limit is None else max(0, limit - self._values()[place])

    def replaced(self, limits: Limits) -> LimitAlerts:
        """Returns the alerts under other limits for the same run.

        What was taken so far counts against them.
        """
        alerts = LimitAlerts(limits, self._tally)
        State.restore(alerts, State.to_state(self))
        alerts.nearness_reported = {}
        alerts._mark()
        return alerts

    def uncounted(self) -> list[LimitAlert]:
        """Returns the limits that could not be counted, if nothing more comes, whatever `when_unknown` is."""
        return [
            self._alert(_KINDS.index(kind), Nearness.UNKNOWN, what)
            for kind, what in self._uncounted.at_end(clocked=self._asked_first is not None).items()
            if getattr(self.limits, kind) is not None
        ]

    def see(self, event: Event) -> list[LimitAlert]:
        """Returns the limits that have come nearer with an event that the tally has counted."""
        tally, due = self._tally, self._at
        near = tally.agents >= due[_AGENTS] or tally.depth >= due[_DEPTH]
        if self._limits[_RETRIES] is not None:
            self._try(event)
            near = near or self._retries >= due[_RETRIES]
        if isinstance(event, ToolCall):
            near = (
                near or tally.tool_calls >= due[_TOOL] or tally.model_calls + tally.tool_calls >= due[_STEPS]
            )
        elif is_model_call(event):
            if self._under_way.count:
                self._under_way.end(event.chain_id)
            cost = tokens = 0
            if is_spending(event):
                cost, tokens = tally.last_cost or 0, tally.last_tokens or 0
            if (cost, tokens) != (self._last[_COST], self._last[_TOKENS]):
                self._last[_COST], self._last[_TOKENS] = cost, tokens
                self._mark()
            # What one more call takes has changed with this one, and with it how near the end is.
            near = (
                near
                or (tally.cost or 0) >= due[_COST]
                or (tally.tokens or 0) >= due[_TOKENS]
                or tally.model_calls >= due[_LLM]
                or tally.model_calls + tally.tool_calls >= due[_STEPS]
            )
        if is_spending(event) and not near:
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

    def agents(self) -> list[LimitAlert]:
        """Returns the limits that have come nearer with an agent whose call has only begun."""
        tally, due = self._tally, self._at
        return self._alerts() if tally.agents >= due[_AGENTS] or tally.depth >= due[_DEPTH] else []

    def one_more_agent(self, depth: int) -> LimitAlert | None:
        """Returns the limit that one more agent at a level would pass; None where it may be started."""
        for place, value in ((_AGENTS, self._tally.agents + 1), (_DEPTH, depth)):
            limit = self._limits[place]
            if limit is not None and value > limit:
                return LimitAlert(_KINDS[place], Nearness.REACHED, value, limit)
        return None

    def before_model(self, chain_id: str | None, now: float | None) -> list[LimitAlert]:
        """Returns the limits that have come nearer when the next model call of a chain is asked for.

        Args:
            chain_id: The chain; None where there was no event.
            now: Seconds on the clock of the events; None where it is not known.
        """
        alerts = [] if now is None else self.at(now)
        is_uncounted = self._uncounted.ask(chain_id, clocked=self._asked_first is not None)
        if is_uncounted:
            self._mark()
        if is_uncounted or self._under_way.count:
            alerts += self._alerts()
        return alerts

    def let_through(self, chain_id: str | None) -> None:
        """Lets a model call of a chain through: it counts until it is recorded."""
        self._under_way.add(chain_id)

    def at(self, now: float) -> list[LimitAlert]:
        """Returns the limits that have come nearer by now; seconds on the clock of the events."""
        if isinstance(now, _NUMBER) and not isinstance(now, bool) and abs(now) < _LATEST_S:
            if self._asked_first is None:
                self._asked_first = now
            first = self._tally.first_ts
            self._wall_s = max(self._wall_s, now - (self._asked_first if first is None else first))
        return self._alerts()

    def to_state(self) -> Any:
        """Returns all that later alerts depend on, beside the tally, and the kinds of the limits."""
        kinds = [kind.value for kind, limit in zip(_KINDS, self._limits, strict=True) if limit is not None]
        return {**super().to_state(), "kinds": kinds}

    def restore(self, state: Any) -> None:
        """Takes up what `to_state` gave.

        Raises:
            ConfigError: There was a limit of a kind that has none now.
        """
        require_limits(state["kinds"], self.limits)
        super().restore(state)
        self._mark()

    def _values(self) -> tuple[float, ...]:
        tally, under_way = self._tally, self._under_way.count
        return (
            (tally.cost or 0) + under_way * self._last[_COST],
            (tally.tokens or 0) + under_way * self._last[_TOKENS],
            tally.model_calls + tally.tool_calls + under_way,
            tally.model_calls + under_way,
            tally.tool_calls,
            self._retries,
            self._wall_s,
            tally.agents,
            tally.depth,
        )

    def _mark(self) -> None:
        """Notes the values from which there is something to report."""
        for place, limit in enumerate(self._limits):
            if limit is not None and self.nearness_reported.get(place) is not Nearness.REACHED:
                warn = inf if self.nearness_reported.get(place) else limit * self._warn
                at_once = (
                    self._is_unknown(place) and self.nearness_reported.get(place) is not Nearness.UNKNOWN
                )
                self._at[place] = 0 if at_once else min(warn, limit - self._last[place], limit)
            else:
                self._at[place] = inf

    def _try(self, event: Event) -> None:
        """Counts a call that failed before, and remembers one that fails now."""
        if isinstance(event, ToolCall):
            identity = identify(event.name, event.args)
            key = None if identity is None else identity[0]
        elif is_model_call(event) or (isinstance(event, Notice) and event.kind is NoticeKind.RETRY):
            key = key_of("model", event.chain_id)
        else:
            return
        if key is None:
            return
        if not isinstance(event, Notice) and self._failed.pop(key, 0) is None:
            self._retries += 1
        if isinstance(event, Notice) or (isinstance(event, ToolCall | ModelCall) and event.error):
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
        if place in (_AGENTS, _DEPTH):  # those that run may go on: the limit is passed by one agent more
            if value > limit:
                return Nearness.REACHED
            return Nearness.WARN if value and value >= limit * self._warn else None
        if value >= limit:
            return Nearness.REACHED
        if self._is_unknown(place):
            return Nearness.UNKNOWN
        if value and value + self._last[place] >= limit:
            return Nearness.LAST
        return Nearness.WARN if value >= limit * self._warn else None
