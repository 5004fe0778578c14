"""Calls and results joined, usage counted once, totals compared, times put in order."""

from ebbtide.events.event import Call
from ebbtide.traces.records.accounts import Ledger, Running, UsageOnce
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.time_order import TimeOrder
from ebbtide.traces.records.token_classes import anthropic_classes, disjoint, openai_classes


def test_results_find_their_calls() -> None:
    """In any order; a second call or result is a duplicate, a result without a call is told."""
    calls = OpenCalls()
    assert [*calls.opened("1", Call(name="a", ts=1.0)), *calls.opened("2", Call(name="b"))] == []
    assert calls.opened("1", Call(name="a")) == ()
    assert calls.closed("2", result="B", error=True) == (Call(name="b", result="B", error=True),)
    assert calls.closed("2", result="B") == ()
    assert calls.closed("9", result="?") == ()
    assert calls.closed("8", else_call=Call(name="x"), result="?") == (Call(name="x", result="?"),)
    assert calls.opened(None, Call(name="c")) == (Call(name="c"),)
    calls.amend("1", error=True)
    assert calls.finish() == (Call(name="a", error=True),)
    assert (calls.duplicates, calls.unmatched, len(calls)) == (2, 2, 0)


def test_memory_of_ids_is_bounded() -> None:
    """Of very many ids the oldest are forgotten; of very many open calls the oldest are given out."""
    seen = Seen(most=2)
    assert [seen.before(name) for name in ("a", "b", "a", "c", "a")] == [False, False, True, False, False]
    calls = OpenCalls()
    given = [
        call.name for number in range(10_002) for call in calls.opened(str(number), Call(name=str(number)))
    ]
    assert given == ["0", "1"]


def test_usage_counts_what_came_on_top() -> None:
    """Of a call that is told of again only the growth counts; one that shrinks adds nothing."""
    usage = UsageOnce()
    told = [{"input_tokens": 5, "output_tokens": count} for count in (1, 4, 2)]
    assert [usage.beyond("m", entry)["output_tokens"] for entry in told] == [1, 3, None]
    assert [usage.beyond(None, entry)["output_tokens"] for entry in told] == [1, 4, 2]


def test_growth_of_totals() -> None:
    """A total that falls, as after a restart, counts from where it had been."""
    running = Running()
    assert [running.growth({"cost_usd": cost})["cost_usd"] for cost in (1, 3, 2, 4, None)] == [
        1,
        2,
        None,
        1,
        None,
    ]


def test_the_rest_of_a_total() -> None:
    """What calls carry is taken off; nothing is told where nothing is left, and a known zero is known."""
    ledger = Ledger()
    ledger.add(Call(name="m", input_tokens=3, cost_usd=0.25))
    (rest,) = ledger.rest({"input_tokens": 5, "output_tokens": 0}, cost_usd=0.25)
    assert (rest.name, rest.kind, rest.input_tokens, rest.output_tokens, rest.cost_usd) == (
        "usage",
        "system",
        2,
        0,
        None,
    )
    assert ledger.rest({"input_tokens": 5}, cost_usd=0.2) == ()
    assert ledger.rest({"cache_read_tokens": None}) == ()


def test_classes_do_not_overlap() -> None:
    """Cached tokens are taken out of an input that counts them; parts larger than the whole are beside it."""
    assert disjoint(total_input=10, output=1, cache_read=4, cache_write=2)["input_tokens"] == 4
    assert disjoint(total_input=3, output=1, cache_read=4)["input_tokens"] == 3
    assert disjoint(total_input=None, output="x")["input_tokens"] is None
    chat = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    responses = {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    codex = {"input_tokens": 10, "output_tokens": 2, "cached_input_tokens": 4}
    expected = {"input_tokens": 6, "output_tokens": 2, "cache_read_tokens": 4, "cache_write_tokens": None}
    assert [openai_classes(usage) for usage in (chat, responses, codex)] == [expected] * 3
    own = {"input_tokens": 6, "output_tokens": 2, "cache_read_input_tokens": 4}
    assert anthropic_classes(own) == expected


def test_times_are_put_in_order() -> None:
    """Events that came late go where they belong, those without a time stay behind the one before."""
    order = TimeOrder(most=3)
    told = [("a", 3.0), ("b", None), ("c", 1.0), ("d", 2.0), ("e", 9.0)]
    given = [call.name for name, ts in told for call in order.add(Call(name=name, ts=ts))]
    assert given + [call.name for call in order.finish()] == ["c", "d", "a", "b", "e"]
