"""Limits of a run, and the sentence for a limit that cannot be counted.

Source: divergence spec, section 1 (clause X01).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from ebbtide.checks import number
from ebbtide.errors import ConfigError, shown
from ebbtide.settings_file import refuse_unknown


class LimitKind(StrEnum):
    """Kinds of limits."""

    COST_USD = "cost_usd"  #: dollars
    TOKENS = "tokens"  #: tokens of all classes
    STEPS = "steps"  #: calls of any kind
    LLM_CALLS = "llm_calls"
    TOOL_CALLS = "tool_calls"
    RETRIES = "retries"  #: calls that were tried again after they failed
    WALL_S = "wall_s"  #: seconds since the scope was made
    MAX_AGENTS = "max_agents"  #: agents that were started, by whichever agent
    MAX_DEPTH = "max_depth"  #: agents that start agents: levels below the first


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits. None sets no limit; 0 means that there may be none of it.

    Args:
        cost_usd: Dollars.
        tokens: Tokens of all classes together.
        steps: Calls of any kind.
        llm_calls: Calls of a model.
        tool_calls: Calls of a tool.
        retries: Calls that are tried again after they failed.
        wall_s: Seconds from the making of the scope; a call that runs then is not cut off.
        max_agents: Agents that are started, by the first one and by those below it.
        max_depth: Levels of agents below the first: 1 lets it start agents that start none.
        warn_at: Share of each limit at which a warning is due, over 0 to 1; None warns of nothing.
        when_unknown: Answer to a limit that cannot be counted, since a price, a usage or a time is not
            known: "refuse" ends the run with a sentence that names what is missing; "allow" goes on, and what
            is not known counts as nothing.
        lease_s: Seconds, from when a call was let through, after which what was set aside for it is given
            back although nobody has said what it took. None, the default, never gives it back.

    Raises:
        ConfigError: A limit is negative, infinite or no number, or an argument is none of those above.

    >>> Limits(cost_usd=1.50, tool_calls=100).cost_usd
    1.5
    >>> Limits(cost_usd=-1)
    Traceback (most recent call last):
    ebbtide.errors.ConfigError: cost_usd = -1: expected 0 to 1e12, or None for no limit
    """

    cost_usd: float | None = None
    tokens: int | None = None
    steps: int | None = None
    llm_calls: int | None = None
    tool_calls: int | None = None
    retries: int | None = None
    wall_s: float | None = None
    max_agents: int | None = None
    max_depth: int | None = None
    warn_at: float | None = 0.7
    when_unknown: Literal["refuse", "allow"] = "refuse"
    lease_s: float | None = None

    def __post_init__(self) -> None:
        for kind in LimitKind:
            value = getattr(self, kind)
            if value is None:
                continue
            whole = kind not in (LimitKind.COST_USD, LimitKind.WALL_S)
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise ConfigError(
                    f"{kind} = {shown(value)}: expected a {'whole ' * whole}number, or None for no limit"
                )
            if not 0 <= value <= 1e12:
                raise ConfigError(f"{kind} = {shown(value)}: expected 0 to 1e12, or None for no limit")
        if self.warn_at is not None:
            expected = "a share over 0 to 1, or None for no warning"
            number("warn_at", self.warn_at, above=0, most=1, expected=expected)
        if not isinstance(self.when_unknown, str) or self.when_unknown not in ("refuse", "allow"):
            raise ConfigError(f'when_unknown = {shown(self.when_unknown)}: expected "refuse" or "allow"')
        if self.lease_s is not None:
            expected = "seconds over 0, or None for no end"
            number("lease_s", self.lease_s, above=0, most=1e12, expected=expected)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Limits:
        """Returns the limits of a parsed TOML or JSON table.

        Raises:
            ConfigError: An unknown key, or a value out of range.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        refuse_unknown(table, known, of="limits.", kind="limit")
        return cls(**table)

    @property
    def refuses_unknown(self) -> bool:
        """True if a limit that cannot be counted ends the run."""
        return self.when_unknown == "refuse"


def require_limits(kinds: Iterable[str], limits: Limits | None) -> None:
    """Checks that what was limited before a restart is limited after it.

    Args:
        kinds: The kinds that were limited.
        limits: The limits now, which may be other ones.

    Raises:
        ConfigError: A kind that was limited is not.
    """
    for kind in kinds:
        if getattr(limits, LimitKind(kind), None) is None:
            raise ConfigError(
                f"the state was saved with a limit of {kind}; pass limits=Limits({kind}=...) to restore it"
            )


class Missing(StrEnum):
    """Fact that has to be known to count a limit, and is not."""

    PRICE = "price"  #: the tokens of a call are known, and not their price
    USAGE = "usage"  #: a call came without what it took
    TIME = "time"  #: no event has a time


_UNITS = {LimitKind.COST_USD: "USD", LimitKind.TOKENS: "tokens", LimitKind.WALL_S: "s"}
_ALLOW = 'or choose Limits(when_unknown="allow")'


def uncounted(kind: LimitKind, limit: float, missing: Missing, subject: str = "") -> str:
    """Returns why a limit cannot hold, and what to pass so that it can.

    Args:
        limit: The most, in dollars, tokens or seconds.
        missing: The fact that is not known.
        subject: The model, or the name of the call, about which it is not known; ``""`` where it has none.

    >>> uncounted(LimitKind.WALL_S, 60, Missing.TIME)
    'The limit of 60 s cannot be enforced: no event has a time. Pass ts= with the events, or now= with ...'
    """
    call = f"a call of {subject!r:.60}" if subject else "a model call"
    match missing, kind:
        case Missing.PRICE, _:
            why = f"the cost of {call} is unknown"
            way = "prices=Prices({...}) or --prices, or a usage with cost_usd"
        case Missing.TIME, _:
            why, way = "no event has a time", "ts= with the events, or now= with the checks"
        case _, LimitKind.TOKENS:
            why, way = f"the tokens of {call} are unknown", "usage= with its tokens"
        case _:
            why = f"the usage of {call} is unknown"
            way = "usage= with its cost_usd, or with its tokens and prices=Prices({...}) or --prices"
    return (
        f"The limit of {limit:,.6g} {_UNITS.get(kind, kind)} cannot be enforced: {why}. Pass {way}; {_ALLOW}."
    )
