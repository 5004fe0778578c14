"""Blocks of messy text: where prose, items, headings, rows and code start and end."""

import pytest

from ebbtide.text.extraction.blocks import Form, blocks

LONG = "This line was wrapped by an editor that allows eighty columns, so its end means"


def read(text: str) -> list[tuple[str, str]]:
    return [(block.form.value, text[block.start : block.end]) for block in blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line", [("prose", "One line")]),
        ("a\n\nb", [("prose", "a"), ("prose", "b")]),
        ("# Plan\ntext", [("heading", "Plan"), ("prose", "text")]),
        ("## 2. Plan", [("heading", "Plan")]),
        ("Plan\n====\ntext", [("heading", "Plan"), ("prose", "text")]),
        ("It ends here.\n---\nNext", [("prose", "It ends here."), ("prose", "Next")]),
        ("#hashtag", [("prose", "#hashtag")]),
        ("- a\n* b\n• c\n1. d\n2) e\n[3] f", [("item", mark) for mark in "abcdef"]),
        ("-5 degrees", [("prose", "-5 degrees")]),
        ("3.14 is pi", [("prose", "3.14 is pi")]),
        ("> quoted\n> - item", [("prose", "quoted"), ("item", "item")]),
        ("---\n***\n", []),
        ("", []),
        (" \n\t\n", []),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("header", "| a | b |"), ("row", "| 1 | 2 |")]),
        ("text\r\nlines\r\n\r\nend", [("prose", "text\r\nlines"), ("prose", "end")]),
    ],
)
def test_form(text, expected):
    """Each block has its form and its place, without the mark that made it so."""
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LONG}\nNothing at all.", 1),
        (f"{LONG}\nnothing at all.", 1),
        ("Seattle: 737,015\nColville: 4,965", 2),
        ("It fails when:\nthe disk is full", 2),
        ("the cache is\nstale today", 1),
        ("a short line\nb, a much longer line in small letters", 2),
    ],
)
def test_line_break(text, expected):
    """A line break ends a block where the next word would still have fit on the line."""
    assert len(read(text)) == expected


def test_item_goes_on():
    """What is indented under an item goes on with it; what is not starts anew."""
    text = "- Use Redis\n  It is there already.\n\n  And fast.\nBack to the margin, and on."
    found = [(block.form, block.opens) for block in blocks(text)]
    assert found == [(Form.ITEM, True), (Form.ITEM, False), (Form.ITEM, False), (Form.PROSE, True)]


def test_depth():
    """A heading has its level, an item its indent."""
    assert [block.depth for block in blocks("### a\n- b\n  - c\n\t- d")] == [3, 0, 2, 4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```python\nx = 1\n```\nb", [("prose", "a"), ("code", "x = 1"), ("prose", "b")]),
        ("~~~\nx\n```\ny\n~~~\nb", [("code", "x\n```\ny"), ("prose", "b")]),
        ("- a\n  ```\n  x\n  ```\n- b", [("item", "a"), ("code", "  x"), ("item", "b")]),
        ("```md\n# Plan\nWe ship.\n```\nb", [("heading", "Plan"), ("prose", "We ship."), ("prose", "b")]),
        ("```\n```", [("code", "")]),
        (
            "a\n\n    x = f(1)\n    y = 2\n\nb",
            [("prose", "a"), ("code", "x = f(1)\n    y = 2"), ("prose", "b")],
        ),
        ("a\n\n    only set in\n\nb", [("prose", "a"), ("prose", "only set in"), ("prose", "b")]),
        ("    all of it is\n    set in", [("prose", "all of it is\n    set in")]),
    ],
)
def test_code(text, expected):
    """Fenced code is code, except markdown; indented lines are code if they look like it."""
    assert read(text) == expected


def test_open_fence():
    """A fence that names its language holds the rest; one that does not has lost its other half."""
    assert read("a\n```sh\nls\n\nb") == [("prose", "a"), ("code", "ls\n\nb")]
    lost = "return x\n```\nThe cache is stale.\n\n```python\ny = 2\n```\nb"
    assert ("prose", "The cache is stale.") in read(lost)
    assert ("code", "y = 2") in read(lost)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', [("code", '{"a": 1}')]),
        (
            'Here:\n{\n  "a": [1]\n}\nend',
            [("prose", "Here:"), ("code", '{\n  "a": [1]\n}'), ("prose", "end")],
        ),
        ('{"a": 1} is what I sent', [("prose", '{"a": 1} is what I sent')]),
        ('{"a": 1', [("prose", '{"a": 1')]),
        ("[1] see the paper", [("item", "see the paper")]),
        ("[x](http://y)", [("prose", "[x](http://y)")]),
    ],
)
def test_json(text, expected):
    """A JSON value that has its lines to itself is code."""
    assert read(text) == expected


def test_deep_json_is_no_json():
    """A value that is nested too deeply to be read is prose, and no error."""
    assert len(read('["' * 1 + "[" * 100_000)) == 1
    assert len(read('[["' + "[[" * 100_000)) == 1
