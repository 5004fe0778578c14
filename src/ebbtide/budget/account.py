"""Account of one scope: what was taken, what is set aside, and what more would be too much."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, ClassVar

from ebbtide.budget.limits import LimitKind, Limits, Missing, require_limits, uncounted
from ebbtide.budget.tally import UNITS, Tally, units
from ebbtide.codec import Record
from ebbtide.errors import ConfigError, LimitExceeded, LimitUnknown

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
#: A call that nothing is known about sets aside a limit divided by this, or what is left of it. So at most so
#: many of them are under way at once.
FIRST_CALLS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitWarning(Record):
    """Warning that a limit is near. It is given once a limit and scope.

    Args:
        value: The amount that was taken so far.
        limit: The most that may be taken.
    """

    _WIRE: ClassVar = "event_type severity *"
    event_type: ClassVar = "LIMIT_WARNING"
    severity: ClassVar = "warn"

    kind: LimitKind
    value: float
    limit: float
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Amounts that were taken in a scope so far.

    Args:
        cost_usd: Dollars of the calls that have ended, as far as they are known.
        tokens: Their tokens of all classes, as far as they are known.
        steps: Calls that were let through.
        llm_calls: Calls of a model among them.
        tool_calls: Calls of a tool among them.
        retries: Calls among them that had failed before.
        wall_s: Seconds since the scope was made.
        agents: Scopes that were made inside, at any level.
        depth: Levels of them.
        reserved_usd: Dollars set aside for the calls that run now.
        reserved_tokens: Tokens set aside for them.
        unpriced_calls: Calls that have ended at a cost that nobody knows yet; what had been set aside for
            them is in `cost_usd`.
    """

    cost_usd: float
    tokens: int
    steps: int
    llm_calls: int
    tool_calls: int
    retries: int
    wall_s: float
    agents: int
    depth: int
    reserved_usd: float
    reserved_tokens: int
    unpriced_calls: int


CHARGED, COST_KNOWN, TOKENS_KNOWN = 1, 2, 4


@dataclass(slots=True, eq=False)
class Hold:
    """Amounts of one call in one account: set aside while it runs, charged once it has ended.

    Args:
        cost: Units of money.
        tokens: Tokens of all classes.
    """

    account: Account
    cost: int
    tokens: int
    state: int = 0  #: 0 while it is set aside; then CHARGED, COST_KNOWN and TOKENS_KNOWN, added up


class Account:
    """Account of one scope. It takes no lock: who uses several at once holds one for all of them.

    Args:
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
        self._cost_cap: int | None = None
        for place, kind in enumerate(_PLACES):
            limit = getattr(limits, kind)
            if limit is not None:
                cap = units(limit) if place == _COST else limit
                self._caps.append((place, cap))
                if cap and limits.warn_at is not None:
                    self._near.append((place, cap * limits.warn_at))
                if place == _COST:
                    self._cost_cap = cap
        self._wall_s = limits.wall_s
        self._wall_near_s = limits.wall_s * limits.warn_at if limits.wall_s and limits.warn_at else None
        self._lease_s = limits.lease_s
        self._leases: deque[tuple[float, Hold]] = deque()
        self._unknown: dict[Hold, tuple[str, float, str, str]] = {}
        self._start = clock()
        self._latest = 0.0
        if not isfinite(self._start):
            raise ConfigError(f"clock() = {self._start!r}: expected seconds as a finite number")

    def elapsed(self) -> float:
        """Returns the seconds since the scope was made."""
        now = self.clock() - self._start
        if self._latest <= now < inf:
            self._latest = now
        return self._latest

    def excess(self, request: Request) -> LimitExceeded | LimitUnknown | None:
        """Returns the error why a call may not be made, or None.

        An unknown cost fits as long as anything is left.
        """
        if self._unknown:
            return LimitUnknown(*next(iter(self._unknown.values())))
        if self._leases:
            self._end_leases()
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
                    reserved = (self._reserved_cost, self._reserved_tokens)[place] if place <= _TOKENS else 0
                    would = _in_limit_unit(place, value + (more or 0))
                    return self._exceeded(_PLACES[place], would, _in_limit_unit(place, reserved))
        return None if self._wall_s is None else self.overdue()

    def excess_agent(self, depth: int) -> LimitExceeded | None:
        """Returns the error why no scope may be made inside, at a level from 1; None where it may."""
        limits = self.limits
        if limits.max_agents is not None and self.tally.agents >= limits.max_agents:
            return self._exceeded(LimitKind.MAX_AGENTS, self.tally.agents + 1)
        if limits.max_depth is not None and depth > limits.max_depth:
            return self._exceeded(LimitKind.MAX_DEPTH, depth)
        return None

    def is_full(self) -> bool:
        """Returns True if there is no room, and there may be once the calls under way have settled."""
        for place, cap in self._caps[:2]:
            if place <= _TOKENS:
                charged = (self.tally.cost, self.tally.tokens)[place] or 0
                reserved = (self._reserved_cost, self._reserved_tokens)[place]
                if charged < cap <= charged + reserved:
                    return True
        return False

    def overdue(self) -> LimitExceeded | None:
        """Returns the limit of time, if it has passed."""
        if self._wall_s is not None and self.elapsed() >= self._wall_s:
            return self._exceeded(LimitKind.WALL_S, self._latest)
        return None

    def take(self, request: Request) -> Hold:
        """Counts a call, and sets aside what it asks for, or a share of the limit if it cannot say."""
        cost, tokens, steps, llm_calls, tool_calls, retries = request
        tally = self.tally
        if cost is None:
            cost = self._share(self._cost_cap, (tally.cost or 0) + self._reserved_cost)
        if tokens is None:
            tokens = self._share(self.limits.tokens, (tally.tokens or 0) + self._reserved_tokens)
        if cost:
            self._reserved_cost += cost
        if tokens:
            self._reserved_tokens += tokens
        tally.events += steps
        tally.model_calls += llm_calls
        tally.tool_calls += tool_calls
        self._retries += retries
        hold = Hold(self, cost, tokens)
        if self._lease_s is not None:
            self._leases.append((self.elapsed() + self._lease_s, hold))
        return hold

    def settle(
        self,
        hold: Hold,
        cost: int | None,
        tokens: int | None,
        unknown: Mapping[LimitKind, Missing] | None = None,
        subject: str = "",
    ) -> list[LimitWarning]:
        """Charges what a call took in the place of what was set aside; None charges that.

        Args:
            hold: Hold of the call. A second time corrects what was charged.
            cost: Units of money; None where it is not known, or was known before.
            tokens: Tokens of all classes; None as for `cost`.
            unknown: The kinds of which nobody knows what the call took, nor what it took at most: a limit of
                such a kind cannot be counted any more.
            subject: The call, for the sentence that says so.

        Returns:
            The warnings that are due now.
        """
        set_aside_cost, set_aside_tokens, state = hold.cost, hold.tokens, hold.state
        new_state = state | CHARGED
        if cost is not None:
            hold.cost = cost
            new_state |= COST_KNOWN
        if tokens is not None:
            hold.tokens = tokens
            new_state |= TOKENS_KNOWN
        hold.state = new_state
        if not state:
            if set_aside_cost:
                self._reserved_cost -= set_aside_cost
            if set_aside_tokens:
                self._reserved_tokens -= set_aside_tokens
            self.tally.charge(hold.cost, hold.tokens, unpriced="" if cost is None else None)
        else:
            self._charge_more(hold.cost - set_aside_cost, hold.tokens - set_aside_tokens)
            if cost is not None:
                self.tally.unpriced_calls -= 1
            self._unknown.pop(hold, None)
        if unknown and self.limits.refuses_unknown:
            for kind, missing in unknown.items():
                limit = getattr(self.limits, kind)
                if limit is not None:
                    facts = (kind.value, limit, self.name, uncounted(kind, limit, missing, subject))
                    self._unknown.setdefault(hold, facts)
        due = []
        if self._near:
            amounts = self._amounts()
            for place, level in self._near:
                if amounts[place] >= level:
                    due.append(self._warning(_PLACES[place], _in_limit_unit(place, amounts[place])))
            if due:
                self._near = [(place, level) for place, level in self._near if amounts[place] < level]
        if self._wall_near_s is not None and self.elapsed() >= self._wall_near_s:
            self._wall_near_s = None
            due.append(self._warning(LimitKind.WALL_S, self._latest))
        return due

    def to_state(self) -> dict[str, Any]:
        """Returns all that later calls depend on.

        What is set aside counts as spent: nobody will settle it.
        """
        tally = self.tally
        return {
            "limits": [kind.value for kind in LimitKind if getattr(self.limits, kind) is not None],
            "cost": (tally.cost or 0) + self._reserved_cost,
            "tokens": (tally.tokens or 0) + self._reserved_tokens,
            "calls": [tally.events, tally.model_calls, tally.tool_calls, self._retries, tally.unpriced_calls],
            "wall_s": self.elapsed(),
            "agents": [tally.agents, tally.depth],
            "unknown": [list(facts) for facts in self._unknown.values()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes up what `to_state` gave; the time between counts for nothing.

        Raises:
            ConfigError: There was a limit of a kind that has none now.
            KeyError, TypeError, ValueError: It is no such state.
        """
        require_limits(state["limits"], self.limits)
        amounts = (state["cost"], state["tokens"], *state["calls"], *state["agents"])
        if any(type(amount) is not int or amount < 0 for amount in amounts):
            raise ValueError(amounts)
        tally = self.tally
        tally.cost, tally.tokens = amounts[:2]
        tally.events, tally.model_calls, tally.tool_calls, self._retries, tally.unpriced_calls = amounts[2:7]
        tally.agents, tally.depth = amounts[7:]
        wall_s = float(state["wall_s"])
        if not 0 <= wall_s < inf:
            raise ValueError(wall_s)
        self._start -= wall_s
        self._latest = wall_s
        if self.limits.refuses_unknown:
            for kind, limit, name, why in state["unknown"]:
                if not (isinstance(name, str) and isinstance(why, str)):
                    raise TypeError(name, why)
                self._unknown[Hold(self, 0, 0)] = (LimitKind(kind).value, float(limit), name, why)

    def left(self, kind: LimitKind) -> float | None:
        """Returns what may still be taken; None if there is no limit."""
        if kind is LimitKind.WALL_S:
            return None if self._wall_s is None else max(0.0, self._wall_s - self.elapsed())
        if kind in (LimitKind.MAX_AGENTS, LimitKind.MAX_DEPTH):
            limit = getattr(self.limits, kind)
            taken = self.tally.agents if kind is LimitKind.MAX_AGENTS else self.tally.depth
            return None if limit is None else max(0, limit - taken)
        for place, cap in self._caps:
            if _PLACES[place] is kind:
                return _in_limit_unit(place, max(0, cap - self._used()[place]))
        return None

    def spent(self) -> Spent:
        """Returns what was taken so far."""
        tally = self.tally
        return Spent(
            cost_usd=(tally.cost or 0) / UNITS,
            tokens=tally.tokens or 0,
            steps=tally.events,
            llm_calls=tally.model_calls,
            tool_calls=tally.tool_calls,
            retries=self._retries,
            wall_s=self.elapsed(),
            agents=tally.agents,
            depth=tally.depth,
            reserved_usd=self._reserved_cost / UNITS,
            reserved_tokens=self._reserved_tokens,
            unpriced_calls=tally.unpriced_calls,
        )

    def _exceeded(self, kind: LimitKind, value: float, reserved: float = 0) -> LimitExceeded:
        facts = (kind.value, value, getattr(self.limits, kind), self.name)
        # What is kept is never raised: a raised error holds on to every frame that it passed through.
        self.exceeded = LimitExceeded(*facts)
        error = LimitExceeded(*facts)
        error.reserved = reserved
        return error

    def _share(self, cap: int | None, used: int) -> int:
        if cap is None or not self.limits.refuses_unknown:
            return 0
        return min(-(-cap // FIRST_CALLS), max(0, cap - used))

    def _end_leases(self) -> None:
        """Gives back what was set aside for calls of which nobody has said what they took."""
        now = self.elapsed()
        while self._leases and self._leases[0][0] <= now:
            hold = self._leases.popleft()[1]
            cost = 0 if hold.state & COST_KNOWN else hold.cost
            tokens = 0 if hold.state & TOKENS_KNOWN else hold.tokens
            if not hold.state:
                self._reserved_cost -= cost
                self._reserved_tokens -= tokens
            else:
                self._charge_more(-cost, -tokens)
            hold.cost -= cost
            hold.tokens -= tokens

    def _charge_more(self, cost: int, tokens: int) -> None:
        tally = self.tally
        tally.cost = (tally.cost or 0) + cost
        tally.tokens = (tally.tokens or 0) + tokens

    def _warning(self, kind: LimitKind, value: float) -> LimitWarning:
        return LimitWarning(kind=kind, value=value, limit=getattr(self.limits, kind), scope=self.name)

    def _amounts(self) -> tuple[int, ...]:
        tally = self.tally
        calls = (tally.events, tally.model_calls, tally.tool_calls, self._retries)
        return (tally.cost or 0, tally.tokens or 0, *calls)

    def _used(self) -> tuple[int, ...]:
        """Returns what was taken, and what is set aside, as the limits count it."""
        cost, tokens, *calls = self._amounts()
        return (cost + self._reserved_cost, tokens + self._reserved_tokens, *calls)


def _in_limit_unit(place: int, amount: int) -> float:
    return amount / UNITS if place == _COST else amount
