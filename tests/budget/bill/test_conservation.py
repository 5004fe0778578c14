"""What is attributed and what is not add up to what was spent, to the unit, whatever a run looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.bill.bill import Amount, Bill, BillLine, WasteKind
from ebbtide.budget.bill.bill_recorder import BillRecorder, CallReview
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import Tally, units
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.reading import open_trace

PRICES = Prices(
    {
        "large": {
            "input": 3.0,
            "output": 15.0,
            "cache_read": 0.3,
            "cache_write": 3.75,
            "cache_write_1h": 6.0,
        },
        "short": {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75},
        "odd": {"input": 0.0377, "output": 0.123457},
    },
    public=False,
)
COUNTS = st.none() | st.integers(0, 3) | st.integers(0, 200_000)
USAGES = st.builds(
    Usage,
    model=st.sampled_from(["large", "short", "odd", "unknown", None]),
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cache_read_tokens=COUNTS,
    cache_write_tokens=COUNTS,
    reasoning_tokens=COUNTS,
    cache_write_1h_tokens=COUNTS,
    cost_usd=st.none() | st.floats(0, 5),
)
CHAINS = st.sampled_from(["", "helper"])
TEXTS = st.text(max_size=30) | st.integers(0, 40_000).map(lambda size: "x" * size)
TIMES = st.none() | st.floats(0, 1e6)
EVENTS = st.one_of(
    st.builds(ModelCall, text=st.none() | TEXTS, usage=st.none() | USAGES, chain_id=CHAINS, ts=TIMES),
    st.builds(
        ToolCall,
        name=st.sampled_from(["read", "run"]),
        args=st.none() | st.dictionaries(st.sampled_from(["path", "n"]), st.text(max_size=9), max_size=2),
        result=st.none() | TEXTS,
        usage=st.none() | USAGES,
        chain_id=CHAINS,
        ts=TIMES,
    ),
    st.builds(Message, text=TEXTS, chain_id=CHAINS),
    st.builds(
        Notice,
        kind=st.sampled_from([NoticeKind.COMPACTION, NoticeKind.NOTE, NoticeKind.TOTAL, NoticeKind.USAGE]),
        text=st.none() | TEXTS,
        usage=st.none() | USAGES,
        error=st.booleans(),
        chain_id=CHAINS,
    ),
)
WASTE = st.none() | st.sampled_from(WasteKind)


def bill_of_run(
    events: list[Event], waste: list[WasteKind | None], *, watched: bool = False
) -> tuple[Bill, Tally]:
    """The bill of a run, and the tally that it has to agree with."""
    run = Tally(PRICES)
    chains: dict[str, Tally] = {}
    recorder = BillRecorder(PRICES)
    for number, event in enumerate(events, start=1):
        tally = chains.get(event.chain_id)
        if tally is None:
            tally = chains[event.chain_id] = Tally(PRICES, run)
        tally.add(event, event.ts)
        kind = waste[number % len(waste)] if waste else None
        review = CallReview(event.name, kind) if isinstance(event, ToolCall) else None
        recorder.add(event, number, None if event.usage is None else tally.last_cost, review)
        if watched:
            recorder.bill(run.cost, run.tokens)
    return recorder.bill(run.cost, run.tokens), run


def sums(lines: tuple[BillLine, ...]) -> tuple[int, int]:
    """Units and tokens of all lines."""
    return sum(cost_of(line.amount) for line in lines), sum(line.amount.tokens for line in lines)


def cost_of(amount: Amount) -> int:
    """Its units."""
    return units(amount.cost_usd or 0.0)


@given(st.lists(EVENTS, max_size=60), st.lists(WASTE, max_size=4))
def test_what_is_attributed_adds_up(events: list[Event], waste: list[WasteKind | None]) -> None:
    """By what the tokens carried, everything that was spent is there once, and nothing else."""
    bill, run = bill_of_run(events, waste)
    assert sums(bill.contents) == (run.cost or 0, run.tokens or 0)
    assert bill.total.cost_usd is None or cost_of(bill.total) == run.cost


@given(st.lists(EVENTS, max_size=60))
def test_classes_add_up(events: list[Event]) -> None:
    """Classes, with what no class can be told of, are all that models took; no class is below nothing."""
    bill, run = bill_of_run([event for event in events if not isinstance(event, ToolCall)], [])
    cost, tokens = sums(bill.classes)
    apart = {line.name: line.amount for line in bill.why_unattributed}
    unsplit = [amount for name, amount in apart.items() if name != "calls that state no input"]
    assert cost + sum(map(cost_of, unsplit)) == (run.cost or 0)
    assert tokens + sum(amount.tokens for amount in unsplit) == (run.tokens or 0)
    assert all(cost_of(line.amount) >= 0 and line.amount.tokens > 0 for line in bill.classes)


@given(st.lists(EVENTS, max_size=40), st.lists(WASTE, max_size=4))
def test_nothing_is_wasted_twice(events: list[Event], waste: list[WasteKind | None]) -> None:
    """Wasted, avoidable and the rest add up: none is below nothing, nor above the whole."""
    bill, run = bill_of_run(events, waste)
    parts = [cost_of(line.amount) for line in bill.waste]
    assert all(part >= 0 for part in parts)
    assert sum(parts) <= (run.cost or 0)
    assert sum(parts) == pytest.approx(cost_of(bill.wasted) + cost_of(bill.avoidable), abs=2)


@given(st.lists(EVENTS, max_size=25), st.lists(WASTE, max_size=4))
def test_looking_changes_nothing(events: list[Event], waste: list[WasteKind | None]) -> None:
    """Who watches a run and asks for its bill at every event gets the bill of who asks at its end."""
    assert bill_of_run(events, waste, watched=True)[0] == bill_of_run(events, waste)[0]


@given(st.lists(EVENTS, max_size=40))
def test_what_waits_for_a_context_is_counted_as_it_comes(events: list[Event]) -> None:
    """The characters that a context has not read are those of the items behind its place, at every event."""
    recorder = BillRecorder(PRICES)
    for number, event in enumerate(events, start=1):
        recorder.add(event, number, None)
        for chain in recorder._chains.values():
            for context in chain.contexts:
                behind = chain.log[context.position - chain.offset :]
                assert context.waiting == sum(item.length or 0 for item in behind)


def test_every_trace_adds_up(data: Path) -> None:
    """Real traces of every format: attributed and unattributed are what was spent."""
    checked = 0
    for file in sorted((data / "runs").rglob("*.gz")) + sorted((data / "traces").rglob("*.*")):
        try:
            events = [event for event in open_trace(file) if isinstance(event, Event)]
        except Exception:  # noqa: BLE001, S112 - what is no trace has no bill
            continue
        bill, run = bill_of_run(events, [])
        assert sums(bill.contents) == (run.cost or 0, run.tokens or 0), file.name
        checked += bill.total.tokens > 0
    assert checked > 250
