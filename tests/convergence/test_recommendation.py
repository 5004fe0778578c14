"""The decision matrix (novelty spec, section 4)."""

import itertools

import pytest

from ebbtide.convergence.novelty import Novelty
from ebbtide.convergence.readiness import Readiness, RoundReadiness, assess_readiness
from ebbtide.convergence.recommendation import Recommendation, recommend
from ebbtide.convergence.signal import Signal
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile

READY = {
    Readiness.HIGH: Round(number=1, next_actions=("Deploy the build",)),
    Readiness.MEDIUM: Round(number=1),
    Readiness.LOW: Round(number=1, open_questions=("Which one?",)),
}
BLOCKED = Round(number=1, next_actions=("I will deploy it, which depends on legal", "Write the docs"))


def _readiness(item: Round) -> RoundReadiness:
    return assess_readiness(item, 0, Profile.SPEC.readiness)


def _recommend(novelty: Novelty, readiness: RoundReadiness, low_run: tuple[Readiness, ...]) -> Recommendation:
    rate = {Novelty.HIGH: 1.0, Novelty.MEDIUM: 0.3, Novelty.LOW: 0.0}[novelty]
    return recommend(
        novelty=novelty,
        readiness=readiness,
        readiness_of_low_run=low_run,
        rate=rate,
        rounds=8,
        rounds_needed=3,
        rules=Profile.SPEC.stop,
    )


@pytest.mark.clause("S01", "S04")
@pytest.mark.parametrize(("novelty", "ready"), list(itertools.product(Novelty, Readiness)))
def test_the_nine_cells(novelty: Novelty, ready: Readiness) -> None:
    """Only LOW novelty stops: SHIP when there is something to do, ESCALATE when there is not."""
    low_run = (ready, ready) if novelty is Novelty.LOW else ()
    readiness = _readiness(READY[ready])
    assert readiness.classification is ready
    found = _recommend(novelty, readiness, low_run)
    if novelty is not Novelty.LOW:
        assert found.signal is Signal.CONTINUE
    else:
        assert found.signal is (Signal.ESCALATE if ready is Readiness.LOW else Signal.SHIP)


@pytest.mark.clause("S02")
def test_low_and_medium_ships_with_a_caveat() -> None:
    """The caveat says what is missing, in the object and in the hint; a ready SHIP has none."""
    medium = _recommend(Novelty.LOW, _readiness(READY[Readiness.MEDIUM]), (Readiness.MEDIUM,) * 2)
    assert medium.caveat is not None
    assert "no next actions" in medium.caveat
    assert medium.caveat in medium.hint
    assert medium.to_dict()["caveat"] == medium.caveat
    high = _recommend(Novelty.LOW, _readiness(READY[Readiness.HIGH]), (Readiness.HIGH,) * 2)
    assert high.caveat is None


@pytest.mark.clause("S03")
def test_a_blocker_forbids_ship() -> None:
    """LOW novelty with a blocker escalates, however ready the rest is; the blocker is quoted."""
    readiness = _readiness(BLOCKED)
    assert readiness.classification is Readiness.HIGH
    found = _recommend(Novelty.LOW, readiness, (Readiness.HIGH,) * 2)
    assert found.signal is Signal.ESCALATE
    assert "depends on" in found.rationale
    assert _recommend(Novelty.MEDIUM, readiness, ()).signal is Signal.CONTINUE


@pytest.mark.clause("S05")
@pytest.mark.parametrize(
    ("low_run", "expected"),
    [
        ("MM", Signal.SHIP),
        ("MMM", Signal.ESCALATE),
        ("LMM", Signal.ESCALATE),
        ("HMM", Signal.SHIP),
        ("MHMM", Signal.SHIP),
        ("MMMMM", Signal.ESCALATE),
    ],
)
def test_low_for_three_rounds_and_never_ready_escalates(low_run: str, expected: Signal) -> None:
    """A caveated SHIP that nobody acts on becomes ESCALATE at the third low round, unless one was ready."""
    classes = {"H": Readiness.HIGH, "M": Readiness.MEDIUM, "L": Readiness.LOW}
    run = tuple(classes[letter] for letter in low_run)
    found = _recommend(Novelty.LOW, _readiness(READY[Readiness.MEDIUM]), run)
    assert found.signal is expected
    if expected is Signal.ESCALATE:
        assert f"none of the {len(run)} low rounds" in found.rationale


@pytest.mark.clause("S08")
def test_the_rationale_names_the_facts() -> None:
    """Novelty with its run and rate, readiness with actions, questions and blockers, in words."""
    found = _recommend(Novelty.LOW, _readiness(READY[Readiness.HIGH]), (Readiness.HIGH,) * 2)
    for fact in (
        "low for 2 consecutive rounds",
        "0.00",
        "high",
        "1 specific next action",
        "no open questions",
        "no blockers",
    ):
        assert fact in found.rationale


@pytest.mark.clause("B08")
@pytest.mark.parametrize(("novelty", "ready"), list(itertools.product(Novelty, Readiness)))
def test_no_output_claims_correctness(novelty: Novelty, ready: Readiness) -> None:
    """Every hint asks for verification, and no text calls a result right."""
    found = _recommend(novelty, _readiness(READY[ready]), (ready, ready) if novelty is Novelty.LOW else ())
    assert "verify" in found.hint.lower()
    text = f"{found.hint} {found.rationale} {found.caveat}".lower().replace("does not mean correct", "")
    assert not any(word in text for word in ("correct", "right", "true", "accurate", "guarantee"))


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ((), "no next actions"),
        (("Consider looking into the cache",), "only vague next actions"),
        (("Deploy the build to staging", "Consider looking into the cache"), "1 specific next action,"),
        (
            ("Ana will deploy the build on Monday", "Bo will write the docs"),
            "2 specific next actions with an owner,",
        ),
    ],
)
def test_the_reason_tells_what_is_there_to_act_on(actions: tuple[str, ...], words: str) -> None:
    """None, vague ones alone, specific ones, and specific ones that somebody will do."""
    readiness = _readiness(Round(number=1, next_actions=actions))
    assert words in _recommend(Novelty.LOW, readiness, (readiness.classification,) * 2).rationale
