"""The title of a run: the words of its agent or of a person, in one line."""

import pytest

from ebbtide.checking import check_events
from ebbtide.events.event import Message, ModelCall
from ebbtide.supervision.summary.run_title import LONGEST, title_of
from ebbtide.traces.reading import Trace

TITLES = {
    "a heading is no part of it": ("# Fix the login\n\nIt fails.", "Fix the login"),
    "a label says nothing by itself": ("Low severity\n\nIt fails.", "Low severity: It fails."),
    "a plan is named by its first line": ("Implement the following plan:\n\n# Split the parser", None),
    "a command for the harness asks nothing": ("<command-name>/exit</command-name>", ""),
    "a skill is a request": (
        "<command-name>/review</command-name><command-args>167</command-args>",
        "/review 167",
    ),
    "an interruption asks nothing": ("[Request interrupted by user]", ""),
    "a tag alone names nothing": ("<objective>\nPlan the release\n</objective>", "Plan the release"),
    "a prompt of a shell is no part of it": (
        "\u279c app git:(main) \u2717 make fails",
        "app git:(main) \u2717 make fails",
    ),
}


@pytest.mark.parametrize(("text", "title"), TITLES.values(), ids=TITLES)
def test_a_title_is_the_request_in_one_line(text: str, title: str | None) -> None:
    """One line, without markup; a request without content gives none."""
    expected = "Implement the following plan: Split the parser" if title is None else title
    assert title_of(text) == expected
    assert len(title_of("word " * 100)) <= LONGEST


def test_the_first_request_names_a_run() -> None:
    """Commands before it and answers after it do not."""
    events = [
        Message(text="/clear"),
        Message(text="Rename the flag."),
        ModelCall(text="Done."),
        Message(text="Thanks"),
    ]
    summary = check_events(events)
    assert summary.title == "Rename the flag."
    assert summary.to_dict()["title"] == "Rename the flag."


def test_a_session_has_the_name_and_the_folder_that_it_records() -> None:
    """The title of the agent goes before the words of a person."""
    lines = [
        '{"type":"user","uuid":"1","cwd":"/srv/shop","message":{"role":"user","content":"Hi"}}',
        '{"type":"custom-title","customTitle":"Cart rounding","sessionId":"s"}',
        '{"type":"assistant","uuid":"2","sessionId":"s","message":{"role":"assistant","id":"m","content":"Hello."}}',
    ]
    trace = Trace.of("\n".join(lines).encode())
    assert len(list(trace)) == 2
    assert (trace.title, trace.project) == ("Cart rounding", "/srv/shop")
