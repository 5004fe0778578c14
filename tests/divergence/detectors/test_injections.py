"""Words that a harness puts in again and again."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from ebbtide.checking import check_events
from ebbtide.divergence.monitor import find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import Headline
from ebbtide.supervision.supervisor import Supervisor

RULES = Profile.DEFAULT.divergence
LEAST = RULES.injections or 0
TOOLS = ToolPolicies({"edit": ToolPolicy(effect=Effect.CHANGE), "look": ToolPolicy(effect=Effect.READ)})
HOOK = "Stop hook feedback:\n[node checks/stop.mjs]: The change log has no entry. Add one before you stop."
PROMPT = "Take the most important open point of the list in plan.md, do it, and take it off the list. Go on."


def note(text: str) -> Notice:
    return Notice(kind=NoticeKind.NOTE, text=text)


def said(number: int) -> ModelCall:
    return ModelCall(text=f"Everything was done, as I said in turn {number}.", stop=Stop.END)


def rounds(put_in: Callable[[int], Event], *between: Callable[[int], Event], times: int = 12) -> list[Event]:
    """Rounds of a harness: its words, what is done about them, and what the model says."""
    return [
        event
        for number in range(times)
        for event in (put_in(number), *(make(number) for make in between), said(number))
    ]


def injections(events: list[Event]) -> list[int]:
    """Numbers of the events at which a loop of the harness is reported."""
    found = find_loops(events, tools=TOOLS)
    return [signal.last_event for signal in found if signal.kind is LoopKind.INJECTION]


@pytest.mark.parametrize(
    "put_in",
    [
        pytest.param(lambda _: note(HOOK), id="a hook"),
        pytest.param(
            lambda n: note(f"<context source='goal'>Go on. Tokens used: {9_137 * n}</context>"),
            id="a number that moves",
        ),
        pytest.param(
            lambda n: note(f"The goal is not met: the source is not linked, reason {'ab'[n % 2]}."),
            id="another reason",
        ),
        pytest.param(lambda _: Message(text=PROMPT), id="a program that sends one prompt"),
    ],
)
@pytest.mark.parametrize(
    "between",
    [
        pytest.param((), id="nothing"),
        pytest.param(
            (lambda _: ToolCall(name="look", args={"path": "plan.md"}, result="no open point"),),
            id="a known look",
        ),
        pytest.param(
            (lambda n: ToolCall(name="look", args={"path": "abcdefghijkl"[n]}, result=f"{n} waits"),),
            id="a glance at something else",
        ),
        pytest.param(
            (lambda n: ToolCall(name="edit", args={"n": n}, result="denied", error=True),), id="refused calls"
        ),
    ],
)
def test_the_same_words_with_nothing_done(
    put_in: Callable[[int], Event], between: tuple[Callable[[int], Event], ...]
) -> None:
    """Found at the fourth round: a look at what is known, and a call that fails, bear witness to nothing."""
    events = rounds(put_in, *between)
    size = 2 + len(between)
    first = injections(events)[0]
    assert (first - 1) // size in (LEAST - 1, LEAST)  # the first look is new


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            rounds(lambda _: note(HOOK), lambda n: ToolCall(name="edit", args={"n": n}, result=f"saved {n}")),
            id="a goal that is worked on",
        ),
        pytest.param(
            rounds(lambda _: note(HOOK), lambda n: ToolCall(name="look", args={"n": n}, result=f"page {n}")),
            id="reading that brings something new",
        ),
        pytest.param(
            rounds(
                lambda _: note(HOOK),
                lambda n: ToolCall(name="look", args={"path": "abcdefghijkl"[n]}, result=f"page {n} " * 60),
            ),
            id="reading much",
        ),
        pytest.param(
            rounds(
                lambda _: note(HOOK),
                *(
                    lambda n, part=part: ToolCall(
                        name="look", args={"path": f"{part} {n}"}, result=f"{n} {part}"
                    )
                    for part in ("top", "body", "foot")
                ),
            ),
            id="several looks at new things",
        ),
        pytest.param(
            rounds(lambda _: note(HOOK), times=LEAST - 1), id="a hook that is satisfied after some rounds"
        ),
        pytest.param(rounds(lambda _: Message(text="continue")), id="a person who types one word"),
        pytest.param(
            rounds(lambda n: note(f"<task-notification><task-id>a8{n}c4f{n}e5eed</task-id>part {n} is over")),
            id="reports of other jobs",
        ),
        pytest.param(
            [
                event
                for n in range(12)
                for event in (note(HOOK), said(n), Message(text=f"Why {n}?"), said(-n))
            ],
            id="a person between",
        ),
        pytest.param([note(HOOK)] * 12, id="words that nobody answered"),
        pytest.param(
            rounds(lambda _: Notice(kind=NoticeKind.NOTE, text="Give exactly one action.", error=True)),
            id="an error that answers an attempt",
        ),
    ],
)
def test_what_is_none(events: list[Event]) -> None:
    """Work, a person, and words about something else."""
    assert injections(events) == []


def test_it_can_be_switched_off() -> None:
    """As every rule."""
    off = Profile(name="off", divergence=replace(RULES, injections=None))
    assert not any(
        signal.kind is LoopKind.INJECTION for signal in find_loops(rounds(lambda _: note(HOOK)), off)
    )


def test_a_person_hears_of_it_and_the_model_does_not() -> None:
    """With the name of the hook, and what to do about it; nothing nudges."""
    supervisor = Supervisor()
    verdicts = [supervisor.record(event) for event in rounds(lambda _: note(HOOK), times=6)]
    told = [verdict for verdict in verdicts if verdict.kind == "injection"]
    assert {verdict.action for verdict in told} == {Action.ESCALATE}
    assert (
        told[0].reason
        == f"node checks/stop.mjs inserted the same text {LEAST} times, and nothing was done in between."
    )
    assert all(verdict.nudge is None for verdict in told)


def _stuck() -> Iterator[Event]:
    yield Message(text="Write the change log.")
    yield ToolCall(name="edit", args={"n": 0}, result="saved")
    yield from rounds(lambda _: note(HOOK))


def test_a_run_that_ends_in_one_is_stuck() -> None:
    """Whatever the model said last: it said the same in each of its turns."""
    summary = check_events(_stuck())
    assert (summary.headline, summary.open_loop) == (Headline.STUCK, "injection")
    finding = next(item for item in summary.findings if item.kind == "injection")
    assert finding.advice.startswith("The model cannot end this")
