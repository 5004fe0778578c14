"""Reading events of the plain form: every kind of event, blocks, clocks and rounds, and what is wrong."""

from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Message, ModelCall, ModelPart, Notice, NoticeKind, Phase, Role, ToolCall
from ebbtide.events.event_json import read_event, read_events
from ebbtide.events.usage import Usage


def test_a_tool_call() -> None:
    """Every field of the plain form has its place; unknown ones are left aside."""
    call = read_event(
        {
            "kind": "tool",
            "name": "ls",
            "args": {"path": "."},
            "result": "a",
            "error": False,
            "text": None,
            "phase": "started",
            "chain_id": "c",
            "seq": 3,
            "ts": 1.5,
            "batch": 7,
            "cost_usd": 0.25,
            "output_tokens": 9,
            "starts": "a7",
            "colour": "red",
        }
    )
    assert call == ToolCall(
        name="ls",
        args={"path": "."},
        result="a",
        phase=Phase.STARTED,
        chain_id="c",
        seq=3,
        ts=1.5,
        batch="7",
        starts="a7",
        usage=Usage(cost_usd=0.25, output_tokens=9),
    )


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ({"kind": "llm", "name": "message", "text": ""}, ModelCall(text="")),
        ({"kind": "llm", "name": "message", "result": "Hi."}, ModelCall(text="Hi.")),
        ({"kind": "llm", "name": "thought", "text": "Hm."}, ModelCall(part=ModelPart.THOUGHT, text="Hm.")),
        ({"kind": "llm", "model": "m"}, ModelCall(usage=Usage(model="m"))),
        ({"kind": "user", "name": None, "text": "Go on."}, Message(text="Go on.")),
        ({"kind": "user", "text": "Go on."}, Message(text="Go on.")),
        (
            {"kind": "user", "name": "instructions", "text": "Be brief."},
            Message(text="Be brief.", role=Role.SYSTEM),
        ),
        ({"kind": "system", "name": "condensation"}, Notice(kind=NoticeKind.COMPACTION)),
        (
            {"kind": "system", "name": "summary", "text": "So far."},
            Notice(kind=NoticeKind.NOTE, text="So far."),
        ),
        ({"kind": "system", "error": "lost"}, Notice(kind=NoticeKind.OTHER, text="lost", error=True)),
        (
            {"kind": "system", "name": "handoff", "args": {"from": "a", "to": "b"}},
            Notice(kind=NoticeKind.HANDOFF, source="a", target="b"),
        ),
        ({"kind": "widget", "name": "a"}, ToolCall(name="a")),
    ],
)
def test_other_events(wire: dict[str, Any], event: object) -> None:
    """``kind`` tells what an event is; only a tool needs a name."""
    assert read_event(wire) == event


def test_arguments_may_be_json_in_a_text() -> None:
    """A JSON text is read, and what only looks like one stays a text."""

    def args(value: str) -> object:
        call = read_event({"name": "t", "args": value})
        assert isinstance(call, ToolCall)
        return call.args

    assert args('{"a": 1}') == {"a": 1}
    assert args("{a") == "{a"
    assert args("[" * 100_000) == "[" * 100_000


def test_an_error_text_is_the_answer_where_there_is_no_other() -> None:
    """``error`` may be the text of the error."""
    assert read_event({"name": "t", "error": "not found"}) == ToolCall(
        name="t", result="not found", error=True
    )


def clock(elapsed_s: float) -> dict[str, Any]:
    return {"kind": "system", "name": "clock", "args": {"elapsed_s": elapsed_s}}


def test_blocks_clocks_and_rounds_are_unfolded() -> None:
    """A block stands for its copies; a clock is the waiting time, a round the batch, of what comes next."""
    calls = list(
        read_events(
            [
                {"kind": "system", "name": "round", "args": {"n": 1}},
                {"repeat": 2, "events": [{"name": "a"}, clock(3)]},
                clock(4),
                {"name": "b"},
            ]
        )
    )
    assert calls == [
        ToolCall(name="a", seq=2, batch="round 1"),
        ToolCall(name="a", seq=4, batch="round 1", waited_s=3),
        ToolCall(name="b", seq=7, batch="round 1", waited_s=7),
    ]


def test_what_an_event_says_itself_counts() -> None:
    """Its own number, waiting time and batch come before those of clocks and rounds."""
    wire = {"name": "a", "seq": 9, "waited_s": 0.5, "batch": "b"}
    events = list(read_events([{"kind": "system", "name": "round"}, clock(4), wire, {"name": "c"}]))
    assert events == [
        ToolCall(name="a", seq=9, waited_s=0.5, batch="b"),
        ToolCall(name="c", seq=4, batch="round 1"),
    ]


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (7, "events[0]"),
        ({}, "events[0].name"),
        ({"kind": "tool", "name": None}, "events[0].name"),
        ({"name": 5}, "events[0].name"),
        ({"name": "t", "seq": "x"}, "events[0].seq"),
        ({"name": "t", "seq": True}, "events[0].seq"),
        ({"name": "t", "cost_usd": "1"}, "events[0].cost_usd"),
        ({"name": "t", "phase": "begun"}, "events[0].phase"),
        ({"kind": "system", "name": "clock", "args": {"elapsed_s": "soon"}}, "events[0].args"),
        ({"repeat": -1, "events": []}, "events[0]"),
        ({"repeat": 2}, "events[0]"),
        ({"repeat": 2, "events": [{"name": "t"}, {"name": 5}]}, "events[0].events[1].name"),
        ({"repeat": 10**9, "events": [{"name": "t"}]}, "events[0]"),
        ({"repeat": 10**9, "events": [clock(1)]}, "events[0]"),
        ({"repeat": 10**9, "events": [{"repeat": 10**9, "events": []}]}, "events[0]"),
    ],
)
def test_bad_events_are_named_with_their_place(event: Any, path: str) -> None:
    """What cannot be read is an error that says where it stands."""
    with pytest.raises(TranscriptError) as error:
        list(read_events([event]))
    assert error.value.path == path


def test_a_block_has_a_bound() -> None:
    """A block that would fill the memory is refused; one that is just small enough is read."""
    assert len(list(read_events([{"repeat": 100_000, "events": [{"name": "a"}]}]))) == 100_000
    block: dict[str, Any] = {"name": "a"}
    for _ in range(6):
        block = {"repeat": 100, "events": [block]}
    with pytest.raises(TranscriptError, match="more than 100,000 events in one block"):
        list(read_events([block]))


def test_blocks_may_not_be_nested_for_ever() -> None:
    """A block in a block in a block has an end."""
    event: dict[str, Any] = {"name": "t"}
    for _ in range(20):
        event = {"repeat": 1, "events": [event]}
    with pytest.raises(TranscriptError, match="more than 8 deep in each other"):
        list(read_events([event]))


@pytest.mark.parametrize("call", [{}, "msg_1", {"name": 4}, {"name": "a", "thread": 4}, {"name": "a" * 1001}])
def test_a_call_without_a_name_is_refused(call: object) -> None:
    """What identifies a call is an object with a name, and perhaps a thread."""
    with pytest.raises(TranscriptError, match="call"):
        read_event({"kind": "llm", "call": call})
