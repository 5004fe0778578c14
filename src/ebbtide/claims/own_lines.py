"""Lines in which a report speaks for itself, of what was done: no code, no quotations, no plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ebbtide.claims.claim_rules import CHANGES, NO_CHANGES, PLANS

_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)")
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?\s*$)")
_QUOTED: Final = re.compile(r"[\"\u201c][^\"\u201c\u201d\n]{3,300}[\"\u201d]")
_OPEN_TASK: Final = re.compile(r"\s*[-*+]\s*\[ \]")
_INTRODUCTION: Final = 200  # characters of a line that may say what the lines under it are


class OwnLine(NamedTuple):
    """One line, with its quotations masked.

    Args:
        text: The line.
        start: Place of it in the report.
        is_heading: True if it is a heading, which asserts nothing.
        is_of_changes: True if what stands above it says that it is about what was changed.
    """

    text: str
    start: int
    is_heading: bool
    is_of_changes: bool


def own_lines(report: str) -> Iterator[OwnLine]:
    """Yields the lines of a report that are its own words, headings among them."""
    is_fenced = is_plan = is_of_changes = False
    start = 0
    for line in report.splitlines(keepends=True):
        begin, start = start, start + len(line)
        if _FENCE.match(line):
            is_fenced = not is_fenced
            continue
        bare = line.strip()
        if is_fenced or not bare or bare.startswith(">") or _OPEN_TASK.match(line):
            continue
        is_heading = False
        above = is_of_changes
        if _HEADING.match(line) is not None:
            title = bare.strip("#*: ").lower()
            is_plan = any(word in title for word in PLANS)
            is_heading = bare.startswith("#")
            # A name of a file in bold is an item of what stands above it.
            if is_heading or "." not in title.rpartition("/")[2]:
                is_of_changes = _is_of_changes(title)
        elif bare.endswith((":", ":**")) and bare[0] not in "-*+|" and not line[:1].isspace():
            is_of_changes = _is_of_changes(bare.lower())
        if not is_plan:
            yield OwnLine(
                _QUOTED.sub(lambda match: " " * len(match[0]), line),
                begin,
                is_heading,
                above or is_of_changes,
            )


def _is_of_changes(words: str) -> bool:
    words = words[-_INTRODUCTION:]
    return CHANGES.search(words) is not None and NO_CHANGES.search(words) is None
