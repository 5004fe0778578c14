"""The semantic level with the real model (novelty spec 2.1 L2; rubric, sections 4 and composite rule)."""

import json
from collections.abc import Iterator

import pytest

from ebbtide.convergence.composite import Composite
from ebbtide.convergence.meter import ConvergenceMeter, score_transcript
from ebbtide.convergence.semantic import SemanticIndex, cosine_at_least
from ebbtide.errors import ConfigError
from ebbtide.events.transcript import Round, Transcript
from ebbtide.profile import Profile
from ebbtide.profile.convergence import NoveltyRules
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import Embedder

CACHE = "Cache frequently accessed queries at the application layer"
CACHE_TOO = "Caching of frequent queries should happen in the application layer"


@pytest.fixture(scope="module")
def minilm() -> Iterator[Embedder]:
    return open_embedder()


@pytest.mark.clause("N08", "N09", "F01")
def test_what_means_the_same_is_not_new_at_l2(minilm: Embedder) -> None:
    """Two claims that share two words are one in meaning; the lower rate of the levels counts."""
    meter = ConvergenceMeter(Profile.SPEC, embedder=minilm)
    meter.update(Round(number=1, claims=(CACHE, "The ledger is locked at night")))
    reading = meter.update(Round(number=2, claims=(CACHE_TOO,)))
    assert reading is not None
    claim = reading.novelty.readings[0]
    assert (claim.new_L0, claim.new_L1, claim.new_L2) == (True, True, False)
    assert claim.nearest_L2 is not None
    assert claim.nearest_L2.similarity >= 0.82
    assert (reading.novelty.rate_L1, reading.novelty.rate_L2, reading.novelty.rate) == (0.5, 0.0, 0.0)
    components = meter.score().to_dict()["components"]
    assert components["novelty_rate_L2"] == components["novelty_rate"] == 0.0


@pytest.mark.clause("N08", "B03")
def test_the_level_is_off_by_default() -> None:
    """Without an embedder nothing of L2 is in the output, and similarity is null."""
    wire = {
        "rounds": [
            {"round": 1, "outputs": {"claims": [CACHE]}},
            {"round": 2, "outputs": {"claims": [CACHE_TOO]}},
        ]
    }
    found = score_transcript(wire)
    assert found["semantic"] is None
    assert found["components"]["semantic_similarity"] is None
    assert "novelty_rate_L2" not in found["components"]
    assert found["components"]["novelty_rate"] == 1.0


@pytest.mark.clause("N08")
def test_the_threshold_is_per_model_and_configurable(minilm: Embedder) -> None:
    """MiniLM has 0.82; a profile can say otherwise, and a stricter one keeps the claims apart."""
    assert cosine_at_least(Profile.SPEC.novelty, minilm.model) == 0.82
    strict = NoveltyRules(cosine_at_least=0.99)
    assert cosine_at_least(strict, minilm.model) == 0.99
    own = Profile(name="own", novelty=strict)
    meter = ConvergenceMeter(own, embedder=minilm)
    meter.update(Round(number=1, claims=(CACHE,)))
    reading = meter.update(Round(number=2, claims=(CACHE_TOO,)))
    assert reading is not None
    assert reading.novelty.new_L2 == 1


@pytest.mark.parametrize(
    ("said", "reversal"),
    [
        ("Enable retries for failed uploads", "Disable retries for failed uploads"),
        ("The service must be deployed on Friday", "The service must not be deployed on Friday"),
        ("Requests time out after 30 seconds", "Requests time out after 300 seconds"),
    ],
)
def test_a_reversal_is_new_in_meaning_too(minilm: Embedder, said: str, reversal: str) -> None:
    """The contrast guard applies at L2 in the default profile: near in meaning, and the opposite."""
    meter = ConvergenceMeter(embedder=minilm)
    meter.update(Round(number=1, claims=(said,)))
    reading = meter.update(Round(number=2, claims=(reversal,)))
    assert reading is not None
    assert reading.novelty.readings[0].new_L2
    assert reading.novelty.readings[0].contrast is not None


@pytest.mark.clause("N08")
def test_search_equals_every_pair(minilm: Embedder) -> None:
    """Matches and nearest are those of the whole matrix, one text at a time or all at once."""
    texts = [CACHE, CACHE_TOO, "The ledger is locked", "the ledger has a lock on it", "Exports run at night"]
    vectors = minilm.embed(texts)
    at_once = SemanticIndex(minilm, 0.6).add(texts)
    index = SemanticIndex(minilm, 0.6)
    for at, text in enumerate(texts):
        (reading,) = index.add([text])
        cosines = [float(vectors[at] @ vectors[before]) for before in range(at)]
        assert [match.number for match in reading.matches] == [
            number
            for number, _ in sorted(enumerate(cosines), key=lambda pair: -pair[1])
            if cosines[number] >= 0.6
        ]
        assert (reading.nearest is None) == (at == 0)
        assert [m.number for m in at_once[at].matches] == [m.number for m in reading.matches]


@pytest.mark.clause("B03")
def test_stability_compares_rounds_and_agents(minilm: Embedder) -> None:
    """A reworded round is near the one before it, a new topic is far, and agents are compared too."""
    meter = ConvergenceMeter(embedder=minilm)
    rounds = [
        Round(number=1, agent="ana", claims=(CACHE,)),
        Round(number=2, agent="bo", claims=(CACHE_TOO,)),
        Round(number=3, agent="bo", claims=("The whale sleeps with half of its brain",)),
        Round(number=4, agent="bo", claims=()),
    ]
    found = [reading.stability for item in rounds if (reading := meter.update(item))]
    assert [item is not None for item in found] == [True] * 4
    rows = [(item.rounds, item.agents) for item in found if item]
    assert rows[0] == (None, None)
    assert rows[1][0] == rows[1][1]
    assert rows[1][0] is not None
    assert rows[1][0] >= 0.82
    assert rows[2][0] is not None
    assert rows[2][0] < 0.3
    assert rows[3] == (None, None)
    assert meter.score().to_dict()["components"]["semantic_similarity"] is None


@pytest.mark.clause("B03")
def test_a_round_of_several_claims_is_as_stable_as_can_be_beside_itself(minilm: Embedder) -> None:
    """The mean of different directions is shorter than one, and counts as a direction all the same."""
    meter = ConvergenceMeter(embedder=minilm)
    claims = (CACHE, "The whale sleeps with half of its brain", "Ledgers lock")
    meter.update(Round(number=1, agent="ana", claims=claims))
    reading = meter.update(Round(number=2, agent="bo", claims=claims))
    assert reading is not None
    assert reading.stability is not None
    assert reading.stability.rounds == reading.stability.agents == pytest.approx(1.0, abs=1e-5)


@pytest.mark.clause("B03")
def test_a_summary_stands_for_its_round(minilm: Embedder) -> None:
    """Where rounds have summaries, those are compared."""
    meter = ConvergenceMeter(embedder=minilm)
    meter.update(Round(number=1, claims=("Whales sleep",), summary=CACHE))
    reading = meter.update(Round(number=2, claims=("Ledgers lock",), summary=CACHE_TOO))
    assert reading is not None
    assert reading.stability is not None
    assert reading.stability.rounds is not None
    assert reading.stability.rounds >= 0.82


@pytest.mark.clause("B05")
def test_the_composite_rule_counts_each_condition() -> None:
    """Runs grow while a condition holds and start anew when it breaks; all three are needed for k rounds."""
    state = Composite(rounds_needed=2)
    for low, stable, blocked in [
        (True, True, False),
        (True, False, False),
        (True, True, False),
        (True, True, False),
    ]:
        state = state.after(low=low, stable=stable, blocked=blocked)
    assert (state.novelty_low_rounds, state.stability_high_rounds) == (4, 2)
    assert (state.not_blocked_rounds, state.all_held_rounds) == (4, 2)
    assert state.met
    assert not state.after(low=True, stable=True, blocked=True).met
    assert not state.after(low=False, stable=True, blocked=False).met
    unknown = Composite(rounds_needed=1).after(low=True, stable=None, blocked=False)
    assert (unknown.stability_high_rounds, unknown.met) == (None, False)


@pytest.mark.clause("B05")
def test_which_conditions_held_is_in_the_output(minilm: Embedder) -> None:
    """Saying the same three times meets the rule; the numbers say for how long each condition held."""
    wire = {
        "rounds": [{"round": n, "outputs": {"claims": [CACHE, "The ledger is locked"]}} for n in (1, 2, 3)]
    }
    found = score_transcript(wire, embedder=minilm)["composite_rule"]
    assert found == {
        "novelty_low_rounds": 2,
        "stability_high_rounds": 2,
        "not_blocked_rounds": 3,
        "all_held_rounds": 2,
        "rounds_needed": 2,
        "met": True,
    }
    assert score_transcript(wire)["composite_rule"]["met"] is False


def test_a_restart_keeps_the_semantic_level(minilm: Embedder) -> None:
    """The state goes through JSON and back; without its embedder it is refused."""
    rounds = (
        Round(number=1, agent="ana", claims=(CACHE, "The ledger is locked")),
        Round(number=2, agent="bo", claims=(CACHE_TOO,)),
        Round(number=3, agent="ana", claims=("The ledger has a lock on it",)),
    )
    straight = score_transcript(
        Transcript(conversation_id="c", rounds=rounds), Profile.DEFAULT, embedder=minilm
    )
    meter = ConvergenceMeter(embedder=minilm)
    for item in rounds:
        meter.update(item)
        meter = ConvergenceMeter.from_state(json.loads(json.dumps(meter.to_state())), embedder=minilm)
    assert meter.score().to_dict() == straight
    with pytest.raises(ConfigError, match="embedder"):
        ConvergenceMeter.from_state(meter.to_state())
