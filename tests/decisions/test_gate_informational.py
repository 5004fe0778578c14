"""Turns that say something and decide nothing (decision quality gate, layer 1)."""

import pytest

from ebbtide.decisions.candidate import Candidate, TurnContext
from ebbtide.decisions.gate.assess import assess
from ebbtide.profile import Profile

PLAIN = "The queue is split by tenant and every tenant has its own worker process for it"
DECIDED = "We will split the queue by tenant, so that one tenant cannot starve the others"


def fired(text, profile, *, tools=(), description=PLAIN):
    """The ids of the rules that a turn makes fire."""
    found = assess(Candidate(description=description), TurnContext(text=text, tool_results=tools), profile)
    return {rule.id for rule in found.rules}


@pytest.mark.clause("Q01")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("done! the rest follows", "chat.done"),
        ("Done. The rest follows", "chat.done"),
        ("The move is completed! More follows.", "chat.completed"),
        ("The move is finished!", "chat.finished"),
        ("On it! Give me a minute.", "chat.on-it"),
        ("Working on the export.", "chat.working-on"),
        ("It failed. Let me try again.", "chat.let-me"),
        ("Here's the result of the run.", "chat.result"),
        ("Here are the results of the run.", "chat.result"),
        ("The branch was created!", "chat.created"),
        ("PR #90 is open now.", "chat.pr"),
        ("The PR created yesterday is open.", "chat.pr-created"),
        ("Pushed to main.", "chat.pushed"),
        ("First review complete, two to go.", "chat.review-complete"),
        ("The spec scores are fine.", "chat.spec-scores"),
        ("A background task is running.", "chat.task-running"),
        ("Got the format. Now let me write it.", "transition.now-let-me"),
        ("Next I'll read the tests.", "transition.next"),
        ("Moving on to the tests.", "transition.moving-on"),
        ("Let me look at the tests.", "transition.check"),
        ("Fine.\nLet me search for it.", "transition.check"),
        ("I'll begin with the tests.", "transition.start"),
        ("Starting with the tests.", "transition.starting-with"),
        ("**Let me check** the tests.", "transition.check"),
    ],
)
def test_fragments_and_transitions(text, rule):
    """Each phrase of the spec refuses a turn in the SPEC profile."""
    padded = f"{text} {PLAIN}."
    assert rule in fired(padded, Profile.SPEC, tools=("ok",))
    assert not assess(Candidate(description=PLAIN), TurnContext(text=padded), Profile.SPEC).keep


@pytest.mark.clause("Q01")
@pytest.mark.parametrize(
    "text",
    [
        "We number changes as PR #12 does, for the sake of the changelog and its readers.",
        "A task is over when its state is done. Nothing else ends it, not even a timeout.",
        "We keep the sessions, which let me drop the cache that stood in front of them.",
        "Events are pushed to the broker in order, and a worker acknowledges each of them.",
        "Donelson's notation is used for all of the diagrams in the architecture handbook.",
        "Let metrics be pushed by the agents and have the server keep them for ninety days.",
        "Working on-call hours are from nine to five, and the bot answers outside of them.",
    ],
)
def test_inside_a_decision(text):
    """Inside a sentence, or as a part of a word, a phrase of the spec discards nothing."""
    assert assess(Candidate(description=text), TurnContext(text=text), Profile.SPEC).keep
    assert assess(Candidate(description=text), TurnContext(text=text)).keep


@pytest.mark.clause("Q02")
@pytest.mark.parametrize(
    ("text", "tools", "spec", "default"),
    [
        ("The file is created and the test is fixed, as asked for in the ticket.", ("ok",), True, True),
        ("The file is created and the test is fixed, as asked for in the ticket.", (), False, False),
        (
            "The file is created, as asked for in the ticket of yesterday, in its folder.",
            ("ok",),
            False,
            False,
        ),
        (
            "Created, created and created again: a marker counts once, however often it is.",
            ("ok",),
            False,
            False,
        ),
        (
            "Presents an essential view of unresolved and abandoned rows of the backlog table.",
            ("ok",),
            True,
            False,
        ),
        (
            "The job is not done, it was never merged, and nothing of it was deployed yet.",
            ("ok",),
            True,
            False,
        ),
        (f"{'x' * 289} saved. Sent", ("ok",), False, False),
        (f"{'x' * 288} saved. Sent", ("ok",), True, True),
    ],
    ids=["tools", "no-tools", "one", "same", "inside-words", "negated", "past-300", "at-300"],
)
def test_action_report(text, tools, spec, default):
    """Tools and two markers in 300 characters; by default whole words that nothing takes back."""
    assert ("report.action" in fired(text, Profile.SPEC, tools=tools)) == spec
    assert ("report.action" in fired(text, Profile.DEFAULT, tools=tools)) == default


@pytest.mark.clause("Q02")
def test_a_report_that_decides():
    """By default a report is kept where it says what was decided."""
    text = f"Created the branch and pushed it. {DECIDED}."
    turn = TurnContext(text=text, tool_results=("ok",))
    assert assess(Candidate(description=DECIDED), turn).keep
    assert assess(Candidate(description=DECIDED), turn, Profile.SPEC).primary.id == "report.action"


@pytest.mark.clause("Q03")
@pytest.mark.parametrize(
    ("text", "tools", "rule"),
    [
        (f"Status: green. {PLAIN}", (), "informational.status"),
        (f"Here's the current status: green. {PLAIN}", (), "informational.status"),
        (f"I recall that. {PLAIN}", (), "informational.recall"),
        (f"As you mentioned, {PLAIN}", (), "informational.recall"),
        (f"Understood. {PLAIN}", (), "informational.acknowledgement"),
        (f"Got it, {PLAIN}", (), "informational.acknowledgement"),
        (f"\U0001f4ca **Overview**\n{PLAIN}", (), "turn.emoji-header"),
        (f"## \u2705 Overview\n{PLAIN}", (), "turn.emoji-header"),
        ("x" * 49, (), "turn.short"),
        ("Three facts:\n- " + "\n- ".join([PLAIN] * 3), (), "turn.bullets"),
    ],
)
def test_informational_turns(text, tools, rule):
    """Status, recalls, acknowledgements, emoji headers, short turns and lists refuse by the spec."""
    assert rule in fired(text, Profile.SPEC, tools=tools)
    assert not assess(Candidate(description=PLAIN), TurnContext(text=text), Profile.SPEC).keep


@pytest.mark.clause("Q03")
def test_limits_of_informational_turns():
    """50 characters are not short, nor is anything with tools; 60 % of the lines are no list."""
    assert "turn.short" not in fired("x" * 50, Profile.SPEC)
    assert "turn.short" not in fired("x" * 49, Profile.SPEC, tools=("ok",))
    lines = ["a line of prose"] * 4
    assert "turn.bullets" not in fired("\n".join(lines[:2] + ["- item"] * 3), Profile.SPEC)
    assert "turn.bullets" in fired("\n".join(lines[:2] + ["1. item"] * 4), Profile.SPEC)
    assert "turn.emoji-header" not in fired(f"{PLAIN} \u2705", Profile.SPEC)


@pytest.mark.clause("Q03")
def test_shapes_of_a_turn_decide_nothing_alone_by_default():
    """By default a short turn, or a list, is half a reason."""
    short = TurnContext(text="Postgres it is, in one schema.")
    found = assess(Candidate(description="Postgres it is, in one schema."), short)
    assert found.keep
    assert [rule.weight for rule in found.rules if rule.id == "turn.short"] == [0.5]


def test_unknown_turn_is_not_a_short_one():
    """Without a turn nobody knows whether tools were used: only the words of the candidate count."""
    for profile in (Profile.SPEC, Profile.DEFAULT):
        assert assess(Candidate(description="Use Redis for sessions"), None, profile).keep
