"""The summary of a run: what it took, what was found and what that cost, where it would have ended."""

import json
import math
import pickle
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.limit_alerts import LimitAlert, Nearness
from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Phase, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.events.usage import Usage
from ebbtide.report.wording import missing_cost
from ebbtide.supervision.facts import DryRoundFacts, LimitFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary import sentences
from ebbtide.supervision.summary.findings import OtherNotes
from ebbtide.supervision.summary.headline import Headline
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary, Spending
from ebbtide.supervision.summary.spending import spending_of, together
from ebbtide.supervision.summary.tally_history import TallyHistory
from ebbtide.supervision.verdict import Verdict

CLAIMS = ("The cache is stale after every deployment.", "Retries hide the timeouts.", "The index is missing.")


def recorded(*events: Event | Round, decisions: bool = True, **options: Any) -> RunSummary:
    recorder = RunRecorder(RunOptions(**options), decisions=decisions)
    for event in events:
        recorder.record(event)
    return recorder.summary("run", "test")


def look(number: int, cost_usd: float | None = None, **more: Any) -> Event:
    usage = None if cost_usd is None else Usage(cost_usd=cost_usd)
    return ToolCall(name="read", args={"path": f"f{number}"}, result=f"content {number}", usage=usage, **more)


def say(text: str | None, *, agent: str | None = None, ts: float | None = None, **usage: Any) -> Event:
    return ModelCall(text=text, agent=agent, ts=ts, usage=Usage(**usage) if usage else None)


def pair(cost_usd: float, ts: float | None = None) -> list[Event]:
    usage = Usage(cost_usd=cost_usd)
    return [
        ToolCall(name="web_search", args={"q": "x"}, result="none", ts=ts, usage=usage),
        ToolCall(name="web_fetch", args={"url": "y"}, result="not there", ts=ts, usage=usage),
    ]


def test_spending_is_summed_by_class_and_what_is_unknown_stays_unknown():
    """No class that nobody stated becomes zero."""
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


def test_nothing_stated_is_nothing_known():
    """A run without tokens, cost and times has None for all three."""
    summary = recorded(look(1), look(2))
    assert (summary.spent.cost_usd, summary.spent.tokens.total, summary.spent.seconds) == (None, None, None)
    assert not summary.timed
    assert recorded().reason == "There are no events."


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
    finding = summary.findings[0]
    assert sentences.place(finding, sentences.unit(summary.spent)) == "calls 31-52"
    assert finding.sentence == "web_search and web_fetch in turn, 11 times, same results"
    assert sentences.price(finding.cost_usd, finding.tokens) == "$1.84"
    assert (finding.action, finding.cause, finding.copies) == (Action.STOP, Cause.DIVERGENCE, 11)
    assert (summary.verdict.action, summary.headline) == (Action.STOP, Headline.NOISY)
    assert summary.recovered
    assert summary.reason == (
        "web_search and web_fetch in turn, 11 times, same results (calls 31-52, $1.84)."
    )


def test_the_saving_is_what_came_until_the_run_recovered():
    """A loop of two calls is ended after its fourth turn; the honest call behind the loop saves nothing."""
    events = [call for _ in range(11) for call in pair(cost_usd=0.1, ts=1.0)]
    saving = recorded(*events, look(1, ts=9.0)).saving
    assert saving is not None
    assert (saving.verdict.event, saving.verdict.action) == (8, Action.STOP)
    assert (saving.after.events, saving.after.tool_calls, saving.after.seconds) == (14, 14, 0.0)
    assert saving.after.cost_usd == pytest.approx(1.4)


def test_no_ending_and_an_ending_at_the_end_save_nothing():
    """There is nothing after it."""
    assert recorded(look(1), look(2)).saving is None
    assert recorded(look(1), limits=Limits(steps=1)).saving is None


def test_a_loop_that_comes_back_costs_without_what_was_between():
    """Honest work between two stretches of a loop is not the loop's."""
    loop = [ToolCall(name="ls", args={}, result="a", usage=Usage(cost_usd=0.1))] * 3
    events = [*loop, *[look(number, cost_usd=5.0) for number in range(4)], *loop]
    finding = recorded(*events).findings[0]
    assert (finding.first_event, finding.last_event) == (1, 10)
    assert finding.cost_usd == pytest.approx(0.6)


def test_the_most_expensive_findings_come_first_and_then_the_longest():
    """Money comes before length."""
    cheap = [ToolCall(name="ls", args={}, result="a", usage=Usage(cost_usd=0.01))] * 9
    dear = [ToolCall(name="buy", args={}, result="b", usage=Usage(cost_usd=0.5))] * 4
    assert [finding.tools for finding in recorded(*cheap, *dear).findings] == [("buy",), ("ls",)]
    long = [replace(call, usage=None) for call in (*dear, *cheap)]
    assert [finding.tools for finding in recorded(*long).findings] == [("ls",), ("buy",)]


def test_chains_are_apart_and_events_are_numbered_over_all():
    """A sub-agent's loop costs what the sub-agent spent, at the run's numbers."""
    events = []
    for number in range(6):
        events += [
            look(number, cost_usd=1.0),
            ToolCall(name="ls", args={}, result="a", chain_id="sub", usage=Usage(cost_usd=0.1)),
        ]
    summary = recorded(*events)
    finding = summary.findings[0]
    assert (finding.chain_id, finding.first_event, finding.last_event) == ("sub", 2, 12)
    assert finding.cost_usd == pytest.approx(0.6)
    assert summary.chains == ("", "sub")
    assert summary.saving is not None
    assert summary.saving.after.events == 2


def test_numbers_of_the_source_do_not_move_findings():
    """Events may be numbered by their file, with gaps; started calls and duplicates take no number."""
    calls = [
        ToolCall(name="ls", args={}, result="a", seq=10 * number, usage=Usage(cost_usd=1.0))
        for number in range(3, 7)
    ]
    events = [replace(calls[0], phase=Phase.STARTED, seq=None), look(0, seq=5), *calls, calls[-1]]
    summary = recorded(*events)
    finding = summary.findings[0]
    assert (finding.first_event, finding.last_event, finding.cost_usd) == (2, 5, 4.0)
    assert summary.spent.events == 5


def test_limits_are_findings_and_say_how_much():
    """The limit that was passed, from the first event to the last."""
    summary = recorded(*[look(number) for number in range(6)], limits=Limits(steps=4))
    finding = next(finding for finding in summary.findings if finding.action is Action.STOP)
    assert (finding.kind, finding.cause, finding.last_event) == ("limit", Cause.LIMIT, 4)
    assert finding.sentence == "step limit reached (4 of 4)"
    assert summary.reason == "Step limit reached (4 of 4)."


def test_rounds_and_where_they_ran_dry():
    """The points of the novelty curve, and the dry stretch as a finding."""
    rounds = [Round(number=number, claims=CLAIMS, open_questions=("Who?",)) for number in range(1, 6)]
    summary = recorded(*rounds)
    assert [point.novelty_rate for point in summary.rounds] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert [point.signal for point in summary.rounds][-1] == "ESCALATE"
    assert summary.converged == "ESCALATE"
    finding = summary.findings[0]
    assert (finding.kind, finding.first_event, finding.last_event) == ("stuck_rounds", 2, 5)
    assert summary.saving is not None
    assert (summary.saving.verdict.event, summary.saving.after.events) == (3, 2)


def stuck(event: int, dry_findings: int = 2) -> Verdict:
    return Verdict(
        action=Action.ESCALATE,
        cause=Cause.CONVERGENCE,
        facts=DryRoundFacts(rounds=dry_findings, ready=False),
        event=event,
        chain_id="",
    )


def history_of(calls: list[Event], at: int = 1) -> tuple[TallyHistory, Tally]:
    """What a chain took with each of these events, whose numbers begin with `at`."""
    tally = Tally()
    history = TallyHistory("", tally)
    for number, call in enumerate(calls, start=at):
        tally.add(call, call.ts)
        history.note(tally, number, number, call.ts)
    return history, tally


def noted(*stretches: tuple[int, int]) -> list[RunFinding]:
    last_event = max(last for _, last in stretches)
    history, _ = history_of([look(number, cost_usd=1.0) for number in range(last_event)])
    notes = OtherNotes()
    for first, last in stretches:
        for event in range(first + 1, last + 1):
            notes.add(stuck(event, event - first + 1), first)
    return notes.findings({"": history})


def test_a_dry_stretch_is_one_finding_that_grows():
    """However often it is reported; something new in between makes another one."""
    (finding,) = noted((3, 40))
    assert (finding.first_event, finding.last_event, finding.cost_usd) == (3, 40, 38.0)
    assert finding.sentence == (
        "38 rounds in a row brought nothing new, and nothing says that it is finished: more of the same will "
        "not help"
    )
    assert [(one.first_event, one.last_event, one.id) for one in noted((3, 6), (9, 12))] == [
        (3, 6, "stuck_rounds-1"),
        (9, 12, "stuck_rounds-2"),
    ]


def test_many_dry_stretches_are_one_finding_with_its_returns():
    """What was between them costs it nothing."""
    (finding,) = noted(*[(10 * number + 1, 10 * number + 5) for number in range(200)])
    assert (finding.first_event, finding.last_event, finding.copies) == (1, 1_995, 200)
    assert finding.cost_usd == 1_000.0
    assert finding.sentence.startswith("5 rounds in a row brought nothing new")
    assert finding.sentence.endswith("; it came back 199 times")


def test_the_last_call_before_a_limit_and_the_limit_are_two_findings():
    """Rungs of a limit do not grow into each other."""
    notes = OtherNotes()
    for action, nearness in ((Action.FINALIZE, Nearness.LAST), (Action.STOP, Nearness.REACHED)):
        facts = LimitFacts(alert=LimitAlert(LimitKind.STEPS, nearness, 4, 4))
        notes.add(Verdict(action=action, cause=Cause.LIMIT, facts=facts, event=4), 1)
    assert [finding.action for finding in notes.findings({})] == [Action.FINALIZE, Action.STOP]


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
    assert [(one.event, one.supersedes) for one in summary.decisions if one.kept] == [(2, None), (6, 2)]
    assert [(one.event, one.duplicate_of) for one in summary.decisions if not one.kept] == [(4, 2)]


def test_decisions_may_be_left_aside():
    """Who does not want them does not pay for them."""
    assert recorded(say("We'll use SQLite for the store."), decisions=False).decisions == ()


def test_the_timeline_is_kept_where_it_is_asked_for():
    """Equal calls have one identity, and money and tokens add up."""
    events = [look(1, cost_usd=0.5), look(2), look(1, cost_usd=0.25), say("Hello.", output_tokens=3)]
    assert recorded(*events).timeline == ()
    cells = recorded(*events, timeline=True).timeline
    assert [cell.identity for cell in cells] == [0, 1, 0, 2]
    assert [cell.cost_usd for cell in cells] == [0.5, 0.5, 0.75, 0.75]
    assert [cell.tokens for cell in cells] == [None, None, None, 3]
    assert [cell.kind for cell in cells] == ["tool", "tool", "tool", "llm"]
    assert cells[0].excerpt == "read f1 \u2192 content 1"


def test_every_event_has_a_cell_with_its_name():
    """A call of a model has no arguments, and a notice no words."""
    events = [
        ModelCall(),
        ModelCall(text="hm", part=ModelPart.THOUGHT),
        Message(text="Go on."),
        Message(),
        Notice(kind=NoticeKind.COMPACTION),
        Notice(kind=NoticeKind.ERROR, text="overloaded", error=True),
        ToolCall(name="ls", error=True),
    ]
    cells = recorded(*events, timeline=True).timeline
    assert [(cell.kind, cell.name, cell.excerpt, cell.error) for cell in cells] == [
        ("llm", "message", "message", False),
        ("llm", "thought", "hm", False),
        ("user", "message", "Go on.", False),
        ("user", "message", "message", False),
        ("system", "condensation", "condensation", False),
        ("system", "error", "overloaded", True),
        ("tool", "ls", "ls", True),
    ]


def test_a_summary_may_be_asked_for_while_the_run_goes_on():
    """What comes later is in the next one; what was reported stays reported."""
    recorder = RunRecorder()
    for number in range(8):
        recorder.record(ToolCall(name="ls", args={}, result="a", usage=Usage(cost_usd=0.1)))
        findings = recorder.summary("run", "test").findings
        assert [finding.copies for finding in findings] == ([number + 1] if number >= 2 else [])


def test_shadow_says_where_it_would_have_ended():
    """The verdict is marked, and the saving is there."""
    summary = recorded(*[ToolCall(name="ls", args={}, result="a")] * 7, shadow=True)
    assert summary.saving is not None
    assert summary.saving.verdict.shadow


def test_the_wire_form_is_json_and_the_value_can_be_sent_to_another_process():
    """`to_dict` leaves the timeline out; its verdicts are those of `Verdict.to_dict`."""
    summary = recorded(
        *[ToolCall(name="ls", args={}, result="a")] * 7, say("We'll use SQLite here."), timeline=True
    )
    wire = json.loads(json.dumps(summary.to_dict()))
    assert wire["schema"] == 3
    assert "timeline" not in wire
    assert set(wire) == {"schema", "headline", "course", *(part.name for part in fields(RunSummary))} - {
        "timeline"
    }
    assert (wire["headline"], wire["reason"]) == ("STUCK", summary.reason)
    assert Verdict.from_dict(wire["verdict"]) == summary.verdict
    assert Verdict.from_dict(wire["saving"]["verdict"]) == summary.saving.verdict
    assert pickle.loads(pickle.dumps(summary)) == summary  # noqa: S301 - it was just written


costs = st.none() | st.floats(0, 2)


@settings(max_examples=50)
@given(
    st.lists(
        st.builds(
            ToolCall,
            name=st.sampled_from("ab"),
            result=st.sampled_from(["x", "y"]),
            chain_id=st.sampled_from(["", "sub"]),
            usage=st.builds(Usage, cost_usd=costs, input_tokens=st.none() | st.integers(0, 9)),
            ts=st.none() | st.floats(0, 100),
        ),
        max_size=60,
    )
)
def test_the_parts_are_never_more_than_the_whole(events):
    """A finding lies in the run and costs at most what its chain spent; the saving at most what was spent."""
    summary = recorded(*events)
    total = sum(event.usage.cost_usd or 0.0 for event in events)
    assert (summary.spent.cost_usd or 0.0) == pytest.approx(total)
    assert summary.spent.events == len(events)
    for finding in summary.findings:
        assert 1 <= finding.first_event <= finding.last_event <= len(events)
        assert (finding.cost_usd or 0.0) <= total + 1e-9
        assert (finding.tokens or 0) <= (summary.spent.tokens.total or 0)
    if summary.saving is not None:
        after = summary.saving.after
        assert 0 < after.events < len(events)
        assert -1e-9 <= (after.cost_usd or 0.0) <= total + 1e-9


def test_a_history_of_any_length_is_bounded(monkeypatch):
    """The older half of the table is forgotten; what was spent is not."""
    monkeypatch.setattr("ebbtide.supervision.summary.tally_history._KEPT", 64)
    monkeypatch.setattr("ebbtide.supervision.summary.tally_history._TOGETHER", 8)
    history, _ = history_of([look(number, cost_usd=1.0) for number in range(1_000)])
    assert len(history._places) <= 72
    assert spending_of(history.tallies).cost_usd == 1_000.0
    assert history.stretch(999, 1_000).cost_usd == 2.0
    assert history.stretch(1, 1_000).last == 1_000


amounts = st.none() | st.integers(-1, 9_000) | st.sampled_from([1.5, math.nan, True])
usages = st.builds(Usage, cost_usd=amounts, input_tokens=amounts, output_tokens=amounts)
times = st.none() | st.floats(0, 9_000)


@given(
    st.lists(
        st.one_of(
            st.builds(ToolCall, name=st.just("read"), ts=times, usage=usages),
            st.builds(ModelCall, part=st.sampled_from(ModelPart), ts=times, usage=usages),
            st.builds(Message, ts=times, usage=usages),
        ),
        max_size=150,
    ),
    st.sets(st.integers(0, 150)),
)
def test_looking_into_a_history_changes_nothing(calls, looks):
    """It notes several events at once; what it says does not depend on when it is asked."""
    tally = Tally()
    read_often, left_alone = TallyHistory("", tally), TallyHistory("", tally)
    for number, call in enumerate(calls, start=1):
        tally.add(call, call.ts)
        for history in (read_often, left_alone):
            history.note(tally, number, number, call.ts)
        if number in looks:
            assert read_often.stretch(1, number).last == number
    for first in range(1, len(calls) + 1, 7):
        assert repr(read_often.stretch(first, first + 9)) == repr(left_alone.stretch(first, first + 9))


def test_an_empty_history_has_no_stretch():
    """Nothing was taken."""
    history = TallyHistory("", Tally())
    assert history.stretch(1, 2).cost_usd is None
    assert spending_of(history.tallies) == Spending()


def test_a_chain_that_was_dropped_and_came_back_keeps_what_it_had_taken():
    """Its tally begins afresh, and its history does not."""
    history, first = history_of([look(number, cost_usd=1.0, ts=float(number)) for number in range(3)])
    second = Tally()
    second.add(look(3, cost_usd=0.5, ts=9.0), 9.0)
    history.note(second, 4, 4, 9.0)
    assert history.tallies == [first, second]
    assert history.stretch(1, 4).cost_usd == 3.5
    assert history.stretch(4, 4).cost_usd == 0.5
    spent = spending_of(history.tallies)
    assert (spent.events, spent.cost_usd, spent.seconds) == (4, 3.5, 9.0)


def test_a_run_that_runs_dry_again_and_again_has_one_finding_of_it():
    """New answers between dry stretches do not make hundreds of findings."""
    turns = [say("The cache is stale. Retries hide the timeouts.", agent=name) for name in "abab"]
    events = [event for number in range(50) for event in (look(number), *turns)]
    dry_findings = [finding for finding in recorded(*events).findings if finding.kind == "stuck_rounds"]
    assert len(dry_findings) <= 4


@pytest.mark.parametrize("name", ["results unknown", "loop: x", "{tools}", "ls. It went on", "{same} answer"])
def test_nothing_is_read_back_out_of_a_sentence(name):
    """A tool may be called whatever it is: its finding is that of any other tool."""

    def findings(tool: str) -> list[tuple[Any, ...]]:
        calls = [ToolCall(name=tool, args={"n": 1}, result="a", usage=Usage(cost_usd=0.1))] * 6
        idle = [
            ToolCall(name=f"{tool} {n % 5}", args={"n": n % 5}, result="b", usage=Usage(cost_usd=0.2))
            for n in range(16)
        ]
        summary = recorded(*calls, *idle)
        parts = [replace(finding, id="", tools=(), evidence="") for finding in summary.findings]
        return [
            (
                summary.headline,
                summary.verdict.action,
                summary.latest.action,
                summary.reason.replace(tool, "T"),
            ),
            *[replace(part, sentence=part.sentence.replace(tool, "T")) for part in parts],
        ]

    assert findings(name) == findings("zebra")
    assert "results unknown" not in repr(findings(name))


def test_answers_that_are_not_known_are_a_fact_of_the_finding():
    """Its sentence and its advice say so."""
    summary = recorded(*[ToolCall(name="same answer", args={"n": 1})] * 6)
    assert summary.reason == "same answer 6 times in a row, same arguments, results unknown (calls 1-6)."
    assert summary.findings[0].advice.startswith("The same calls were made again and again.")


def test_a_text_that_was_not_read_whole_is_a_fault_in_words() -> None:
    """The summary says how many texts were cut and how many claims were not compared."""
    recorder = RunRecorder()
    recorder.record(ModelCall(text="The cache is cold.\n\n" + "x" * 200_000))
    recorder.record(ModelCall(text="\n".join(f"- Table t{n} holds {n * 3} rows." for n in range(600))))
    assert recorder.summary("run", "test").faults == (
        "1 long text was read only at both ends",
        "88 claims were not compared, because their rounds contain too many",
    )


def test_a_run_whose_record_states_too_little_output_cost_more() -> None:
    """The sum of the run is a lower bound wherever its bill is one."""
    summary = recorded(
        ModelCall(text="a long answer " * 100, usage=Usage(input_tokens=1_000, output_tokens=3))
    )
    assert summary.bill.sentence.startswith("At least ")
    assert (summary.bill.is_least, summary.spent.is_least) == (True, True)
    assert "less output than its texts" in (missing_cost(summary.spent) or "")


def test_a_sum_of_runs_is_a_lower_bound_where_one_of_them_is() -> None:
    whole = Spending(cost_usd=1.0)
    for part in (Spending(cost_usd=2.0, unrecorded=3), Spending(cost_usd=2.0, understated=True)):
        spent = together([whole, part])
        assert (spent.cost_usd, spent.is_least) == (3.0, True)
    assert not together([whole, whole]).is_least
