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
        pytest.param("4 passed in 1.9s", "5 passed in 1.9s", Likeness.NONE, id="a count"),
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
