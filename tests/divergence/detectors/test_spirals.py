"""Storms, silence, answers without an act, and wake-ups that never come."""

from dataclasses import replace

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

RULES = Profile.DEFAULT.divergence
LIMITED = '{"message": "Too Many Requests", "reset_in": "2534 s"}'
SLEEP = ToolCall(name="sleep", args={"s": 60}, result="ok")
TOOLS = ToolPolicies({"sleep": ToolPolicy(effect=Effect.WAIT)})


def found(events: list[Event], kind: LoopKind) -> list[int]:
    return [signal.last_event for signal in find_loops(events, tools=TOOLS) if signal.kind is kind]


def ask(number: int, answer: str = LIMITED, **others: object) -> ToolCall:
    return ToolCall(name="fetch", args={"header": f"h{number * number}"}, result=answer, error=True, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("events", "is_storm"),
    [
        pytest.param([ask(n) for n in range(9)], True, id="at once, in other words"),
        pytest.param([event for n in range(9) for event in (SLEEP, ask(n))], False, id="after a rest"),
        pytest.param([ask(n, waited_s=RULES.wait_s) for n in range(9)], False, id="after a pause"),
        pytest.param([ask(n, "no such header") for n in range(9)], False, id="for another reason"),
        pytest.param([ask(n) for n in range(4)], False, id="some tries"),
    ],
)
def test_a_service_at_its_limit(events: list[Event], is_storm: bool) -> None:
    """Refused five times without a rest; a service that gets its rest is waited for."""
    at = found(events, LoopKind.REFUSALS)
    assert at[:1] == ([RULES.refusals] if is_storm else [])


@pytest.mark.parametrize(
    ("events", "at"),
    [
        pytest.param([ModelCall(text="limit reached", error=True)] * 12, 8, id="answers that are errors"),
        pytest.param(
            [Notice(kind=NoticeKind.ERROR, text=f"529, try {n}", error=True) for n in range(40)],
            32,
            id="retries of a harness",
        ),
        pytest.param(
            [ModelCall(text="busy", error=True), ModelCall(text="Here it is.")] * 9,
            None,
            id="one that answers in the end",
        ),
        pytest.param(
            [
                event
                for n in range(9)
                for event in (ModelCall(text="busy", error=True), Message(text=f"And {n}?"))
            ],
            None,
            id="a person who goes on asking",
        ),
        pytest.param(
            [
                event
                for _ in range(9)
                for event in (ModelCall(text="busy", error=True), Message(text="Continue."))
            ],
            7,
            id="a program that says the same again",
        ),
        pytest.param(
            [
                event
                for n in range(9)
                for event in (
                    ModelCall(text="busy", error=True, ts=3_600.0 * n),
                    Message(text="Continue.", ts=3_600.0 * n + 9),
                )
            ],
            17,
            id="a new try each hour",
        ),
    ],
)
def test_a_model_that_does_not_answer(events: list[Event], at: int | None) -> None:
    """Errors in a row in place of answers."""
    assert found(events, LoopKind.NO_ANSWERS)[:1] == ([] if at is None else [at])


def talk(*turns: tuple[str, str]) -> list[Event]:
    return [
        event for asked, said in turns for event in (Message(text=asked), ModelCall(text=said, stop=Stop.END))
    ]


URGES = ("continue", "continue", "still no change", "continue", "please start", "and?")
WORK = ToolCall(name="edit", args={"a": 1}, result="saved")


@pytest.mark.parametrize(
    ("events", "is_idle"),
    [
        pytest.param(
            talk(*((asked, f"I begin with part {n}.") for n, asked in enumerate(URGES))), True, id="promises"
        ),
        pytest.param(
            [event for n, asked in enumerate(URGES) for event in (*talk((asked, f"Part {n}.")), WORK)],
            False,
            id="work",
        ),
        pytest.param(
            talk(*((asked, "And so the tale went on. " * 30) for asked in URGES)),
            False,
            id="a tale that is continued",
        ),
        pytest.param(
            talk(*((asked, f"Question {n}: true or false?") for n, asked in enumerate(URGES))),
            False,
            id="a quiz",
        ),
        pytest.param(
            talk(*((f"What about case {n}?", "It is kept.") for n in range(9))),
            False,
            id="questions and answers",
        ),
        pytest.param(
            talk(("thanks", "Welcome."), ("ok", "Good."), ("bye", "Bye."), ("fine", "Yes.")),
            False,
            id="courtesies",
        ),
    ],
)
def test_answers_without_an_act(events: list[Event], is_idle: bool) -> None:
    """A person who says nothing new, a model that says little and does nothing."""
    at = found(events, LoopKind.IDLE_ANSWERS)
    assert bool(at) is is_idle
    assert at[:1] == ([2 * (RULES.idle_answers or 0)] if is_idle else [])


def rest(answer: str = "Next wake-up in 20 minutes.") -> list[Event]:
    return [
        ToolCall(name="rest", args={}, result=answer, ts=0.0),
        ModelCall(text="I look again in 20 minutes.", ts=5.0),
    ]


@pytest.mark.parametrize(
    ("events", "is_missed"),
    [
        pytest.param([*rest(), Message(text="How far is it?", ts=30_000.0)], True, id="hours later"),
        pytest.param([*rest(), Message(text="Look now.", ts=1_210.0)], False, id="in time"),
        pytest.param(
            [*rest(), Message(text="Look now.", ts=1_200.0 + RULES.wake_up_late_s / 2)],
            False,
            id="a little late",
        ),
        pytest.param(
            [*rest(), Message(text="Stop that.", ts=60.0), Message(text="Hello", ts=30_000.0)],
            False,
            id="a person before",
        ),
        pytest.param([*rest("done"), Message(text="Hello", ts=30_000.0)], False, id="nothing was asked for"),
    ],
)
def test_a_wake_up_that_never_came(events: list[Event], is_missed: bool) -> None:
    """Whatever happens about its time is the wake-up."""
    assert found(events, LoopKind.MISSED_WAKE_UP) == ([len(events)] if is_missed else [])
    off = Profile(name="off", divergence=replace(RULES, wake_up_late_s=None))
    assert not any(signal.kind is LoopKind.MISSED_WAKE_UP for signal in find_loops(events, off))
