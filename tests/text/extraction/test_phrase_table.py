"""Many phrase rules as one expression."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ebbtide.text.extraction import rules
from ebbtide.text.extraction.phrase_table import PhraseTable, folded
from ebbtide.text.extraction.reading import words_of
from ebbtide.text.extraction.words import ACTION_WORDS, DECISION_WORDS, QUESTION_WORDS
from ebbtide.text.phrases import Anchor, PhraseRule

RULES = (
    PhraseRule(id="x.let", pattern="let me", anchor=Anchor.TEXT),
    PhraseRule(id="x.let-us", pattern="let me see|let us", anchor=Anchor.TEXT),
    PhraseRule(id="x.decided", pattern="we decided"),
    PhraseRule(id="x.chose", pattern="we chose"),
)


def test_first_rule_counts():
    """Of two rules that match at one place the first counts, and the hit holds its words."""
    hit = PhraseTable(RULES).opening("so, let me see", 4)
    assert hit == ("x.let", 4, 10)
    assert PhraseTable(RULES).opening("so, let me see") is None
    assert PhraseTable(RULES).opening("** let us go") == ("x.let-us", 3, 9)


def test_first_place_counts():
    """Inside a text the first place counts, and only whole words."""
    text = "unwe decided that we chose, and we decided"
    assert PhraseTable(RULES).inside(text, 0, len(text), ()) == ("x.chose", 18, 26)
    assert PhraseTable(RULES).inside(text, 0, 20, ()) is None


def test_words_say_where_to_search():
    """A text without any of the words is not searched."""
    table = PhraseTable(RULES, words=frozenset({"decided", "chose"}))
    assert table.inside("we decided", 0, 10, ["we", "decided"]) is not None
    assert table.inside("we decided", 0, 10, ["we"]) is None


@pytest.mark.parametrize(
    ("table", "words"),
    [(rules.QUESTIONS, QUESTION_WORDS), (rules.DECISIONS, DECISION_WORDS), (rules.ACTIONS, ACTION_WORDS)],
    ids=["questions", "decisions", "actions"],
)
@settings(max_examples=200)
@given(data=st.data())
def test_no_match_is_missed_for_its_words(table, words, data):
    """What a rule for anywhere can match has one of the words by which texts are chosen for the search."""
    rule = data.draw(st.sampled_from([rule for rule in table if rule.anchor is Anchor.ANYWHERE]))
    # Texts are made from the pattern without its simple look-arounds, and kept if the rule finds them.
    pattern = re.sub(r"\(\?<?[=!][^()]*\)", "", rule.pattern)
    text = folded(data.draw(st.from_regex(pattern, fullmatch=True)))
    assume(rule.find(text) is not None)
    assert not words.isdisjoint(words_of(text))


@given(st.text(st.characters(exclude_categories=())))
def test_folding_keeps_every_place(text):
    """Folding changes no place, so that what is found in the folded text stands there in the text."""
    assert len(folded(text)) == len(text)
    assert folded("\u0130stanbul isn\u2019t") == "istanbul isn't"
