"""The headline of a run: how it ended, then how it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from ebbtide.divergence.detector_table import LOOPS, is_for_person
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.ending import EndKind
from ebbtide.supervision.verdict import Verdict


class Headline(StrEnum):
    """A run in one word: how it ended, or how it went where its end is not known; the worst last."""

    CONVERGED = "CONVERGED"
    FINISHED = "FINISHED"
    HEALTHY = "HEALTHY"
    GOING_ON = "GOING ON"
    HANDED_BACK = "HANDED BACK"
    CUT_OFF = "CUT OFF"
    UNKNOWN = "UNKNOWN"
    NOISY = "NOISY"
    COSTLY = "COSTLY"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"
    LIMIT = "LIMIT"
    STUCK = "STUCK"


class Course(StrEnum):
    """Course of a run: how it went."""

    HEALTHY = "HEALTHY"
    UNKNOWN = "UNKNOWN"
    NOISY = "NOISY"
    COSTLY = "COSTLY"


MEANINGS: Final[Mapping[Headline, str]] = {
    Headline.CONVERGED: "Another round would add nothing new, and something says that the result is ready.",
    Headline.FINISHED: "It says that it is finished, or it ended with an answer. The answer may be wrong.",
    Headline.HEALTHY: "No problem was found.",
    Headline.GOING_ON: "It is not over.",
    Headline.HANDED_BACK: "It ended with a question to a person, or a person took over.",
    Headline.CUT_OFF: "It stops in the middle of work, or a person stopped it.",
    Headline.UNKNOWN: "Too little was recorded to judge it.",
    Headline.NOISY: "It repeated itself, or brought nothing new, for a while.",
    Headline.COSTLY: "It spent money or tokens fast.",
    Headline.BLOCKED: "It waits for something that nobody in the run can do.",
    Headline.FAILED: "An error ended it, or it says that it gives up.",
    Headline.LIMIT: "A limit ended it, or it exceeded one.",
    Headline.STUCK: "It goes in circles, or spends without progress, and nothing has ended that.",
}
#: The second words that each first word allows: what it says itself, or would deny, is not said. A run that
#: failed, or that a limit ended, was not healthy; one that is stuck repeated itself.
SECOND: Final[Mapping[Headline, frozenset[Course]]] = {
    **dict.fromkeys((Headline.CONVERGED, Headline.FINISHED, Headline.HANDED_BACK), frozenset(Course)),
    **dict.fromkeys(
        (Headline.CUT_OFF, Headline.BLOCKED, Headline.FAILED), frozenset(Course) - {Course.HEALTHY}
    ),
    Headline.LIMIT: frozenset((Course.NOISY, Course.COSTLY)),
    Headline.STUCK: frozenset((Course.COSTLY,)),
    **dict.fromkeys((Headline.GOING_ON, *map(Headline, Course)), frozenset()),
}
_BY_ENDING: Final[Mapping[EndKind, Headline]] = {
    EndKind.FINISHED: Headline.FINISHED,
    EndKind.HANDED_BACK: Headline.HANDED_BACK,
    EndKind.BLOCKED: Headline.BLOCKED,
    EndKind.FAILED: Headline.FAILED,
    EndKind.LIMIT: Headline.LIMIT,
}
#: Kinds of verdicts that hold a run which is in no circle.
_HELD_BY: Final[Mapping[str, Headline]] = {
    "limit": Headline.LIMIT,
    "limit_unknown": Headline.UNKNOWN,
    "budget": Headline.LIMIT,
    "person": Headline.CUT_OFF,
}


def course(steps: Iterable[tuple[Action, Cause]], *, blind: bool = False) -> Course:
    """Returns the course of a run, by what was found in it.

    Args:
        steps: The action and the cause of each finding; limits are a matter of how it ended.
        blind: Whether too little was recorded to find a problem.

    >>> course([]).value, course([(Action.NUDGE, Cause.SPENDING)]).value
    ('HEALTHY', 'COSTLY')
    """
    causes = {
        cause
        for action, cause in steps
        if cause is not Cause.LIMIT and action not in (Action.ALLOW, Action.FINALIZE)
    }
    if not causes:
        return Course.UNKNOWN if blind else Course.HEALTHY
    return Course.COSTLY if causes == {Cause.SPENDING} else Course.NOISY


def live_word(action: Action, kind: str | None) -> Headline:
    """Returns the word for a run that is not over: what holds of it now, since nobody knows how it ends.

    Args:
        action: That of the verdict that holds.

    >>> live_word(Action.ALLOW, None).value, live_word(Action.STOP, "repeat").value
    ('GOING ON', 'STUCK')
    """
    if action in (Action.ESCALATE, Action.STOP):
        return _HELD_BY.get(kind or "", Headline.STUCK)
    is_ready = action is Action.FINALIZE and kind == "ready_rounds"
    return Headline.CONVERGED if is_ready else Headline.GOING_ON


def headline(
    ending: EndKind,
    highest: Verdict,
    latest: Verdict,
    *,
    course: Course,
    signal: str | None = None,
    loop: str | None = None,
) -> Headline:
    """A run in one word.

    Args:
        ending: How it ended, as it says itself.
        highest: The highest verdict that it came to.
        latest: The verdict that holds at its end.
        course: How it went, which is the word where its end is not known.
        signal: The last signal of the convergence engine; None where there was no round.
        loop: Kind of the loop that the run was ended for, and that still went on at its end; None where there
            was none.

    >>> headline(EndKind.FINISHED, Verdict(), Verdict(), course=Course.HEALTHY).value
    'FINISHED'
    """
    if loop is not None and _is_stuck(loop, ending):
        return Headline.STUCK
    if highest.action is Action.STOP and highest.cause is Cause.LIMIT:
        return _HELD_BY.get(highest.kind or "", Headline.LIMIT)
    if signal == "SHIP" and ending in (EndKind.FINISHED, EndKind.UNKNOWN):
        return Headline.CONVERGED
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if latest.action in (Action.ESCALATE, Action.STOP):
        return Headline.STUCK
    if ending is EndKind.CUT_OFF:
        return Headline.CUT_OFF
    return Headline(course.value)


def _is_stuck(loop: str, ending: EndKind) -> bool:
    """Returns True if a loop that goes on says more than what ended it: a limit, or a last word.

    What a model says at the end of a loop that it cannot mend is what it said in each of its turns.
    """
    is_limit = ending in (EndKind.LIMIT, EndKind.CUT_OFF, EndKind.UNKNOWN)
    return is_limit or is_for_a_person(loop)


def is_for_a_person(loop: str | None) -> bool:
    """Returns True if a person alone can mend a loop of that kind."""
    return loop is not None and loop in LOOPS and is_for_person(LoopKind(loop))
