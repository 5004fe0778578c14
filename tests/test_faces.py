"""Every face says the same of a run: one summary is behind all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.quality.faces import ServiceFaces, differences, own_files, service_faces
from ebbtide.checking import check_events
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.report.page import page
from ebbtide.report.payload import payload
from ebbtide.supervision.run_options import RunOptions

OWN = own_files()
PRICE = 0.0001  # too little to be a finding of its own


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceFaces]:
    with service_faces() as faces:
        yield faces


@pytest.mark.parametrize("path", OWN, ids=[path.name for path in OWN])
def test_all_faces_of_a_run_agree(path: Path, service: ServiceFaces) -> None:
    """Commands, pages, tools, rows and live words have the facts of `check`."""
    assert differences(path, service) == []


def looped(turns: list[int], period: int, *, talks: bool) -> list[Event]:
    """A run that makes a cycle of calls, so many turns between the words of a person."""
    events: list[Event] = [Message(text="Find the report.")]
    for number, count in enumerate(turns):
        for _ in range(count):
            if talks:
                events.append(ModelCall(text=None, usage=Usage(cost_usd=PRICE)))
            events += [ToolCall(name=f"look_{n}", args={"at": n}, result=f"not {n}") for n in range(period)]
        events.append(Message(text=f"Go on with part {number}."))
    return events


@settings(max_examples=60, deadline=None)
@given(
    turns=st.lists(st.integers(4, 9), min_size=1, max_size=4),
    period=st.integers(1, 4),
    talks=st.booleans(),
)
def test_a_loop_has_the_copies_the_span_and_the_cost_of_its_events(
    turns: list[int], period: int, talks: bool
) -> None:
    """Whoever counts in the timeline gets the number of the sentence, the drawing and the sum."""
    events = looped(turns, period, talks=talks)
    summary = check_events(events, RunOptions(timeline=True))
    (finding,) = [item for item in summary.findings if item.kind in ("repeat", "cycle")]
    copies = sum(turns)
    assert finding.copies == copies
    assert f" {copies:,} times" in finding.sentence
    assert f" {copies:,} times" in summary.reason
    marked = [number for first, last, *_ in payload(summary)["findings"] for number in range(first, last + 1)]
    inside = [number for span in finding.spans for number in range(span.first, span.last + 1)]
    assert set(inside) <= set(marked)
    calls = [number for number in inside if isinstance(events[number - 1], ToolCall)]
    assert len(calls) == copies * period
    usages = [events[number - 1].usage for number in inside]
    paid = sum(usage.cost_usd or 0.0 for usage in usages if usage is not None)
    assert (finding.cost_usd or 0.0) == pytest.approx(paid)
    assert f" {copies:,} times" in page([summary])
