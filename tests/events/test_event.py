"""Reading events of the plain wire form."""

from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Call, Phase, read_call, read_calls


def test_an_event_becomes_a_call() -> None:
    """Every field of the wire form has its place; unknown ones are left aside."""
    call = read_call(
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
            "colour": "red",
        }
    )
    assert call == Call(
        name="ls",
        args={"path": "."},
        result="a",
        phase=Phase.STARTED,
        chain_id="c",
        seq=3,
        ts=1.5,
        batch="7",
        cost_usd=0.25,
        output_tokens=9,
    )


def test_arguments_may_be_json_in_a_text() -> None:
    """A JSON text is read, and what only looks like one stays a text."""
    assert read_call({"name": "t", "args": '{"a": 1}'}).args == {"a": 1}
    assert read_call({"name": "t", "args": "{a"}).args == "{a"
    assert read_call({"name": "t", "args": "[" * 100_000}).args == "[" * 100_000


def test_an_error_text_is_the_answer_where_there_is_no_other() -> None:
    """``error`` may be the text of the error."""
    call = read_call({"name": "t", "error": "not found"})
    assert call.error
    assert call.result == "not found"


def clock(elapsed_s: float) -> dict[str, Any]:
    return {"kind": "system", "name": "clock", "args": {"elapsed_s": elapsed_s}}


def test_blocks_clocks_and_rounds_are_unfolded() -> None:
    """A block stands for its copies; a clock is the waiting time, a round the batch, of what comes next."""
    calls = list(
        read_calls(
            [
                {"kind": "system", "name": "round", "args": {"n": 1}},
                {
                    "repeat": 2,
                    "events": [{"name": "a"}, {"kind": "system", "name": "clock", "args": {"elapsed_s": 3}}],
                },
                clock(4),
                {"name": "b"},
            ]
        )
    )
    assert [(call.name, call.seq, call.waited_s) for call in calls] == [
        ("a", 2, None),
        ("a", 4, 3),
        ("b", 7, 7),
    ]
    assert len({call.batch for call in calls}) == 1


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (7, "events[0]"),
        ({}, "events[0].name"),
        ({"name": 5}, "events[0].name"),
        ({"name": "t", "seq": "x"}, "events[0].seq"),
        ({"name": "t", "seq": True}, "events[0].seq"),
        ({"name": "t", "cost_usd": "1"}, "events[0].cost_usd"),
        ({"name": "t", "phase": "begun"}, "events[0].phase"),
        ({"kind": "system", "name": "clock", "args": {"elapsed_s": "soon"}}, "events[0].args"),
        ({"repeat": -1, "events": []}, "events[0]"),
        ({"repeat": 2}, "events[0]"),
        ({"repeat": 10**9, "events": [{"name": "t"}]}, "events[0].events[0]"),
    ],
)
def test_bad_events_are_named_with_their_place(
    event: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be read is an error that says where it stands."""
    monkeypatch.setattr("ebbtide.events.event._LONGEST", 1000)
    with pytest.raises(TranscriptError) as error:
        list(read_calls([event]))
    assert error.value.path == path


def test_blocks_may_not_be_nested_for_ever() -> None:
    """A block in a block in a block has an end."""
    event: dict[str, Any] = {"name": "t"}
    for _ in range(20):
        event = {"repeat": 1, "events": [event]}
    with pytest.raises(TranscriptError, match="deep in each other"):
        list(read_calls([event]))
