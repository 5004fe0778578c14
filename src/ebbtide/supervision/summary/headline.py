"""The outcome of a run, in one word."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.verdict import Verdict


class Headline(StrEnum):
    """The outcome of a run, in one word; the worst last."""

    HEALTHY = "HEALTHY"
    CONVERGED = "CONVERGED"
    UNKNOWN = "UNKNOWN"
    NOISY = "NOISY"
    COSTLY = "COSTLY"
    ESCALATE = "ESCALATE"
    OVER_LIMIT = "OVER LIMIT"
    STUCK = "STUCK"


MEANINGS: Final[Mapping[Headline, str]] = {
    Headline.HEALTHY: "No problem was found.",
    Headline.CONVERGED: "The result is ready; another round would add nothing new.",
    Headline.UNKNOWN: "Too little was recorded to judge it.",
    Headline.NOISY: "It repeated itself, and continued.",
    Headline.COSTLY: "It spent money or tokens fast.",
    Headline.ESCALATE: "It is not getting further on its own: ask a person.",
    Headline.OVER_LIMIT: "It exceeded a limit.",
    Headline.STUCK: "It went in circles, or spent without progress.",
}
_BY_ACTION: Final[Mapping[Action, Headline]] = {
    Action.ALLOW: Headline.HEALTHY,
    Action.NUDGE: Headline.NOISY,
    Action.FINALIZE: Headline.CONVERGED,
    Action.ESCALATE: Headline.ESCALATE,
    Action.STOP: Headline.STUCK,
}


def headline(verdict: Verdict) -> Headline:
    """What a verdict says of a run, in one word.

    >>> headline(Verdict()).value
    'HEALTHY'
    """
    if verdict.action is Action.NUDGE and verdict.cause is Cause.SPENDING:
        return Headline.COSTLY
    if verdict.action is Action.STOP and verdict.cause is Cause.LIMIT:
        return Headline.UNKNOWN if verdict.kind == "limit_unknown" else Headline.OVER_LIMIT
    return _BY_ACTION[verdict.action]
