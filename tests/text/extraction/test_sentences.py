"""Sentences of messy text."""

# ruff: noqa: RUF001 - sentences of many scripts

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.extraction.sentences import Form, plain, sentences

#: What means something to the reader, to stand between what chance makes.
MARKS = (
    '. ;? ;\n;\n\n;```\n;- ;# ;> ;|;**;[a](b);{"a": "b c"};e.g. ;We ship.;word;。;؟ ;\0;\u200f;\ud800;🚀'
).split(";")
MESSY = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=())), st.sampled_from(MARKS)),
).map("".join)


def read(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["It works.", "It scales!", "Does it?", "Really?!"],
        ["It works, e.g. on Linux, i.e. here.", "It is fast."],
        ["Ask Dr. Smith or Mr. Li about v1.2 of file.py.", "They know."],
        ["Pi is 3.14 and 10.5 is not.", "See Fig. 3 and No. 7."],
        ["It is from the U.S. Army.", "J. Smith wrote it."],
        ["We met at 5 p.m. on Monday.", "We met at 5 p.m.", "Then we left."],
        ["Apples, pears, etc. are fruit.", "We have apples, etc.", "They rot."],
        ["pytest passes.", "ruff does not.", "mypy is next."],
        ['"Really?" she asked.', 'He said "no."', "Then he left."],
        ["Well... that is odd.", "Well...", "That is odd."],
        ["Yes (it is stale.)", "We know."],
        ["What if it fails?", "we retry."],
        ["See https://example.org/a.b?c=d.e for more.", "It helps."],
        ["Run a ? b : c there."],
        ["¿Qué pasa?", "¡Hola!", "Vraiment ?", "Oui."],
        ["Τι είναι;", "Ναι."],
        ["هل هذا صحيح؟", "نعم۔"],
        ["यह एक है।", "दूसरा।"],
        ["Done! 🚀", "Next we ship."],
        ["Done!🚀", "Next we ship."],
    ],
)
def test_cuts(parts):
    """Sentences end where the full stops of their script end them, and not at abbreviations."""
    assert read(" ".join(parts)) == parts


def test_cuts_without_spaces():
    """Chinese and Japanese full stops need no space after them, and keep their closing quotes."""
    parts = ["这是第一句。", "这是第二句！", "真的？", "「好。」", "然后"]
    assert read("".join(parts)) == parts


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("**bold** and *italic* and ***both***", "bold and italic and both"),
        ("**Origin:** BOS", "Origin: BOS"),
        ("_so_ and __see below__", "_so_ and see below"),
        ("snake_case_name and __init__.py", "snake_case_name and __init__.py"),
        ("2 * 3 * 4 and 2**3", "2 * 3 * 4 and 2**3"),
        ("`code` and ~~old~~ new", "code and old new"),
        ('[text](http://a.b/c_(d)) and ![alt](x.png "t")', "text and alt"),
        ("<https://a.b> and <b>bold</b>", "https://a.b and bold"),
        ("<think>It is stale.</think>", "It is stale."),
        ("List<Item> items; a < b and c > d", "List<Item> items; a < b and c > d"),
        (r"\$30 and \*", "$30 and *"),
        ("two  spaces\nand\n> lines", "two spaces and lines"),
        ("[open](", "[open]("),
    ],
)
def test_markup_is_left_out(raw, expected):
    """Emphasis, links, ticks and simple tags go, and what only looks like them stays."""
    assert plain(raw) == expected


def test_place():
    """A sentence knows where it stands in the text, markup included."""
    text = "# Plan\n\n1. **Fix** the [log](x). Then ship.\n"
    found = [(text[s.start : s.end], s.form, s.opens) for s in sentences(text)]
    assert found == [
        ("Plan", Form.HEADING, True),
        ("**Fix** the [log](x).", Form.ITEM, True),
        ("Then ship.", Form.ITEM, False),
    ]


def test_rows():
    """A row of a table is a sentence, its cells listed; the row of names is marked."""
    found = [(s.text, s.form) for s in sentences("| Store | Speed |\n|---|---|\n| Redis | **fast** |")]
    assert found == [("Store, Speed", Form.HEADER), ("Redis, fast", Form.ROW)]


@given(MESSY)
def test_any_text(text):
    """Any text can be read: places are in order, inside the text, and hold the sentence."""
    at = 0
    for sentence in sentences(text):
        assert at <= sentence.start <= sentence.end <= len(text)
        at = sentence.end
        raw = text[sentence.start : sentence.end]
        if sentence.form in (Form.PROSE, Form.ITEM, Form.HEADING):
            assert sentence.text == plain(raw) != ""


@given(
    st.lists(
        st.sampled_from(["one", "two.", "Three!", "four?", "e.g.", "No.", "\n", "-", "(", ")."]), max_size=30
    )
)
def test_no_word_is_lost(parts):
    """Every word of the text is in one sentence, in its order."""
    text = " ".join(parts)
    found = " ".join(sentence.text for sentence in sentences(text))
    assert re.findall(r"\w+", found) == re.findall(r"\w+", text)


CHARACTERS = "\n #>-*_`~|[](){}\"'\\<.!?:;,a0。é\0\ud800"
REPEATED = (
    'a. ;a\n;A\n;- ;> ;\\\n;```\n;~~~a\n;[a](;](;**a;_a ;<b ;</a>;{";[[";{"a":;a.b.;e.g. ;.);?!;|-\n;\n    x='
).split(";")


@pytest.mark.parametrize("unit", [*CHARACTERS, *REPEATED])
@pytest.mark.parametrize("end", ["", "a", ".\nb"])
def test_reading_is_linear(unit, end, is_linear):
    """Eight times the text takes about eight times as long, whatever is repeated."""

    def read_all(text):
        for _ in sentences(text):
            pass

    assert is_linear(read_all, unit * 1_000 + end, unit * 8_000 + end)
