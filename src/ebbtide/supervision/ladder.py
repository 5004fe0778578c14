"""The ladder: what may be done about a run, the mildest first, and what follows from what.

Source: DESIGN, "One ladder".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from ebbtide.budget.limit_alerts import Nearness
from ebbtide.budget.shared.budget_refusal import RefusalReason
from ebbtide.convergence.signal import Signal


class Action(StrEnum):
    """Action on a run, the mildest first.

    >>> Action.STOP.rank > Action.NUDGE.rank
    True
    """

    ALLOW = "allow"  #: go on
    NUDGE = "nudge"  #: go on, and tell the model something first
    FINALIZE = "finalize"  #: one last call, without tools: the result is ready
    ESCALATE = "escalate"  #: ask a person
    STOP = "stop"  #: no further call

    def __init__(self, _: str) -> None:
        self.rank = len(type(self).__members__)  #: its place from mild to strict, 0 to 4


class Cause(StrEnum):
    """Cause of a verdict."""

    NONE = "none"  #: there is no reason to stop
    CONVERGENCE = "convergence"  #: rounds bring nothing new
    DIVERGENCE = "divergence"  #: the run goes in circles
    SPENDING = "spending"  #: money or tokens leave, and nothing comes back
    LIMIT = "limit"  #: a hard limit, or a budget
    JOINT = "joint"  #: spending is high while progress is flat: neither alone would say so
    PERSON = "person"  #: a person has ended the run


class Steps(NamedTuple):
    """Actions that follow when something is reported more than once.

    Args:
        first: When it is reported first, or again in the turn in which it was.
        again: When it goes on, or comes back, after the model could have heard of it.
    """

    first: Action
    again: Action


#: Loops end the run. Money that leaves is a person's to judge.
STEPS: Final[Mapping[Cause, Steps]] = {
    Cause.DIVERGENCE: Steps(Action.NUDGE, Action.STOP),
    Cause.SPENDING: Steps(Action.NUDGE, Action.ESCALATE),
    Cause.JOINT: Steps(Action.NUDGE, Action.ESCALATE),
}
#: What the model cannot mend goes to a person, and the run waits for them.
PERSON_STEPS: Final = Steps(Action.ESCALATE, Action.ESCALATE)
#: A loop that is suspected, since something is not known or may have changed, is reported again. Equal calls
#: end the run at last, at `SUSPECT_TIMES` their threshold; anything else never does.
SUSPICION_STEPS: Final = Steps(Action.NUDGE, Action.NUDGE)
#: A hard limit, by how near it is.
LIMIT_STEPS: Final[Mapping[Nearness, Action]] = {
    Nearness.WARN: Action.NUDGE,
    Nearness.LAST: Action.FINALIZE,
    Nearness.UNKNOWN: Action.STOP,
    Nearness.REACHED: Action.STOP,
}
#: A budget that other runs draw on too, by why it refuses the next call.
BUDGET_STEPS: Final[Mapping[RefusalReason, Action]] = {
    RefusalReason.LIMIT: Action.STOP,
    RefusalReason.UNKNOWN: Action.STOP,
    RefusalReason.AWAY: Action.STOP,
    RefusalReason.ASK: Action.ESCALATE,
}
#: Rounds that bring nothing new, by what the convergence engine makes of them.
ROUND_STEPS: Final[Mapping[Signal, Action]] = {
    Signal.CONTINUE: Action.ALLOW,
    Signal.SHIP: Action.FINALIZE,
    Signal.ESCALATE: Action.ESCALATE,
}
SPENDING_TWICE: Final = 2  #: times its threshold from which spending is reported to a person
SUSPECT_TIMES: Final = 3  #: times its threshold from which equal calls end a run although they are no proof
CHANT_REPORTS: Final = 3  #: reports of a text that ends in copies of itself from which it is cut
