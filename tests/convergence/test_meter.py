"""The meter as users hold it, and its output object (novelty spec, 4.3 and 6.3; rubric, 1 and 2)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.meter import ConvergenceMeter, score_transcript
from ebbtide.engine_state import sealed
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.events.transcript import Round, Transcript
from ebbtide.profile import Profile

sentences = st.lists(
    st.sampled_from(
        "cache query index do not enable disable 30 300 tests running run maybe deploy blocked ?".split()
    ),
    max_size=6,
).map(" ".join)
texts = st.lists(sentences | st.text(max_size=12), max_size=4).map(tuple)
rounds = st.builds(
    Round, number=st.just(1), claims=texts, next_actions=texts, open_questions=texts, decisions=texts
)
conversations = st.lists(rounds, min_size=1, max_size=8).map(
    lambda items: Transcript(
        conversation_id="c",
        rounds=tuple(
            Round(
                number=number,
                claims=item.claims,
                next_actions=item.next_actions,
                open_questions=item.open_questions,
                decisions=item.decisions,
            )
            for number, item in enumerate(items, start=1)
        ),
    )
)
profiles = st.sampled_from([Profile.SPEC, Profile.DEFAULT])


@given(conversations, profiles)
def test_batch_is_the_fold_of_online(transcript: Transcript, profile: Profile) -> None:
    """Scoring a transcript equals feeding its rounds one by one, in memory and from the wire form."""
    meter = ConvergenceMeter(profile)
    for item in transcript.rounds:
        meter.update(item)
    assert meter.score().to_dict() == score_transcript(transcript, profile)
    assert score_transcript(transcript.to_dict(), profile) == score_transcript(transcript, profile)


@given(conversations, profiles, st.integers(0, 7))
def test_a_restart_changes_nothing(transcript: Transcript, profile: Profile, at: int) -> None:
    """A meter that went through JSON in the middle ends with the same score, flags and state."""
    straight, restarted = ConvergenceMeter(profile), ConvergenceMeter(profile)
    for item in transcript.rounds:
        if item.number == at:
            restarted = ConvergenceMeter.from_state(json.loads(json.dumps(restarted.to_state())))
        assert straight.update(item) == restarted.update(item)
    assert straight.score() == restarted.score()
    assert straight.to_state() == restarted.to_state()


@given(conversations)
def test_reading_changes_nothing(transcript: Transcript) -> None:
    """Asking for the score or the state between rounds leaves no trace."""
    asked, unasked = ConvergenceMeter(), ConvergenceMeter()
    for item in transcript.rounds:
        asked.update(item)
        assert asked.score() == asked.score()
        asked.to_state()
        unasked.update(item)
    assert asked.to_state() == unasked.to_state()


def test_a_round_that_comes_twice_is_ignored() -> None:
    """Delivering a round again does no harm, also when newer ones came in between."""
    meter = ConvergenceMeter()
    meter.update(Round(number=1, claims=("The cache is cold",)))
    meter.update(Round(number=2, claims=("The index is stale",)))
    before = meter.to_state()
    assert meter.update(Round(number=1, claims=("Something else",))) is None
    assert meter.to_state() == before


def test_a_round_that_comes_too_late_is_an_error() -> None:
    """A round older than the latest that was never counted cannot be put in."""
    meter = ConvergenceMeter()
    meter.update(Round(number=5, claims=("The cache is cold",)))
    with pytest.raises(TranscriptError, match="round 3 came after round 5"):
        meter.update(Round(number=3))


def test_there_is_no_score_without_rounds() -> None:
    """An empty meter says so instead of inventing a score."""
    with pytest.raises(TranscriptError, match="no rounds"):
        ConvergenceMeter().score()
    with pytest.raises(TranscriptError, match="no rounds"):
        score_transcript({"conversation_id": "x", "rounds": []})


@pytest.mark.parametrize(
    "state", [{}, {"schema": 99}, {"schema": 1}, {"schema": 1, "profile": {"x": 1}}, None, 1]
)
def test_a_state_of_another_version_is_refused(state: dict[str, Any]) -> None:
    """A state that this version cannot read is an error, not an empty meter."""
    with pytest.raises(ConfigError):
        ConvergenceMeter.from_state(state)


@pytest.mark.parametrize(
    ("key", "damage", "message"),
    [
        (
            "composite",
            {"novelty_low_rounds": "two", "rounds_needed": 2},
            "novelty_low_rounds: expected a whole number",
        ),
        ("rounds", [[1, {"round": 1}]], "the key 'agent' is missing"),
        (
            "flags",
            [{"kind": "cheating", "round": 1, "rule": "r", "evidence": "e"}],
            "kind: 'cheating' is not one of",
        ),
        ("latest", [1], "expected an object"),
        ("low_run", ["soon"], "'soon' is not one of"),
        ("claims", {"claims": [[3]]}, "not the state of a meter"),
    ],
)
def test_a_damaged_state_is_refused(key: str, damage: object, message: str) -> None:
    """What is not what it should be is named, and makes no meter."""
    meter = ConvergenceMeter()
    meter.update(Round(number=1, claims=("The cache is cold.",)))
    with pytest.raises(ConfigError, match=message):
        ConvergenceMeter.from_state(sealed({**meter.to_state(), key: damage}))


def test_one_new_question_keeps_a_round_from_being_low() -> None:
    """A round that only asks is not low where its question is new, and is where it was asked before."""
    meter = ConvergenceMeter()
    meter.update(Round(number=1, claims=("The cache is cold", "The index is stale", "The lock is held")))
    asking = [Round(number=number, open_questions=("Who owns the ledger?",)) for number in (2, 3)]
    readings = [meter.update(item) for item in asking]
    assert [reading and reading.recommendation.low_run for reading in readings] == [0, 1]


TWO_ROUNDS = {
    "version": "0.1",
    "conversation_id": "two",
    "rounds": [
        {
            "round": 2,
            "outputs": {"claims": ["The cache is cold.", "Shard the ledger"], "next_actions": ["End."]},
        },
        {
            "round": 1,
            "agent": "ana",
            "outputs": {"claims": ["The cache is cold"], "open_questions": ["Why?"]},
        },
    ],
}


@pytest.mark.clause("S06")
def test_the_output_object_has_every_key_of_the_spec() -> None:
    """score, components, novelty_by_round, stop_recommendation and hint, with the names of the spec."""
    found = score_transcript(TWO_ROUNDS)
    assert {"score", "components", "novelty_by_round", "stop_recommendation", "hint"} <= found.keys()
    components = found["components"]
    assert components["action_readiness_detail"] == {
        "next_actions_score": 0.3,
        "open_questions_score": 1.0,
        "blocker_score": 1.0,
    }
    assert {key: components[key] for key in components if key != "action_readiness_detail"} == {
        "novelty_rate": 1.0,
        "novelty_rate_L0": 1.0,
        "novelty_rate_L1": 1.0,
        "action_readiness": 0.65,
        "semantic_similarity": None,
        "structural_agreement": "modify",
    }
    assert [entry["round"] for entry in found["novelty_by_round"]] == [1, 2]
    recommendation = found["stop_recommendation"]
    assert recommendation["signal"] == "CONTINUE"
    assert recommendation["novelty_classification"] == "HIGH"
    assert recommendation["readiness_classification"] == "MEDIUM"
    assert recommendation["k_consecutive_low_novelty"] == 0
    assert recommendation["rationale"]
    json.dumps(found, allow_nan=False)


@pytest.mark.clause("S07")
@given(conversations, profiles)
def test_the_score_is_one_minus_the_novelty_rate(transcript: Transcript, profile: Profile) -> None:
    """score + novelty_rate = 1, whatever the conversation."""
    found = score_transcript(transcript, profile)
    assert found["score"] + found["components"]["novelty_rate"] == pytest.approx(1.0, abs=1e-9)
    assert 0 <= found["score"] <= 1


@pytest.mark.clause("B01")
@pytest.mark.parametrize(("count", "too_short"), [(1, True), (2, True), (3, False)])
def test_a_transcript_too_short_to_judge_says_so(count: int, too_short: bool) -> None:
    """Before novelty can be LOW, the output says that it is too early."""
    wire = [{"round": number + 1, "outputs": {"claims": ["The cache is cold"]}} for number in range(count)]
    found = score_transcript({"conversation_id": "x", "rounds": wire})["stop_recommendation"]
    assert found["too_short_to_judge"] is too_short
    assert ("too short to judge; 3 are needed" in found["rationale"]) is too_short


@pytest.mark.clause("B02")
def test_readiness_is_graded_and_its_trajectory_is_in_the_output() -> None:
    """Each round's readiness, with its parts, is told in order."""
    actions: list[list[str]] = [
        [],
        ["Consider it"],
        ["Deploy the build"],
        ["I will deploy it", "Write the docs"],
    ]
    wire = [
        {"round": n, "outputs": {"claims": [f"fact {n}"], "next_actions": a}}
        for n, a in enumerate(actions, 1)
    ]
    found = score_transcript({"conversation_id": "x", "rounds": wire})
    trajectory = [entry["action_readiness"] for entry in found["readiness_by_round"]]
    assert trajectory == [0.5, 0.65, 0.85, 1.0]
    assert [entry["next_actions_score"] for entry in found["readiness_by_round"]] == [0.0, 0.3, 0.7, 1.0]
