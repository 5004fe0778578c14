"""How far two answers of one call are the same."""

import pytest

from ebbtide.divergence.answer_texts import AnswerTexts, Likeness

CALL = b"one call"


@pytest.mark.parametrize(
    ("before", "after", "likeness"),
    [
        pytest.param("4 passed in 1.9s", "4 passed in 2.4s", Likeness.NOISE, id="a duration"),
        pytest.param(
            "pod web-x2k4q is up", "pod web-z8m3p is up", Likeness.FRESH_NAMES, id="a generated name"
        ),
        pytest.param("4 passed in 1.9s", "5 passed in 1.9s", Likeness.PROGRESS, id="more passes"),
        pytest.param("5 passed in 1.9s", "4 passed in 1.9s", Likeness.NONE, id="fewer passes"),
        pytest.param("port 80 is open", "port 81 is open", Likeness.NONE, id="a number once"),
        pytest.param("attempt 3: gone", "attempt 5: gone", Likeness.COUNTS, id="a count of attempts"),
        pytest.param("one thing", "another thing", Likeness.NONE, id="words"),
        pytest.param(
            "a" * 9_000, "a" * 4_000 + "b" + "a" * 4_999, Likeness.NOISE, id="the middle of a long text"
        ),
        pytest.param("a" * 9_000, "b" + "a" * 8_999, Likeness.NONE, id="the beginning of a long text"),
    ],
)
def test_answers_are_compared_with_the_one_before(before: str, after: str, likeness: Likeness) -> None:
    """Noise means nothing, generated names could; it is the same after a restart."""
    texts, restored = AnswerTexts(), AnswerTexts()
    assert texts.compare(CALL, before) is Likeness.NONE
    restored.restore(texts.to_state())
    assert texts.compare(CALL, after) is restored.compare(CALL, after) is likeness
    assert texts.compare(CALL, after) is Likeness.NOISE
    assert texts.compare(b"other", after) is Likeness.NONE


def test_the_oldest_answer_makes_room() -> None:
    """Only the calls that came last are known."""
    texts = AnswerTexts()
    for number in range(60):
        texts.put(b"call %d" % number, f"after {number}s")
    assert texts.compare(b"call 0", "after 1s") is Likeness.NONE
    assert texts.compare(b"call 59", "after 1s") is Likeness.NOISE


@pytest.mark.parametrize(
    ("answer", "deed", "likeness"),
    [
        pytest.param("file of {} bytes", "x=1", Likeness.COUNTS, id="what the call itself makes grow"),
        pytest.param("file of {} bytes", None, Likeness.NONE, id="what a look sees grow"),
        pytest.param("{} rows so far", "x=1", Likeness.NONE, id="a measure that rises"),
        pytest.param("level {}\nx=1\nx=1", "x=1", Likeness.COUNTS, id="beside lines that stay"),
        pytest.param("hp -{}", "x=1", Likeness.NONE, id="a number below zero that falls"),
    ],
)
def test_numbers_that_grow_in_step_only_count_the_acts(
    answer: str, deed: str | None, likeness: Likeness
) -> None:
    """The third answer in equal steps is no news, unless the number measures, or a look saw it."""
    texts = AnswerTexts()
    for number in (30, 35):
        assert texts.compare(CALL, answer.format(number), deed=deed) is Likeness.NONE
    restored = AnswerTexts()
    restored.restore(texts.to_state())
    for one in (texts, restored):
        assert one.compare(CALL, answer.format(40), deed=deed) is likeness
        assert one.compare(CALL, answer.format(52), deed=deed) is Likeness.NONE


def test_progress_is_a_new_best() -> None:
    """To and fro between two numbers is none."""
    texts = AnswerTexts()
    texts.put(CALL, "13 failed")
    likenesses = [texts.compare(CALL, f"{number} failed") for number in (12, 13, 12, 11)]
    assert likenesses == [Likeness.PROGRESS, Likeness.NONE, Likeness.NONE, Likeness.PROGRESS]


def test_a_share_that_grows_is_progress() -> None:
    """More is done than ever; as much as before is nothing."""
    texts = AnswerTexts()
    answers = ("30/90 copied", "35/90 copied", "34/90 copied", "36/90 copied")
    found = [texts.compare(CALL, answer) for answer in answers]
    assert found == [Likeness.NONE, Likeness.PROGRESS, Likeness.NONE, Likeness.PROGRESS]
