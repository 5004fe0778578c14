"""Messages of the Agent Client Protocol as events."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.adapters.acp_session import AcpSession
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Stop, ToolCall
from ebbtide.events.usage import Usage


def begun(name: str, **values: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": name, "title": "look", "rawInput": {}, **values}


def ended(name: str, **values: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed", **values}


def said(text: str, kind: str = "agent_message_chunk", **values: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **values}


def cost(amount: object, currency: str = "USD") -> dict[str, Any]:
    return {
        "sessionUpdate": "usage_update",
        "used": 1,
        "size": 2,
        "cost": {"amount": amount, "currency": currency},
    }


def events(*updates: dict[str, Any], has_past: bool = False) -> list[Event]:
    """The events of a turn with these updates, which ends well."""
    session = AcpSession(has_past=has_past)
    found = [event for update in updates for event in session.update(update)]
    return [*found, *session.answer({"stopReason": "end_turn"})]


def calls(*updates: dict[str, Any]) -> list[ToolCall]:
    return [event for event in events(*updates) if isinstance(event, ToolCall)]


def content(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


# As the agents write them: OpenCode, Copilot CLI, the adapters of Claude Code and of Codex.
CALLS = {
    "opencode": (
        [
            begun("1", title="bash", kind="execute", rawInput={"cwd": "/w"}),
            ended("1", status="in_progress", title="cat a", rawInput={"command": "cat a", "cwd": "/w"}),
            ended("1", title="cat a", content=content("x\n"), rawOutput={"output": "x\n"}),
        ],
        ("execute", {"command": "cat a", "cwd": "/w"}, "x\n"),
    ),
    "claude": (
        [
            begun("1", title="Terminal", kind="execute", _meta={"claudeCode": {"toolName": "Bash"}}),
            ended("1", status=None, rawInput={"command": "cat a"}, content=content("look")),
            ended("1", content=content("```console\nx\n```"), rawOutput="x"),
        ],
        ("Bash", {"command": "cat a"}, "```console\nx\n```"),
    ),
    "codex": (
        [
            begun(
                "1",
                title="cat a",
                kind="execute",
                rawInput={"command": "cat a"},
                content=[{"type": "terminal"}],
            ),
            ended("1", status=None, _meta={"terminal_output_delta": {"data": "x\n", "terminal_id": "1"}}),
            ended("1", _meta={"terminal_output_delta": {"data": "y\n"}}, rawOutput={"exit_code": 0}),
        ],
        ("execute", {"command": "cat a"}, "x\ny\n"),
    ),
    "a read that has only a title": (
        [
            begun("1", title="Read file 'a'", kind="read", rawInput=None, locations=[{"path": "/w/a"}]),
            ended("1", _meta={"terminal_output_delta": {"data": "x\n"}}),
        ],
        ("read", {"title": "Read file 'a'", "locations": [{"path": "/w/a"}]}, "x\n"),
    ),
    "an edit that has only a title": (
        [
            begun("1", title="Edit a", kind="edit", rawInput=None),
            ended("1", content=[{"type": "diff", "path": "/w/a", "oldText": "x", "newText": "y"}]),
        ],
        ("Edit a", {"title": "Edit a", "locations": None}, [{"path": "/w/a", "newText": "y"}]),
    ),
    "no kind": ([begun("1", title="Search the web", kind="other"), ended("1")], ("Search the web", {}, None)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_has_its_name_its_arguments_and_its_answer(name: str) -> None:
    """Also where an agent says them bit by bit, or in its own extension."""
    updates, known = CALLS[name]
    (call,) = calls(*updates)
    assert (call.name, call.args, call.result) == known


def test_calls_that_began_before_any_had_ended_are_of_one_answer() -> None:
    """The next one is of another."""
    found = calls(begun("1"), begun("2"), ended("1"), ended("2"), begun("3"), ended("3"))
    assert [call.batch for call in found] == [1, 1, 2]


def test_a_call_counts_once() -> None:
    """What comes after its end changes nothing; one that has no end is known when the turn ends."""
    assert len(calls(begun("1"), ended("1"), ended("1", rawOutput="later"), ended("1", status="failed"))) == 1
    (call,) = calls(begun("1", rawInput={"x": 1}))
    assert (call.args, call.result) == ({"x": 1}, None)


def test_a_failed_call_is_an_error() -> None:
    """As the protocol says it."""
    assert [call.error for call in calls(begun("1"), ended("1", status="failed"))] == [True]


def test_an_agent_below_is_a_chain_of_its_own() -> None:
    """With its words and its calls, though the updates come mixed; its last update need not name it."""
    below = {"_meta": {"claudeCode": {"parentToolUseId": "task"}}}
    found = events(
        begun("task"),
        begun("1", **below),
        said("I look.", **below),
        begun("2"),
        ended("1"),
        ended("2"),
        said("Done."),
    )
    kinds = [(type(event).__name__, event.chain_id) for event in found]
    assert kinds == [
        ("ToolCall", "task"),
        ("ToolCall", ""),
        ("ToolCall", ""),
        ("ModelCall", "task"),
        ("ModelCall", ""),
    ]


def test_words_up_to_a_call_are_one_call_of_the_model() -> None:
    """Thoughts stand before them; a message of its own id is another one."""
    found = events(
        said("Hm.", "agent_thought_chunk"),
        said("I "),
        said("look."),
        begun("1"),
        ended("1"),
        said("A.", messageId="b"),
    )
    spoken = [(event.text, event.part, event.stop) for event in found if isinstance(event, ModelCall)]
    assert spoken == [
        ("Hm.", ModelPart.THOUGHT, None),
        ("I look.", ModelPart.WHOLE, Stop.CALLS),
        ("A.", ModelPart.WHOLE, Stop.END),
    ]


def test_many_pieces_of_words_take_time_in_proportion() -> None:
    """And no more of them is kept than is read."""
    (call,) = events(*[said("word ")] * 100_000)
    assert isinstance(call, ModelCall)
    assert len(call.text or "") == 200_000


@pytest.mark.parametrize(
    ("updates", "has_past", "known"),
    [
        ([cost(0.5), cost(0.75)], False, [0.5, 0.25]),
        ([cost(0.5), cost(0.5), cost(0.4)], False, [0.5]),
        ([cost(0.5), cost(0.75)], True, [0.25]),
        ([cost(0.5, "EUR"), cost("much"), cost(-1), cost(None)], False, []),
        ([said("A."), cost(0.5), said("B.")], False, [0.5]),
    ],
    ids=["grows", "once", "past", "unknown", "behind words"],
)
def test_the_cost_is_what_the_session_states_more_than_before(
    updates: list[dict[str, Any]], has_past: bool, known: list[float]
) -> None:
    """In dollars; what was before is not of this run."""
    found = [event for event in events(*updates, has_past=has_past) if isinstance(event, Notice)]
    assert [event.usage for event in found] == [Usage(cost_usd=amount) for amount in known]
    assert {event.kind for event in found} <= {NoticeKind.TOTAL}


def test_a_cost_stands_behind_the_words_that_it_covers() -> None:
    """So that a limit of dollars can be held against all of them."""
    found = events(said("A."), cost(0.5), said("B."))
    assert [type(event).__name__ for event in found] == ["ModelCall", "Notice"]


@pytest.mark.parametrize(
    ("reason", "text"),
    [("cancelled", "cancelled"), ("refusal", "refuses"), ("max_turn_requests", "maximum number")],
)
def test_a_turn_that_ends_early_says_why(reason: str, text: str) -> None:
    """In words that the headline is read from."""
    (notice,) = AcpSession().answer({"stopReason": reason})
    assert isinstance(notice, Notice)
    assert text in (notice.text or "")


def test_words_of_a_person_are_those_of_all_blocks() -> None:
    """A picture has none."""
    blocks = [
        {"type": "text", "text": "Look"},
        {"type": "image", "data": "x"},
        {"type": "text", "text": "here."},
    ]
    assert AcpSession().prompt({"prompt": blocks}) == [Message(text="Look\nhere.")]
    assert AcpSession().prompt({"prompt": blocks[1:2]}) == [Message(text=None)]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    "content",
    "title",
    "kind",
    "rawInput",
    "rawOutput",
    "locations",
    "_meta",
    "messageId",
    "cost",
    "entries",
]
UPDATES = st.fixed_dictionaries(
    {"sessionUpdate": st.sampled_from(["tool_call", "agent_message_chunk", "usage_update", "plan", None, 7])},
    optional={
        "toolCallId": st.sampled_from(["1", "2", 3, None]),
        "status": st.sampled_from(["completed", "failed", None, 1]),
        **dict.fromkeys(NAMES, VALUES),
    },
)


@settings(max_examples=200, deadline=None)
@given(st.lists(UPDATES, max_size=8), VALUES)
def test_nothing_that_an_agent_writes_is_an_error(updates: list[dict[str, Any]], reason: object) -> None:
    """Values of another type are as good as absent."""
    session = AcpSession()
    for update in updates:
        session.update(update)
    session.answer({"stopReason": reason})
    session.failure({"message": reason})
    session.cut()
