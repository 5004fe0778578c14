"""A session replayed with another lifetime of the cache, against the prices by hand."""

import pytest

from ebbtide.advice.session_record import SessionRecord, Work
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import UNITS
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.usage import Usage

MODEL = "claude-sonnet-4-5"
READ, WRITE, LONG = 0.3e-6, 3.75e-6, 6.0e-6  # dollars a token


def call(ts: float, *, read: int, write: int, is_long: bool = False) -> ModelCall:
    usage = Usage(
        model=MODEL,
        input_tokens=0,
        output_tokens=0,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_write_1h_tokens=write if is_long else 0,
    )
    return ModelCall(usage=usage, ts=ts)


def record(*events: Event) -> SessionRecord:
    session = SessionRecord(session="s", agent="claude")
    session.read(events, Prices())
    return session


def test_an_hour_keeps_what_a_pause_lost() -> None:
    """A pause of ten minutes: the context is a hit, and all other writes cost more."""
    session = record(
        call(0, read=0, write=50_000),
        call(60, read=50_000, write=1_000),
        call(660, read=0, write=52_000),
    )
    kept = 51_000 * (WRITE - READ)
    dearer = (50_000 + 1_000 + 1_000) * (LONG - WRITE)
    assert session.hour is not None
    assert session.hour / UNITS == pytest.approx(kept - dearer)
    assert session.minutes == 0


def test_five_minutes_lose_what_a_pause_kept() -> None:
    """Likewise the other way round."""
    session = record(
        call(0, read=0, write=50_000, is_long=True),
        call(60, read=50_000, write=1_000, is_long=True),
        call(660, read=51_000, write=1_000, is_long=True),
    )
    cheaper = 52_000 * (LONG - WRITE)
    lost = 51_000 * (WRITE - READ)
    assert session.minutes is not None
    assert session.minutes / UNITS == pytest.approx(cheaper - lost)
    assert session.hour is not None
    assert session.long_writes == 52_000


def test_without_times_it_is_unknown() -> None:
    usage = Usage(model=MODEL, input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=9_000)
    session = record(ModelCall(usage=usage), ModelCall(usage=usage))
    assert (session.hour, session.minutes) == (None, None)


@pytest.mark.parametrize(
    ("events", "work"),
    [
        ([], Work.TALKS),
        ([ToolCall(name="Read", args={"file_path": "a"}, result="1")], Work.LOOKS),
        ([ToolCall(name="Edit", args={"file_path": "a"}, result="1", error=True)], Work.LOOKS),
        ([ToolCall(name="Edit", args={"file_path": "a"}, result="1")], Work.CHANGES),
        ([ToolCall(name="Bash", args={"command": "rm a"}), ToolCall(name="Read", args={})], Work.CHANGES),
    ],
)
def test_the_kind_of_work(events: list[Event], work: Work) -> None:
    assert record(call(0, read=0, write=9), *events).work is work
