"""Deferrals found by meaning, with the default model."""

import json
from pathlib import Path

import pytest

from ebbtide.convergence.deferrals import PAIRS, Deferrals
from ebbtide.convergence.gaming import Gaming
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.events.transcript import Round
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import Embedder

TABLE = json.loads((Path(__file__).parent / "deferral_sentences.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The default model."""
    return open_embedder()


@pytest.fixture(scope="module")
def deferrals(embedder: Embedder) -> Deferrals:
    """A finder with the default model."""
    return Deferrals(embedder)


@pytest.mark.clause("F05")
@pytest.mark.parametrize(
    "text",
    [
        "We will figure out auth later.",
        "Let's kick the identity provider decision down the road.",
        "Somebody will have to look into the licensing at some point.",
        "The compliance people can be brought in once we're live.",
        "Somewhere along the way we'll get hold of the admin credentials.",
    ],
)
def test_a_deferral_is_found(text: str, deferrals: Deferrals) -> None:
    """A sentence that puts something off is found, though it names no blocker."""
    assert deferrals.put_off([text]) == [True]


@pytest.mark.clause("F05")
@pytest.mark.parametrize(
    "text",
    [
        "Ana sets up the login service by Friday.",
        "The later release fixed the memory leak.",
        "Retry the request five seconds later.",
        "The review was postponed last week and took place on Monday.",
        "The scheduler runs deferred jobs every ten minutes.",
        "We are blocked because the security team has not granted access.",
        "Park the car behind the building.",
    ],
)
def test_what_puts_nothing_off_is_left_alone(text: str, deferrals: Deferrals) -> None:
    """Planned work, past events, blockers with a name and plain uses of the same words are no deferrals."""
    assert deferrals.put_off([text]) == [False]


@pytest.mark.clause("F05")
@pytest.mark.parametrize("half", ["tune", "held_out"])
def test_most_deferrals_and_little_else(half: str, deferrals: Deferrals) -> None:
    """Of the table, at least two thirds of the deferrals are found and hardly anything else."""
    found = sum(deferrals.put_off(TABLE[half]["deferral"]))
    wrong = sum(deferrals.put_off(TABLE[half]["other"]))
    assert found >= len(TABLE[half]["deferral"]) * 2 / 3
    assert found / (found + wrong) >= 0.9


def test_the_table_is_not_among_the_examples() -> None:
    """No sentence that the rule is measured on is one that it was made of."""
    table = {text for half in TABLE.values() for texts in half.values() for text in texts}
    examples = {text for pair in PAIRS for text in pair}
    assert not {text.lower().rstrip(".") for text in table} & examples


@pytest.mark.clause("F05")
def test_a_round_gets_one_flag_with_every_deferral(deferrals: Deferrals) -> None:
    """Claims, decisions, next actions and the summary are read; a sentence said twice counts once."""
    later = "We'll figure out auth later."
    someday = "Let's kick the identity provider decision down the road."
    item = Round(
        number=3,
        claims=(later, "Tokens expire after one hour."),
        decisions=(someday,),
        next_actions=(later, "Park the car behind the building."),
        summary="We can worry about rate limits once people actually use it.",
    )
    (flag,) = deferrals.find(item)
    assert (flag.kind, flag.round, flag.rule) == (Gaming.BLOCKER_EVASION, 3, "blocker.deferred")
    assert flag.texts == (later, someday, item.summary)
    assert flag.evidence == "3 sentences put something off"


@pytest.mark.parametrize("item", [Round(number=1), Round(number=1, claims=("...",))], ids=["silent", "dots"])
def test_nothing_said_is_no_flag(item: Round, deferrals: Deferrals) -> None:
    """A round without words has nothing to put off."""
    assert deferrals.find(item) == ()


@pytest.mark.clause("F05")
def test_the_meter_flags_deferrals_at_the_semantic_level_only(embedder: Embedder) -> None:
    """The flag comes with an embedder, and not without one."""
    item = Round(number=1, claims=("We'll figure out auth later.",))
    for meter, rules in (
        (ConvergenceMeter(), []),
        (ConvergenceMeter(embedder=embedder), ["blocker.deferred"]),
    ):
        reading = meter.update(item)
        assert reading is not None
        assert [flag.rule for flag in reading.flags] == rules
