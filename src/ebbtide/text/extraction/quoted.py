"""Quoted matter in a text: a page that was read, the output of a tool, code, a quotation.

A page that says "Order complete" finishes no run, and a button asks nobody for anything. Rules that are data
say where such matter begins and ends; runs of short lines, as of menus, are known by their form.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from ebbtide.text.extraction.blocks import Form, blocks
from ebbtide.text.extraction.json_fields import is_json

_MENU_LINES: Final = 8  # short lines in a row that make a menu
_SHORT_LINE: Final = 40  # characters
_SHORT_QUESTION: Final = 3  # words: "New customer?"
_SENTENCE_ENDS: Final = (".", "!", ":", ";", ",", "\u3002", "\uff01")
_LINE: Final = re.compile(r"\S[^\n]*")
_MARKED: Final = re.compile(r"[-*+#>|\u2022`]|\(?\w{1,3}[.)]\s")  # items, headings, rows
_SHORT_LINES: Final = re.compile(
    rf"\n(?:[^\S\n]*+(?:\S[^\n]{{0,{_SHORT_LINE - 1}}}+)?(?:\n|\Z)){{{_MENU_LINES},}}", re.MULTILINE
)
_END_TAG: Final = re.compile(r"</([\w-]+)>")
_NOT_LINE_BREAK: Final = re.compile(r"[^\n]")


class QuoteRule(NamedTuple):
    """A sign that what follows is quoted.

    Args:
        hints: Texts one of which is there wherever the sign is; looking for them is cheap.
        begin: A regular expression of the sign; of all that is quoted, where `end` is empty.
        end: A regular expression of what ends the quoted. Where it is missing, all that follows is quoted.
        closed: Where the end is missing, nothing is quoted.
    """

    id: str
    hints: tuple[str, ...]
    begin: str
    end: str = ""
    closed: bool = False


class QuotedStretch(NamedTuple):
    """Quoted matter, ``text[start:end]``, and the rule that says so."""

    start: int
    end: int
    rule: str


TO_END: Final = r"\Z"
_BLANK_LINE: Final = r"\n[^\S\n]*\n"
_LINE_NUMBER: Final = r"[^\S\n]*\d{1,6}(?:\u2192|\t|[^\S\n]?\|)[^\n]*"
_QUOTE_MARK: Final = r"[^\S\n]*>(?!>> )[^\n]*"

#: Pages, and what programs print. Of stretches that overlap, the first gives its rule to all.
QUOTE_RULES: Final = (
    QuoteRule("page.screenshot", ("screenshot of [",), r"screenshot of \[", TO_END),
    QuoteRule(
        "page.metadata",
        ("metadata was extracted",),
        r"metadata was extracted from\b[^\n]{0,80}:",
        TO_END,
    ),
    QuoteRule(
        "page.text",
        ("ted the following ", "ed the following text"),
        r"(?:detected|extracted|recogni[sz]ed) the following (?:visible )?(?:text|content)\b[^\n]{0,80}:",
        TO_END,
    ),
    QuoteRule("page.viewport", ("Viewport position:",), r"^(?:Address|URL): \S", TO_END),
    QuoteRule("tool.code-output", ("Code output:",), r"^Code output:", TO_END),
    QuoteRule("tool.listing", ("result of running",), r"result of running `?cat -n\b", TO_END),
    QuoteRule(
        "tool.observation",
        ("\nAction",),
        r"^Observation(?: \d+)?:",
        r"(?=\n(?:Thought|Action|Answer|Final Answer|Question)(?: \d+)?:)",
    ),
    QuoteRule(
        "tool.output",
        ("utput", "UTPUT"),
        r"^[*_# -]{0,4}(?:(?:the )?(?i:command|tool|terminal|console|program|script|test) )?"
        r"(?i:output)[*_]{0,2}:[*_]{0,2}\s*\n",
        _BLANK_LINE,
    ),
    QuoteRule(
        "tool.traceback",
        ("Traceback (most recent call last)",),
        r"Traceback \(most recent call last\):(?:\n[^\S\n]+[^\n]*)*(?:\n[^\n]*)?",
    ),
    QuoteRule("mail.original", ("essage-",), r"^-{2,} ?(?:Original|Forwarded) [Mm]essage", TO_END),
    QuoteRule("code.numbered", ("\u2192", "\t", "|"), rf"^{_LINE_NUMBER}(?:\n{_LINE_NUMBER})+"),
    QuoteRule(
        "code.diff",
        ("@@ ",),
        r"^[+ ]{0,2}(?:diff --git|@@ -\d)[^\n]*"
        r"(?:\n(?:[ +\-@\\]|diff |index |new |deleted |similarity |rename )[^\n]*)*",
    ),
    QuoteRule("code.fence", ("```", "~~~"), r"^[> \t]*(?:`{3,}|~{3,})[^`\n]*$"),
    QuoteRule("quote.block", (">",), rf"^{_QUOTE_MARK}(?:\n{_QUOTE_MARK})*"),
)

#: Tags around what programs, tools and files hand in.
QUOTED_TAGS: Final = tuple(
    QuoteRule(f"tag.{name}", (f"<{name}",), rf"<{name}(?:\s[^<>]*)?>", f"</{name}>", closed=True)
    for name in """
    bash-stderr bash-stdout blockquote command-args command-message command-name document documents file
    file_content file_contents function_result function_results local-command-caveat local-command-stderr
    local-command-stdout page page_content persisted-output pre search_results stderr stdout system-reminder
    tool-result tool-use tool_output tool_response tool_result webpage
    """.split()
)

#: Quotation marks around much more than a name. Inside JSON they are no quotation.
QUOTATIONS: Final = (
    QuoteRule("quote.straight", ('"',), r"\"(?<![\w\"=]\")(?![\s\"])[^\"\n]{60,}(?<!\s)\"(?!\w)"),
    QuoteRule("quote.curly", ("\u201c",), r"\u201c[^\u201c\u201d\n]{60,}\u201d"),
)


_HINTED: Final = tuple((hint, rule) for rule in QUOTE_RULES for hint in rule.hints)
_TAGS: Final = {rule.id.removeprefix("tag."): rule for rule in QUOTED_TAGS}


class QuotedMatter:
    """Finder of the quoted parts of a text, which searches when it is asked for the first time.

    Args:
        whole: All of it is quoted.
    """

    __slots__ = ("_marks", "_pages", "_whole", "text")

    def __init__(self, text: str, *, whole: bool = False) -> None:
        self.text = text
        self._whole = whole
        self._pages: tuple[list[int], list[int]] | None = None  # where they start, and where they end
        self._marks: tuple[list[int], list[int]] | None = None

    def cover(self, at: int) -> bool:
        """Returns True if the text at `at` is quoted."""
        if self.cover_code(at):
            return True
        if self._marks is None:
            self._marks = _bounds(_marks(self.text))
        return _is_inside(at, self._marks)

    def cover_code(self, at: int) -> bool:
        """Returns True if the code at `at` is part of a page or of what a program printed."""
        if self._whole:
            return True
        if self._pages is None:
            self._pages = _bounds(_pages(self.text))
        return _is_inside(at, self._pages)


def own_words(text: str) -> str:
    """Returns `text` with all that is quoted made blank, so that every other character keeps its place.

    Line breaks stay. Code is quoted too, but for JSON, in which agents answer. Linear in the length.

    >>> own_words('It went out. "Orders are complete once the mail has left the house, at six."').rstrip()
    'It went out.'
    """
    json_values, code = [], []
    for block in blocks(text):
        if block.form is Form.CODE:
            if is_json(text[block.start : block.end]):
                json_values.append((block.start, block.end))
            else:
                code.append(QuotedStretch(block.start, block.end, "code.block"))
    parts, at = [], 0
    for start, end, _ in _disjoint([*quoted_stretches(text, json_values), *code]):
        parts += [text[at:start], _NOT_LINE_BREAK.sub(" ", text[start:end])]
        at = end
    return "".join((*parts, text[at:]))


def quoted_stretches(text: str, json_values: Sequence[tuple[int, int]] = ()) -> list[QuotedStretch]:
    """Returns the quoted parts of `text`, in order and apart, without the code that markdown marks as such.

    Args:
        json_values: Starts and ends of JSON, in order: quotation marks quote nothing there.
    """
    return _disjoint([*_pages(text), *_marks(text, json_values)])


def _bounds(stretches: list[QuotedStretch]) -> tuple[list[int], list[int]]:
    if not stretches:
        return [], []
    apart = _disjoint(stretches)
    return [stretch.start for stretch in apart], [stretch.end for stretch in apart]


def _is_inside(at: int, bounds: tuple[list[int], list[int]]) -> bool:
    starts, ends = bounds
    if not starts:
        return False
    number = bisect_right(starts, at) - 1
    return number >= 0 and at < ends[number]


def _pages(text: str) -> list[QuotedStretch]:
    """Returns the stretches that rules find, quotation marks aside."""
    stretches: list[QuotedStretch] = []
    latest: QuoteRule | None = None
    for hint, rule in _HINTED:
        if hint in text and rule is not latest:
            latest = rule
            stretches += _by_rule(text, rule)
    if "</" in text:
        for name in set(_END_TAG.findall(text)).intersection(_TAGS):
            stretches += _by_rule(text, _TAGS[name])
    return stretches


def _marks(text: str, json_values: Sequence[tuple[int, int]] = ()) -> list[QuotedStretch]:
    """Returns the stretches in quotation marks, and menus."""
    stretches = [stretch for rule in QUOTATIONS if rule.hints[0] in text for stretch in _by_rule(text, rule)]
    if stretches and json_values:
        stretches = _outside(stretches, json_values)
    if text.count("\n") >= _MENU_LINES - 1:
        for lines in _SHORT_LINES.finditer(f"\n{text}"):
            stretches += _menus(text, lines.start(), lines.end() - 1)
    return stretches


def _by_rule(text: str, rule: QuoteRule) -> Iterator[QuotedStretch]:
    begin, end, lines = _patterns(rule)
    # A search for a line break is several times as fast as one for the start of a line.
    searched = f"\n{text}" if lines else text
    at = 0
    while (sign := begin.search(searched, at)) is not None:
        start, at = sign.start(), sign.end() - lines
        if end is not None:
            last = end.search(text, at)
            if last is None and rule.closed:
                return
            at = last.end() if last else len(text)
        yield QuotedStretch(start, at, rule.id)


@cache
def _patterns(rule: QuoteRule) -> tuple[re.Pattern[str], re.Pattern[str] | None, bool]:
    """Returns the patterns of a rule, and a flag.

    The first is to be searched with a line break before the text.
    """
    lines = rule.begin.startswith("^")
    begin = f"\n{rule.begin[1:]}" if lines else rule.begin
    return re.compile(begin, re.MULTILINE), re.compile(rule.end) if rule.end else None, lines


def _menus(text: str, at: int, stop: int) -> Iterator[QuotedStretch]:
    """Yields runs of short lines, as of menus, none of which is a sentence or an item of a list."""
    start = end = lines = 0
    for line in _LINE.finditer(text, at, stop):
        if _is_short(line[0].rstrip()):
            start = start if lines else line.start()
            end, lines = line.end(), lines + 1
            continue
        if lines >= _MENU_LINES:
            yield QuotedStretch(start, end, "form.menu")
        lines = 0
    if lines >= _MENU_LINES:
        yield QuotedStretch(start, end, "form.menu")


def _is_short(line: str) -> bool:
    if line.endswith(_SENTENCE_ENDS) or _MARKED.match(line) is not None:
        return False
    return not line.endswith("?") or len(line.split()) <= _SHORT_QUESTION


def _outside(stretches: list[QuotedStretch], places: Sequence[tuple[int, int]]) -> list[QuotedStretch]:
    """Returns the stretches that begin in none of `places`; both are in order."""
    outside, number = [], 0
    for stretch in sorted(stretches):
        while number < len(places) and places[number][1] <= stretch.start:
            number += 1
        if number == len(places) or stretch.start < places[number][0]:
            outside.append(stretch)
    return outside


def _disjoint(stretches: list[QuotedStretch]) -> list[QuotedStretch]:
    """Returns the stretches in order, those that overlap made one."""
    apart: list[QuotedStretch] = []
    for stretch in sorted(stretches):
        if apart and stretch.start < apart[-1].end:
            start, end, rule = apart[-1]
            apart[-1] = QuotedStretch(start, max(end, stretch.end), rule)
        else:
            apart.append(stretch)
    return apart
