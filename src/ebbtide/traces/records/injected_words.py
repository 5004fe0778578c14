"""Words of a harness in the name of the person, and its wrappers around a person's words."""

from __future__ import annotations

import re
from typing import Final

_INJECTED: Final = re.compile(
    r"\s*(?:<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification"
    r"|system-reminder)>|Base directory for this skill:|Operation stopped by hook:|Stop hook feedback:"
    r"|This session is being continued from a previous conversation"
    r"|Your task is to create a detailed summary of (?:the|this) conversation"
    r"|CRITICAL: Respond with TEXT ONLY\. Do NOT call any tools|\[SUGGESTION MODE:|\[Image: source:"
    r"|\[ERROR\] You did not use a tool in your previous response)"
)
_BEGINS: Final = (
    *("Base dir", "Operation s", "Stop hook", "This session", "Your task is to c", "CRITICAL: Respond"),
    *("[SUGG", "[Image", "[ERROR] You"),
)
#: What editors put around a request: which files are open, where the cursor is, what the model shall mind.
_WRAPPERS: Final = (
    "ide_opened_file|ide_selection|ide_diagnostics|system-reminder|system_reminder|environment_details"
    "|environment_context|additional_data|additional_metadata|attached_files|attachments|attachment|context"
    "|open_and_recently_viewed_files|user_info|rules|project_layout|git_status|git-context|editorcontext"
    "|repocontext|workspace_info|environment_info|reminderinstructions|tool_reminder|user_settings_change"
    "|explicit_instructions|system_message|current_cursor_position|linter_errors|timestamp"
)
_WRAPPED: Final = re.compile(
    rf"\s*<({_WRAPPERS})(?: [^<>\n]{{0,300}})?>.*?</\1>\s*", re.DOTALL | re.IGNORECASE
)
_LAST: Final = re.compile(rf"</({_WRAPPERS})>\s*\Z", re.IGNORECASE)
#: What stands around the request itself.
_ASKED: Final = re.compile(
    r"\s*<(user_query|user-prompt|userrequest|user_request|user_message|user_input|task|feedback)"
    r"(?: [^<>\n]{0,100})?>(.*?)</\1>\s*",
    re.DOTALL | re.IGNORECASE,
)
_EDITOR: Final = "# Context from my IDE setup:"
_REQUEST: Final = re.compile(r"^## My request for \w+:\s*", re.MULTILINE)


def is_injected(text: str) -> bool:
    """True if a message of the person was put in by the harness."""
    return not persons_words(text)


def persons_words(text: str) -> str:
    """Returns the part of a message that a person wrote; empty if it is all of the harness or an editor.

    >>> persons_words("<ide_opened_file>The user opened a.py</ide_opened_file>Fix the test.")
    'Fix the test.'
    >>> persons_words("<task>Fix the test.</task> <environment_details>Open: a.py</environment_details>")
    'Fix the test.'
    >>> persons_words("<task-notification>done</task-notification>")
    ''
    """
    head = text.lstrip()
    if not head.startswith(("<", _EDITOR, *_BEGINS)) and not text.endswith(">", 0, len(text.rstrip())):
        return text
    text = _without_wrappers(text)
    if _INJECTED.match(text):
        return ""
    if (asked := _ASKED.fullmatch(text)) is not None:
        return asked[2].strip()
    if head.startswith(_EDITOR) and (request := _REQUEST.search(text)) is not None:
        return text[request.end() :]
    return text


def _without_wrappers(text: str) -> str:
    start, end = 0, len(text)
    while (wrapper := _WRAPPED.match(text, start)) is not None:
        start = wrapper.end()
    lowered = text.lower() if text.endswith(">", start, len(text.rstrip())) else ""
    while lowered and (last := _LAST.search(text, max(start, end - 60), end)) is not None:
        begin = lowered.rfind(f"<{last[1].lower()}", start, last.start())
        if begin < 0:
            break
        end = begin
        while end > start and text[end - 1].isspace():
            end -= 1
    return text[start:end]
