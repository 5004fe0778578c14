"""Lines put into a record, and lines of it replaced; every other byte of it stays."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ebbtide.decision_log.exchange.record_page import LineSpan, RecordPage, heading_name, last_line

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
    """Whether a line is there already, as an item or by itself."""
    rows = page.plain[span.start : span.end]
    return line in (_BULLET.sub("", row).strip() for row in rows)
