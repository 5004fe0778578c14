"""The summary of a run: what it took, what was found and what that cost, where it would have ended."""

import json
import math
import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, Phase, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.events.usage import Usage
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.summary.found import OtherNotes
from ebbtide.supervision.summary.ledger import Ledger
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary, Spending
from ebbtide.supervision.verdict import Action, Cause, Verdict

CLAIMS = ("The cache is stale after every deployment.", "Retries hide the timeouts.", "The index is missing.")


def recorded(*events: Event | Round, **how: Any) -> RunSummary:
    recorder = RunRecorder(**how)
    for event in events:
        recorder.record(event)
    return recorder.summary("run", "test")


def look(number: int, **fields: Any) -> Event:
    return ToolCall(name="read", args={"path": f"f{number}"}, result=f"content {number}", **fields)


def say(text: str | None, **fields: Any) -> Event:
    return ModelCall(text=text, **fields)


def pair(**fields: Any) -> list[Event]:
    return [
        ToolCall(name="search_web", args={"q": "x"}, result="none", **fields),
        ToolCall(name="open_page", **fields),
    ]


def test_spending_is_summed_by_class_and_what_is_unknown_stays_unknown():
    """No class that nobody told becomes zero."""
    spent = recorded(
        say("Hello there, all of you.", input_tokens=10, output_tokens=2, cost_usd=0.5, ts=10.0),
        look(1, ts=13.0),
        say(None, input_tokens=5, cache_read_tokens=100, model="m", ts=20.0),
        Message(text="Go on."),
        Notice(kind=NoticeKind.USAGE, usage=Usage(output_tokens=7)),
    ).spent
    assert (spent.events, spent.tool_calls, spent.llm_calls) == (5, 1, 2)
    tokens = spent.tokens
    assert (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write) == (15, 9, 100, None)
    assert (tokens.total, spent.cost_usd, spent.seconds) == (124, 0.5, 10.0)
    assert (spent.unpriced, spent.unpriced_models) == (1, ("m",))


def test_nothing_told_is_nothing_known():
    """A run without tokens, cost and times has None for all three."""
    summary = recorded(look(1), look(2))
    assert (summary.spent.cost_usd, summary.spent.tokens.total, summary.spent.seconds) == (None, None, None)
    assert not summary.timed
    assert recorded().verdict.reason == "There is no event."


def test_tokens_without_a_price_are_shown_and_with_one_they_cost():
    """A price table fills in what the trace does not say; where it does, the trace is right."""
    events = [say("x", model="small", input_tokens=1_000_000), say("y", model="odd", output_tokens=3)]
    prices = Prices({"small": {"input": 2.0}}, public=False)
    spent = recorded(*events, say("z", model="small", input_tokens=5, cost_usd=1.0), prices=prices).spent
    assert (spent.cost_usd, spent.unpriced, spent.unpriced_models) == (3.0, 1, ("odd",))


def test_a_finding_says_where_what_how_often_and_what_it_cost():
    """The line of the issue: where, which calls in turn, how often, and the money between the two."""
    events = [look(number, cost_usd=1.0) for number in range(30)]
    events += [call for _ in range(11) for call in pair(cost_usd=1.84 / 22)]
    summary = recorded(*events, *[look(number, cost_usd=1.0) for number in range(30, 40)])
    found = summary.findings[0]
    line = "calls 31-52: search_web and open_page in turn, 11 times, same answers, $1.84"
    assert sentences.finding(found, sentences.unit(summary.spent)) == line
    assert (found.action, found.cause, found.copies) == (Action.STOP, Cause.DIVERGENCE, 11)
    assert summary.verdict.action is Action.STOP
    assert summary.verdict.reason == (
        "search_web and open_page in turn, 11 times, same answers (calls 31-52, $1.84)."
    )


def test_the_saving_is_what_came_after_the_first_ending():
    """A loop of two calls is ended after its fifth turn; what the run took from there is the saving."""
    events = [call for _ in range(11) for call in pair(cost_usd=0.1, ts=1.0)]
    saving = recorded(*events, look(1, ts=9.0)).saving
    assert saving is not None
    assert (saving.verdict.event, saving.verdict.action) == (10, Action.STOP)
    assert (saving.after.events, saving.after.tool_calls, saving.after.seconds) == (13, 13, 8.0)
    assert saving.after.cost_usd == pytest.approx(1.2)


def test_no_ending_and_an_ending_at_the_end_save_nothing():
    """There is nothing after it."""
    assert recorded(look(1), look(2)).saving is None
    assert recorded(look(1), limits=Limits(steps=1)).saving is None


def test_a_loop_that_comes_back_costs_without_what_was_between():
    """Honest work between two stretches of a loop is not the loop's."""
    loop = [ToolCall(name="ls", result="a", usage=Usage(cost_usd=0.1))] * 3
    events = [*loop, *[look(number, cost_usd=5.0) for number in range(4)], *loop]
    found = recorded(*events).findings[0]
    assert (found.first_event, found.last_event) == (1, 10)
    assert found.cost_usd == pytest.approx(0.6)


def test_findings_come_dearest_first_and_then_longest():
    """Money comes before length."""
    cheap = [ToolCall(name="ls", result="a", usage=Usage(cost_usd=0.01))] * 9
    dear = [ToolCall(name="buy", result="b", usage=Usage(cost_usd=0.5))] * 4
    assert [found.tools for found in recorded(*cheap, *dear).findings] == [("buy",), ("ls",)]
    long = [replace(call, cost_usd=None) for call in (*dear, *cheap)]
    assert [found.tools for found in recorded(*long).findings] == [("ls",), ("buy",)]


def test_chains_are_apart_and_events_are_numbered_over_all():
    """A sub-agent's loop costs what the sub-agent spent, at the run's numbers."""
    events = []
    for number in range(6):
        events += [
            look(number, cost_usd=1.0),
            ToolCall(name="ls", result="a", chain_id="sub", usage=Usage(cost_usd=0.1)),
        ]
    summary = recorded(*events)
    found = summary.findings[0]
    assert (found.chain_id, found.first_event, found.last_event) == ("sub", 2, 12)
    assert found.cost_usd == pytest.approx(0.6)
    assert summary.chains == ("", "sub")
    assert summary.saving is not None
    assert summary.saving.after.events == 1


def test_numbers_of_the_source_do_not_move_findings():
    """Events may be numbered by their file, with gaps; started calls and duplicates take no number."""
    calls = [
        ToolCall(name="ls", result="a", seq=10 * number, usage=Usage(cost_usd=1.0)) for number in range(3, 7)
    ]
    events = [replace(calls[0], phase=Phase.STARTED, seq=None), look(0, seq=5), *calls, calls[-1]]
    summary = recorded(*events)
    found = summary.findings[0]
    assert (found.first_event, found.last_event, found.cost_usd) == (2, 5, 4.0)
    assert summary.spent.events == 5


def test_limits_are_findings_and_say_how_much():
    """The limit that was passed, from the first event to the last."""
    summary = recorded(*[look(number) for number in range(6)], limits=Limits(steps=4))
    found = next(found for found in summary.findings if found.action is Action.STOP)
    assert (found.kind, found.cause, found.last_event) == ("limit", Cause.LIMIT, 4)
    assert found.sentence == "the steps ran out (4 of 4)"
    assert summary.verdict.reason == "the steps ran out (4 of 4)."


def test_rounds_and_where_they_ran_dry():
    """The points of the novelty curve, and the dry stretch as a finding."""
    rounds = [Round(number=number, claims=CLAIMS, open_questions=("Who?",)) for number in range(1, 6)]
    summary = recorded(*rounds)
    assert [point.novelty_rate for point in summary.rounds] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert [point.signal for point in summary.rounds][-1] == "ESCALATE"
    assert summary.converged == "ESCALATE"
    found = summary.findings[0]
    assert (found.kind, found.first_event, found.last_event) == ("stuck_rounds", 2, 5)
    assert summary.saving is not None
    assert (summary.saving.verdict.event, summary.saving.after.events) == (3, 2)


def stuck(event: int, dry: int = 2) -> Verdict:
    return Verdict(
        action=Action.ESCALATE,
        cause=Cause.CONVERGENCE,
        reason=f"{dry} rounds in a row brought nothing new.",
        event=event,
        kind="stuck_rounds",
        chain_id="",
    )


def told(*stretches: tuple[int, int]) -> list[RunFinding]:
    ledger = Ledger("")
    for number in range(1, max(last for _, last in stretches) + 1):
        ledger.take(look(number, cost_usd=1.0), number, number)
    notes = OtherNotes()
    for first, last in stretches:
        for event in range(first + 1, last + 1):
            notes.said(stuck(event, event - first + 1), first)
    return notes.findings({"": ledger})


def test_a_dry_stretch_is_one_finding_that_grows():
    """However often it is told; something new in between makes another one."""
    (found,) = told((3, 40))
    assert (found.first_event, found.last_event, found.cost_usd) == (3, 40, 38.0)
    assert found.sentence == "38 rounds in a row brought nothing new"
    assert [(one.first_event, one.last_event, one.id) for one in told((3, 6), (9, 12))] == [
        (3, 6, "stuck_rounds-1"),
        (9, 12, "stuck_rounds-2"),
    ]


def test_many_dry_stretches_are_one_finding_with_its_returns():
    """What was between them costs it nothing."""
    (found,) = told(*[(10 * number + 1, 10 * number + 5) for number in range(200)])
    assert (found.first_event, found.last_event, found.copies) == (1, 1_995, 200)
    assert found.cost_usd == 1_000.0
    assert found.sentence == "5 rounds in a row brought nothing new; it came back 199 times"


def test_the_last_call_before_a_limit_and_the_limit_are_two_findings():
    """Rungs of a limit do not grow into each other."""
    notes = OtherNotes()
    for action in (Action.FINALIZE, Action.STOP):
        notes.said(Verdict(action=action, cause=Cause.LIMIT, reason="x.", event=4, kind="limit"), 1)
    assert [found.action for found in notes.findings({})] == [Action.FINALIZE, Action.STOP]


def test_what_was_decided_repeated_reversed_and_refused():
    """Decisions come from the agent's turns alone, with the event that they repeat or reverse."""
    summary = recorded(
        Message(text="We'll use MySQL, I have decided."),
        say("We'll use SQLite for the event store because there is one writer."),
        look(1),
        say("We'll use SQLite for the event store because there is one writer."),
        look(2),
        say("We'll not use SQLite for the event store because there is one writer."),
    )
    kept = [decision for decision in summary.decisions if decision.kept]
    assert [(found.event, found.supersedes) for found in kept] == [(2, None), (6, 2)]
    again = [decision for decision in summary.decisions if not decision.kept]
    assert [(found.event, found.duplicate_of) for found in again] == [(4, 2)]


def test_decisions_may_be_left_aside():
    """Who does not want them does not pay for them."""
    assert recorded(say("We'll use SQLite for the store."), decisions=False).decisions == ()


def test_the_strip_is_kept_where_it_is_asked_for():
    """Equal calls have one identity, and money and tokens add up."""
    events = [look(1, cost_usd=0.5), look(2), look(1, cost_usd=0.25), say("Hello.", output_tokens=3)]
    assert recorded(*events).strip == ()
    strip = recorded(*events, strip=True).strip
    assert [cell.identity for cell in strip] == [0, 1, 0, 2]
    assert [cell.cost_usd for cell in strip] == [0.5, 0.5, 0.75, 0.75]
    assert [cell.tokens for cell in strip] == [None, None, None, 3]
    assert strip[0].shown == "read f1 \u2192 content 1"


def test_a_summary_may_be_asked_for_while_the_run_goes_on():
    """What comes later is in the next one; what was said stays said."""
    recorder = RunRecorder()
    for number in range(8):
        recorder.record(ToolCall(name="ls", result="a", usage=Usage(cost_usd=0.1)))
        copies = recorder.summary("run", "test").findings
        assert [found.copies for found in copies] == ([number + 1] if number >= 2 else [])


def test_shadow_says_where_it_would_have_ended():
    """The verdict is marked, and the saving is there."""
    summary = recorded(*[ToolCall(name="ls", result="a")] * 7, shadow=True)
    assert summary.saving is not None
    assert summary.saving.verdict.shadow


def test_the_wire_form_is_json_and_the_value_can_be_sent_to_another_process():
    """`to_dict` leaves the strip out."""
    summary = recorded(*[ToolCall(name="ls", result="a")] * 7, say("We'll use SQLite here."), strip=True)
    wire = json.loads(json.dumps(summary.to_dict()))
    assert wire["schema"] == 1
    assert "strip" not in wire
    assert pickle.loads(pickle.dumps(summary)) == summary  # noqa: S301 - it was just written


@settings(max_examples=50)
@given(
    st.lists(
        st.builds(
            Event,
            name=st.sampled_from("ab"),
            result=st.sampled_from(["x", "y"]),
            chain_id=st.sampled_from(["", "sub"]),
            cost_usd=st.none() | st.floats(0, 2),
            input_tokens=st.none() | st.integers(0, 9),
            ts=st.none() | st.floats(0, 100),
        ),
        max_size=60,
    )
)
def test_the_parts_are_never_more_than_the_whole(events):
    """A finding lies in the run and costs at most what its chain spent; the saving at most what was spent."""
    summary = recorded(*events)
    costs = [event.cost_usd for event in events if event.cost_usd is not None]
    assert (summary.spent.cost_usd or 0.0) == pytest.approx(sum(costs))
    assert summary.spent.events == len(events)
    for found in summary.findings:
        assert 1 <= found.first_event <= found.last_event <= len(events)
        assert (found.cost_usd or 0.0) <= sum(costs) + 1e-9
        assert (found.tokens or 0) <= (summary.spent.tokens.total or 0)
    if summary.saving is not None:
        after = summary.saving.after
        assert 0 < after.events < len(events)
        assert -1e-9 <= (after.cost_usd or 0.0) <= sum(costs) + 1e-9


def test_a_ledger_of_any_length_is_bounded(monkeypatch):
    """The older half of the table is forgotten; what was spent is not."""
    monkeypatch.setattr("ebbtide.supervision.summary.ledger._KEPT", 64)
    monkeypatch.setattr("ebbtide.supervision.summary.ledger._TOGETHER", 8)
    ledger = Ledger("")
    for number in range(1, 1_001):
        ledger.take(look(number, cost_usd=1.0), number, number)
    assert len(ledger._seqs) <= 72
    assert ledger.spending().cost_usd == 1_000.0
    assert ledger.stretch(999, 1_000).cost_usd == 2.0
    assert ledger.stretch(1, 1_000).last == 1_000


amounts = st.none() | st.integers(-1, 9_000) | st.sampled_from([1.5, math.nan, True])


@given(
    st.lists(
        st.builds(
            Event,
            name=st.sampled_from(["read", "message", "thought"]),
            kind=st.sampled_from(["tool", "llm", "user"]),
            ts=amounts,
            cost_usd=amounts,
            input_tokens=amounts,
            output_tokens=amounts,
        ),
        max_size=150,
    ),
    st.sets(st.integers(0, 150)),
)
def test_looking_into_a_ledger_changes_nothing(calls, looks):
    """It counts several events at once; what it tells does not depend on when it is asked."""
    asked, left_alone = Ledger(""), Ledger("")
    for number, call in enumerate(calls, start=1):
        for ledger in (asked, left_alone):
            ledger.take(call, number, number)
        if number in looks:
            assert asked.spending().events == number
    assert asked.spending() == left_alone.spending()
    assert asked.times() == left_alone.times()
    for first in range(1, len(calls) + 1, 7):
        assert repr(asked.stretch(first, first + 9)) == repr(left_alone.stretch(first, first + 9))


def test_an_empty_ledger_has_no_stretch():
    """Nothing was taken."""
    assert Ledger("").stretch(1, 2).cost_usd is None
    assert Ledger("").spending() == Spending()


SAID = {
    "one tool": (("ls",), "ls"),
    "two": (("a", "b"), "a and b"),
    "four": (("a", "b", "c", "d"), "a, b, c and d"),
    "many": (tuple("abcdef"), "a, b, c and 3 more"),
    "long": (("x" * 50,), "x" * 39 + "\u2026"),
    "none": ((), ""),
}


@pytest.mark.parametrize(("tools", "expected"), SAID.values(), ids=SAID)
def test_names_of_tools_in_a_sentence(tools, expected):
    """Few are named, many are counted."""
    assert sentences.listed(tools) == expected


def test_a_run_that_runs_dry_again_and_again_has_one_finding_of_it():
    """New answers between dry stretches do not make hundreds of findings."""
    turns = [say("The cache is stale. Retries hide the timeouts.", agent=name) for name in "abab"]
    events = [event for number in range(50) for event in (look(number), *turns)]
    dry = [found for found in recorded(*events).findings if found.kind == "stuck_rounds"]
    assert len(dry) <= 4
