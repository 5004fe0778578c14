"""Phrase rules: where a wording may stand, and what is found."""

# ruff: noqa: RUF001 - dashes and other scripts

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.phrases import Anchor, PhraseRule, first_match, matches

DONE = PhraseRule(id="x.done", pattern="done|on it")
BLOCKED = PhraseRule(id="x.blocked", pattern="blocked")


@pytest.mark.parametrize(
    ("anchor", "text", "found"),
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
def test_anchor(anchor, text, found):
    """A phrase counts only where its anchor lets it stand, and only as whole words."""
    rule = PhraseRule(id="x", pattern="done|on it", anchor=anchor)
    assert (rule.find(text) is not None) is found


def test_match_is_evidence():
    """A match has the rule, the words as they were written, and their place."""
    text = "We are Blocked on auth."
    found = BLOCKED.find(text)
    assert found is not None
    assert found.rule is BLOCKED
    assert found.phrase == "Blocked" == text[found.start : found.end]


def test_matches_keep_the_order_of_the_rules():
    """Each rule gives its first match, in the order of the rules and not of the text."""
    text = "blocked, done, blocked"
    assert [(m.rule.id, m.start) for m in matches((DONE, BLOCKED), text)] == [("x.done", 9), ("x.blocked", 0)]
    first = first_match((DONE, BLOCKED), text)
    assert first is not None
    assert first.rule is DONE
    assert first_match((DONE, BLOCKED), "nothing here") is None


@given(st.text(), st.sampled_from(Anchor))
def test_place_holds_the_phrase(text, anchor):
    """Whatever the text, a match stands where it says."""
    found = PhraseRule(id="x", pattern=r"\w+", anchor=anchor).find(text)
    assert found is None or text[found.start : found.end] == found.phrase


@pytest.mark.parametrize("anchor", Anchor)
@pytest.mark.parametrize("unit", ["\n", "\n ", " ", ",", ", ", " - ", "do", "done"])
def test_search_is_linear(anchor, unit, is_linear):
    """Eight times the text takes about eight times as long, and not sixty-four."""
    rule = PhraseRule(id="x", pattern="done it", anchor=anchor)
    assert is_linear(rule.find, unit * 2_000, unit * 16_000)
