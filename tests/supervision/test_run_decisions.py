"""What becomes of the choices that a run states, and that both commands say the same of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from ebbtide.checking import check
from ebbtide.decisions.turns.filtered_turns import Disposition, SpokenTurn
from ebbtide.decisions.turns.turn_filter import filter_turns
from ebbtide.events.event import ModelCall
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.summary.run_decisions import RunDecisions
from ebbtide.supervision.summary.run_summary import RunDecision
from ebbtide.traces.reading import open_trace

CHOICE = "We'll use SQLite for the event store."


def decisions_in(*texts: str, every_s: float | None = None) -> tuple[RunDecision, ...]:
    decisions = RunDecisions(Profile.DEFAULT)
    for event, text in enumerate(texts, start=1):
        decisions.turn(text, agent="a", event=event, ts=None if every_s is None else event * every_s)
    return decisions.listed()


def test_the_list_is_bounded_and_the_rest_is_counted(monkeypatch):
    """A run of any length has a list of a length that can be shown."""
    monkeypatch.setattr("ebbtide.supervision.summary.run_decisions._LISTED", 5)
    decisions = RunDecisions(Profile.DEFAULT)
    for number in range(8):
        decisions.turn(f"We'll use module {number} for part {number}.", agent=None, event=number)
    assert len(decisions.listed()) == 5
    assert decisions.left_out == 3


def test_a_turn_that_comes_again_repeats_its_decision():
    """The same words later are a duplicate of the first."""
    decisions = decisions_in(CHOICE, CHOICE, CHOICE)
    assert [(one.kept, one.duplicate_of) for one in decisions] == [(True, None), (False, 1), (False, 1)]
    assert [one.reason for one in decisions] == [None, *["It was decided at event 1."] * 2]


def test_events_are_the_clock_where_there_are_no_times():
    """With times what is said again after the window is decided again, as in a log."""
    assert [one.kept for one in decisions_in(CHOICE, CHOICE, every_s=301.0)] == [True, True]
    assert [one.kept for one in decisions_in(CHOICE, CHOICE, every_s=299.0)] == [True, False]


def test_next_steps_are_refused():
    """They sound like a choice and choose nothing."""
    (one,) = decisions_in("Let's use find_file to see where it is.")
    assert (one.kept, one.reason) == (False, "It names the next step and chooses nothing")


@pytest.mark.parametrize(
    ("second", "supersedes"),
    [
        ("We'll not drop step-a of the nightly import job.", 1),
        ("We'll drop step-b of the nightly import job.", None),
        ("We'll use nginx as the proxy.", None),
    ],
    ids=["negated", "another word", "another matter"],
)
def test_only_what_contradicts_supersedes(second, supersedes):
    """A mere other word may be another matter."""
    decisions = decisions_in("We'll drop step-a of the nightly import job.", second)
    assert [(one.kept, one.supersedes) for one in decisions] == [(True, None), (True, supersedes)]


def test_decisions_of_rounds():
    """A round that lists its decisions without a text has decided them; of one with a text that is read."""
    item = Round(number=1, decisions=("SQLite for the event store", "One writer"))
    turn = f"Fine. {CHOICE} The fix is to queue the writers."
    decisions = decisions_in(item.words, replace(item, agent="a", text=turn).words)
    assert [one.text for one in decisions] == [
        "SQLite for the event store",
        "One writer",
        CHOICE,
        "The fix is to queue the writers.",
    ]
    speakers = (None, "agent", "User")
    assert [replace(item, agent=agent).is_by_person for agent in speakers] == [False, False, True]


def test_what_people_decide_in_the_course_of_a_run_is_told():
    """Their task is none of it, nor what only sounds like a choice; what agents propose, they accept."""
    decisions = RunDecisions(Profile.DEFAULT)
    decisions.turn("Remove all traces of the second writer!", agent=None, event=1, by_person=True)
    decisions.turn("I'd recommend a cache in `store.py`.", agent="coder", event=2)
    decisions.turn(
        "Yes, do that. Keep the old name, it is used in tests.", agent=None, event=3, by_person=True
    )
    decisions.turn("I wonder if you could say why we will use it?", agent="user", event=4, by_person=True)
    told = [(one.event, one.agent, one.by_person, one.kept, one.accepted) for one in decisions.listed()]
    assert told[0] == (2, "coder", False, True, 3)
    assert {row[:4] for row in told[1:]} == {(3, None, True, True)}
    assert "Keep the old name, it is used in tests." in [one.text for one in decisions.listed()]


def kept_by_both(path: Path) -> tuple[list[str], list[str]]:
    """What `ebbtide check` keeps of a trace, and what `ebbtide decisions from` does."""
    turns = [
        SpokenTurn(number=number, speaker=event.agent or "assistant", text=event.text, ts=event.ts)
        for number, event in enumerate(open_trace(str(path)), start=1)
        if isinstance(event, ModelCall) and event.text
    ]
    checked = [one.text for one in check(path).decisions if one.kept and not one.by_person]
    return checked, [one.sentence.text for one in filter_turns(turns).having(Disposition.KEPT)]


def test_both_commands_keep_the_same_of_the_example(project):
    """The example of the documents has five decisions for either."""
    checked, filtered = kept_by_both(project / "examples" / "decisions" / "conversation.json")
    assert checked == filtered
    assert len(checked) == 5


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("swe_agent/marshmallow-code__marshmallow-1867.traj", 1),
        ("autogen_messages/3.json", 3),
        ("autogen_messages/8.json", 1),
        ("claude_code/session_b.jsonl", 0),
        ("mini_swe_agent/github_issue.traj.json", 0),
    ],
)
def test_both_commands_keep_the_same_of_real_traces(data, name, number):
    """And no step to find something out among it."""
    checked, filtered = kept_by_both(data / "traces" / name)
    assert checked == filtered
    assert len(checked) == number
    assert not any("find_file" in text for text in checked)


def test_what_reverses_a_decision_does_not_repeat_it():
    """It is kept, names what it supersedes, and is no duplicate of that."""
    _, reversal = decisions_in(
        "We'll drop step-a of the nightly import job.", "We'll not drop step-a of the nightly import job."
    )
    assert (reversal.kept, reversal.supersedes, reversal.duplicate_of) == (True, 1, None)
