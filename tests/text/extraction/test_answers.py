"""What one turn makes of the turn before."""

import pytest

from ebbtide.events.transcript import Round
from ebbtide.text.extraction.answers import still_open
from ebbtide.text.extraction.turn import Speaker, extract
from ebbtide.traces.transcripts.turns import RoundUnit, Turn, TurnRounds

OFFER = "The lease is too short. Would you like me to renew it every ten seconds?"


@pytest.mark.parametrize(
    ("text", "decisions"),
    [
        ("Yes.", ("Would you like me to renew it every ten seconds?",)),
        ("Sure, thanks!", ("Would you like me to renew it every ten seconds?",)),
        ("Yes, go ahead with those changes.", ("Would you like me to renew it every ten seconds?",)),
        ("Please proceed with the shorter lease.", ("Please proceed with the shorter lease.",)),
        ("No.", ()),
        ("The lease was long once.", ()),
    ],
)
def test_approval_takes_its_content_from_the_turn_before(text, decisions):
    """A yes approves what was proposed; an approval that names it keeps its own words."""
    assert extract(text, speaker=Speaker.PERSON, before=OFFER).decisions == decisions


@pytest.mark.parametrize("before", [None, "", "Who owns the broker?", "The lease is too short."])
def test_yes_to_nothing_proposed(before):
    """Where nothing was proposed, a yes decides nothing."""
    assert extract("Yes.", speaker=Speaker.PERSON, before=before).decisions == ()


def test_model_approves_nothing():
    """Only a person approves."""
    assert extract("Yes.", before=OFFER).decisions == ()


def test_approval_of_a_plan():
    """Without a question, what was planned is approved."""
    found = extract("Do it!", speaker=Speaker.PERSON, before="I'll renew the lease every ten seconds.")
    assert found.decisions == ("I'll renew the lease every ten seconds.",)
    assert found.items[0].text == "Do it!"


@pytest.mark.parametrize(
    ("later", "left"),
    [
        ([], ("Which broker do we trust?", "Does it scale?")),
        ([("Yes, it does.", ["it does."])], ("Which broker do we trust?",)),
        ([("We trust the second broker.", ["We trust the second broker."])], ("Does it scale?",)),
        (
            [("The broker is stale.", ["The broker is stale."])],
            ("Which broker do we trust?", "Does it scale?"),
        ),
        ([("No tests failed.", ["No tests failed."])], ("Which broker do we trust?", "Does it scale?")),
    ],
)
def test_answered_questions(later, left):
    """A later turn answers by yes or no, or by a statement with the words of the question."""
    assert still_open(["Which broker do we trust?", "Does it scale?"], later) == left


def circle(*turns: tuple[str, str]) -> Round:
    rounds = TurnRounds(RoundUnit.CIRCLE)
    for speaker, text in turns:
        assert rounds.add(Turn(speaker=speaker, text=text)) == ()
    (joined,) = rounds.finish()
    return joined


def test_question_that_is_answered_in_its_round():
    """A question that a later turn of the circle answers is not open at its end; what stays open is."""
    answered = circle(
        ("ann", "Which broker do we trust?"), ("bob", "I trust the broker of the north, we all trust it.")
    )
    assert answered.open_questions == ()
    open_still = circle(("ann", "Which broker do we trust?"), ("bob", "The lease is too short."))
    assert open_still.open_questions == ("Which broker do we trust?",)
    assert circle(("bob", "We trust the broker."), ("ann", "Which broker do we trust?")).open_questions


def test_rounds_know_the_turn_before():
    """A person's yes in a conversation decides what the agent proposed."""
    rounds = TurnRounds(RoundUnit.TURN)
    rounds.add(Turn(speaker="assistant", text=OFFER))
    (item,) = rounds.add(Turn(speaker="user", text="Yes, please."))
    assert item.decisions == ("Would you like me to renew it every ten seconds?",)
