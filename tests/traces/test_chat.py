"""Chat messages: which are turns, who speaks, and in which wrappings they come."""

import json
from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.traces.reading import loads
from ebbtide.traces.transcripts.turns import RoundUnit

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Why is the first request slow?"},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "read_log"}}]},
    {"role": "tool", "name": "read_log", "content": "cold cache"},
    {"role": "assistant", "content": "The cache is cold after a restart."},
    {
        "role": "user",
        "name": "Ann",
        "content": [{"type": "text", "text": "Warm it at boot."}, {"type": "image_url"}],
    },
    {"role": "assistant", "content": "A job warms the cache at boot.", "tool_calls": [{"id": "1"}]},
]
TURNS = [
    ("user", "Why is the first request slow?"),
    ("assistant", "The cache is cold after a restart."),
    ("Ann", "Warm it at boot."),
    ("assistant", "A job warms the cache at boot."),
]


def turns(text: str, unit: RoundUnit = RoundUnit.TURN) -> list[tuple[str | None, str | None]]:
    return [(item.agent, item.text) for item in loads(text, source="talk.json", unit=unit).rounds]


@pytest.mark.clause("B06")
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        json.dumps(MESSAGES, indent=1),
        json.dumps({"model": "m", "messages": MESSAGES}),
        json.dumps({"question": "?", "history": MESSAGES}),
        json.dumps({"reward": 1.0, "traj": MESSAGES}),
        "\n".join(map(json.dumps, MESSAGES)),
        "\n".join(map(json.dumps, [{"type": "session", "id": 7}, *MESSAGES])),
    ],
    ids=["list", "indented", "messages", "history", "traj", "lines", "lines after another record"],
)
def test_messages_with_text_are_turns(text: str) -> None:
    """In any wrapping, all text of users and assistants is a turn, and nothing else is."""
    assert turns(text) == TURNS
    rounds = loads(text, source="talk.json").rounds
    assert [item.number for item in rounds] == [1, 2, 3, 4]
    assert rounds[1].claims == ("The cache is cold after a restart.",)
    assert rounds[0].open_questions == ("Why is the first request slow?",)


def test_one_message_is_a_conversation() -> None:
    """A single line is JSON lines of one message."""
    assert turns(json.dumps(MESSAGES[1])) == TURNS[:1]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (["one", {"type": "text", "text": "two"}], "one\n\ntwo"),
        ([{"type": "output_text", "text": "out"}, {"type": "input_text", "text": "in"}], "out\n\nin"),
        ([{"text": "no type"}], "no type"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "said"}], "said"),
        ([{"type": ["text"], "text": "odd"}, {"type": "text", "text": "said"}], "said"),
    ],
)
def test_parts_with_text_are_joined(content: object, text: str) -> None:
    """The text of a message is that of its text parts, a blank line between them."""
    assert turns(json.dumps([{"role": "user", "content": content}])) == [("user", text)]


@pytest.mark.parametrize("role", ["system", "developer", "tool", "function", "System"])
def test_some_roles_do_not_speak(role: str) -> None:
    """Instructions and tool results are no turns, even with a name."""
    silent = {"role": role, "name": "clock", "content": "12:30"}
    assert turns(json.dumps([silent, MESSAGES[1]])) == TURNS[:1]


def test_a_circle_ends_when_somebody_speaks_again() -> None:
    """In circles each speaker speaks once; the claims of all count, and the round has no one agent."""
    said = [("ann", "A."), ("bob", "B."), ("cid", "C."), ("bob", "D."), ("bob", "E."), ("ann", "F.")]
    messages = [{"role": "user", "name": name, "content": f"Cache {text}"} for name, text in said]
    rounds = loads(json.dumps(messages), unit=RoundUnit.CIRCLE).rounds
    assert [item.text for item in rounds] == [
        "Cache A.\n\nCache B.\n\nCache C.",
        "Cache D.",
        "Cache E.\n\nCache F.",
    ]
    assert [item.agent for item in rounds] == [None, "bob", None]
    assert [item.extra.get("agents") for item in rounds] == [["ann", "bob", "cid"], None, ["bob", "ann"]]
    assert [item.number for item in rounds] == [1, 2, 3]


def test_an_open_code_block_ends_with_its_turn() -> None:
    """In a circle each turn is read for itself: what one leaves open does not hide what the next says."""
    messages = [
        {"role": "user", "content": "The cache is cold.\n```python\nwarm()"},
        {"role": "assistant", "content": "The queue is full."},
    ]
    (item,) = loads(json.dumps(messages), unit=RoundUnit.CIRCLE).rounds
    assert item.claims == ("The cache is cold.", "The queue is full.")


WHOLE = "a whole conversation, where a message was expected. Write each conversation to a file of its own."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "x: there are no turns with text. A conversation has at least one."),
        (json.dumps(MESSAGES[:1]), "x: there are no turns with text. A conversation has at least one."),
        ('{"messages": []}', "x: there are no turns with text. A conversation has at least one."),
        (
            json.dumps([{"traj": MESSAGES}, {"traj": MESSAGES}]),
            f"x: [0]: {WHOLE}",
        ),
        (
            "\n".join(json.dumps({"messages": MESSAGES}) for _ in range(3)),
            f"x:1: {WHOLE}",
        ),
        (json.dumps([*MESSAGES, "hi"]), "x: [7]: expected a message, found a text"),
        (
            json.dumps({"history": [*MESSAGES, {"content": "hi"}]}),
            "x: history[7].role: expected a text, found null",
        ),
        (json.dumps([MESSAGES[1], {"role": 1}]), "x: [1].role: expected a text, found a number"),
        (
            json.dumps([MESSAGES[1] | {"name": ["Ann"]}]),
            "x: [0].name: expected a text, found a list of 1",
        ),
        (
            json.dumps([{"role": "user", "content": {"text": "hi"}}]),
            "x: [0].content: expected a text or a list of parts, found an object with 'text'",
        ),
        (
            json.dumps([{"role": "user", "content": ["a", 1]}]),
            "x: [0].content[1]: expected a part with a type, found a number",
        ),
        (
            json.dumps([{"role": "user", "content": [{"type": "text", "text": None}]}]),
            "x: [0].content[0].text: expected a text, found null",
        ),
        (
            json.dumps(MESSAGES[1]) + "\n\n" + json.dumps({"role": "user", "content": 1}),
            "x:3: content: expected a text or a list of parts, found a number",
        ),
    ],
    ids=range(13),
)
def test_broken_chats_are_refused_with_their_place(text: str, message: str) -> None:
    """A message names the path in a document and the line in JSON lines."""
    with pytest.raises(TranscriptError) as caught:
        loads(text, source="x")
    assert str(caught.value) == message
