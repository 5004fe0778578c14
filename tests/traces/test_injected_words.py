"""What a person wrote in a message that an editor or a harness has put other words around."""

import json

import pytest

from ebbtide.checking import check_trace
from ebbtide.traces.reading import Trace
from ebbtide.traces.records.injected_words import persons_words

FILES = "<environment_details>\n# Open Tabs\nsrc/a.py\n</environment_details>"
COPILOT = """<attachments>
<attachment id="a.py">x = 1</attachment>
</attachments>
<context>Monday</context>
<reminderInstructions>Mind the style.</reminderInstructions>"""
MESSAGES = {
    "Cline": (f"<task>\nFix the test.\n</task>\n\n{FILES}", "Fix the test."),
    "Roo Code, a later turn": (f"<user_message>\nNow the docs.\n</user_message>\n{FILES}", "Now the docs."),
    "words before the files": (f"Now the docs.\n\n{FILES}", "Now the docs."),
    "Cursor": (
        "<user_info>macOS</user_info><attached_files>a.py</attached_files>\n<user_query>Fix it.</user_query>",
        "Fix it.",
    ),
    "Copilot in VS Code": (f"{COPILOT}\n<userRequest>\nFix it.\n</userRequest>", "Fix it."),
    "Antigravity": (
        "<USER_REQUEST>\nList the files.\n</USER_REQUEST>\n<ADDITIONAL_METADATA>3 pm</ADDITIONAL_METADATA>",
        "List the files.",
    ),
    "a reminder alone": ("<system-reminder>Mind the style.</system-reminder>", ""),
    "a tool was not used": (f"[ERROR] You did not use a tool in your previous response! Retry.\n{FILES}", ""),
    "a summary is asked for": ("Your task is to create a detailed summary of the conversation so far.", ""),
    "a suggestion is asked for": ("[SUGGESTION MODE: Suggest what the user might type next.]", ""),
    "markup that a person asks about": ("Why does <div>a</div> break?", "Why does <div>a</div> break?"),
    "a tag that nobody opened": ("It prints </context>", "It prints </context>"),
}


@pytest.mark.parametrize(("text", "words"), MESSAGES.values(), ids=MESSAGES)
def test_wrappers_of_editors_are_no_words_of_a_person(text: str, words: str) -> None:
    """Open files, context, reminders and details of the environment go; the request stays."""
    assert persons_words(text) == words


def test_a_run_is_named_by_the_request_and_not_by_its_wrapper() -> None:
    """In recorded chats of editors too, and a message of the harness asks nothing."""
    said = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<task>\nFix the test.\n</task>"},
                {"type": "text", "text": FILES},
            ],
        },
        {"role": "assistant", "content": "I fixed the test. All tests pass."},
        {"role": "user", "content": f"[ERROR] You did not use a tool in your previous response!\n{FILES}"},
    ]
    summary = check_trace(Trace.of(json.dumps(said).encode()))
    assert summary.title == "Fix the test."
    assert summary.words == "FINISHED, HEALTHY"


def test_a_long_row_of_wrappers_is_read_in_linear_time() -> None:
    """Before and behind the request."""
    row = "<context>a</context>" * 20_000
    assert persons_words(f"{row}Fix it.{row}") == "Fix it."
