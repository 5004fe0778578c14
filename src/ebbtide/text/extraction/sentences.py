"""Sentences of messy text: markdown, chat, several scripts, lists without full stops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ebbtide.text.extraction.blocks import Block, Form, blocks
from ebbtide.text.sentence_ends import spans

_MARKUP = re.compile(r"[*_`\[<~\\\n\t]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s+\"[^\"]*\")?\)")
_STARS = re.compile(
    r"(?<![\w*])\*{1,3}(?=[\w\"'\u201c\u2018(\[`\u00bf\u00a1$])|(?<=[\w.,:;!?\"'\u201d\u2019)\]`%])\*{1,3}(?![\w*])"
)
_UNDERSCORES = re.compile(r"(?<!\w)(_{1,2})([^_\n]+)\1(?!\w)")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]*)>")
_TAG = re.compile(
    r"\A(?:\s*<[a-zA-Z][\w-]*(?:\s[^<>]*)?>)+|</[a-zA-Z][\w-]*\s*>|<(?:a|b|br|code|em|i|p|span|strong|sub|sup|u)\b[^<>]*>"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_QUOTED_LINE = re.compile(r"\n[ \t]*(?:>[> \t]*)?")


class Sentence(NamedTuple):
    """A sentence, its markup left out, and its place ``text[start:end]`` in the text it came from.

    `form`, `depth` and `opens` are those of its block; only the first sentence of a block opens it. The
    text of code is all of the code.
    """

    text: str
    start: int
    end: int
    form: Form = Form.PROSE
    depth: int = 0
    opens: bool = True


def sentences(text: str) -> Iterator[Sentence]:
    """Yields the sentences of `text` in order, code among them. Linear in its length.

    >>> [sentence.text for sentence in sentences("It works, e.g. on **v1.2**. Does it scale?")]
    ['It works, e.g. on v1.2.', 'Does it scale?']
    """
    for block in blocks(text):
        if block.form is Form.CODE:
            yield Sentence(text[block.start : block.end], *block[1:3], block.form)
        elif block.form in (Form.ROW, Form.HEADER):
            cells = (cell.strip() for cell in plain(text[block.start : block.end]).split("|"))
            yield Sentence(", ".join(filter(None, cells)), *block[1:3], block.form)
        else:
            yield from _prose(text, block)


def plain(raw: str) -> str:
    """Returns `raw` without markdown marks and simple tags, on one line.

    >>> plain("See **the [log](http://x/y)** of `job_1`")
    'See the log of job_1'
    """
    if _MARKUP.search(raw) is None and "  " not in raw:
        return raw.strip()
    if "\n" in raw:
        raw = _QUOTED_LINE.sub(" ", raw)
    if "](" in raw:
        raw = _LINK.sub(r"\1", raw)
    if "<" in raw:
        raw = _TAG.sub(" ", _AUTOLINK.sub(r"\1", raw))
    if "*" in raw:
        raw = _STARS.sub("", raw)
    if "_" in raw:
        raw = _UNDERSCORES.sub(_emphasised, raw)
    if "\\" in raw:
        raw = _ESCAPE.sub(r"\1", raw)
    return " ".join(raw.replace("`", "").replace("~~", "").split())


def _prose(text: str, block: Block) -> Iterator[Sentence]:
    opens = block.opens
    for start, end in spans(text, block.start, block.end):
        words = plain(text[start:end])
        if words:
            yield Sentence(words, start, end, block.form, block.depth, opens)
            opens = False


def _emphasised(emphasis: re.Match[str]) -> str:
    # __init__ is a name, __see below__ is emphasis.
    return emphasis[0] if emphasis[2].isidentifier() else emphasis[2]
