"""Calls and results joined, usage counted once, totals compared, times put in order."""

from ebbtide.budget.prices import Prices
from ebbtide.checking import check_events
from ebbtide.events.event import ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage, total
from ebbtide.supervision.run_options import RunOptions
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import (
    anthropic_usage,
    disjoint_usage,
    has_spent,
    has_tokens,
    openai_usage,
    reported,
)
from ebbtide.traces.records.time_order import TimeOrder
from ebbtide.traces.records.usage_accounts import RunningTotal, UsageLedger


def test_results_find_their_calls() -> None:
    """In any order; a second call or result is a duplicate, a result without a call gives none."""
    calls = OpenCalls()
    assert [*calls.open("1", ToolCall(name="a", ts=1.0)), *calls.open("2", ToolCall(name="b"))] == []
    assert calls.open("1", ToolCall(name="a")) == ()
    assert calls.close("2", result="B", error=True) == (ToolCall(name="b", result="B", error=True),)
    assert calls.close("2", result="B") == ()
    assert calls.close("9", result="?") == ()
    assert calls.close("8", else_call=ToolCall(name="x"), result="?") == (ToolCall(name="x", result="?"),)
    assert calls.open(None, ToolCall(name="c")) == (ToolCall(name="c"),)
    calls.amend("1", error=True)
    assert calls.finish() == (ToolCall(name="a", error=True),)
    assert (calls.duplicates, len(calls)) == (2, 0)


def test_memory_of_ids_is_bounded() -> None:
    """Of very many ids the oldest are forgotten; of very many open calls the oldest are given out."""
    seen = Seen(most=2)
    assert [seen.before(name) for name in ("a", "b", "a", "c", "a")] == [False, False, True, False, False]
    calls = OpenCalls()
    names = [
        call.name for number in range(10_002) for call in calls.open(str(number), ToolCall(name=str(number)))
    ]
    assert names == ["0", "1"]


def test_usage_counts_what_came_on_top() -> None:
    """Of a call that is reported again only the growth counts; one that shrinks adds nothing."""
    once = CallsOnce()
    reports = [Usage(model="x", input_tokens=5, output_tokens=count) for count in (1, 4, 2)]
    growth = [once.sight("m", report).growth for report in reports]
    assert [(usage.model, usage.input_tokens, usage.output_tokens) for usage in growth] == [
        ("x", 5, 1),
        ("x", None, 3),
        ("x", None, None),
    ]
    assert [once.sight(None, report).growth.output_tokens for report in reports] == [1, 4, 2]


def test_growth_of_totals() -> None:
    """A total that falls, as after a restart, counts from where it had been."""
    running = RunningTotal()
    costs = [running.growth(Usage(cost_usd=cost)).cost_usd for cost in (1, 3, 2, 4, None)]
    assert costs == [1, 2, None, 1, None]


def test_the_rest_of_a_total() -> None:
    """What events carry is taken off; nothing is left where they carry all, and a known zero is known."""
    ledger = UsageLedger()
    ledger.add(ToolCall(name="m", usage=Usage(input_tokens=3, cost_usd=0.25)))
    rest = ledger.rest(Usage(input_tokens=5, output_tokens=0, cost_usd=0.25), ts=1.0)
    assert rest == (Notice(kind=NoticeKind.TOTAL, usage=Usage(input_tokens=2, output_tokens=0), ts=1.0),)
    assert ledger.rest(Usage(input_tokens=5, cost_usd=0.2)) == ()
    assert ledger.rest(Usage()) == ()


def test_dollars_of_a_run_are_the_cost_of_calls_that_state_tokens_alone() -> None:
    """The total is stated, so that the list price of these tokens is no cost beside it."""
    ledger = UsageLedger()
    call = ledger.add(ModelCall(text="", usage=Usage(model="m", input_tokens=1_000_000)))
    (total,) = ledger.rest(Usage(input_tokens=1_500_000, cost_usd=0.7))
    prices = Prices({"m": {"input": 2.0, "output": 2.0}}, public=False)
    spent = check_events([call, total], RunOptions(prices=prices)).spent
    assert (spent.cost_usd, spent.tokens.input, spent.unpriced) == (0.7, 1_500_000, 0)
    # Of one of several runs in a file nobody knows what all of them took.
    assert ledger.rest(Usage(cost_usd=0.9), chain_id="second")[0].stated is None


def test_classes_do_not_overlap() -> None:
    """Cached tokens are taken out of an input that counts them; parts larger than the whole are beside it."""
    assert disjoint_usage(total_input=10, output=1, cache_read=4, cache_write=2).input_tokens == 4
    assert disjoint_usage(total_input=3, output=1, cache_read=4).input_tokens == 3
    assert disjoint_usage(total_input=None, output="x").input_tokens is None
    chat = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    responses = {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    codex = {"input_tokens": 10, "output_tokens": 2, "cached_input_tokens": 4}
    expected = Usage(input_tokens=6, output_tokens=2, cache_read_tokens=4)
    assert [openai_usage(report) for report in (chat, responses, codex)] == [expected] * 3
    own = {"input_tokens": 6, "output_tokens": 2, "cache_read_input_tokens": 4}
    assert anthropic_usage(own) == expected


def test_what_a_usage_holds() -> None:
    """An empty one is none; a zero is a known number, but nothing that was spent."""
    assert reported(Usage()) is None
    assert reported(Usage(model="m")) == Usage(model="m")
    assert [has_tokens(usage) for usage in (Usage(), Usage(cost_usd=1.0), Usage(input_tokens=0))] == [
        False,
        False,
        True,
    ]
    assert [has_spent(usage) for usage in (None, Usage(input_tokens=0), Usage(cost_usd=1.0))] == [
        False,
        False,
        True,
    ]
    assert total([Usage(model="m", input_tokens=1), Usage(input_tokens=2)]) == Usage(input_tokens=3)


def test_times_are_put_in_order() -> None:
    """Events that came late go where they belong, those without a time stay behind the one before."""
    order = TimeOrder(most=3)
    times = [("a", 3.0), ("b", None), ("c", 1.0), ("d", 2.0), ("e", 9.0)]
    names = [call.name for name, ts in times for call in order.add([ToolCall(name=name, ts=ts)])]
    assert names + [call.name for call in order.released()] == ["c", "d", "a", "b", "e"]
