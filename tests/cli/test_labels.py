"""Reading files of labels."""

import gzip
import json
from pathlib import Path

import pytest

from ebbtide.cli.rounds.calibrate import load_labels
from ebbtide.convergence.calibration.labelled import LabelledPair, LabelledTranscript, PairFields
from ebbtide.convergence.signal import Signal
from ebbtide.errors import TranscriptError

PAIR = {"a": "Tea is hot.", "b": "Hot tea.", "same": True}
TRANSCRIPT = {
    "rounds": [{"round": 1, "outputs": {"claims": ["Tea is hot."]}}],
    "_expected": {"signal": "CONTINUE"},
}
CHAT = {"messages": [{"role": "user", "content": "Tea is hot."}], "_expected": {"stop_round": 1}}
HEADER = {"type": "transcript_header", "_expected": {"signal": "SHIP"}}
ROUND = {"type": "round", "round": 1, "outputs": {"claims": ["Tea is hot."]}}


def written(folder: Path, *values: object, name: str = "labels.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def test_pairs_a_line(tmp_path: Path) -> None:
    """Pairs are read from one line or many, packed or not, from several files."""
    one = written(tmp_path, PAIR, name="one.jsonl")
    many = tmp_path / "many.jsonl.gz"
    many.write_bytes(gzip.compress(f"{json.dumps(PAIR)}\n\n{json.dumps(PAIR)}\n".encode()))
    assert load_labels([one, many]) == (LabelledPair(group=PAIR["a"], **PAIR),) * 3


def test_conversations(tmp_path: Path) -> None:
    """Conversations are one a line, one a file, or JSONL with a header that has the label."""
    files = [
        written(tmp_path, TRANSCRIPT, CHAT, name="both.jsonl"),
        written(tmp_path, TRANSCRIPT, name="one.json"),
        written(tmp_path, HEADER, ROUND, name="lines.jsonl"),
    ]
    labels = load_labels(files)
    transcripts = [item for item in labels if isinstance(item, LabelledTranscript)]
    assert [(item.signal, item.stop_round) for item in transcripts] == [
        (Signal.CONTINUE, None),
        (None, 1),
        (Signal.CONTINUE, None),
        (Signal.SHIP, None),
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([PAIR, {**PAIR, "same": "no"}], 'labels.jsonl:2: same: "no" does not say'),
        ([PAIR, {"a": "x"}], "labels.jsonl:2: b: the pair has no such key"),
        ([PAIR, [1]], "labels.jsonl:2: expected an object with a pair of texts"),
        ([TRANSCRIPT, {**TRANSCRIPT, "_expected": {}}], "labels.jsonl:2: _expected: the conversation has no"),
        ([TRANSCRIPT, {"rounds": [], "_expected": {}}], "labels.jsonl:2: rounds: there are no rounds"),
        ([{"rounds": TRANSCRIPT["rounds"]}], "labels.jsonl: _expected: the conversation has no label"),
        ([HEADER], "labels.jsonl: rounds: there are no rounds"),
        ([{"type": "transcript_header"}, ROUND], "labels.jsonl: _expected: the conversation has no label"),
        ([PAIR, TRANSCRIPT], "labels.jsonl: labelled pairs and labelled conversations together"),
        ([{"topic": "tea"}], "labels.jsonl: a: the pair has no such key. It has 'topic'"),
        ([[PAIR]], "labels.jsonl: expected an object"),
    ],
)
def test_bad_lines(tmp_path: Path, values: list[object], message: str) -> None:
    """The message says file, line, key and what to do."""
    with pytest.raises(TranscriptError) as error:
        load_labels([written(tmp_path, *values)])
    assert message in str(error.value)


def test_files_of_two_kinds(tmp_path: Path) -> None:
    """Pairs in one file and conversations in another are refused."""
    files = [written(tmp_path, PAIR, name="a.jsonl"), written(tmp_path, TRANSCRIPT, name="b.jsonl")]
    with pytest.raises(
        TranscriptError, match=r"b\.jsonl: labelled pairs and labelled conversations together"
    ):
        load_labels(files)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the input is empty"),
        (b"Ann: Ship it.", "labels.txt:1: not JSON"),
        (b'{"a": "x", "b": "y", "same": true}\n{"a"', "labels.txt:2: not JSON"),
        (b"\x1f\x8b\x08", "broken gzip"),
    ],
)
def test_no_labels_at_all(tmp_path: Path, content: bytes, message: str) -> None:
    """What is no JSON, or nothing, is told with its line."""
    path = tmp_path / "labels.txt"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=message):
        load_labels([path], PairFields())


def test_no_such_file(tmp_path: Path) -> None:
    """A file that is not there is told by name."""
    with pytest.raises(TranscriptError, match=r"nowhere\.jsonl: no such file"):
        load_labels([tmp_path / "nowhere.jsonl"])
