"""Many phrase rules in one table: what is tried by the words of a text is what a search of it finds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.convergence import agreement, readiness_rules
from ebbtide.decisions.gate.evidence import WORDINGS
from ebbtide.decisions.turns import turn_rules
from ebbtide.text.extraction import rules
from ebbtide.text.extraction.reading import words_of
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrase_table import Openings, PhraseTable
from ebbtide.text.phrases import Anchor, PhraseMatch, PhraseRule, folded

DONE = PhraseRule(id="x.done", pattern="done|on it")
BLOCKED = PhraseRule(id="x.blocked", pattern="blocked")
RULES = (
    PhraseRule(id="x.let", pattern="let me", anchor=Anchor.TEXT),
    PhraseRule(id="x.let-us", pattern="let me see|let us", anchor=Anchor.TEXT),
    PhraseRule(id="x.decided", pattern="we decided"),
    PhraseRule(id="x.chose", pattern="we chose"),
)
TABLE = PhraseTable(RULES, lower=True)


def where(match: PhraseMatch | None) -> tuple[str, int, int] | None:
    return None if match is None else (match.rule.id, match.start, match.end)


def opening(table: PhraseTable, text: str, at: int = 0) -> tuple[str, int, int] | None:
    return where(table.opening(text, at))


def test_first_rule_counts():
    """Of two rules that match at one place the first counts, and the match holds its words."""
    assert opening(TABLE, "so, let me see", 4) == ("x.let", 4, 10)
    assert opening(TABLE, "so, let me see") is None
    assert opening(TABLE, "** let us go") == ("x.let-us", 3, 9)


def test_first_place_counts():
    """Inside a text the first place counts, and only whole words."""
    text = "unwe decided that we chose, and we decided"
    assert where(TABLE.leftmost(text, 0, len(text), words_in(text))) == ("x.chose", 18, 26)
    assert TABLE.leftmost(text, 0, 20, words_in(text)) is None
    assert where(TABLE.leftmost(text, 20, len(text), words_in(text))) == ("x.decided", 32, 42)


def test_words_say_where_to_search():
    """A text without the words of a rule is not searched for it."""
    assert TABLE.by_words(frozenset(["we", "decided"])) == [2]
    assert TABLE.by_words(frozenset(["we"])) == []
    assert TABLE.by_words.words == {"decided", "chose"}


def test_matches_keep_the_order_of_the_rules():
    """Each rule gives its first match, in the order of the rules and not of the text."""
    text = "blocked, done, blocked"
    table = PhraseTable((DONE, BLOCKED))
    assert [(match.rule.id, match.start) for match in table.matches(text)] == [
        ("x.done", 9),
        ("x.blocked", 0),
    ]
    first = table.first(text)
    assert first is not None
    assert first.rule is DONE
    assert table.first("nothing here") is None


def test_sentences_are_openings():
    """A rule for the start of a text matches at the start of each sentence, and not beyond its end."""
    text = "we chose. let me see. go let us"
    sentences = [(0, 9, "we"), (10, 21, "let"), (22, 31, "go")]
    matches = [where(match) for match in TABLE.matches(text, sentences=sentences)]
    assert matches == [("x.let", 10, 16), ("x.let-us", 10, 20), ("x.chose", 0, 8)]
    assert [match.rule.id for match in TABLE.matches(text, sentences=[(10, 15, "let")])] == ["x.chose"]
    assert [match.rule.id for match in TABLE.matches("let's go", sentences=[(0, 8, "let's")])] == []


def in_pairs(text: str) -> list[tuple[int, int, str]]:
    """Every place where a word starts, as a sentence to the end."""
    return [(word.start(), len(text), word[0]) for word in re.finditer(r"[a-z0-9_]+", text)]


#: The tables of extraction, of the gate, of turns and of rounds.
OF_EXTRACTION = [
    table
    for module in (rules,)
    for table in vars(module).values()
    if isinstance(table, tuple) and isinstance(table[0], PhraseRule)
]
IN_LOWER_CASE = [
    WORDINGS.rules,
    *(table.rules for table in vars(turn_rules).values() if isinstance(table, PhraseTable)),
]
ANY_CASE = [
    table.rules
    for module in (agreement, readiness_rules)
    for table in vars(module).values()
    if isinstance(table, PhraseTable)
]
WORDS = sorted({word for table in OF_EXTRACTION for rule in table for word in words_of(rule.pattern)})
SIGNS = [*[" "] * 9, *"'-().?]$", ", ", ": ", "[ ] ", "[x", "**", "\u2713", "q1", "hm"]
TEXTS = st.lists(
    st.one_of(st.sampled_from(WORDS), st.sampled_from(SIGNS), st.text(st.characters(), max_size=3))
).map(lambda parts: folded("".join(parts)))


def made_for(data, table: tuple[PhraseRule, ...]) -> str:
    """A text with what one of some rules matches, look-arounds aside, now and then."""
    text = data.draw(TEXTS)
    if data.draw(st.booleans()):
        pattern = re.sub(r"\(\?<?[=!][^()]*\)", "", data.draw(st.sampled_from(table)).pattern)
        text += folded(data.draw(st.from_regex(pattern, fullmatch=True))) + data.draw(TEXTS)
    return text


@settings(max_examples=400)
@given(data=st.data())
def test_tried_by_words_and_tried_all_are_the_same(data):
    """A table that tries rules by the words of a text finds what all its rules in one expression find."""
    of_table = data.draw(st.sampled_from(OF_EXTRACTION))
    after = data.draw(st.sampled_from(["", r"\W{0,40}\Z", r"(?!\w)"]))
    text = made_for(data, of_table)
    at = data.draw(st.integers(0, len(text)))
    table = PhraseTable(of_table, lower=True, after=after)
    start = Openings(table).at(text, at)
    match = table.opening(text, at)
    assert where(match) == in_one_expression(table, Anchor.TEXT, rf"\W{{0,40}}(?:...){after}", text, at)
    assert start.tables or match is None
    inside = table.leftmost(text, at, len(text), words_in(text))
    assert where(inside) == in_one_expression(table, Anchor.ANYWHERE, rf"(?<!\w)(?:...){after}", text, at)


def in_one_expression(
    table: PhraseTable, anchor: Anchor, frame: str, text: str, at: int
) -> tuple[str, int, int] | None:
    of_anchor = [rule for rule in table.rules if rule.anchor is anchor]
    pattern = re.compile(frame.replace("...", "|".join(f"({rule.pattern})" for rule in of_anchor)))
    match = pattern.match(text, at) if anchor is Anchor.TEXT else pattern.search(text, at)
    if not of_anchor or match is None or match.lastindex is None:
        return None
    return of_anchor[match.lastindex - 1].id, *match.span(match.lastindex)


@settings(max_examples=300)
@given(data=st.data())
def test_matches_are_those_of_each_rule(data):
    """With the look at the words and without it, each rule of a table has the same first match."""
    lower = data.draw(st.booleans())
    of_table = data.draw(st.sampled_from(IN_LOWER_CASE if lower else ANY_CASE))
    text = made_for(data, of_table)
    table = PhraseTable(of_table, lower=lower)
    scanned = [match for rule in of_table if (match := rule.find(text)) is not None]
    assert table.matches(text) == scanned
    assert table.first(text) == next(iter(scanned), None)


@settings(max_examples=300)
@given(data=st.data())
def test_openings_are_those_of_each_rule(data):
    """At the starts of sentences a table finds what each of its rules finds there."""
    text = made_for(data, WORDINGS.rules)
    sentences = in_pairs(text)
    ids = {match.rule.id for match in WORDINGS.matches(text, sentences=sentences)}
    for rule in WORDINGS.rules:
        if rule.anchor is Anchor.TEXT:
            pattern = re.compile(rf"(?:{rule.pattern})(?!\w)")
            assert (rule.id in ids) == any(pattern.match(text, start, end) for start, end, _ in sentences)


@pytest.mark.parametrize("unit", ["we ", "we", "i ", "not a ", "steps "])
def test_search_is_linear(unit, is_linear):
    """Eight times the text takes about eight times as long, and not sixty-four."""
    is_linear(WORDINGS.matches, unit * 2_000, unit * 16_000)


def test_words_are_those_of_the_expression():
    """The fast way to the words of an ASCII text and the slow one agree, loose marks and all."""
    for text in ("it's re-run", "'it' -- x-", "a'b'c d--e", "snake_case 1-2-3", "-'-", "x'", "it\u2019s", ""):
        assert words_of(text) == re.findall(r"[^\W_]+(?:['-][^\W_]+)*", text)


@given(st.text("a'-_ B1\u00e9\u2019."), st.integers(0, 9))
def test_words_of_any_text(text, at):
    """They agree on any text, from any place on."""
    assert words_of(text, at) == re.compile(r"[^\W_]+(?:['-][^\W_]+)*").findall(text, at)


@given(st.text(st.characters(exclude_categories=())))
def test_folding_keeps_every_place(text):
    """Folding changes no place, so that what is found in the folded text stands there in the text."""
    assert len(folded(text)) == len(text)
    assert folded("\u0130stanbul isn\u2019t") == "istanbul isn't"


def test_the_first_opening_of_a_rule_counts():
    """Of two sentences that begin with a rule, the match is that of the first."""
    text = "let me go. let me see. let us"
    sentences = [(0, 9, "let"), (11, 21, "let"), (23, 29, "let")]
    matches = [where(match) for match in TABLE.matches(text, sentences=sentences)]
    assert matches == [("x.let", 0, 6), ("x.let-us", 11, 21)]
