"""What the matches of a pattern begin with and have in them."""

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ebbtide.convergence import agreement, readiness_rules
from ebbtide.decisions.turns import turn_rules
from ebbtide.text.extraction import rules
from ebbtide.text.pattern_words import first_words, needed_words, words_in
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor, PhraseRule

TABLES = [
    table
    for module in (agreement, readiness_rules, rules, turn_rules)
    for value in vars(module).values()
    if (table := value.rules if isinstance(value, PhraseTable) else value)
    and isinstance(table, tuple)
    and isinstance(table[0], PhraseRule)
]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=5),
    st.sampled_from(["", " ", ". ", "\u2019", "we ", "the ", " to", "\u017f", "\u0130", "\u212a", "-", "\n"]),
)


@pytest.mark.parametrize(
    ("pattern", "whole", "prefixes"),
    [
        ("we|they", {"we", "they"}, ()),
        ("let(?:'s| us)", {"let"}, ()),
        ("(?:so |and )*go", {"so", "and", "go"}, ()),
        ("to-?dos?", {"to", "todo", "todos"}, ()),
        ("favou?r", {"favor", "favour"}, ()),
        ("hm+", set(), ("hm",)),
        (r"q\d*(?=:)", set(), ("q",)),
        (r"\w+ed", set(), ("",)),
        ("[A-Z]x", set(), ("",)),
        ("[ab]c", {"ac", "bc"}, ()),
        ("(?<!not )(?=w)we", {"we"}, ()),
        ("(?-i:PRs?)", {"pr", "prs"}, ()),
        ("(?:no )?", set(), ("",)),
    ],
)
def test_first_words(pattern, whole, prefixes):
    """Words are told whole where the pattern ends them; else as far as they are known."""
    found = first_words(pattern)
    assert (found.whole - set(found.prefixes), found.prefixes) == (whole - set(prefixes), prefixes) or (
        found.prefixes == prefixes == ("",)
    )


def test_unbounded_words_go_on():
    """Where nothing must follow a match, the word that it ends with may go on."""
    assert first_words("from|>>>", bounded=False).prefixes == ("from",)
    assert first_words("from|>>>").symbol


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("we (?:will )?use|yes", {"use", "yes"}),
        ("the (?:\\w+ ){0,2}fix is", {"fix"}),
        (r"[\w.-]+/\w+", None),
        ("disk", {"disk"}),
        ("(?:we|i)(?! not)(?: (?:now )*(?:use|keep))", {"use", "keep"}),
        (r"(?<=\bis )done", {"done"}),
    ],
)
def test_needed_words(pattern: str, words: set[str] | None) -> None:
    """Of the words of which a match has one, the least common are told; none where they are not known."""
    assert needed_words(pattern) == words


@settings(max_examples=250)
@given(data=st.data())
def test_no_match_is_missed(data):
    """What a rule finds begins with a word that is told of it, and the text has what is told to be needed."""
    rule = data.draw(st.sampled_from(data.draw(st.sampled_from(TABLES))))
    # Texts are made from the pattern without its simple look-arounds, and kept if the rule finds them.
    pattern = re.sub(r"\(\?<?[=!][^()]*\)", "", rule.pattern)
    made = data.draw(st.from_regex(re.compile(pattern, re.IGNORECASE), fullmatch=True))
    text = data.draw(TEXTS) + made + data.draw(TEXTS)
    found = rule.find(text)
    assume(found is not None)
    needed = needed_words(rule.pattern)
    assert needed is None or not needed.isdisjoint(words_in(text))
    first = text[found.start]
    begins = first_words(rule.pattern)
    if not (first.isalnum() or first == "_"):
        assert begins.symbol
    else:
        word = re.match("[a-z0-9_]*", text[found.start :].translate({0x17F: "s", 0x212A: "k"}).lower())
        assert begins.allow(word[0])


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["kiss", "in", "a1_b"]))
@example("\u0130", "in")
def test_words_are_those_that_a_pattern_sees(text, word):
    """Whatever a pattern takes for a word, of any case, is among the words of the text."""
    rule = PhraseRule(id="x", pattern=word, anchor=Anchor.ANYWHERE)
    assert rule.find(f"{text} {word.upper()} ") is not None
    assert word in words_in(f"{text} {word.upper()} ")
    if rule.find(text) is not None:
        assert word in words_in(text)
