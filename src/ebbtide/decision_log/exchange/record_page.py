"""A record of another tool as lines, with the place of what it says: to read it, and to change a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ebbtide.decision_log.exchange.markdown import headings

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARK = "---"
_ENDS = (_MARK, "...")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSpan:
    """Some lines of a page: from the first to the one before the end, counted from 0."""

    start: int
    end: int


class RecordPage:
    """The lines of a record.

    Args:
        text: The record as it was written.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")  #: as they were written, a carriage return at the end included
        readable = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text.removeprefix("\ufeff"))
        self.plain = [line.removesuffix("\r") for line in readable.split("\n")]  #: without comments
        self.front = self._front_matter()
        below = self.front.end
        self.headings = [(at + below, level, title) for at, level, title in headings(self.plain[below:])]

    @property
    def line_end(self) -> str:
        """The end of a line of the page before the newline: a carriage return or nothing."""
        return "\r" if self.lines[0].endswith("\r") else ""

    @property
    def title(self) -> str:
        """The first heading; empty where there is none."""
        return next((title for _, _, title in self.headings if title.strip()), "")

    def front_value(self, *names: str) -> LineSpan | None:
        """The lines of the front matter that hold the value of the first of these keys."""
        for name in names:
            for at in range(self.front.start, self.front.end):
                if re.match(rf"{re.escape(name)}\s*:", self.plain[at], re.IGNORECASE):
                    end = at + 1
                    while end < self.front.end - 1 and re.match(r"\s+\S|-\s", self.plain[end]):
                        end += 1
                    return LineSpan(start=at, end=end)
        return None

    def label(self, *names: str) -> LineSpan | None:
        """The line ``* Name: value`` above the sections, with or without a bullet and bold letters."""
        pattern = re.compile(
            rf"\s*[*-]?\s*[*_]*(?:{'|'.join(map(re.escape, names))})[*_]*\s*:", re.IGNORECASE
        )
        end = self.first_section()
        at = next((at for at in range(self.front.end, end) if pattern.match(self.plain[at])), None)
        return None if at is None else LineSpan(start=at, end=at + 1)

    def section(self, *names: str) -> LineSpan | None:
        """The lines below the first heading of one of these names, those under its own headings included."""
        for place, (at, level, title) in enumerate(self.headings):
            if heading_name(title) in names:
                later = self.headings[place + 1 :]
                end = next((next_at for next_at, other, _ in later if other <= level), len(self.plain))
                return LineSpan(start=at + 1, end=end)
        return None

    def status_section(self) -> LineSpan | None:
        """The lines of the section of the status, without those under a heading of their own."""
        return self.own_lines(self.section("status"))

    def own_lines(self, span: LineSpan | None) -> LineSpan | None:
        """The lines of a section above the first heading in it."""
        if span is None:
            return None
        end = next((at for at, _, _ in self.headings if at >= span.start), span.end)
        return LineSpan(start=span.start, end=min(end, span.end))

    def text_of(self, span: LineSpan | None) -> str:
        """The lines of a span without comments, and without empty lines around them."""
        lines = [] if span is None else self.plain[span.start : span.end]
        return "\n".join(line.rstrip() for line in lines).strip()

    def open_fence(self) -> str:
        """The fence that closes a block of code that nothing closes; empty where there is none."""
        body = self.plain[self.front.end :]
        marks = ("", *(match[1] for line in reversed(body) if (match := _FENCE.match(line))))
        closing = (mark for mark in marks if _ends_with_heading([*body, mark, "# End"]))
        return next(closing, "")

    def first_section(self) -> int:
        """The line of the first heading after the title; that after the last line where there is none."""
        return next((at for at, _, _ in self.headings[1:]), len(self.plain))

    def _front_matter(self) -> LineSpan:
        if self.plain[0].rstrip() != _MARK:
            return LineSpan(start=0, end=0)
        ends = (at for at, line in enumerate(self.plain[1:], start=1) if line.rstrip() in _ENDS)
        return LineSpan(start=0, end=next(ends, -1) + 1)


def _ends_with_heading(lines: Sequence[str]) -> bool:
    return any(at == len(lines) - 1 for at, _, _ in headings(lines))


def heading_name(title: str) -> str:
    """The name of a section as it is compared."""
    return title.strip(" :*").lower()


def last_line(plain: Sequence[str], span: LineSpan) -> int:
    """The line after the last one of a span that is not empty."""
    filled = (at for at in range(span.end - 1, span.start - 1, -1) if plain[at].strip())
    return next(filled, span.start - 1) + 1


_SECTION = 2  # level of a heading that stands for itself
_BULLET = re.compile(r"^\s*(?:[*+-] +|(\d{1,9})([.)] +))")


def replaced(page: RecordPage, span: LineSpan, lines: Sequence[str]) -> str:
    """The page with lines in the place of others; an empty span puts them before its start."""
    rows = [f"{line}{page.line_end}" for line in lines]
    before, after = page.lines[: span.start], page.lines[span.end :]
    if not after:  # There is no newline at the end, and none is put there.
        rows[-1] = lines[-1]
        before[-1:] = [f"{line.removesuffix(page.line_end)}{page.line_end}" for line in before[-1:]]
    return "\n".join([*before, *rows, *after])


def inserted(page: RecordPage, at: int, lines: Sequence[str]) -> str:
    """The page with lines before one of its lines."""
    return replaced(page, LineSpan(start=at, end=at), lines)


def appended(page: RecordPage, lines: Sequence[str]) -> str:
    """The page with lines at its end, an empty one before them."""
    count = len(page.lines)
    if page.lines[-1]:  # There is no newline at the end; its last line stays as it is.
        page = RecordPage("\n".join([*page.lines[:-1], f"{page.lines[-1]}{page.line_end}", ""]))
        return appended(page, lines)
    fence = page.open_fence()
    if fence:  # What follows would be code.
        lines = [fence, "", *lines]
    gap = [""] if not fence and count > 1 and page.plain[-2].strip() else []
    return inserted(page, count - 1, [*gap, *lines])


def with_section(page: RecordPage, lines: Sequence[str], before: Sequence[str]) -> str:
    """The page with a section before the first one of these names, or at its end.

    Args:
        page: The record.
        lines: The section, with its heading.
        before: Names of sections, as `heading_name` gives them.
    """
    marks = (at for at, level, title in page.headings if level <= _SECTION and heading_name(title) in before)
    at = next(marks, None)
    if at is None:
        return appended(page, lines)
    while at and page.lines[at - 1].strip() and not page.plain[at - 1].strip():
        at -= 1  # A comment above a heading belongs to it.
    return inserted(page, at, [*lines, ""])


def with_text(page: RecordPage, span: LineSpan, lines: Sequence[str]) -> str:
    """The page with other words in a section; empty lines and comments around them stay."""
    filled = [at for at in range(span.start, span.end) if page.plain[at].strip()]
    if filled:
        return replaced(page, LineSpan(start=filled[0], end=filled[-1] + 1), lines)
    return inserted(page, span.start, ["", *lines])


def with_entry(page: RecordPage, span: LineSpan, line: str, *, prose: bool = False) -> str:
    """The page with an entry more in a section: an item of its list, in the style of the last one.

    Args:
        page: The record.
        span: The lines of the section.
        line: The entry; one that is there already is not added.
        prose: Whether it is a paragraph where the section has text and no list.
    """
    if states(page, line, span):
        return "\n".join(page.lines)
    rows = page.plain[span.start : span.end]
    bullets = [match for row in rows if (match := _BULLET.match(row))]
    end = last_line(page.plain, span)
    if bullets:
        last = bullets[-1]
        bullet = f"{int(last[1]) + 1}{last[2]}" if last[1] else last[0].lstrip()
        return inserted(page, end, [f"{bullet}{line}"])
    is_text = any(row.strip() for row in rows)
    return inserted(page, end, ["", line if prose and is_text else f"* {line}"])


def states(page: RecordPage, line: str, span: LineSpan) -> bool:
    """Returns True where a line is there already, as an item or by itself."""
    rows = page.plain[span.start : span.end]
    return line in (_BULLET.sub("", row).strip() for row in rows)
