"""Conversations that agents had, as their tools wrote them down."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice
from ebbtide.events.transcript import Transcript
from ebbtide.traces.reading import load, loads, open_trace
from ebbtide.traces.transcripts.turns import RoundUnit

CHATS = ("autogen_messages/*.json",)
RUNS = ("claude_code/*.jsonl", "mini_swe_agent/*.json", "swe_agent/*.traj")


def chats(data: Path) -> dict[Path, Transcript]:
    found = {path: load(path) for pattern in CHATS for path in sorted((data / "traces").glob(pattern))}
    assert len(found) >= 10
    return found


@pytest.mark.clause("B06")
def test_chats_are_read_whole(data: Path) -> None:
    """Every message with text is a round by its speaker, and nearly all of them state something."""
    for path, transcript in chats(data).items():
        wire = json.loads(path.read_text(encoding="utf-8"))
        messages = wire if isinstance(wire, list) else wire["history"]
        said = [item for item in messages if item["role"] not in (Notice, "tool") and item["content"]]
        assert [item.agent for item in transcript.rounds] == [item.get("name", item["role"]) for item in said]
        assert sum(bool(item.claims) for item in transcript.rounds) >= len(transcript.rounds) / 2


def test_circles_hold_the_same_claims(data: Path) -> None:
    """Grouping turns into circles moves claims between rounds and loses none."""
    for path, transcript in chats(data).items():
        circles = load(path, unit=RoundUnit.CIRCLE)
        assert len(circles.rounds) < len(transcript.rounds)
        assert [claim for item in circles.rounds for claim in item.claims] == [
            claim for item in transcript.rounds for claim in item.claims
        ]


def test_a_file_of_many_runs_says_so(data: Path) -> None:
    """Twenty runs in one file are refused as such; each of them alone is read."""
    path = data / "traces" / "openai_messages" / "tau_airline_20.json"
    with pytest.raises(TranscriptError, match="Write each conversation to a file of its own"):
        load(path)
    runs: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    assert all(len(loads(json.dumps(run)).rounds) > 2 for run in runs)


def test_runs_are_conversations(data: Path) -> None:
    """What models and users say in a run of a coding agent are its rounds; what tools say is not."""
    found = [path for pattern in RUNS for path in sorted((data / "traces").glob(pattern))]
    assert found
    for path in found:
        events = [event for event in open_trace(path) if isinstance(event, Event)]
        said = [event.text for event in events if isinstance(event, ModelCall | Message) and event.text]
        assert [item.text for item in load(path).rounds] == said


@pytest.mark.parametrize(
    ("layout", "most_wrong"),
    [
        ("[12:03] {name}: {text}\n", 0),
        ("**{name}:** {text}\n\n", 0.1),
        ("{name}:\n{text}\n\n", 0.1),
        ("{name}: {text}\n", 0.3),
    ],
)
def test_turns_survive_as_plain_text(data: Path, layout: str, most_wrong: float) -> None:
    """Written as plain text and read again, nearly all turns of these texts start where they did."""
    wrong = total = 0
    for transcript in chats(data).values():
        said = [(item.agent, (item.text or "").strip()) for item in transcript.rounds]
        again = loads("".join(layout.format(name=name, text=text) for name, text in said)).rounds
        starts = {(name, *text.split()[:8]) for name, text in said}
        total += len(starts)
        wrong += len(starts ^ {(item.agent, *(item.text or "").split()[:8]) for item in again})
    assert wrong <= most_wrong * total
