"""The decisions of written sessions, and the text that hands them back."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.usage import tokens_of_length
from ebbtide.service.hooks.handed_back import MOST_TOKENS, hand_back
from ebbtide.service.hooks.session_decisions import SessionDecision, SessionDecisions

NOON = 1_800_014_400.0  # 2027-01-15 12:00 UTC
KEEP = "Keep the old endpoint in api/legacy.py."
SQLITE = "We'll use SQLite in store.py rather than a server."


def person(text: str, *, at: float = 0.0, chain: str = "") -> Message:
    return Message(text=text, ts=NOON + at, chain_id=chain)


def agent(text: str, *, at: float = 0.0, chain: str = "") -> ModelCall:
    return ModelCall(text=text, ts=NOON + at, chain_id=chain)


def edit(path: str, new: str = "b") -> ToolCall:
    args = {"file_path": path, "old_string": "a", "new_string": new}
    return ToolCall(name="Edit", args=args, result="done", chain_id="")


def decisions_of(events: Sequence[Event]) -> SessionDecisions:
    decisions = SessionDecisions()
    for event in events:
        decisions.take(event)
    return decisions


def texts(decisions: Sequence[SessionDecision]) -> list[str]:
    return [each.text for each in decisions]


def given(events: Sequence[Event], most_tokens: int = MOST_TOKENS) -> list[str]:
    decisions = decisions_of(events)
    return texts(hand_back(decisions.listed(), decisions.files_in_sight, most_tokens=most_tokens).given)


def test_a_line_says_who_decided_when_and_what_carried_it_out() -> None:
    opened = edit("src/store.py", "import sqlite3\ndatabase = SQLite()")
    events = [person(KEEP), agent(SQLITE, at=60.0), replace(opened, error=True), opened]
    decisions = decisions_of(events)
    back = hand_back(decisions.listed(), decisions.files_in_sight)
    _, *lines = back.text.splitlines()
    assert lines == [
        f"- event 1 01-15 12:00, person: {KEEP}",
        f"- event 2 01-15 12:01, you, carried out at event 4: {SQLITE}",
    ]
    assert back.tokens == tokens_of_length(len(back.text))
    assert back.message.startswith("[ebbtide] The model got 2 decisions of this session back: about ")


def test_people_come_first_then_what_was_done_then_what_is_open_then_what_was_said() -> None:
    done = "We'll keep retry_limit in config.toml rather than in the code."
    said = "We decided to use Redis for the queue."
    put_forward = "I'd recommend caching the totals in cache.py."
    events = [
        agent(done),
        edit("config.toml", "retry_limit = 3"),
        agent(said, at=400.0),
        person(KEEP, at=800.0),
        agent(put_forward, at=1200.0),
    ]
    assert given(events) == [KEEP, done, put_forward, said]


def test_what_was_put_forward_and_passed_over_is_not_open() -> None:
    put_forward = "I'd recommend caching the totals in cache.py."
    assert given([agent(put_forward), person("What does the log say?", at=9.0)]) == []
    assert given([person("What does the log say?"), agent(put_forward, at=9.0)]) == [put_forward]


def test_the_newest_comes_first_but_for_files_in_sight() -> None:
    first, second = "Keep the old names in names.py.", "Leave the colours in theme.css as they are."
    assert given([person(first), person(second, at=400.0)]) == [second, first]
    assert given([person(first), person(second, at=400.0), edit("app/names.py")]) == [first, second]


@pytest.mark.parametrize("later", [60.0, 7200.0])
def test_what_a_person_takes_back_is_not_handed_back(later: float) -> None:
    """Also hours later, far outside the window of duplicates."""
    old, new = "Set the client timeout to 30 s.", "Set the client timeout to 60 s."
    decisions = decisions_of([person(old), person(new, at=later)])
    assert texts(decisions.listed()) == [new]
    assert texts(decisions.taken()) == [old, new]
    assert decisions.taken()[0].replaced_by == decisions.taken()[1].id


def test_an_agent_does_not_take_back_what_a_person_said() -> None:
    theirs, own = "Set the client timeout to 30 s.", "We decided to set the client timeout to 60 s."
    assert given([person(theirs), agent(own, at=7200.0)]) == [theirs]


def test_a_decision_that_is_said_again_is_one() -> None:
    decisions = decisions_of([person(KEEP), agent("Fine.", at=60.0), person(KEEP, at=7200.0)])
    assert len(decisions.taken()) == 1
    assert decisions.taken()[0].event == 1


def test_a_decision_that_returns_is_a_new_one() -> None:
    old, new = "Set the client timeout to 30 s.", "Set the client timeout to 60 s."
    decisions = decisions_of([person(old), person(new, at=4000.0), person(old, at=8000.0)])
    assert [each.event for each in decisions.listed()] == [3]


def test_orders_to_sub_agents_are_no_words_of_a_person() -> None:
    assert given([person(KEEP, chain="a1"), agent(SQLITE, chain="a1")]) == []


def test_the_text_is_bounded_and_says_how_many_are_left_out() -> None:
    things = ("red", "blue", "green", "amber", "grey", "pink", "teal", "gold", "white", "black")
    words = [
        f"Keep the {thing} rows of table_{number}.csv, since the {thing} report of shop {number} needs them."
        for number, thing in enumerate(things * 6)
    ]
    decisions = decisions_of([person(text, at=400.0 * at) for at, text in enumerate(words)])
    standing = decisions.listed()
    back = hand_back(standing)
    assert len(standing) > 40
    assert 300 < back.tokens <= MOST_TOKENS
    assert back.left_out == len(standing) - len(back.given) > 20
    assert back.text.splitlines()[-1] == f"{back.left_out} more left out."
    assert f", {back.left_out} left out: about {back.tokens} tokens." in back.message


def test_a_secret_is_masked_and_a_long_decision_cut() -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    back = hand_back(decisions_of([person(f"Use the token {key} for the mirror, not the old one.")]).listed())
    assert len(back.given) == 1
    assert key not in back.text
    tail = " and the rows of the table" * 30
    back = hand_back(decisions_of([person(f"Keep the old endpoint{tail}.")]).listed())
    assert all(len(line) < 300 for line in back.text.splitlines())


def test_nothing_was_decided() -> None:
    back = hand_back(decisions_of([agent("The test fails with a timeout.")]).listed())
    assert (back.text, back.given, back.left_out) == ("", (), 0)
