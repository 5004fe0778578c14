"""Rounds that repeat themselves in other words, and rounds that do not, with the default model."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.convergence.meter import score_transcript
from ebbtide.profile import Profile
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import Embedder

EXAMPLES = Path(__file__).parents[2] / "examples"
REWORDED = sorted((EXAMPLES / "reworded").glob("*.json"))
RENEWED = sorted((EXAMPLES / "renewed").glob("*.json"))

each = pytest.mark.parametrize(
    "path", [*REWORDED, *RENEWED], ids=lambda path: f"{path.parent.name}-{path.stem}"
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The default model."""
    return open_embedder()


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def signal(transcript: dict[str, Any], embedder: Embedder | None = None) -> str:
    return score_transcript(transcript, Profile.DEFAULT, embedder=embedder)["stop_recommendation"]["signal"]


def test_ten_matched_pairs() -> None:
    """Each reworded transcript has a renewed one with the same topic, the same length and the same start."""
    assert [path.name for path in REWORDED] == [path.name for path in RENEWED]
    assert len(REWORDED) >= 10
    for one, other in zip(map(read, REWORDED), map(read, RENEWED), strict=True):
        assert one["topic"] == other["topic"]
        assert len(one["rounds"]) == len(other["rounds"])
        assert one["rounds"][0] == other["rounds"][0]


@pytest.mark.clause("F01", "N08")
@each
def test_what_level_2_changes(path: Path, embedder: Embedder) -> None:
    """A transcript gets the signals that it expects without the semantic level and with it."""
    transcript = read(path)
    expected = transcript["_expected"]
    assert (signal(transcript), signal(transcript, embedder)) == (expected["L1"], expected["L2"])


@pytest.mark.clause("F01", "N08")
def test_only_rewording_stops() -> None:
    """Every reworded transcript expects to stop at level 2 and only there, and no renewed one expects to."""
    for path in REWORDED:
        expected = read(path)["_expected"]
        assert expected["L1"] == "CONTINUE"
        assert expected["L2"] in {"SHIP", "ESCALATE"}
    for path in RENEWED:
        assert {read(path)["_expected"][level] for level in ("L1", "L2")} == {"CONTINUE"}


@pytest.mark.clause("F01", "N08")
@pytest.mark.parametrize("profile", [Profile.SPEC, Profile.DEFAULT], ids=lambda profile: profile.name)
def test_reworded_rounds_of_the_calibration_set(profile: Profile, embedder: Embedder) -> None:
    """The calibration transcript that level 1 takes for new is told by level 2 for what it is."""
    transcript = read(EXAMPLES / "calibration" / "reworded-rounds.json")
    score = score_transcript(transcript, profile, embedder=embedder)
    assert [item["new_claims_L1"] for item in score["novelty_by_round"]] == [3, 3, 3, 3]
    assert [item["new_claims_L2"] for item in score["novelty_by_round"]] == [3, 0, 0, 0]
    assert score["stop_recommendation"]["signal"] == "SHIP"
