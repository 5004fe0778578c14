"""Limits that cannot be counted, and the one sentence that says so."""

from __future__ import annotations

from enum import StrEnum

from ebbtide.budget.limits import LimitKind


class Missing(StrEnum):
    """What has to be known to count a limit, and is not."""

    PRICE = "price"  #: the tokens of a call are known, and not their price
    USAGE = "usage"  #: a call came without what it took
    TIME = "time"  #: no event has a time


_UNITS = {LimitKind.COST_USD: "USD", LimitKind.TOKENS: "tokens", LimitKind.WALL_S: "s"}
_ALLOW = 'or choose Limits(when_unknown="allow") (--when-unknown allow)'


def uncounted(kind: LimitKind, limit: float, missing: Missing, subject: str = "") -> str:
    """Why a limit cannot hold, and what to pass so that it can.

    Args:
        kind: What is limited.
        limit: In dollars, tokens or seconds.
        missing: What is not known.
        subject: The model, or the name of the call, about which it is not known; ``""`` where it has none.

    >>> uncounted(LimitKind.WALL_S, 60, Missing.TIME)
    'The limit of 60 s cannot hold: no event has a time. Pass ts= with the events, or now= with ...'
    """
    call = f"a call of {subject!r:.60}" if subject else "a call of the model"
    match missing, kind:
        case Missing.PRICE, _:
            why = f"nothing says what {call} costs"
            way = "prices=Prices({...}) (--prices FILE), or a usage with cost_usd"
        case Missing.TIME, _:
            why, way = "no event has a time", "ts= with the events, or now= with the checks"
        case _, LimitKind.TOKENS:
            why, way = f"nothing says how many tokens {call} took", "usage= with its tokens"
        case _:
            why = f"nothing says what {call} took"
            way = "usage= with its cost_usd, or with its tokens and prices=Prices({...}) (--prices FILE)"
    return f"The limit of {limit:,.6g} {_UNITS.get(kind, kind)} cannot hold: {why}. Pass {way}; {_ALLOW}."
