"""Files that the lists, tables and headings of a report name as changed: "- `src/a.py`: clamps the tide"."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ebbtide.claims.claim_rules import CHANGED_FILE, GONE_FILE
from ebbtide.claims.own_lines import OwnLine

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


class ListedFile(NamedTuple):
    """One file of such a list.

    Args:
        path: The file.
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
