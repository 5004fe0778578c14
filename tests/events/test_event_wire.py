"""Events as JSON, and back."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Phase,
    Role,
    ToolCall,
)
from ebbtide.events.event_json import event_wire, read_event
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.ebbtide_events import EbbtideEventsReader

TEXTS = st.none() | st.text(max_size=9)
COUNTS = st.none() | st.integers(0, 10**9)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
USAGES = st.none() | st.builds(
    Usage, model=st.text("abc", min_size=1), input_tokens=COUNTS, output_tokens=COUNTS
)
COMMON = {
    "chain_id": st.text("xy", max_size=3),
    "agent": TEXTS,
    "seq": st.none() | st.integers(-(10**9), 10**9),
    "ts": st.none() | st.floats(0, 2e9),
    "usage": USAGES,
    "call": st.none() | st.builds(CallId, name=st.text(min_size=1, max_size=9), thread=st.text(max_size=5)),
}
EVENTS = st.one_of(
    st.builds(
        ToolCall,
        name=st.text(max_size=9),
        args=st.none() | st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
        result=VALUES,
        error=st.booleans(),
        phase=st.sampled_from(Phase),
        batch=st.none() | st.text(min_size=1, max_size=5),
        starts=st.none() | st.text(min_size=1, max_size=5),
        status=st.none() | st.integers(100, 599),
        **COMMON,
    ),
    st.builds(ModelCall, text=TEXTS, part=st.sampled_from(ModelPart), error=st.booleans(), **COMMON),
    st.builds(Message, text=TEXTS, role=st.sampled_from(Role), **COMMON),
    st.builds(
        Notice,
        kind=st.sampled_from(NoticeKind),
        text=TEXTS,
        error=st.booleans(),
        source=TEXTS,
        target=TEXTS,
        **COMMON,
    ),
)


def test_a_line_keeps_the_call_and_a_stated_total() -> None:
    """What the quick reader of lines does not know is left to the thorough one."""
    call = ModelCall(usage=Usage(input_tokens=9), call=CallId.at("thread", 4), seq=1)
    total = Notice(kind=NoticeKind.TOTAL, stated=(Usage(cost_usd=1.0),), source="result", seq=2)
    reader = EbbtideEventsReader()
    for event in (call, total):
        wire = event_wire(event)
        assert reader.read_line(json.dumps(wire).encode()) is None
        assert list(reader.read(wire, "")) == [event]


@given(EVENTS)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    """Through JSON, every field is what it was."""
    assert read_event(json.loads(json.dumps(event_wire(event)))) == event
