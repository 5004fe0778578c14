"""The title of a run, in one line: the first request of a person."""

from __future__ import annotations

import re
from typing import Final

from ebbtide.events.identity import MARK
from ebbtide.text.excerpt import one_line

LONGEST: Final = 100  #: characters of a title
_LABEL: Final = 2  # words of a line that only labels what follows
_SKILL: Final = re.compile(r"<command-name>(.{0,300}?)</command-name>", re.DOTALL)
_WITH: Final = re.compile(r"<command-args>([^<]{0,400}+)")
_HOUSEKEEPING: Final = frozenset(
    "clear exit quit login logout plan ide model compact config context cost doctor help mcp permissions"
    " release-notes resume status terminal-setup theme usage vim".split()
)
#: Of Markdown, of fields of a prompt, a tag alone, and what a shell says before a command that was pasted.
_MARKUP: Final = re.compile(
    r"^(?:\[\[ ?##[^\]]{0,80}\]\]|[\u276f\u279c\u00bb$%]\s+|</?[a-z_-]{1,40}>\Z|[#>*\-\s]+)", re.IGNORECASE
)
_NO_REQUEST: Final = ("<local-command", "[Request interrupted", "/exit", "/quit", "/clear", MARK)


def title_of(request: str) -> str:
    r"""Returns what a message of a person asks for, in one line; empty where it asks an agent nothing.

    >>> title_of("## Fix the login\n\nIt fails on Mondays.")
    'Fix the login'
    >>> title_of("<command-name>/review</command-name><command-args>the last commit</command-args>")
    '/review the last commit'
    >>> title_of("Low severity\n\nThe error is wrapped twice.")
    'Low severity: The error is wrapped twice.'
    >>> title_of("<command-name>/clear</command-name>")
    ''
    """
    text = request.strip()
    if not text or text.startswith(_NO_REQUEST):
        return ""
    if text.startswith("<command-"):
        match, more = _SKILL.search(text), _WITH.search(text)
        name = "" if match is None else match[1].strip().removeprefix("/")
        if not name or name in _HOUSEKEEPING:
            return ""
        return one_line(f"/{name} {more[1].strip() if more else ''}".strip(), LONGEST)
    lines = [line for line in (_MARKUP.sub("", line).strip() for line in text.splitlines()) if line]
    if not lines:
        return ""
    head = lines[0]
    if len(lines) > 1:
        # "Implement the following plan:" says nothing without the line that follows, nor does "Low severity".
        if head.endswith(":"):
            head = f"{head} {lines[1]}"
        elif len(head.split()) <= _LABEL and not head.startswith("/"):
            head = f"{head}: {lines[1]}"
    return one_line(head, LONGEST)
