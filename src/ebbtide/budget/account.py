"""One scope: what was taken, what is set aside, and what more would be too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.budget.tally import UNITS, Tally, units
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError, LimitExceeded

#: What a call asks for, in this order; dollars in units. None where nobody knows.
Request = tuple[int | None, int | None, int, int, int, int]
_PLACES = (
    LimitKind.COST_USD,
    LimitKind.TOKENS,
    LimitKind.STEPS,
    LimitKind.LLM_CALLS,
    LimitKind.TOOL_CALLS,
    LimitKind.RETRIES,
)
_COST, _TOKENS, _STEPS, _LLM_CALLS, _TOOL_CALLS, _RETRIES = range(len(_PLACES))


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitWarning:
    """A limit is near. It is given once a limit and scope.

    Args:
        kind: What is limited.
        value: What was taken so far.
        limit: What may be taken.
        scope: Name of the scope.
    """

    kind: LimitKind
    value: float
    limit: float
    scope: str

    def to_dict(self) -> dict[str, Any]:
        """The warning as an event."""
        return {"event_type": "LIMIT_WARNING", "severity": "warn", **to_wire(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was taken in a scope so far.

    Args:
        cost_usd: Dollars of the calls that have ended, as far as they are known.
        tokens: Their tokens of all classes, as far as they are known.
        steps: Calls that were let through.
        llm_calls: Calls of a model among them.
        tool_calls: Calls of a tool among them.
        retries: Calls among them that had failed before.
        wall_s: Seconds since the scope was made.
        reserved_usd: Dollars set aside for the calls that run now.
        reserved_tokens: Tokens set aside for them.
        unpriced_calls: Calls that have ended at a cost that nobody knows; what had been set aside for them is
            in `cost_usd`.
    """

    cost_usd: float
    tokens: int
    steps: int
    llm_calls: int
    tool_calls: int
    retries: int
    wall_s: float
    reserved_usd: float
    reserved_tokens: int
    unpriced_calls: int


class Account:
    """One scope's account. It takes no lock: who uses several at once holds one for all of them.

    Args:
        name: Of the scope.
        limits: What may be taken.
        clock: Seconds on a monotonic clock; one that goes back stands still.
    """

    def __init__(self, name: str, limits: Limits, clock: Callable[[], float]) -> None:
        self.name = name
        self.limits = limits
        self.clock = clock
        self.exceeded: LimitExceeded | None = None
        self.tally = Tally()
        self._retries = 0
        self._reserved_cost = 0
        self._reserved_tokens = 0
        self._caps: list[tuple[int, int]] = []
        self._near: list[tuple[int, float]] = []
        for place, kind in enumerate(_PLACES):
            limit = getattr(limits, kind)
            if limit is not None:
                cap = units(limit) if place == _COST else limit
                self._caps.append((place, cap))
                if cap and limits.warn_at is not None:
                    self._near.append((place, cap * limits.warn_at))
        self._wall_s = limits.wall_s
        self._wall_near_s = limits.wall_s * limits.warn_at if limits.wall_s and limits.warn_at else None
        self._start = clock()
        self._latest = 0.0
        if not isfinite(self._start):
            raise ConfigError(f"clock() = {self._start!r}: expected seconds as a finite number")

    def elapsed(self) -> float:
        """Seconds since the scope was made."""
        now = self.clock() - self._start
        if self._latest <= now < inf:
            self._latest = now
        return self._latest

    def excess(self, request: Request) -> LimitExceeded | None:
        """The limit that a call would pass, or None. An unknown cost fits as long as anything is left."""
        if self._caps:
            tally = self.tally
            amounts = (
                (tally.cost or 0) + self._reserved_cost,
                (tally.tokens or 0) + self._reserved_tokens,
                tally.events,
                tally.model_calls,
                tally.tool_calls,
                self._retries,
            )
            for place, cap in self._caps:
                more, value = request[place], amounts[place]
                if value >= cap if more is None else value + more > cap:
                    return self._exceeded(_PLACES[place], _shown(place, value + (more or 0)))
        return None if self._wall_s is None else self.overdue()

    def overdue(self) -> LimitExceeded | None:
        """The limit of time, where it has passed."""
        if self._wall_s is not None and self.elapsed() >= self._wall_s:
            return self._exceeded(LimitKind.WALL_S, self._latest)
        return None

    def _exceeded(self, kind: LimitKind, value: float) -> LimitExceeded:
        facts = (kind.value, value, getattr(self.limits, kind), self.name)
        # What is kept is never raised: a raised error holds on to every frame that it passed through.
        self.exceeded = LimitExceeded(*facts)
        return LimitExceeded(*facts)

    def take(self, request: Request) -> None:
        """Count a call, and set aside what it asks for."""
        cost, tokens, steps, llm_calls, tool_calls, retries = request
        if cost:
            self._reserved_cost += cost
        if tokens:
            self._reserved_tokens += tokens
        tally = self.tally
        tally.events += steps
        tally.model_calls += llm_calls
        tally.tool_calls += tool_calls
        self._retries += retries

    def settle(self, request: Request, cost: int | None, tokens: int | None) -> list[LimitWarning]:
        """Put what a call took in the place of what it had asked for; None leaves that as it is.

        Returns:
            The warnings that are due now.
        """
        reserved_cost, reserved_tokens = request[_COST] or 0, request[_TOKENS] or 0
        self._reserved_cost -= reserved_cost
        self._reserved_tokens -= reserved_tokens
        count = reserved_tokens if tokens is None else tokens
        if cost is None:
            self.tally.charge(reserved_cost, count, unpriced="")
        else:
            self.tally.charge(cost, count)
        due = []
        if self._near:
            amounts = self._amounts()
            for place, level in self._near:
                if amounts[place] >= level:
                    due.append(self._warning(_PLACES[place], _shown(place, amounts[place])))
            if due:
                self._near = [(place, level) for place, level in self._near if amounts[place] < level]
        if self._wall_near_s is not None and self.elapsed() >= self._wall_near_s:
            self._wall_near_s = None
            due.append(self._warning(LimitKind.WALL_S, self._latest))
        return due

    def _warning(self, kind: LimitKind, value: float) -> LimitWarning:
        return LimitWarning(kind=kind, value=value, limit=getattr(self.limits, kind), scope=self.name)

    def _amounts(self) -> tuple[int, ...]:
        tally = self.tally
        calls = (tally.events, tally.model_calls, tally.tool_calls, self._retries)
        return (tally.cost or 0, tally.tokens or 0, *calls)

    def _used(self) -> tuple[int, ...]:
        """What was taken, and what is set aside."""
        cost, tokens, *calls = self._amounts()
        return (cost + self._reserved_cost, tokens + self._reserved_tokens, *calls)

    def left(self, kind: LimitKind) -> float | None:
        """What may still be taken; None where there is no limit."""
        if kind is LimitKind.WALL_S:
            return None if self._wall_s is None else max(0.0, self._wall_s - self.elapsed())
        for place, cap in self._caps:
            if _PLACES[place] is kind:
                return _shown(place, max(0, cap - self._used()[place]))
        return None

    def spent(self) -> Spent:
        """What was taken so far."""
        tally = self.tally
        return Spent(
            cost_usd=(tally.cost or 0) / UNITS,
            tokens=tally.tokens or 0,
            steps=tally.events,
            llm_calls=tally.model_calls,
            tool_calls=tally.tool_calls,
            retries=self._retries,
            wall_s=self.elapsed(),
            reserved_usd=self._reserved_cost / UNITS,
            reserved_tokens=self._reserved_tokens,
            unpriced_calls=tally.unpriced_calls,
        )


def _shown(place: int, amount: int) -> float:
    return amount / UNITS if place == _COST else amount
