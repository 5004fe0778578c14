"""`check` and `score` count the same rounds of one file, and say the same of how they were cut."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.checking import check
from ebbtide.cli.rounds.conversation import rounds_in, score_conversation
from ebbtide.cli.rounds.scoring_options import ScoringOptions
from ebbtide.cli.runs.demo import demo_runs
from ebbtide.errors import TranscriptError
from ebbtide.profile import Profile
from ebbtide.report.wording import cut_of, longest, round_cut
from ebbtide.traces.transcripts.turns import RoundUnit

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "tests" / "traces" / "samples").iterdir())
CONVERSATIONS = sorted((ROOT / "examples" / "conversations").iterdir())
TURNS = ScoringOptions(profile=Profile.DEFAULT, unit=RoundUnit.TURN)
CIRCLES = ScoringOptions(profile=Profile.DEFAULT, unit=RoundUnit.CIRCLE)

RUN = [
    {"role": "user", "content": "The cache is cold after a restart. Warm it at boot."},
    {"role": "assistant", "content": "I will look at main first.", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    ]},
    {"role": "tool", "tool_call_id": "1", "content": "app.py"},
    {"role": "assistant", "content": "The cache is warmed in app.py now."},
]  # fmt: skip


@pytest.mark.parametrize("path", [*SAMPLES, *CONVERSATIONS], ids=lambda path: path.name)
def test_both_count_the_same_rounds(path: Path) -> None:
    """In every format that there is a sample of."""
    try:
        summary = check(path)
    except TranscriptError:
        pytest.skip("holds no run")
    if not summary.rounds:
        with pytest.raises(TranscriptError, match="so there are no rounds"):
            score_conversation(str(path), TURNS)
        return
    source = rounds_in(str(path), TURNS)
    assert len(source.rounds) == len(longest(summary.rounds)) > 0
    assert source.cut == cut_of(summary)


def test_a_turn_that_goes_on_to_a_call_is_no_round(tmp_path: Path) -> None:
    """What a person asks, and the answer; not what is said on the way."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(RUN))
    source = rounds_in(str(file), TURNS)
    assert [(item.number, item.agent) for item in source.rounds] == [(1, "user"), (2, "assistant")]
    assert source.run is not None
    assert source.run.spent.tool_calls == 1
    assert source.cut == "2 rounds: one per turn of a speaker; turns that lead to a call are left out"
    circles = rounds_in(str(file), CIRCLES)
    assert circles.cut.startswith("1 round: one per circle of the speakers; ")
    assert len(circles.rounds) == 1


def test_a_run_in_which_every_turn_calls_has_no_rounds(tmp_path: Path) -> None:
    """It is refused, with what to do instead."""
    file = tmp_path / "run.json.gz"
    file.write_bytes(gzip.compress(json.dumps(RUN[1:3]).encode()))
    with pytest.raises(TranscriptError, match="so there are no rounds") as refusal:
        score_conversation(str(file), TURNS)
    assert "ebbtide check" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("sentence", "arguments"),
    [
        ("3 rounds, as the file numbers them", {"rounds": 3, "form": "transcript"}),
        ("1 round: one per turn of a speaker", {"rounds": 1, "form": "chat"}),
        (
            (
                "4 rounds: one per turn of a model; turns that lead to a call are left out, "
                "and so are messages of people"
            ),
            {"rounds": 4, "form": "codex", "calls": 9, "people": False},
        ),
        (
            "2 rounds in the longest of 3 conversations: one per turn of a speaker",
            {"rounds": 2, "form": "chat", "conversations": 3},
        ),
    ],
)
def test_how_rounds_were_cut(sentence: str, arguments: dict[str, object]) -> None:
    """One sentence for both commands."""
    assert round_cut(**arguments) == sentence  # type: ignore[arg-type]


def test_a_round_without_news_that_is_not_low_says_why(tmp_path: Path) -> None:
    """One such round may be a pause, so two rates of 0.00 may be graded differently."""
    file = tmp_path / "converged.jsonl"
    file.write_text(demo_runs()[file.name], encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "ebbtide", "score", str(file)], capture_output=True, text=True, check=False
    )
    assert "0.00 MEDIUM" in process.stdout
    assert "LOW takes 2 rounds in a row below" in process.stdout
