"""The arithmetic of one scope: what was taken, what is set aside, and what more would be too much."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

from ebbtide.budget.limits import LimitKind, Limits, LimitWarning, Spent
from ebbtide.errors import ConfigError, LimitExceeded

UNITS = 10**12  #: of a dollar: a hundred whole cents are one, which a hundred times 0.01 is not

#: What a call asks for, in this order; dollars in units. None where nobody knows.
Asked = tuple[int | None, int | None, int, int, int, int]
_PLACES = (
    LimitKind.COST_USD,
    LimitKind.TOKENS,
    LimitKind.STEPS,
    LimitKind.LLM_CALLS,
    LimitKind.TOOL_CALLS,
    LimitKind.RETRIES,
)
_COST, _TOKENS, _STEPS, _LLM_CALLS, _TOOL_CALLS, _RETRIES = range(len(_PLACES))


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
        self._unpriced = 0
        self._used = [0] * len(_PLACES)  # what is set aside included
        self._held = [0] * len(_PLACES)
        self._caps: list[tuple[int, int]] = []
        self._near: list[tuple[int, float]] = []
        for place, kind in enumerate(_PLACES):
            limit = getattr(limits, kind)
            if limit is not None:
                cap = round(limit * UNITS) if place == _COST else limit
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

    def excess(self, asked: Asked) -> LimitExceeded | None:
        """The limit that a call would pass, or None. An unknown cost fits as long as anything is left."""
        for place, cap in self._caps:
            more = asked[place]
            used = self._used[place]
            if used >= cap if more is None else used + more > cap:
                return self._exceeded(_PLACES[place], _shown(place, used + (more or 0)))
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

    def take(self, asked: Asked) -> None:
        """Count a call, and set aside what it asks for."""
        cost, tokens, steps, llm_calls, tool_calls, retries = asked
        used = self._used
        if cost:
            used[_COST] += cost
            self._held[_COST] += cost
        if tokens:
            used[_TOKENS] += tokens
            self._held[_TOKENS] += tokens
        used[_STEPS] += steps
        used[_LLM_CALLS] += llm_calls
        used[_TOOL_CALLS] += tool_calls
        used[_RETRIES] += retries

    def settle(self, asked: Asked, cost: int | None, tokens: int | None) -> list[LimitWarning]:
        """Put what a call took in the place of what it had asked for; None leaves that as it is.

        Returns:
            The warnings that are due now.
        """
        self._replace(_COST, asked[_COST] or 0, cost)
        self._replace(_TOKENS, asked[_TOKENS] or 0, tokens)
        if cost is None:
            self._unpriced += 1
        due = []
        for place, level in self._near:
            if self._taken(place) >= level:
                due.append(self._warning(_PLACES[place], _shown(place, self._taken(place))))
        if due:
            self._near = [(place, level) for place, level in self._near if self._taken(place) < level]
        if self._wall_near_s is not None and self.elapsed() >= self._wall_near_s:
            self._wall_near_s = None
            due.append(self._warning(LimitKind.WALL_S, self._latest))
        return due

    def _replace(self, place: int, held: int, taken: int | None) -> None:
        if held:
            self._held[place] -= held
        if taken is not None and taken != held:
            self._used[place] += taken - held

    def _warning(self, kind: LimitKind, value: float) -> LimitWarning:
        return LimitWarning(kind=kind, value=value, limit=getattr(self.limits, kind), scope=self.name)

    def _taken(self, place: int) -> int:
        return self._used[place] - self._held[place]

    def left(self, kind: LimitKind) -> float | None:
        """What may still be taken; None where there is no limit."""
        if kind is LimitKind.WALL_S:
            return None if self._wall_s is None else max(0.0, self._wall_s - self.elapsed())
        for place, cap in self._caps:
            if _PLACES[place] is kind:
                return _shown(place, max(0, cap - self._used[place]))
        return None

    def spent(self) -> Spent:
        """What was taken so far."""
        return Spent(
            cost_usd=self._taken(_COST) / UNITS,
            tokens=self._taken(_TOKENS),
            steps=self._used[_STEPS],
            llm_calls=self._used[_LLM_CALLS],
            tool_calls=self._used[_TOOL_CALLS],
            retries=self._used[_RETRIES],
            wall_s=self.elapsed(),
            reserved_usd=self._held[_COST] / UNITS,
            reserved_tokens=self._held[_TOKENS],
            unpriced_calls=self._unpriced,
        )


def _shown(place: int, amount: int) -> float:
    return amount / UNITS if place == _COST else amount
