"""Blocks of messy text: prose, list items, headings, table rows and code, each with its place.

Markdown as people and models write it in a conversation, which is less than CommonMark and more forgiving:
a list needs no blank line before it, and a line break that its author meant ends a block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

_LINE = re.compile(r"\S[^\n]*")
_QUOTE = re.compile(r">(?!>> )[> \t]*")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^`\n]*)")
_FENCE_LINE = re.compile(r"\n[> \t]*(`{3,}|~{3,})[ \t]*([^`\s][^`\n]*|)\r?(?=\n|\Z)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(?:(?:\d+[.)]|\d+(?:\.\d+)+)[ \t]+)?(?=\S)")
_MARKER = re.compile(
    r"(?:[-*+\u2013\u2014\u2022\u2023\u25aa\u25cb\u25cf\u25e6]|[(\[]?\d{1,3}[.)\]]|\(?[a-zA-Z]\))[ \t]+(?=\S)"
)
_RULED = "-=*_~+|:"
_RULER = re.compile(rf"[{_RULED} \t]+\Z")
_JSON = re.compile(r"\{\s*[\"}]|\[\s*[\[{\"]")
_LOOKS_LIKE_CODE = re.compile(r"[(){}\[\]=;<>$|\\]")
_SPACE = re.compile(r"\s")
_MORE_ON_LINE = re.compile(r"[^\S\n]*\S")

_PROSE_LANGUAGES = ("markdown", "md")
_LONGEST_MARK = 5
_CODE_INDENT = 4  # columns
_WRAP_WIDTH = 60  # columns: nobody wraps prose tighter than this


class Form(StrEnum):
    """Form of a block."""

    PROSE = "prose"
    ITEM = "item"  #: an item of a list, its marker left out
    HEADING = "heading"
    ROW = "row"  #: a row of a table
    HEADER = "header"  #: the row of a table that names its columns
    CODE = "code"  #: a code block, or a JSON value


class Block(NamedTuple):
    """A stretch of the text, ``text[start:end]``.

    `depth` is the level of a heading (1 to 6) and the indent of anything else, in columns; `opens` is
    False where the block goes on with what the one before it began, as a second line of a list item does.
    """

    form: Form
    start: int
    end: int
    depth: int = 0
    opens: bool = True


def blocks(text: str) -> Iterator[Block]:
    """Returns the blocks of `text` in order. Linear in its length.

    >>> [block.form.value for block in blocks("# Plan")], [block.start for block in blocks("- Use *Redis*")]
    (['heading'], [2])
    """
    reader = _Reader(text)
    reader.read(0, len(text))
    return iter(reader.blocks)


class _Reader:
    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self._text = text
        self._lines: list[tuple[int, int]] = []  # of the paragraph that is open
        self._form = Form.PROSE
        self._depth = 0
        self._opens = True
        self._item_depth: int | None = None  # of the list that is open
        self._json_failed = False

    def read(self, start: int, stop: int, *, inside_fence: bool = False) -> None:
        text, at, margin = self._text, start, None
        while (line := _LINE.search(text, at, stop)) is not None:
            begin, end = line.span()
            gap = at == start or text.count("\n", at, begin) > 1
            indent = 0
            if begin > start and text[begin - 1] != "\n":
                line_start = text.rfind("\n", start, begin) + 1 or start
                indent = len(text[line_start:begin].expandtabs(4))
            at = end
            if text[begin] == ">" and (quote := _QUOTE.match(text, begin, end)) is not None:
                begin = quote.end()
            if gap or begin == end:
                self._close()
            if begin == end:
                continue
            margin = indent if margin is None else margin
            first = text[begin]
            if first in "`~" and (fence := self._fence(begin, end, stop)) is not None:
                self._close()
                language, inner, closed, at = fence
                if language in _PROSE_LANGUAGES and not inside_fence:
                    self.read(inner, closed, inside_fence=True)
                else:
                    self.blocks.append(Block(Form.CODE, inner, closed))
            elif first in "{[" and (value_end := self._json_end(begin, stop)) is not None:
                self._close()
                self.blocks.append(Block(Form.CODE, begin, value_end))
                at = value_end
            else:
                if text[end - 1].isspace():
                    end = begin + len(text[begin:end].rstrip())
                self._line(begin, end, indent, indent - margin, gap=gap)
        self._close()

    def _line(self, begin: int, end: int, indent: int, inset: int, *, gap: bool) -> None:
        """Reads one line that is neither fence nor JSON, without the white space around it."""
        text, first = self._text, self._text[begin]
        if self._form is Form.CODE and self._lines and inset >= _CODE_INDENT:
            self._lines.append((begin, end))
        elif first in _RULED and _RULER.match(text, begin, end):
            if self._underlined(first):
                self._form, self._depth = Form.HEADING, 1 if first == "=" else 2
            elif self._form is Form.ROW and len(self._lines) == 1:
                self._form = Form.HEADER
            self._close()
        elif first == "|":
            self._close()
            self._open(Form.ROW, begin, end, indent)
        elif first == "#" and (heading := _HEADING.match(text, begin, end)) is not None:
            self._close()
            self._item_depth = None
            self.blocks.append(Block(Form.HEADING, heading.end(), end, len(heading[1])))
        elif (marker := self._marker(begin, end)) is not None:
            self._close()
            self._item_depth = indent
            self._open(Form.ITEM, marker.end(), end, indent)
        elif self._lines and not self._leaves_list(begin, end, indent):
            self._lines.append((begin, end))
        elif self._item_depth is not None and indent > self._item_depth:
            self._open(Form.ITEM, begin, end, self._item_depth, opens=False)
        else:
            self._close()
            self._item_depth = None
            self._open(Form.CODE if gap and inset >= _CODE_INDENT else Form.PROSE, begin, end, indent)

    def _marker(self, begin: int, end: int) -> re.Match[str] | None:
        """Returns the mark of a list item that opens a line; a letter is one only before a bracket."""
        text = self._text
        if text[begin].isalpha() and text[begin + 1 : begin + 2] != ")":
            return None
        return _MARKER.match(text, begin, end)

    def _open(self, form: Form, begin: int, end: int, depth: int, *, opens: bool = True) -> None:
        self._form, self._depth, self._opens, self._lines = form, depth, opens, [(begin, end)]

    def _underlined(self, mark: str) -> bool:
        """Returns True if a ruler of `mark` makes the line above it a heading."""
        one_line = len(self._lines) == 1 and self._form is Form.PROSE
        return one_line and mark in "=-" and self._text[self._lines[0][1] - 1] not in ".!?:;,"

    def _leaves_list(self, begin: int, end: int, indent: int) -> bool:
        return (
            self._form is Form.ITEM
            and indent <= self._depth
            and _break_was_meant(self._text, self._lines[-1], (begin, end), longest=0)
        )

    def _close(self) -> None:
        """Puts the open paragraph into `blocks`, cut where a line break was meant."""
        text, lines, form = self._text, self._lines, self._form
        if not lines:
            return
        self._lines = []
        start, end = lines[0][0], lines[-1][1]
        if form is Form.CODE:
            form = Form.CODE if _LOOKS_LIKE_CODE.search(text, start, end) else Form.PROSE
        if form not in (Form.PROSE, Form.ITEM):
            self.blocks.append(Block(form, start, end, self._depth))
            return
        opens = self._opens
        if len(lines) > 1:
            longest = max(end - begin for begin, end in lines)
            for line, following in pairwise(lines):
                if _break_was_meant(text, line, following, longest):
                    self.blocks.append(Block(form, start, line[1], self._depth, opens))
                    start, opens = following[0], form is Form.PROSE
        self.blocks.append(Block(form, start, end, self._depth, opens))

    def _fence(self, begin: int, end: int, stop: int) -> tuple[str, int, int, int] | None:
        """Returns the fenced block that a line opens: language, start and end inside, where the text goes on.

        A fence that names a language and is never closed holds the rest of the text. One that names none and
        is not closed before the next that does has lost its opening: it holds nothing.
        """
        fence = _FENCE.match(self._text, begin, end)
        if fence is None or fence.end() < end:
            return None
        # Beyond five marks all count as one length: a text is searched to its end a few times at most.
        mark, language = fence[1][:_LONGEST_MARK], fence[2].strip().lower()
        inner = min(end + 1, stop)
        for line in _FENCE_LINE.finditer(self._text, end, stop):
            if line[1].startswith(mark):
                if not line[2]:
                    return language, min(inner, line.start()), line.start(), line.end()
                if not language:
                    return None
        return (language, inner, stop, stop) if language else None

    def _json_end(self, begin: int, stop: int) -> int | None:
        """Returns the end of the JSON value at `begin`, if there is one and it has its lines to itself."""
        if self._json_failed or not _JSON.match(self._text, begin, stop):
            return None
        try:
            _, end = json.JSONDecoder().raw_decode(self._text, begin)
        except (ValueError, RecursionError):
            end = None
        # One failure a text: each could read all that is left of it.
        self._json_failed = (
            end is None or end > stop or _MORE_ON_LINE.match(self._text, end, stop) is not None
        )
        return None if self._json_failed else end


def _break_was_meant(text: str, line: tuple[int, int], following: tuple[int, int], longest: int) -> bool:
    """Returns True if the next line's first word would still have fit, so that nothing forced the break."""
    (begin, end), (next_begin, next_end) = line, following
    if text[end - 1] == ":":
        return True
    width = longest if text[next_begin].islower() else max(longest, _WRAP_WIDTH)
    space = _SPACE.search(text, next_begin, next_end)
    word = (space.start() if space else next_end) - next_begin
    return end - begin + 1 + word <= width
