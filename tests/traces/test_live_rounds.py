"""A conversation that is still being written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.traces.live import RoundStream
from ebbtide.traces.reading import loads
from ebbtide.traces.transcripts.turns import RoundUnit

SAID = [
    "The cache is cold.",
    "Caf\u00e9 traffic \U0001f600 is up.",
    "Warm it at boot.",
    "Done?",
    "Yes: p99 is 20 ms.",
]
CHAT = [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 3, SAID, strict=False)]
ROUNDS = [
    {"type": "round", "round": number, "outputs": {"claims": [text]}}
    for number, text in enumerate(SAID, start=1)
]
HEADER = {"type": "transcript_header", "conversation_id": "cache"}
LOG = {"type": "log", "text": "nothing of interest"}


def encoded(*lines: object) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def numbers(rounds: tuple[Round, ...]) -> list[int]:
    return [item.number for item in rounds]


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """JSON lines of either format, with records and blank lines between, with and without a last line end."""
    lines = draw(st.sampled_from([CHAT, [HEADER, *ROUNDS], [ROUNDS[at] for at in (2, 0, 4, 3, 1)]]))
    data = b"".join(draw(st.sampled_from([b"", b"", b"\n", encoded(LOG)])) + encoded(line) for line in lines)
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + (data if draw(st.booleans()) else data[:-1])


@given(logs(), st.lists(st.integers(1, 40), min_size=1), st.sampled_from(list(RoundUnit)))
def test_pieces_give_what_the_whole_gives(data: bytes, sizes: list[int], unit: RoundUnit) -> None:
    """However the bytes are cut, the rounds are those of reading the whole file, in the same order."""
    stream = RoundStream(unit=unit)
    rounds: list[Round] = []
    start = 0
    for at in range(len(data)):
        size = sizes[at % len(sizes)]
        rounds += stream.feed(data[start : start + size])
        start += size
    rounds += stream.finish()
    assert tuple(rounds) == loads(data, unit=unit).rounds


def test_a_round_comes_with_the_end_of_its_line() -> None:
    """A half-written last line waits, and is not read twice."""
    stream = RoundStream()
    line = encoded(ROUNDS[0])
    for end in range(len(line) - 1):
        assert stream.feed(line[end : end + 1]) == ()
    assert numbers(stream.feed(line[-1:])) == [1]
    assert stream.feed(b"") == ()
    assert stream.finish() == ()


def test_a_circle_comes_when_the_next_one_begins() -> None:
    """In circles the round of the last speakers stays open until somebody speaks again, or the end."""
    stream = RoundStream(unit=RoundUnit.CIRCLE)
    assert numbers(stream.feed(encoded(*CHAT[:2]))) == []
    assert numbers(stream.feed(encoded(*CHAT[2:5]))) == [1, 2]
    assert [item.text for item in stream.finish()] == [SAID[4]]


def test_a_round_waits_for_those_before_it() -> None:
    """Rounds are given out in the order of their numbers, whatever the order of the lines."""
    stream = RoundStream()
    assert numbers(stream.feed(encoded(ROUNDS[1], ROUNDS[2]))) == []
    assert numbers(stream.feed(encoded(ROUNDS[0]))) == [1, 2, 3]
    stream.feed(encoded(ROUNDS[4]))
    with pytest.raises(TranscriptError, match="round 5 is there, but round 4 is missing"):
        stream.finish()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (b'{"type": "round", "rou\n', "log:3: not JSON: Unterminated string starting at, column 19"),
        (b'{"type": "round", "round": 2}\n', "log:3: outputs: the round has no outputs."),
        (encoded(ROUNDS[0]), "log:3: round: round 1 appears twice"),
        (b'"text"\n', "log:3: expected an object, found a text"),
        (b"[" * 100_000 + b"\n", "log:3: nested too deeply to be read"),
        (b'{"type": "\xff"}\n', "log:3: not UTF-8: invalid start byte, 0xff at byte 145."),
        (b"\0\0\n", "log:3: not JSON: Expecting value, column 1"),
    ],
    ids=range(7),
)
def test_a_broken_line_is_left_out(broken: bytes, message: str) -> None:
    """It raises with its line number once; the rounds before and after it are not lost."""
    stream = RoundStream(source="log")
    data = encoded(HEADER, ROUNDS[0]) + broken + encoded(ROUNDS[1])
    with pytest.raises(TranscriptError) as caught:
        stream.feed(data)
    assert str(caught.value).startswith(message)
    assert numbers(stream.feed(b"")) == [1, 2]
    assert numbers(stream.feed(encoded(ROUNDS[2]))) == [3]


def test_a_broken_message_is_left_out() -> None:
    """Chat goes on too; a broken last line without its end raises at the end."""
    stream = RoundStream(source="log")
    with pytest.raises(TranscriptError, match="log:2: content: expected a text"):
        stream.feed(encoded(CHAT[0], {"role": "user", "content": 1}, CHAT[1]))
    assert numbers(stream.feed(b'{"role": ')) == [1, 2]
    with pytest.raises(TranscriptError, match="log:4: not JSON"):
        stream.finish()
    assert stream.finish() == ()


def test_lines_of_no_known_format_are_reported_once() -> None:
    """Ten lines that are neither rounds nor messages are enough to say so; the stream goes on listening."""
    stream = RoundStream(source="log")
    assert stream.feed(encoded(*[LOG] * 9)) == ()
    with pytest.raises(TranscriptError, match="log:10: none of the first 10 lines is a round or a message"):
        stream.feed(encoded(LOG))
    assert numbers(stream.feed(encoded(LOG, *CHAT[:2]))) == [1, 2]


@pytest.mark.parametrize("data", [b"", b"\n \n", encoded(LOG), encoded(HEADER), encoded({"role": "user"})])
def test_an_end_without_rounds_is_refused(data: bytes) -> None:
    """A stream that ends before its first round says so."""
    stream = RoundStream(source="log")
    stream.feed(data)
    with pytest.raises(TranscriptError, match=r"log: (rounds: )?there are no (rounds|turns)"):
        stream.finish()


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    """A line of megabytes that arrives in small pieces is searched for its end once, not once a piece."""
    stream = RoundStream()
    text = "x" * 4_000_000
    line = encoded(ROUNDS[0] | {"text": text})
    rounds = [item for at in range(0, len(line), 1000) for item in stream.feed(line[at : at + 1000])]
    assert [item.text for item in rounds] == [text]
