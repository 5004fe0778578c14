"""Where sentences and clauses end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.sentence_ends import clauses, spans


def parts(text: str, *, colons: bool = True) -> list[str]:
    return [text[start:end] for start, end in clauses(text, colons=colons)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it failed. let me look", ["it failed.", "let me look"]),
        ("ok: it works; done", ["ok:", "it works;", "done"]),
        ("It is new, i.e. starting at 3.", ["It is new, i.e. starting at 3."]),
        ("(e.g. we are deleting it)", ["(e.g. we are deleting it)"]),
        ("See fig. 3 of Dr. No. Let me look", ["See fig. 3 of Dr. No.", "Let me look"]),
        ("tests, docs etc. let me look", ["tests, docs etc.", "let me look"]),
        ('He said "no." Let me look', ['He said "no.', "Let me look"]),
        ("first line\nsecond line", ["first line\n", "second line"]),
        ("one - two \u2014 three", ["one -", "two \u2014", "three"]),
        ("re-run a_b.c v1.2 a:b", ["re-run a_b.c v1.2 a:b"]),
        ("\u4f7f\u7528\u3002\u5361\u592b\u5361", ["\u4f7f\u7528\u3002", "\u5361\u592b\u5361"]),
        ("", []),
    ],
)
def test_clauses(text, expected):
    """A clause ends with a line, a sentence, a colon or a dash, and not behind an abbreviation."""
    assert parts(text) == expected


def test_colons_may_end_no_clause():
    """A colon then ends one only with its line."""
    assert parts("ok: it works; done", colons=False) == ["ok: it works; done"]
    assert parts("Analysis:\nLet me look", colons=False) == ["Analysis:", "Let me look"]


@given(st.text("ab1.:;-!? \n\u3002)\"'"), st.booleans())
def test_clauses_are_in_order_and_lose_no_letter(text, colons):
    """Clauses do not overlap, and what stands between them is white space and marks."""
    last, kept = 0, ""
    for start, end in clauses(text, colons=colons):
        assert last <= start < end <= len(text)
        kept += text[start:end]
        last = end
    assert [sign for sign in kept if sign.isalnum()] == [sign for sign in text if sign.isalnum()]


def test_a_sentence_is_in_doubt_not_cut():
    """What is one sentence may be two clauses: a small letter goes on after a question in quotes."""
    text = '"really?" she said'
    assert parts(text) == ['"really?', "she said"]
    assert list(spans(text, 0, len(text))) == [(0, len(text))]


@pytest.mark.parametrize("unit", [".", ". ", "- ", "e.g. ", "a. ", "\n"])
def test_clauses_take_linear_time(unit, is_linear):
    """Eight times the text takes about eight times as long, and not sixty-four."""
    is_linear(lambda text: list(clauses(text)), unit * 2_000, unit * 16_000)
