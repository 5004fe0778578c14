"""Phrase rules: where a wording may stand, and what is found."""

# ruff: noqa: RUF001 - dashes and other scripts

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.phrases import Anchor, PhraseRule

BLOCKED = PhraseRule(id="x.blocked", pattern="blocked")


@pytest.mark.parametrize(
    ("anchor", "text", "counts"),
    [
        (Anchor.TEXT, "done with it", True),
        (Anchor.TEXT, "  ✅ **Done** with it", True),
        (Anchor.TEXT, "well done", False),
        (Anchor.TEXT, "Done-state caching", True),
        (Anchor.TEXT, "Donegal", False),
        (Anchor.CLAUSE, "well, done", True),
        (Anchor.CLAUSE, "well: done", True),
        (Anchor.CLAUSE, "first line\n  done", True),
        (Anchor.CLAUSE, "first - done", True),
        (Anchor.CLAUSE, "first – done", True),
        (Anchor.CLAUSE, "first-done", False),
        (Anchor.CLAUSE, "well done", False),
        (Anchor.ANYWHERE, "well done", True),
        (Anchor.ANYWHERE, "DONE", True),
        (Anchor.ANYWHERE, "undone", False),
        (Anchor.ANYWHERE, "abandoned", False),
        (Anchor.ANYWHERE, "done_flag", False),
    ],
)
def test_anchor(anchor, text, counts):
    """A phrase counts only where its anchor lets it stand, and only as whole words."""
    rule = PhraseRule(id="x", pattern="done|on it", anchor=anchor)
    assert (rule.find(text) is not None) is counts


def test_match_is_evidence():
    """A match has the rule, the words as they were written, and their place."""
    text = "We are Blocked on auth."
    match = BLOCKED.find(text)
    assert match is not None
    assert match.rule is BLOCKED
    assert match.phrase == "Blocked" == text[match.start : match.end]


@given(st.text(), st.sampled_from(Anchor))
def test_place_holds_the_phrase(text, anchor):
    """Whatever the text, a match stands where it says."""
    match = PhraseRule(id="x", pattern=r"\w+", anchor=anchor).find(text)
    assert match is None or text[match.start : match.end] == match.phrase


@pytest.mark.parametrize("anchor", Anchor)
@pytest.mark.parametrize("unit", ["\n", "\n ", " ", ",", ", ", " - ", "do", "done"])
def test_search_is_linear(anchor, unit, is_linear):
    """Eight times the text takes about eight times as long, and not sixty-four."""
    rule = PhraseRule(id="x", pattern="done it", anchor=anchor)
    assert is_linear(rule.find, unit * 2_000, unit * 16_000)
