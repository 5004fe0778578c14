"""What counts as a label, and what is said about what does not."""

from typing import Any

import pytest

from ebbtide.convergence.calibration.labelled import LabelledPair, LabelledTranscript, PairFields
from ebbtide.convergence.signal import Signal
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.events.transcript import Round, Transcript

CONVERSATION = Transcript(
    conversation_id="tea", rounds=tuple(Round(number=number, claims=("Tea is hot.",)) for number in (1, 2, 3))
)


@pytest.mark.parametrize("same", [True, 1])
def test_pair(same: object) -> None:
    """A pair is two texts and true or false, or 1 or 0; other keys are passed over."""
    wire = {"a": "Tea is hot.", "b": "Hot tea.", "same": same, "by": "ana"}
    assert LabelledPair.from_dict(wire, PairFields()) == LabelledPair(
        a="Tea is hot.", b="Hot tea.", same=True, group="Tea is hot."
    )


@pytest.mark.parametrize(("group", "expected"), [("drinks", "drinks"), (7, "7"), (None, "Tea is hot.")])
def test_group(group: object, expected: str) -> None:
    """The group is a text or a number; where there is none, pairs with the same first text stay together."""
    wire = {"a": "Tea is hot.", "b": "Hot tea.", "same": 0, "group": group}
    assert LabelledPair.from_dict(wire, PairFields()).group == expected


def test_other_names_of_the_keys() -> None:
    """Keys may have other names."""
    keys = PairFields.parse("a=argument, b=key_point, same=match, group=topic")
    wire = {"argument": "x", "key_point": "y", "match": False, "topic": "t"}
    assert LabelledPair.from_dict(wire, keys) == LabelledPair(a="x", b="y", same=False, group="t")
    assert PairFields.parse("same=match") == PairFields(same="match")


@pytest.mark.parametrize("text", ["", "a", "a=", "c=d", "a=x,a=y", "a=x,,b=y"])
def test_keys_that_cannot_be_read(text: str) -> None:
    """What is no mapping of keys is refused with what it should look like."""
    with pytest.raises(ConfigError, match="expected NAME=KEY for each of a, b, same, group"):
        PairFields.parse(text)


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        (["x", "y", True], "expected an object with a pair of texts"),
        ({"a": "x", "same": True}, "b: the pair has no such key. It has 'a', 'same'; --fields says which"),
        ({"a": "x", "b": 5, "same": True}, "b: expected a text, found 5"),
        ({"a": "x", "b": " ", "same": True}, 'b: expected a text, found " "'),
        ({"a": "x", "b": ["y"], "same": True}, r'b: expected a text, found \["y"\]'),
        ({"a": "x", "b": "y"}, "same: null does not say whether .* --fields says which key is which"),
        ({"a": "x", "b": "y", "same": None}, "same: null does not say .*. Write true or false"),
        ({"a": "x", "b": "y", "same": "yes"}, 'same: "yes" does not say'),
        ({"a": "x", "b": "y", "same": 2}, "same: 2 does not say"),
        ({"a": "x", "b": "y", "same": 1.0}, "same: 1.0 does not say"),
        ({"a": "x", "b": "y", "same": 1, "group": []}, "group: expected a text or a number"),
    ],
)
def test_no_pair(wire: Any, message: str) -> None:
    """The message says which key is wrong and what it holds."""
    with pytest.raises(TranscriptError, match=message):
        LabelledPair.from_dict(wire, PairFields())


@pytest.mark.parametrize(
    ("expected", "signal", "stop_round"),
    [
        ({"signal": "SHIP", "why": "..."}, Signal.SHIP, None),
        ({"stop_round": 3}, None, 3),
        ({"signal": "CONTINUE", "stop_round": 1}, Signal.CONTINUE, 1),
    ],
)
def test_conversation(expected: dict[str, Any], signal: Signal | None, stop_round: int | None) -> None:
    """A conversation is labelled with its signal, the round of its stop, or both."""
    found = LabelledTranscript.of(CONVERSATION, expected)
    assert (found.signal, found.stop_round) == (signal, stop_round)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (None, "_expected: the conversation has no label"),
        ("SHIP", "_expected: the conversation has no label"),
        ({"why": "..."}, "_expected: the conversation has no label"),
        ({"signal": "STOP"}, '_expected.signal: "STOP" is not a signal. Expected CONTINUE, SHIP, ESCALATE'),
        ({"signal": ["SHIP"]}, r'_expected.signal: \["SHIP"\] is not a signal'),
        ({"stop_round": 4}, "_expected.stop_round: 4 is not a round .*from 1 to 3"),
        ({"stop_round": 0}, "_expected.stop_round: 0 is not a round"),
        ({"stop_round": True}, "_expected.stop_round: true is not a round"),
        ({"stop_round": "2"}, '_expected.stop_round: "2" is not a round'),
    ],
)
def test_no_label(expected: object, message: str) -> None:
    """The message says which label is wrong and what could stand there."""
    with pytest.raises(TranscriptError, match=message):
        LabelledTranscript.of(CONVERSATION, expected)
