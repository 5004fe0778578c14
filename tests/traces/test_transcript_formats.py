"""The transcript format 0.1 as one JSON object and as JSON lines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.traces.reading import loads
from ebbtide.traces.transcripts.turns import RoundUnit


def wire_round(number: int, *claims: str, **more: object) -> dict[str, Any]:
    return {"round": number, "outputs": {"claims": list(claims)}, **more}


def lines(*objects: object) -> str:
    return "".join(json.dumps(item) + "\n" for item in objects)


HEADER = {
    "type": "transcript_header",
    "version": "0.1",
    "conversation_id": "cache",
    "topic": "speed",
    "mood": "calm",
}
ROUNDS = [wire_round(number, f"Claim {number}.", agent="ann", inputs=[number]) for number in (1, 2, 3)]


@given(st.permutations(ROUNDS), st.sampled_from(list(RoundUnit)))
def test_both_forms_give_the_same_transcript(rounds: list[dict[str, Any]], unit: RoundUnit) -> None:
    """Header and rounds as lines say the same as the one object, in any order and whatever the unit."""
    header = {key: value for key, value in HEADER.items() if key != "type"}
    one = loads(json.dumps(header | {"rounds": rounds}), unit=unit)
    many = loads(lines(HEADER, *({"type": "round"} | item for item in rounds)), unit=unit)
    assert one == many
    assert (one.conversation_id, one.topic, one.extra) == ("cache", "speed", {"mood": "calm"})
    assert [(item.number, item.extra) for item in one.rounds] == [(n, {"inputs": [n]}) for n in (1, 2, 3)]


def test_lines_may_lack_the_header_and_carry_other_types() -> None:
    """Without a header the file gives the name; lines of other types, blank lines and CRLF do no harm."""
    text = lines({"type": "log", "round": 9}, {"type": "round"} | ROUNDS[0], {"note": "no type"})
    data = "\n" + text.replace("\n", "\r\n") + "  \n" + json.dumps({"type": "round"} | ROUNDS[1])
    transcript = loads(data, source="runs/night.v2.jsonl.gz")
    assert transcript.conversation_id == "night.v2"
    assert [item.claims for item in transcript.rounds] == [("Claim 1.",), ("Claim 2.",)]


def test_a_single_line_is_enough() -> None:
    """One round line on its own is JSON lines, not a document of another shape."""
    assert len(loads(lines({"type": "round"} | ROUNDS[0])).rounds) == 1


@pytest.mark.parametrize("name", ["one object", "lines"])
def test_the_file_names_a_conversation_without_a_name(name: str) -> None:
    """The name in the document counts; the name of the file is the second choice."""
    text = lines({"rounds": ROUNDS}) if name == "one object" else lines({"type": "round"} | ROUNDS[0])
    assert loads(text, source="<stdin>").conversation_id == "stdin"


GAPLESS = "Number the rounds 1, 2, 3, ... without gaps."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines({"rounds": []}), "x: rounds: there are no rounds. A transcript has at least one round."),
        (lines(HEADER), "x: rounds: there are no rounds. A transcript has at least one round."),
        (
            lines(
                HEADER,
                {"type": "round"} | wire_round(1),
                {"type": "round", "round": 2, "outputs": {"claims": [1]}},
            ),
            "x:3: outputs.claims[0]: expected a text, found a number 1",
        ),
        (
            lines(*({"type": "round"} | wire_round(number) for number in (1, 2, 1))),
            "x:3: round: round 1 appears twice",
        ),
        (
            lines(*({"type": "round"} | wire_round(number) for number in (1, 3))),
            f"x: round: round 3 is there, but round 2 is missing. {GAPLESS}",
        ),
        (
            lines(HEADER, HEADER),
            "x:2: a second transcript_header. Write each conversation to a file of its own.",
        ),
        (
            lines(HEADER | {"version": "7"}),
            "x:1: version: version '7' is not known. Expected '0.1'.",
        ),
        (
            lines(HEADER) + '\n{"type": "round", ',
            "x:3: not JSON: Expecting property name enclosed in double quotes, column 18",
        ),
        (lines(HEADER, [1]), "x:2: expected an object, found a list of 1"),
        (
            '{\n "rounds": [\n  {"round": 1, "outputs": {"claims": ["a" "b"]}}\n ]\n}',
            "x:3: not JSON: Expecting ',' delimiter, column 43",
        ),
    ],
    ids=range(10),
)
def test_broken_transcripts_are_refused_with_their_place(text: str, message: str) -> None:
    """A message has the file, the line of JSON lines or of bad JSON, and the path."""
    with pytest.raises(TranscriptError) as caught:
        loads(text, source="x")
    assert str(caught.value) == message


def test_not_a_number_in_telemetry_does_not_stop_the_reading() -> None:
    """Python writes NaN where it has no number; the value is unknown and the round is read."""
    telemetry = {"cost_usd": float("nan"), "tokens": 7}
    transcript = loads(json.dumps({"rounds": [wire_round(1, telemetry=telemetry)]}))
    assert transcript.rounds[0].extra["telemetry"] == {"cost_usd": None, "tokens": 7}


def test_half_surrogate_pairs_can_be_written_out() -> None:
    """A text that was cut inside an emoji can be printed and saved."""
    transcript = loads(
        r'{"rounds": [{"round": 1, "outputs": {"claims": ["cut \ud83d"]}, "note\udfff": "\ud800"}]}'
    )
    assert transcript.rounds[0].claims == ("cut \ufffd",)
    json.dumps(transcript.to_dict(), ensure_ascii=False).encode()
