"""What people decide in few words: a sum of signs, none of which says it alone."""

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decisions.turns.filtered_turns import Disposition, SpokenTurn
from ebbtide.decisions.turns.person_signs import WEIGHTS_FILE, person_weights, score
from ebbtide.decisions.turns.sign_rules import SIGNS
from ebbtide.decisions.turns.turn_candidates import (
    FEW_SIGNS,
    TurnCandidate,
    candidates_of,
    sentences_of_person,
)
from ebbtide.decisions.turns.turn_filter import filter_turns
from ebbtide.text.extraction.turn import Speaker


def of_person(text: str, before: str | None = None) -> tuple[TurnCandidate, ...]:
    return candidates_of(text, Speaker.PERSON, before)


@pytest.mark.parametrize(
    "text",
    [
        "Remove all traces of the second writer!",
        "Keep the old name, it is only used in tests.",
        "Please use the pool and not a new connection.",
        "I decided that the links may live for an hour.",
        "No, we stay on SQLite.",
        "Fine, then one writer it is",
        "Don't add a second writer.",
    ],
)
def test_what_a_person_orders_or_rules_out_is_kept(text: str) -> None:
    """In words that from a model would be narration."""
    turn = SpokenTurn(number=1, speaker="user", text=text, role=Speaker.PERSON)
    assert [each.disposition for each in filter_turns([turn]).candidates] == [Disposition.KEPT]


@pytest.mark.parametrize(
    "text",
    [
        "Could you show me the logs?",
        "What does the second writer do?",
        "The build fails on Windows.",
        "Thanks, that helps.",
        "Check the logs of the gateway.",
        "It might be the cache, can you look?",
    ],
)
def test_what_a_person_asks_or_reports_is_not(text: str) -> None:
    """Questions, reports, thanks and orders to look at something."""
    turn = SpokenTurn(number=1, speaker="user", text=text, role=Speaker.PERSON)
    assert filter_turns([turn]).having(Disposition.KEPT) == ()


def test_what_only_sounds_like_a_choice_says_why_it_is_none() -> None:
    """A wording of choosing, and much that speaks against it."""
    (each,) = of_person("I wonder if you could say why we will use it?")
    assert each.against == FEW_SIGNS


def test_an_approval_is_a_choice_of_what_it_approves() -> None:
    """Whatever signs it has."""
    (each,) = of_person("Yes, go ahead.", "Should I move the cache to `store.py`?")
    assert (each.against, each.choice) == (None, "move the cache to store.py")


def test_every_sign_has_a_weight_and_every_weight_a_sign() -> None:
    """The file is written by the command that fits it; a sign that is added is to be fitted."""
    table = json.loads((files("ebbtide.decisions.turns") / WEIGHTS_FILE).read_text(encoding="utf-8"))
    signs = {rule.id for rule in SIGNS.rules}
    circumstances = {
        name for name in table["weights"] if name.startswith(("rule.", "kind.", "end.", "turn."))
    }
    assert table["weights"].keys() - circumstances == signs - circumstances
    assert len(SIGNS.rules) == len(signs)


def test_the_strongest_sign_is_what_found_it() -> None:
    """Where no wording of choosing does."""
    weights = person_weights().weights
    (sentence,) = sentences_of_person("Uninstall every trace of it!")
    signs = sentence[1]
    assert signs.match is None
    assert signs.strongest == max(signs.names, key=lambda name: weights[name])
    assert of_person("Uninstall every trace of it!")[0].rule == f"sign.{signs.strongest}"


@given(st.text(st.sampled_from(list("aekr ?!.,\n\x00🚢'")), max_size=60) | st.text(max_size=60))
def test_the_sum_decides_and_nothing_breaks_it(text: str) -> None:
    """Of any text: who has no label, no approval and too small a sum, is no choice."""
    kept = {each.start for each in of_person(text) if each.against is None and not each.is_proposal}
    for item, signs in sentences_of_person(text):
        assert len(set(signs.names)) == len(signs.names)
        if score(signs.names) < person_weights().threshold and item.rule == "claim.statement":
            assert item.start not in kept
