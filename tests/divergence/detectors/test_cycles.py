"""Exact cycles at the tail of a stream (divergence spec, section 5)."""

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.divergence.cycles import CycleDetector
from ebbtide.errors import ConfigError

blocks = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 4)), max_size=8
)
streams = st.lists(st.integers(0, 3), max_size=60) | blocks.map(
    lambda parts: [symbol for block, times in parts for symbol in block * times]
)
# New symbols, then a cycle whose first `back` symbols stood just before it, so that halves are handed over.
long_streams = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 12), st.integers(1, 14), st.integers(1, 4)), max_size=4
).map(lambda parts: list(new_then_cycle(parts)))


def new_then_cycle(parts: Iterable[tuple[int, int, int, int]]) -> Iterator[int]:
    """The symbols of parts (new symbols, symbols of them that the cycle starts with, period, turns)."""
    start = 0
    for new, back, period, turns in parts:
        yield from range(start, start + new)
        start += new
        first = max(0, start - back)
        yield from (*range(first, first + period),) * turns
        start = max(start, first + period)


def push_by_novelty(detector: CycleDetector, stream: Sequence[Hashable], place: int) -> int | None:
    """Push the symbol at `place` as new where it is none of the last `max_period` ones."""
    symbol = stream[place]
    if symbol in stream[max(0, place - detector.max_period) : place]:
        return detector.push(symbol)
    detector.push_new(symbol)
    return None


def all_streams(symbols: int, length: int) -> list[tuple[int, ...]]:
    """All streams of up to so many symbols, each numbered by its first place: their names do not matter."""
    streams: list[tuple[int, ...]] = [()]
    for _ in range(length):
        streams = [
            (*stream, symbol)
            for stream in streams
            for symbol in range(min(symbols, max(stream, default=-1) + 2))
        ]
    return streams


def by_counting(stream: Sequence[Hashable], max_period: int, copies: int) -> list[int | None]:
    """The plain way: one counter a period, and the shortest one that is full."""
    runs = [0] * (max_period + 1)
    answers: list[int | None] = []
    for place, symbol in enumerate(stream):
        full = None
        for period in range(1, max_period + 1):
            holds = place >= period and stream[place - period] == symbol
            runs[period] = runs[period] + 1 if holds else 0
            if full is None and runs[period] >= (copies - 1) * period:
                full = period
        answers.append(full)
    return answers


@pytest.mark.clause("D10")
@given(streams, st.integers(1, 12), st.integers(3, 5))
def test_the_answer_is_that_of_counting(stream: list[int], max_period: int, copies: int) -> None:
    """At every symbol, so at the first alarm too, the detector says what a counter for each period says."""
    detector = CycleDetector(max_period, copies)
    assert [detector.push(symbol) for symbol in stream] == by_counting(stream, max_period, copies)


@pytest.mark.clause("D10")
@pytest.mark.parametrize(
    ("symbols", "length", "max_periods", "copies"),
    [(3, 9, (1, 2, 3, 4), 3), (2, 13, (4, 5), 3), (2, 13, (1, 2), 5)],
)
def test_every_short_stream_is_answered_as_by_counting(
    symbols: int, length: int, max_periods: Iterable[int], copies: int
) -> None:
    """Of 134 faults planted in `push`, these 29,508 runs notice 131, as ten thousand random streams do and a
    hundred do not (118 to 127); the long cycles below notice the other three, in periods above eight."""
    for stream in all_streams(symbols, length):
        for max_period in max_periods:
            detector = CycleDetector(max_period, copies)
            assert [detector.push(symbol) for symbol in stream] == by_counting(stream, max_period, copies)


@pytest.mark.clause("D10")
@pytest.mark.parametrize("period", [1, 2, 3, 5, 64, 127, 128])
def test_every_period_up_to_the_bound_is_found_at_its_third_turn(period: int) -> None:
    """A cycle is told with the last symbol of its third full turn, and not before."""
    detector = CycleDetector()
    answers = [detector.push(place % period) for place in range(3 * period)]
    assert answers == [None] * (3 * period - 1) + [period]
    assert detector.run(period) == 3 * period


def test_a_period_above_the_bound_is_not_found() -> None:
    """Period 129 is out of reach of a detector for 128."""
    detector = CycleDetector()
    assert not any(detector.push(place % 129) for place in range(6 * 129))


@given(streams, st.integers(0, 60), st.integers(1, 12))
def test_recent_symbols_are_enough_to_go_on(stream: list[int], at: int, max_period: int) -> None:
    """A detector that only knows the last symbols of another one gives the same answers from there."""
    straight, restored = CycleDetector(max_period), CycleDetector(max_period)
    for symbol in stream[:at]:
        straight.push(symbol)
    restored.restore(straight.recent)
    for symbol in stream[at:]:
        assert straight.push(symbol) == restored.push(symbol)


@given(long_streams, st.integers(1, 12), st.integers(3, 5))
def test_new_symbols_may_be_pushed_as_such(stream: list[int], max_period: int, copies: int) -> None:
    """`push_new` for each symbol that is not among the last `max_period` ones changes no answer."""
    plain, quick = CycleDetector(max_period, copies), CycleDetector(max_period, copies)
    expected = by_counting(stream, max_period, copies)
    for place, symbol in enumerate(stream):
        assert plain.push(symbol) == expected[place]
        assert push_by_novelty(quick, stream, place) == expected[place]
        for period in range(1, max_period + 1):
            assert quick.run(period) == plain.run(period)
        assert quick.repeats_recent == plain.repeats_recent
    assert quick.recent == plain.recent


@pytest.mark.parametrize("period", [60, 64, 80, 100, 127, 128])
@pytest.mark.parametrize("before", [0, 64, 100, 128, 200])
def test_a_long_cycle_after_new_calls_is_found_at_its_third_turn(before: int, period: int) -> None:
    """However many new symbols went before, which filled the younger half or handed it over."""
    stream = [*range(before), *(before + place % period for place in range(3 * period))]
    plain, quick = CycleDetector(), CycleDetector()
    expected = [None] * (len(stream) - 1) + [period]
    assert [plain.push(symbol) for symbol in stream] == expected
    assert [push_by_novelty(quick, stream, place) for place in range(len(stream))] == expected
    assert quick.run(period) == plain.run(period) == 3 * period


@given(streams, streams, st.integers(1, 12))
def test_a_detector_that_was_reset_is_a_new_one(before: list[int], after: list[int], max_period: int) -> None:
    """Nothing of the stream before is left."""
    veteran, fresh = CycleDetector(max_period), CycleDetector(max_period)
    for symbol in before:
        veteran.push(symbol)
    veteran.reset()
    assert [veteran.push(symbol) for symbol in after] == [fresh.push(symbol) for symbol in after]
    assert veteran.recent == fresh.recent


@pytest.mark.parametrize("push", [CycleDetector.push, CycleDetector.push_new])
def test_memory_does_not_grow(push: Callable[[CycleDetector, int], object]) -> None:
    """A stream ten times as long leaves no more behind."""
    detector, sizes = CycleDetector(), []
    for place in range(20_000):
        push(detector, place * 7919 % 5000)
        parts = (detector._younger, detector._older, detector._due, detector._since, detector._recent)
        sizes.append(sum(map(sys.getsizeof, parts)))
    assert max(sizes[2_000:]) <= max(sizes[:2_000])


@pytest.mark.parametrize(("max_period", "copies"), [(0, 3), (8, 2)])
def test_bounds_that_make_no_sense_are_refused(max_period: int, copies: int) -> None:
    """No period, or two copies, is an error."""
    with pytest.raises(ConfigError):
        CycleDetector(max_period, copies)
