"""What in a text is not the speaker's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.extraction.quoted import QUOTATIONS, QUOTE_RULES, QUOTED_TAGS, own_words, quoted_stretches

LONG = "The order is complete, and the parcel will leave the house tomorrow."

#: A text for each rule; "own" stands where the speaker's own words stand, "theirs" where somebody else's do.
EXAMPLES = {
    "page.screenshot": "own\n\nHere is a screenshot of [theirs](http://a.b). theirs\n\ntheirs",
    "page.metadata": 'own\nThe following metadata was extracted from the webpage:\n{"title": "theirs"}',
    "page.text": "own\nThe OCR has detected the following text:\n\ntheirs\n\ntheirs",
    "page.viewport": "Address: http://theirs\nViewport position: page 1 of 1.\n====\ntheirs",
    "tool.code-output": "own\nCode output: theirs\ntheirs",
    "tool.listing": "own\nHere's the result of running `cat -n` on a.py:\ntheirs",
    "tool.observation": "Thought: own\nAction: look[x]\nObservation: theirs\nThought: own",
    "tool.output": "own\n**Command output:**\ntheirs\ntheirs\n\nown",
    "tool.traceback": "own\nTraceback (most recent call last):\n  File theirs\nValueError: theirs\nown",
    "mail.original": "own\n-----Original Message-----\ntheirs",
    "code.numbered": "own\n  12\u2192theirs\n  13\u2192\n  14\u2192theirs\nown",
    "code.diff": "own\n@@ -1,2 +1,2 @@\n-theirs\n+theirs\n\nown",
    "code.fence": "own\n~~~ theirs\n~~~\nown",
    "quote.block": "own\n> theirs\n> theirs\n\nown",
    "quote.straight": f'own "{LONG} theirs" own',
    "quote.curly": f"own \u201c{LONG} theirs\u201d own",
    "form.menu": "All is own.\n\nHome\ntheirs\nShop\nCart\n\nNew customer?\nHelp\nFAQ\ntheirs\n\nIts own.",
}


@pytest.mark.parametrize("rule", EXAMPLES)
def test_each_rule_finds_its_example(rule):
    """What somebody else says goes, and what the speaker says stays, each character in its place."""
    text = EXAMPLES[rule]
    assert rule in {stretch.rule for stretch in quoted_stretches(text)}
    own = own_words(text)
    assert "theirs" not in own
    assert own.count("own") == text.count("own")
    assert all(mark in (other, " ") for mark, other in zip(own, text, strict=True))


def test_no_rule_is_without_an_example():
    """Each rule is shown at work."""
    assert {rule.id for rule in (*QUOTE_RULES, *QUOTATIONS)} == EXAMPLES.keys() - {"form.menu"}


@pytest.mark.parametrize("rule", QUOTED_TAGS, ids=lambda rule: rule.id)
def test_tag(rule):
    """What a tag encloses is quoted; a tag that is never closed is a word."""
    name = rule.id.removeprefix("tag.")
    assert own_words(f"own <{name}>theirs\n\ntheirs</{name}> own").split() == ["own", "own"]
    assert own_words(f"call it with <{name}> and go on") == f"call it with <{name}> and go on"


@pytest.mark.parametrize(
    "text",
    [
        "We shipped it. The cache is stale.",
        'He said "yes", and then she said "no", and that all of it has to wait until "later", so.',
        '{"status": "done", "answer": "The order is complete, and the parcel will leave the house."}',
        ">>> broker.start()",
        "- a\n- b\n- c\n- d\n- e\n- f\n- g\n- h\n- i",
        "Home is where\nthe heart is",
        "Observation: the lease is too short.",
        "The output is what we want:\nit works.",
        "a > b and b < c",
    ],
)
def test_own(text):
    """Short names in quotes, JSON in which an agent answers, lists and a few short lines are own words."""
    assert own_words(text) == text


def test_code_is_quoted():
    """Code that markdown marks is no speech; JSON is an answer."""
    assert own_words("own\n```py\nprint('done')\n```\nown").split() == ["own", "own"]
    assert "done" in own_words('```json\n{"status": "done"}\n```')


def test_stretches_that_overlap_are_one():
    """Each stretch ends before the next begins."""
    text = EXAMPLES["page.screenshot"] + "\n> theirs\n" + EXAMPLES["form.menu"]
    assert [stretch.rule for stretch in quoted_stretches(text)] == ["page.screenshot"]


MARKS = (
    "\n",
    "> ",
    "```\n",
    '"',
    "\u201c",
    "\u201d",
    "<pre>",
    "</pre>",
    "Code output:",
    "@@ -1",
    "\n1|",
    LONG,
)


@given(st.lists(st.one_of(st.text(), st.sampled_from(MARKS))).map("".join))
def test_any_text(text):
    """Any text can be read: stretches are in order, apart and inside, and own words keep their places."""
    at = 0
    for start, end, _ in quoted_stretches(text):
        assert at <= start <= end <= len(text)
        at = end
    own = own_words(text)
    assert all(mark in (other, " ") for mark, other in zip(own, text, strict=True))


@pytest.mark.parametrize(
    "unit",
    [
        *(
            '"',
            '"a',
            '" ',
            "\u201c",
            ">",
            "> \n",
            "```\n",
            "<pre>",
            "<pre></pre>",
            "a\n",
            "\n",
            " ",
            "1|\n",
            "\t",
        ),
        *(
            "the following text ",
            "detected the following text",
            "Output:\n",
            "Output:\n\n",
            "\nAction\nObservation:",
        ),
        *(
            "Traceback (most recent call last):\n",
            "@@ -1\n",
            "@@ -1\n\n",
            "screenshot of ",
            "essage-",
            "Code output:",
        ),
        *(f'"{LONG}', f'"{LONG}"', f"{LONG}\n", '{"a": 1}\n', "Address: a", "metadata was extracted from "),
    ],
)
def test_reading_is_linear(unit, is_linear):
    """Eight times the text takes about eight times as long, whatever is repeated."""
    assert is_linear(own_words, unit * 1_000, unit * 8_000)
