"""Lines in which a report speaks for itself, of what was done, and the files that they list.

Code, quotations and plans are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ebbtide.claims.claim_rules import CHANGED_FILE, CHANGES, GONE_FILE, NO_CHANGES, PLANS

_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)")
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?\s*$)")
_QUOTED: Final = re.compile(r"[\"\u201c][^\"\u201c\u201d\n]{3,300}[\"\u201d]")
_OPEN_TASK: Final = re.compile(r"\s*[-*+]\s*\[ \]")
_INTRODUCTION: Final = 200  # characters of a line that may say what the lines under it are
#: A name of a file at the start of an item, a row or a heading, in signs that set it off, and what follows.
_FILE: Final = re.compile(
    r"\s{0,12}(?:#{1,6} |[-*+] |\|)?\s{0,3}(?:[*_]{2})?(?:\d{1,3}[.)] )?\s?"
    r"(?:[\u2705\u2713\u2714] ?)?(?:(?:new|modified|updated|created|added):? )?"
    r"(?:\[|[`*_]{1,3}|(?=[\w./~@-]{1,200}\.\w{1,6}[:*` )]))\[?`?"
    r"([\w./~@+-]{1,200}\.[a-z]\w{0,9})(?::[\w,.()-]{1,80})?[`*_\]]{0,4}(?:\([^()\n]{1,300}\))?"
    r"(?:[ \w]{0,20}\(new[^()\n]{0,30}\))?[`*_]{0,3}"
    r"(?P<rest>[^\n]{0,200})",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(r"\s{0,3}(?:$|[:|,(\u2192\u2013\u2014-]|and |now |gains? )")
_SIGNS: Final = " :|,(\u2192\u2013\u2014-*`_"


class OwnLine(NamedTuple):
    """One line, with its quotations masked.

    Args:
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


class ListedFile(NamedTuple):
    """One file that a list, a table or a heading names as changed: "- `src/a.py`: clamps the tide".

    Args:
        start: Place of its name in the report.
        is_gone: True if the list says that it was deleted.
    """

    path: str
    start: int
    is_gone: bool


def listed_file(line: OwnLine) -> ListedFile | None:
    """Returns the file that a line names as changed; None if it names none."""
    if "." not in line.text:
        return None
    match = _FILE.match(line.text)
    if match is None:
        return None
    rest = match["rest"].lower()
    if _SEPARATOR.match(rest) is None:
        return None
    said = rest.strip(_SIGNS)
    is_gone = GONE_FILE.match(said) is not None
    if not is_gone and not line.is_of_changes and CHANGED_FILE.match(said) is None:
        return None
    return ListedFile(match[1], line.start + match.start(1), is_gone)
