"""Gaming flags (novelty spec, section 5)."""

import pytest

from ebbtide.convergence.gaming import Gaming, GamingFlag
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile

FACTS = (
    "The index on orders is stale",
    "Every checkout opens two connections",
    "Nightly exports lock the ledger table",
    "Retries hide the first failure",
    "Support cannot see archived tickets",
    "The mobile client polls each second",
)


def _flags(*rounds: Round, profile: Profile = Profile.SPEC) -> list[GamingFlag]:
    meter = ConvergenceMeter(profile)
    return [flag for item in rounds for flag in (meter.update(item) or pytest.fail("ignored")).flags]


def _kinds(flags: list[GamingFlag]) -> list[tuple[Gaming, int]]:
    return [(flag.kind, flag.round) for flag in flags]


@pytest.mark.clause("F01")
def test_rewording_is_flagged_with_the_reworded_claims() -> None:
    """A round that only the exact level takes for new is flagged, and quotes the claims."""
    shuffled = tuple(" ".join(reversed(fact.split())) for fact in FACTS[:3])
    flags = _flags(Round(number=1, claims=FACTS[:3]), Round(number=2, claims=shuffled))
    assert _kinds(flags) == [(Gaming.PARAPHRASE, 2)]
    assert flags[0].texts == shuffled


@pytest.mark.clause("F02")
def test_many_claims_and_hardly_a_new_one_is_inflation() -> None:
    """New over total below a tenth, in a round as large as before, is flagged."""
    flags = _flags(Round(number=1, claims=FACTS), Round(number=2, claims=FACTS))
    assert _kinds(flags) == [(Gaming.CLAIM_INFLATION, 2)]
    assert flags[0].evidence.startswith("0 of 6 claims are new")


@pytest.mark.clause("F02")
def test_a_spike_of_claims_with_low_novelty_is_inflation() -> None:
    """A round many times the usual size that brings little is flagged, also above a tenth."""
    many = tuple(f"{fact} {word}" for fact in FACTS[:2] for word in ("today", "again", "often"))
    first = Round(
        number=1,
        claims=tuple(f"{fact} since spring" for fact in FACTS[2:]) + FACTS[:2] + ("Logs rotate hourly",),
    )
    flags = _flags(
        first, *(Round(number=n, claims=FACTS[:1]) for n in range(2, 5)), Round(number=5, claims=many)
    )
    assert (Gaming.CLAIM_INFLATION, 5) in _kinds(flags)


@pytest.mark.clause("F02")
def test_a_first_round_and_a_small_round_are_not_inflation() -> None:
    """There is nothing to compare a first round with, and a few repeats are no padding."""
    assert _flags(Round(number=1, claims=FACTS * 3)) == []
    assert _flags(Round(number=1, claims=FACTS[:3]), Round(number=2, claims=FACTS[:3])) == []


@pytest.mark.clause("F03")
def test_ready_while_everything_is_new_is_flagged_and_continues() -> None:
    """Actions that come before the conversation settled do not stop it."""
    meter = ConvergenceMeter(Profile.SPEC)
    for number in (1, 2, 3):
        said = Round(
            number=number, claims=FACTS[2 * number - 2 : 2 * number], next_actions=("Implement the solution",)
        )
        reading = meter.update(said)
        assert reading is not None
        assert reading.recommendation.signal is Signal.CONTINUE
        # In a first round everything is new, so there is nothing to hold its readiness against.
        assert _kinds(list(reading.flags)) == ([(Gaming.FAKE_READINESS, number)] if number > 1 else [])


@pytest.mark.clause("F04")
def test_questions_that_vanish_while_claims_are_new_are_flagged() -> None:
    """A drop to zero in a round with new claims quotes the questions; a quiet round is no drop."""
    asked = Round(number=1, claims=FACTS[:2], open_questions=("Who owns the ledger?",))
    flags = _flags(asked, Round(number=2, claims=FACTS[2:4]))
    assert _kinds(flags) == [(Gaming.QUESTION_SUPPRESSION, 2)]
    assert flags[0].texts == ("Who owns the ledger?",)
    assert _flags(asked, Round(number=2, claims=FACTS[:1])) == []
    assert _flags(asked, Round(number=2, claims=FACTS[2:4], open_questions=("Who owns the index?",))) == []
    raw = [Round.from_text("Who owns the ledger?", number=1), Round.from_text(f"{FACTS[0]}.", number=2)]
    assert _flags(*raw) == []  # a turn does not list the questions that are still open


@pytest.mark.clause("F04")
def test_questions_outside_open_questions_are_found() -> None:
    """A question among the claims or in the summary is flagged, unless it is listed as open too."""
    hidden = Round(
        number=1,
        claims=("The ledger is locked.", "Should we shard the ledger by tenant?"),
        open_questions=("Who owns it?",),
    )
    flags = _flags(hidden)
    assert _kinds(flags) == [(Gaming.HIDDEN_QUESTION, 1)]
    assert flags[0].texts == ("Should we shard the ledger by tenant?",)
    listed = Round(number=1, claims=("Who owns it?",), open_questions=("who owns it",))
    assert _flags(listed) == []


@pytest.mark.clause("F06", "R08")
def test_stale_readiness_does_not_count() -> None:
    """Readiness of an earlier round is gone in the next one."""
    meter = ConvergenceMeter(Profile.SPEC)
    meter.update(
        Round(number=1, claims=FACTS[:1], next_actions=("Deploy the build", "I will write the docs"))
    )
    assert meter.score().latest.readiness_classification == "HIGH"
    meter.update(Round(number=2, claims=FACTS[1:2], open_questions=("Which one?",)))
    assert meter.score().latest.readiness_classification == "LOW"
    assert meter.score().to_dict()["components"]["action_readiness"] == 0.23
