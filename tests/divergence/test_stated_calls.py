"""Loops in what agents tell of their actions, where nobody recorded their calls."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.divergence.signals import LoopSignal
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

RULES = Profile.DEFAULT.divergence
STEPS = RULES.known_ground or 0
ORDERS = RULES.same_orders or 0
REPEATS = RULES.copies + 1  # what a click does is not known
WORDS = [letter * 4 for letter in "abcdefghijklmnopqrstuvwxyz"]
SURFER, LEAD = "surfer", "lead (-> surfer)"


def told(
    deed: str, address: str = "https://shop.example/", shows: str = "lamps and chairs", title: str = "Shop"
) -> ModelCall:
    page = f"Here is a screenshot of [{title}]({address}). Automatic OCR has detected the following text:"
    return ModelCall(text=f"I {deed}.\n\n{page}\n\n{shows}", agent=SURFER)


def order(text: str) -> ModelCall:
    return ModelCall(text=text, agent=LEAD)


def search(words: str) -> ModelCall:
    address = f"https://find.example/search?q={words}"
    return told(f"typed '{words}' into 'Search'", address, f"hits of {words}", words)


def clicks(count: int) -> list[ModelCall]:
    return [told(f"clicked 'Item {number}'", f"https://shop.example/{number}") for number in range(count)]


def kinds(events: Iterable[Event]) -> set[LoopKind]:
    return {signal.kind for signal in find_loops(events)}


def first(events: Iterable[Event], kind: LoopKind) -> LoopSignal:
    return next(signal for signal in find_loops(events) if signal.kind is kind)


def test_an_action_that_is_stated_again_with_the_same_end_is_a_repeat_and_no_proof() -> None:
    signal = first([told("clicked 'Next'")] * REPEATS, LoopKind.REPEAT)
    assert (signal.tools, signal.copies, signal.is_stated, signal.is_proof) == (
        ("click",),
        REPEATS,
        True,
        False,
    )


def test_a_page_that_is_read_from_a_picture_is_the_same_in_other_words() -> None:
    """The model that reads it puts a word more or less here and there."""
    run = [told("clicked 'Next'", shows=f"lamps chairs tables {WORDS[number]}") for number in range(REPEATS)]
    assert LoopKind.REPEAT in kinds(run)


def test_a_page_that_shows_something_else_each_time_is_no_repeat() -> None:
    run = [told("clicked 'Next'", shows=" ".join(WORDS[5 * n : 5 * n + 5])) for n in range(REPEATS)]
    assert LoopKind.REPEAT not in kinds(run)


@pytest.mark.parametrize(
    ("between", "is_stuck"),
    [
        pytest.param([], True, id="nothing"),
        pytest.param([told("scrolled down one page")], True, id="a page further"),
        pytest.param([search("lamps"), search("lamps")], False, id="a search"),
        pytest.param([told("clicked 'B'", "https://b.example/")], False, id="another site"),
        pytest.param(
            [told("clicked 'B'", "https://b.example/", "Error 404: page not found")], True, id="a dead link"
        ),
        pytest.param([Message(text="Now look for chairs.")], False, id="a person"),
    ],
)
def test_steps_over_known_ground_are_counted_from_the_last_new_ground(
    between: list[Event],
    is_stuck: bool,
) -> None:
    run = [*clicks(STEPS), *between, told("clicked 'Last'")]
    assert (LoopKind.KNOWN_GROUND in kinds(run)) is is_stuck


def test_new_searches_are_new_ground_and_old_ones_are_not() -> None:
    assert LoopKind.KNOWN_GROUND not in kinds(search(word) for word in WORDS)
    assert LoopKind.KNOWN_GROUND in kinds([search(word) for word in WORDS[:STEPS] * 2])


@pytest.mark.parametrize(
    ("deed", "address"),
    [
        pytest.param("clicked '{}'", "https://find.example/search?q=x", id="a look at a result"),
        pytest.param("typed '{}' into 'Name'", "https://form.example/", id="a field of a form"),
    ],
)
def test_looks_at_results_and_filling_in_a_form_are_neither_the_first_time(deed: str, address: str) -> None:
    steps = [told(deed.format(word), address) for word in WORDS[:STEPS]]
    other = told("clicked 'More'", "https://form.example/more")
    assert LoopKind.KNOWN_GROUND not in kinds([search("x"), *steps, other])
    assert LoopKind.KNOWN_GROUND in kinds([search("x"), *steps, *steps])


def test_answers_without_any_action_and_orders_without_an_answer_are_steps() -> None:
    prose = ModelCall(text="There is nothing to summarize.", agent=SURFER)
    answered = [event for word in WORDS[:STEPS] for event in (order(f"Read {word}."), prose)]
    unanswered = [order(f"{word} {word[0]} please") for word in WORDS[: STEPS + 1]]
    for steps in (answered, unanswered):
        signal = first([search("x"), *steps], LoopKind.KNOWN_GROUND)
        assert (signal.copies, signal.tools, signal.is_proof) == (STEPS, ("answer",), False)
        assert LoopKind.KNOWN_GROUND not in kinds(steps)  # where no action is ever told


@pytest.mark.parametrize(
    ("text", "is_repeated"),
    [
        ("Please open the list of lamps, page {}.", True),
        ("Please open {} and then {}.", True),
        ("{} {} {}", False),
    ],
)
def test_nearly_the_same_order_is_reported_where_nothing_new_comes_of_it(
    text: str, is_repeated: bool
) -> None:
    same = told("clicked 'Next'")
    run = [search("x"), same]
    for number in range(ORDERS):
        run += [order(text.format(number, WORDS[number][0], WORDS[number])), same]
    assert (LoopKind.REPEATED_ORDER in kinds(run)) is is_repeated


def test_an_order_may_come_again_where_its_answers_bring_news() -> None:
    run = [event for word in WORDS for event in (order("Please look for one more lamp."), search(word))]
    assert not kinds(run)


@pytest.mark.parametrize("agent", [SURFER, None])
def test_what_an_agent_tells_of_calls_that_were_recorded_counts_once(agent: str | None) -> None:
    recorded = ToolCall(name="click", args={"on": "Next"}, result="ok", agent=agent)
    assert not kinds([recorded, *clicks(26)])


def test_the_calls_of_one_agent_say_nothing_about_those_of_another() -> None:
    recorded = ToolCall(name="run", args={"code": "1"}, result="1", agent="coder")
    assert LoopKind.KNOWN_GROUND in kinds([recorded, *clicks(26)])


def test_thoughts_and_other_profiles_tell_nothing() -> None:
    thoughts = [replace(click, part=ModelPart.THOUGHT) for click in clicks(26)]
    assert not kinds(thoughts)
    assert not find_loops(clicks(26), Profile.SPEC)


def test_a_monitor_goes_on_in_the_middle_of_told_actions() -> None:
    run: list[Event] = [search("x")]
    for number, click in enumerate(clicks(20)):
        run += [order(f"Please open the item {number}."), click]
    whole = LoopMonitor()
    expected = [whole.update(event) for event in run]
    monitor = LoopMonitor()
    for event, signals in zip(run, expected, strict=True):
        monitor = LoopMonitor.from_state(monitor.to_state())
        assert monitor.update(event) == signals
    assert monitor.to_state() == whole.to_state()
    assert any(expected)
