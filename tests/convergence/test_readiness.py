"""Action readiness (novelty spec, section 3)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.readiness import (
    ActionKind,
    Readiness,
    assess_readiness,
    classify,
    find_blockers,
    read_action,
)
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile

RULES = Profile.SPEC.readiness


@pytest.mark.clause("R01")
@pytest.mark.parametrize(
    ("actions", "score"),
    [
        ((), 0.0),
        (("  ",), 0.0),
        (("Consider a cache",), 0.3),
        (("Consider a cache", "Maybe deploy it"), 0.3),
        (("Deploy the service to staging",), 0.7),
        (("Deploy the service to staging", "Consider a cache"), 0.7),
        (("Deploy the service to staging", "Write the runbook"), 0.7),
        (("Dana will deploy the service to staging",), 0.7),
        (("Dana will deploy the service to staging", "@ravi: write the runbook"), 1.0),
        (("We will deploy the service to staging", "Write the runbook"), 1.0),
        (("Deploy the service (owner: Dana)", "Write the runbook, assigned to Ravi"), 1.0),
        (("Dana will think about it", "Maybe Ravi will help", "Deploy the service"), 0.7),
    ],
)
def test_next_actions_score(actions: tuple[str, ...], score: float) -> None:
    """None, all vague, one specific, several specific with an owner: 0, 0.3, 0.7, 1."""
    item = Round(number=1, next_actions=actions)
    assert assess_readiness(item, None, RULES).next_actions_score == score


@pytest.mark.clause("R02")
@pytest.mark.parametrize(
    "action",
    [
        "Consider moving the queue to Redis in `worker.py`",
        "think about the rollout",
        "Explore whether we should deploy on Friday",
        "Look into PR #12",
        "Investigate the leak in src/pool.py",
        "Maybe run the tests",
        "Deploy it, possibly on Friday",
        "We might write a test for it",
        "This could potentially fix the build",
        "End.",
        "Better docs",
        "The usual",
        "More thoughts about the general direction of it all",
    ],
)
def test_vague_actions(action: str) -> None:
    """A vague opening, a hedge, or nothing to do and nothing to do it to; vague wins over specific."""
    assert read_action(action).kind is ActionKind.VAGUE


@pytest.mark.clause("R02", "R03")
@pytest.mark.parametrize(
    "action",
    [
        "Run the load test",
        "Deploy.",
        "Convert this into a 1-page facilitation checklist.",
        "Reconsider nothing: merge PR #12",
        "Almighty API keys rotate every night, so update the vault",
        "1. Rotate the keys",
        "Please rename the bucket",
        "Ravi: draft the runbook",
        "Ravi to review the schema by Friday",
        "We need to migrate the sessions table",
        "Then archive the old topic",
        "The numbers in report.csv",
        "A look at https://status.example.com",
        "`make lint` on the new branch",
        "Numbers for OPS-431",
    ],
)
def test_specific_actions(action: str) -> None:
    """An imperative verb with an object, one of the spec's verbs, or a concrete artifact."""
    assert read_action(action).kind is ActionKind.SPECIFIC


@pytest.mark.clause("R03")
@pytest.mark.parametrize(
    "verb",
    "run write create open deploy send test build".split()
    + "merge ship implement add remove update fix configure".split(),
)
def test_the_verbs_of_the_spec_are_specific(verb: str) -> None:
    """Each verb that the spec lists makes an action specific."""
    assert read_action(f"{verb} it").rule == f"verb.{verb}"


@pytest.mark.clause("R04")
@pytest.mark.parametrize(
    ("before", "now", "score"),
    [(None, 0, 1.0), (None, 2, 0.3), (3, 0, 1.0), (3, 2, 0.7), (2, 2, 0.4), (0, 1, 0.1), (1, 3, 0.1)],
)
def test_open_questions_score(before: int | None, now: int, score: float) -> None:
    """Questions gone, fewer, as many, more; and a first round that has some."""
    item = Round(number=1, open_questions=tuple(f"Which one of {n}?" for n in range(now)))
    assert assess_readiness(item, before, RULES).open_questions_score == score


@pytest.mark.clause("R05", "S03")
@pytest.mark.parametrize(
    "text",
    [
        "Blocked on the security review",
        "A blocker: the certificate expired",
        "Waiting on legal",
        "It depends on the new schema",
        "I need access to the cluster",
        "We need permission from finance",
        "We can't proceed without a key",
        "We can\u2019t proceed without a key",
        "Prerequisite: a staging account",
        "The export is missing two columns",
        "No, we are blocked",
        "Not sure why, but this is blocked",
        "No blockers in the API, but the UI is blocked",
    ],
)
def test_blocker_language_is_found(text: str) -> None:
    """Each keyword counts, in questions and in actions, whatever stands elsewhere in the sentence."""
    for item in (Round(number=1, open_questions=(text,)), Round(number=1, next_actions=(text,))):
        found = assess_readiness(item, None, RULES)
        assert found.blocker_score == 0.0
        assert found.blockers[0].text == text


@pytest.mark.clause("R05")
@pytest.mark.parametrize(
    "text",
    [
        "Deploy the unblocked build",
        "Stop dismissing the warning",
        "No blockers",
        "There are no known blockers left",
        "We are not blocked",
        "We are no longer blocked by infra",
        "Nothing is missing",
        "Nothing missing",
        "Blockers: none",
        "No blockers or prerequisites",
        "The review isn't blocked",
        "Ship it without any prerequisites",
    ],
)
def test_other_words_and_negated_blockers_do_not_block(text: str) -> None:
    """Blockers are words, not substrings, and a blocker that is denied is none."""
    assert list(find_blockers([text])) == []


@pytest.mark.clause("R06")
@given(
    st.sampled_from([(), ("Consider it",), ("Deploy it now",), ("I will deploy it", "Write the docs")]),
    st.integers(0, 4),
    st.none() | st.integers(0, 4),
    st.booleans(),
)
def test_readiness_is_the_weighted_sum(
    actions: tuple[str, ...], questions: int, before: int | None, blocked: bool
) -> None:
    """Half the actions score, three tenths of the questions score, a fifth of the blocker score."""
    asked = tuple(f"Which {number}?" for number in range(questions))
    item = Round(
        number=1, next_actions=(*actions, "waiting on it") if blocked else actions, open_questions=asked
    )
    found = assess_readiness(item, before, RULES)
    expected = 0.5 * found.next_actions_score + 0.3 * found.open_questions_score + 0.2 * found.blocker_score
    assert math.isclose(found.readiness, expected, abs_tol=1e-9)
    assert 0 <= found.readiness <= 1
    assert found.blocked == blocked


@pytest.mark.clause("R07")
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((0.7,), Readiness.HIGH),
        ((0.1, 0.2, 0.4), Readiness.HIGH),
        ((0.5, 0.2), Readiness.HIGH),
        ((0.6999,), Readiness.MEDIUM),
        ((0.1, 0.3), Readiness.MEDIUM),
        ((0.4,), Readiness.MEDIUM),
        ((0.3999,), Readiness.LOW),
        ((0.0,), Readiness.LOW),
        ((1.0,), Readiness.HIGH),
    ],
)
def test_classes_have_sharp_edges(parts: tuple[float, ...], expected: Readiness) -> None:
    """0.7 is HIGH and 0.4 is MEDIUM, also where the sum is made of tenths."""
    assert classify(round(math.fsum(parts), 9), RULES) is expected


@pytest.mark.clause("R05")
@pytest.mark.parametrize(
    ("said", "blocked"),
    [
        ("The schema is done. We are blocked until legal signs the contract.", True),
        ("I am still waiting for the key.", True),
        ("We cannot proceed without a test account.", True),
        ("We are no longer blocked. The schema is done.", False),
        ("The page was missing a header, so I added it.", False),
        ("The build depends on Java 17.", False),
    ],
)
def test_a_blocker_in_raw_text_counts(said: str, blocked: bool) -> None:
    """Prose that says what blocks is read as open; words that often block nothing are left alone."""
    assert assess_readiness(Round.from_text(said, number=1), None, RULES).blocked is blocked


def test_the_scores_have_the_names_of_the_spec() -> None:
    """The weighted sum can be made again of what `detail` gives."""
    readiness = assess_readiness(Round(number=1, open_questions=("Why?",)), None, RULES)
    assert readiness.detail() == {
        "next_actions_score": readiness.next_actions_score,
        "open_questions_score": 0.3,
        "blocker_score": readiness.blocker_score,
    }
