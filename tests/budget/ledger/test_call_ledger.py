"""Every call counts once, whatever the order, the split and the copies of its records."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace, CallSums, CountedCall, SightedCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage

Sighting = tuple[CallPlace, SightedCall]

_COUNTS = st.none() | st.integers(0, 3)
_SIGHTINGS = st.builds(
    SightedCall,
    id=st.builds(CallId, st.sampled_from(["msg_1 req_1", "msg_2", "REDACTED"])),
    ts=st.none() | st.sampled_from([1.0, 2.0, 3.0]),
    model=st.sampled_from([None, "large", "small"]),
    tier=st.sampled_from([None, "fast"]),
    input_tokens=_COUNTS,
    output_tokens=_COUNTS,
    cache_read_tokens=_COUNTS,
    cache_write_tokens=_COUNTS,
    is_own=st.booleans(),
    is_result=st.booleans(),
    agent=st.sampled_from([None, "a", "b"]),
    skill=st.sampled_from([None, "review"]),
)
_PLACES = st.builds(
    lambda number, began: CallPlace(f"run {number}", began, f"{number}.jsonl", f"s{number}", f"/p{number}"),
    st.integers(0, 2),
    st.just(5.0) | st.just(None),
)
_RECORDS = st.lists(st.tuples(_PLACES, _SIGHTINGS), max_size=12)


def _ledger(records: Sequence[Sighting]) -> CallLedger:
    ledger = CallLedger()
    for place, call in records:
        ledger.sight(place, call)
    return ledger


def _cost(call: CountedCall) -> int | None:
    return None if call.usage.model is None else 7 * (call.usage.tokens or 0)


def _sums(ledger: CallLedger, key: str | None = None) -> dict[object, CallSums]:
    """The sums of the calls, or of those with one value of a field each."""
    sums: dict[object, CallSums] = {}
    for call in ledger.calls():
        name = None if key is None else getattr(call, key)
        sums.setdefault(name, CallSums()).add(call.usage, _cost(call))
    return sums


def _calls(ledger: CallLedger) -> list[str]:
    return sorted(repr(call._replace(copies=tuple(sorted(call.copies, key=repr)))) for call in ledger.calls())


@given(_RECORDS, st.randoms())
def test_the_order_of_records_changes_no_call(records: list[Sighting], random: object) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert _calls(_ledger(shuffled)) == _calls(_ledger(records))


@given(_RECORDS, st.integers(0, 12))
def test_a_split_over_two_ledgers_changes_no_call(records: list[Sighting], at: int) -> None:
    first, second = _ledger(records[:at]), _ledger(records[at:])
    second.merge(first)
    assert _calls(second) == _calls(_ledger(records))


@given(_RECORDS, st.integers(0, 12))
def test_copies_of_records_change_no_sum(records: list[Sighting], number: int) -> None:
    copied = [(CallPlace("copy", 9.0, "z.jsonl"), call) for _, call in records[:number]]
    assert _sums(_ledger([*records, *copied, *records])) == _sums(_ledger(records))


@given(_RECORDS)
def test_the_sums_of_every_grouping_are_the_total(records: list[Sighting]) -> None:
    ledger = _ledger(records)
    total = _sums(ledger).get(None, CallSums())
    for key in ("owner", "agent", "skill", "tier", "ts"):
        sums = CallSums()
        for part in _sums(ledger, key).values():
            sums += part
        assert sums == total


@given(_RECORDS)
def test_reading_a_ledger_changes_nothing(records: list[Sighting]) -> None:
    ledger = _ledger(records)
    assert _calls(ledger) == _calls(ledger)


def _call(name: str = "msg_1", **fields: object) -> SightedCall:
    return SightedCall(CallId(name), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("records", "calls"),
    [
        pytest.param([_call(input_tokens=1, ts=1.0), _call(input_tokens=1, ts=9.0)], 1, id="same prompt"),
        pytest.param([_call(input_tokens=1, ts=1.0), _call(input_tokens=2, ts=1.0)], 1, id="same time"),
        pytest.param([_call(input_tokens=1, ts=1.0), _call(input_tokens=2, ts=9.0)], 2, id="masked ids"),
        pytest.param(
            [_call(input_tokens=1, ts=1.0), _call(input_tokens=2, ts=9.0), _call(input_tokens=1, ts=9.0)],
            1,
            id="masked ids that turn out to be one call",
        ),
        pytest.param([_call("msg_1"), _call("msg_2")], 2, id="other ids"),
        pytest.param([_call(input_tokens=1, ts=1.0), _call(ts=9.0)], 1, id="a record without a prompt"),
        pytest.param(
            [_call(input_tokens=1, ts=1.0), _call(ts=9.0), _call(input_tokens=2, ts=4.0)],
            3,
            id="a record without a prompt beside masked ids",
        ),
        pytest.param(
            [_call(input_tokens=1, agent="a"), _call("result", input_tokens=1, agent="a", is_result=True)],
            1,
            id="a result that states a known call",
        ),
        pytest.param(
            [_call(input_tokens=1, agent="a"), _call("result", input_tokens=2, agent="a", is_result=True)],
            2,
            id="a result that states an unknown call",
        ),
        pytest.param(
            [_call(input_tokens=1, agent="a"), _call("result", input_tokens=1, agent="b", is_result=True)],
            2,
            id="a result of another agent",
        ),
    ],
)
def test_records_are_of_one_call_or_of_several(records: list[SightedCall], calls: int) -> None:
    place = CallPlace("run")
    assert len(list(_ledger([(place, call) for call in records]).calls())) == calls


def test_a_call_keeps_its_largest_usage_and_the_model_of_its_last_output() -> None:
    first = _call(ts=2.0, model="small", input_tokens=5, output_tokens=1, cache_read_tokens=2)
    second = _call(ts=3.0, model="large", input_tokens=5, output_tokens=8, cache_read_tokens=2)
    (call,) = _ledger([(CallPlace("run"), first), (CallPlace("run"), second)]).calls()
    assert call.usage == Usage(model="large", input_tokens=5, output_tokens=8, cache_read_tokens=2)
    assert call.ts == 2.0


def test_the_run_whose_thread_made_a_call_owns_it_before_the_one_that_began_first() -> None:
    early, late = CallPlace("early", 1.0), CallPlace("late", 2.0)
    (call,) = _ledger([(early, _call(is_own=False)), (late, _call())]).calls()
    assert (call.owner, call.copies) == (late, (early,))
    (call,) = _ledger([(late, _call()), (early, _call())]).calls()
    assert (call.owner, call.copies) == (early, (late,))
