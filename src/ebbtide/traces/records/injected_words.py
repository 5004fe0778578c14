"""Words of a harness in the name of the person, and its wrappers around a person's words."""

from __future__ import annotations

import re

_INJECTED = re.compile(
    r"\s*(?:<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification"
    r"|system-reminder)>|Base directory for this skill:|Operation stopped by hook:|Stop hook feedback:"
    r"|This session is being continued from a previous conversation)"
)
_WRAPPED = re.compile(
    r"\s*<(ide_opened_file|ide_selection|ide_diagnostics|system-reminder|environment_details|additional_data"
    r"|attached_files|open_and_recently_viewed_files|user_info|context)>.*?</\1>\s*",
    re.DOTALL,
)
_ASKED = re.compile(r"\s*<(user_query|user-prompt|task|feedback)>(.*?)</\1>\s*", re.DOTALL)
_EDITOR = "# Context from my IDE setup:"
_REQUEST = re.compile(r"^## My request for \w+:\s*", re.MULTILINE)


def is_injected(text: str) -> bool:
    """Whether a message of the person was put in by the harness."""
    return not persons_words(text)


def persons_words(text: str) -> str:
    """Returns the part of a message that a person wrote; empty if it is all of the harness or an editor.

    >>> persons_words("<ide_opened_file>The user opened a.py</ide_opened_file>Fix the test.")
    'Fix the test.'
    >>> persons_words("<task-notification>done</task-notification>")
    ''
    """
    head = text.lstrip()
    if not head.startswith(("<", _EDITOR, "Base dir", "Operation s", "Stop hook", "This session")):
        return text
    while (wrapper := _WRAPPED.match(text)) is not None:
        text = text[wrapper.end() :]
    if _INJECTED.match(text):
        return ""
    if (asked := _ASKED.fullmatch(text)) is not None:
        return asked[2].strip()
    if head.startswith(_EDITOR) and (request := _REQUEST.search(text)) is not None:
        return text[request.end() :]
    return text
