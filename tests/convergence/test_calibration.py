"""The calibration transcripts and the worked example say what they expect; the meter has to agree."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.convergence.meter import score_transcript
from ebbtide.profile import Profile
from ebbtide.text.normal_form import normal_form

EXAMPLES = Path(__file__).parents[2] / "examples"
TRANSCRIPTS = {path.stem: path for path in sorted((EXAMPLES / "calibration").glob("*.json"))}
SIGNALS = {
    "paraphrase-rounds": "SHIP",
    "exact-repeat": "SHIP",
    "low-novelty-high-readiness": "SHIP",
    "low-novelty-low-readiness": "ESCALATE",
    "high-novelty-low-readiness": "CONTINUE",
    "high-novelty-high-readiness": "CONTINUE",
    "blocker-present": "ESCALATE",
    "question-accumulation": "CONTINUE",
    "reworded-rounds": "CONTINUE",
}

PROFILES = {"spec": Profile.SPEC, "default": Profile.DEFAULT}

both_profiles = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.clause("C01")
def test_every_row_of_the_table_has_its_transcript() -> None:
    """There is a transcript for each row of the spec's table, and one more, with the row's signal."""
    assert {name: read(path)["_expected"]["signal"] for name, path in TRANSCRIPTS.items()} == SIGNALS


@pytest.mark.clause("C01")
@both_profiles
@pytest.mark.parametrize("name", SIGNALS)
def test_calibration(name: str, profile: Profile) -> None:
    """A transcript gets the classifications and the signal that its author meant."""
    transcript = read(TRANSCRIPTS[name])
    expected = {key: value for key, value in transcript["_expected"].items() if key != "why"}
    found = score_transcript(transcript, profile)["stop_recommendation"]
    assert {key: found[key] for key in expected} == expected


@pytest.mark.clause("C01", "F01")
@both_profiles
def test_shuffled_words_are_caught_at_level_1(profile: Profile) -> None:
    """The last rounds of paraphrase-rounds are new strings without a new claim."""
    rounds = score_transcript(read(TRANSCRIPTS["paraphrase-rounds"]), profile)["novelty_by_round"]
    assert [item["new_claims_L0"] for item in rounds] == [4, 3, 3, 3]
    assert [item["new_claims_L1"] for item in rounds] == [4, 1, 0, 0]


@pytest.mark.clause("C01")
@both_profiles
def test_other_words_pass_level_1(profile: Profile) -> None:
    """Every claim of reworded-rounds is new to levels 0 and 1, though rounds 2 to 4 repeat round 1."""
    rounds = score_transcript(read(TRANSCRIPTS["reworded-rounds"]), profile)["novelty_by_round"]
    assert [item["new_claims"] for item in rounds] == [item["claims"] for item in rounds] == [3, 3, 3, 3]


@pytest.mark.clause("C02", "C03")
@both_profiles
def test_worked_example_round_by_round(profile: Profile) -> None:
    """The worked example has the counts, rates, readiness and signal of appendices A and B in every round."""
    transcript = read(EXAMPLES / "worked-example.json")
    for expected in transcript["_expected"]["rounds"]:
        so_far = transcript | {"rounds": transcript["rounds"][: expected["round"]]}
        score = score_transcript(so_far, profile)
        latest = score["novelty_by_round"][-1]
        stop = score["stop_recommendation"]
        assert expected == {
            "round": latest["round"],
            "claims": latest["claims"],
            "new_claims": latest["new_claims_L0"],
            "novelty_rate": score["components"]["novelty_rate_L0"],
            "novelty_classification": stop["novelty_classification"],
            "action_readiness": score["components"]["action_readiness"],
            "readiness_classification": stop["readiness_classification"],
            "signal": stop["signal"],
        }


@pytest.mark.clause("C02")
@both_profiles
def test_worked_example_ends_with_a_caveat(profile: Profile) -> None:
    """At round 6 novelty is LOW, readiness 0.65 is MEDIUM, and SHIP comes with a caveat."""
    score = score_transcript(read(EXAMPLES / "worked-example.json"), profile)
    stop = score["stop_recommendation"]
    rounds = score["novelty_by_round"]
    assert [item["claims"] for item in rounds] == [4, 3, 3, 3, 1, 2]
    assert [item["new_claims_L0"] for item in rounds] == [4, 1, 1, 1, 0, 0]
    assert [item["novelty_rate_L0"] for item in rounds] == [1.0, 0.25, 0.25, 0.25, 0.0, 0.0]
    assert score["components"]["action_readiness"] == 0.65
    assert (stop["novelty_classification"], stop["readiness_classification"]) == ("LOW", "MEDIUM")
    assert (stop["signal"], stop["k_consecutive_low_novelty"]) == ("SHIP", 2)
    assert stop["caveat"]


@pytest.mark.clause("C03")
@both_profiles
def test_worked_example_at_round_4(profile: Profile) -> None:
    """At round 4 readiness 0.85 is HIGH, and the signal is still CONTINUE."""
    transcript = read(EXAMPLES / "worked-example.json")
    score = score_transcript(transcript | {"rounds": transcript["rounds"][:4]}, profile)
    assert score["components"]["action_readiness_detail"] == {
        "next_actions_score": 0.7,
        "open_questions_score": 1.0,
        "blocker_score": 1.0,
    }
    assert score["components"]["action_readiness"] == 0.85
    assert score["stop_recommendation"]["readiness_classification"] == "HIGH"
    assert score["stop_recommendation"]["signal"] == "CONTINUE"


def test_no_sentence_is_used_twice() -> None:
    """Each transcript has a subject of its own: no claim stands in two of them."""
    owners: dict[str, set[str]] = {}
    for path in [*TRANSCRIPTS.values(), EXAMPLES / "worked-example.json"]:
        for item in read(path)["rounds"]:
            for claim in item["outputs"]["claims"]:
                owners.setdefault(normal_form(claim), set()).add(path.stem)
    assert not {claim: names for claim, names in owners.items() if len(names) > 1}
