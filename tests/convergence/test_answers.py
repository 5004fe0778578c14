"""Answers read out of turns."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.answer_rules import HINTS, NAMED, RESULTS
from ebbtide.convergence.answers import AnswerKind, read_answer, read_short

STATED = [
    ("80", "number", "80"),
    ("80.", "number", "80"),
    ("$1,000", "number", "1000"),
    ("10.67", "number", "10.67"),
    ("-5", "number", "-5"),
    ("3/4", "number", "0.75"),
    ("eighty", "number", "80"),
    ("40 + 40 = 80", "number", "80"),
    ("B", "choice", "B"),
    ("(c)", "choice", "C"),
    ("The answer is 80.", "number", "80"),
    ("The answer\u2019s 80.", "number", "80"),
    ("My answer is 1,234.50 dollars.", "number", "1234.5"),
    ("The answer is 20%.", "number", "20"),
    ("The answer to the question is 12 minutes.", "number", "720 time"),
    ("**Final answer: (C) the dog**", "choice", "C"),
    ("The correct answer is therefore B", "choice", "B"),
    ("The answer is yes.", "choice", "yes"),
    ("The answer is Paris.", "words", "paris"),
    ("FINAL ANSWER: 12 Steps Down", "words", "12 steps down"),
    ("Final answer:\n\n$$80$$", "number", "80"),
    ("It's not 70, the answer is 80.", "number", "80"),
    ("Bob's answer is 70, but my answer is 80.", "number", "80"),
    ("The answer is 70. No, wait: the answer is 80.", "number", "80"),
    (r"Hence \boxed{\frac{1}{2}}.", "number", "0.5"),
    (r"It is \boxed{\text{Paris}}.", "words", "paris"),
    ("8 * 10 = 80\n#### 80", "number", "80"),
    ("<answer>Paris</answer>", "words", "paris"),
    ('{"why": "8 * 10", "answer": "80"}', "number", "80"),
    ("I stand by my answer of 80.", "number", "80"),
    ("I vote for Redis.", "words", "redis"),
    ("So Janet makes $18 every day.", "number", "18"),
    ("Therefore, the cache has to be warmed first.", "conclusion", "the cache has to be warmed first"),
]
SILENT = [
    "I don't think that the answer is 80.",
    "If the answer is 80, we are done.",
    "Is the answer 80?",
    "Your answer is 80.",
    "Bob's answer is 80.",
    "The answer is correct.",
    "The answer is not clear yet.",
    "> The answer is 80.",
    "I agree with Bob.",
    "The result is that it works.",
    "The total cost is known.",
    "#### Results",
    "Solution to the second part:\n1. **Load** the file",
    '{"done": {"answer": false}, "loop": {"answer": true}}',
    "Let me look at the file.",
    "Thank you!",
    "",
    "   ",
]


@pytest.mark.parametrize(("text", "kind", "form"), STATED)
def test_a_stated_answer_is_read(text: str, kind: str, form: str) -> None:
    answer = read_answer(text)
    assert answer is not None
    assert (answer.kind.value, answer.form) == (kind, form)


@pytest.mark.parametrize("text", SILENT)
def test_what_states_no_answer_has_none(text: str) -> None:
    assert read_answer(text) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Paris", "paris"),
        ("New York City", "new york city"),
        ("I agree", None),
        ("ok then", None),
        ("", None),
    ],
)
def test_a_name_alone_is_an_answer(text: str, form: str | None) -> None:
    answer = read_short(text)
    assert (answer and answer.form) == form
    assert answer is None or answer.kind is AnswerKind.WORDS


@pytest.mark.parametrize(
    ("one", "other"),
    [("80", "The answer is 80.0 apples."), ("1/2", r"\boxed{\dfrac{1}{2}}"), ("B", "I choose option (b).")],
)
def test_equal_answers_have_equal_forms(one: str, other: str) -> None:
    left, right = read_answer(one), read_answer(other)
    assert left is not None
    assert right is not None
    assert left.form == right.form


@given(st.integers(-(10**9), 10**9))
def test_any_whole_number_is_read_as_itself(number: int) -> None:
    for text in (f"{number}", f"The answer is {number}.", rf"So \boxed{{{number}}}", f"{number:,}"):
        answer = read_answer(text)
        assert answer is not None
        assert float(answer.form) == number


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    answer = read_answer(text)
    assert answer is None or answer.form


def test_every_answer_stands_in_a_line_with_a_hint() -> None:
    named = [text for text, _, _ in STATED if NAMED.first(text) or RESULTS.first(text)]
    assert len(named) > 10
    for text in named:
        assert any(hint in text.lower() for hint in HINTS)


@pytest.mark.parametrize(
    "unit", ["the answer is not ", r"\boxed{", "so 5 or ", "I get, ", "> answer: 5\n", "```"]
)
def test_a_long_text_costs_no_more_than_its_end(unit: str) -> None:
    start = time.process_time()
    read_answer(unit * 50_000)
    assert time.process_time() - start < 1.0
