"""Guardrails: which decisions a rule is about, what is missing, and what follows from it."""

from pathlib import Path

import pytest

from ebbtide.decision_log.deliberation.answer import DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.deliberation.guardrails import (
    Guarded,
    Guardrail,
    GuardrailAction,
    Requirement,
    broken_guardrails,
    load_guardrails,
)
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.particulars import Particulars, RecordOption
from ebbtide.decision_log.record.record import Link, Mode, Relation, Status
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason
from ebbtide.errors import ConfigError

AUTH = Guardrail(name="auth", words=("auth*",), require=(Requirement.REVIEW,))
TEXT = "Use tokens for authentication instead of passwords"


@pytest.mark.parametrize(
    ("patterns", "text", "expected"),
    [
        ({"words": ("auth*",)}, "Use tokens for Authentication", True),
        ({"words": ("auth",)}, "Use tokens for authentication", False),
        ({"words": ("auth*",)}, "Use OAuth tokens", False),
        ({"words": ("*auth*",)}, "Use OAuth tokens", True),
        ({"words": ("log in",)}, "People log in by mail", True),
        ({"words": ("c++",)}, "Write it in C++", True),
        ({"category": ("sec*",)}, "Anything", True),
        ({"category": ("tooling",)}, "Anything", False),
        ({"path": ("src/auth/*",)}, "Split src/auth/tokens/store.py in two", True),
        ({"path": ("src/auth/*",)}, "Split src/shop/cart.py in two", False),
        ({"words": ("tokens",), "category": ("tooling",)}, "Use tokens", False),
        ({}, "Anything", True),
    ],
)
def test_what_a_rule_is_about(patterns: dict, text: str, expected: bool) -> None:
    """One pattern of each kind has to fit; without patterns it is about every decision."""
    rule = Guardrail(name="r", require=(Requirement.REASON,), **patterns)
    assert rule.concerns(Guarded(candidate=Candidate(description=text, category="security"))) is expected


def test_a_context_counts_as_well() -> None:
    """What a decision is about may stand beside it."""
    beside = Particulars(context="Authentication fails")
    assert AUTH.breach(Guarded(candidate=Candidate(description="Use tokens"), particulars=beside))


@pytest.mark.parametrize(
    ("requirement", "facts"),
    [
        (Requirement.REVIEW, {"review_by": 1.0}),
        (Requirement.DECIDER, {"particulars": Particulars(deciders=("Ann",))}),
        (Requirement.TWO_OPTIONS, {"candidate": Candidate(description=TEXT, options=("a", "b"))}),
        (
            Requirement.TWO_OPTIONS,
            {"particulars": Particulars(options=(RecordOption(title="a"), RecordOption(title="b")))},
        ),
        (Requirement.REASON, {"candidate": Candidate(description=TEXT, reasons=(Reason(text="x"),))}),
        (Requirement.CONFIDENCE, {"candidate": Candidate(description=TEXT, confidence=0.7)}),
        (Requirement.CONTEXT, {"particulars": Particulars(context="x")}),
        (Requirement.CONSEQUENCE, {"particulars": Particulars(consequences=("x",))}),
        (Requirement.LINK, {"links": (Link(relation=Relation.DEPENDS_ON, to="x"),)}),
    ],
)
def test_what_a_decision_has(requirement: Requirement, facts: dict) -> None:
    """Each requirement is met by what it names, and by nothing else."""
    rule = Guardrail(name="r", require=(requirement,))
    assert rule.breach(Guarded(candidate=Candidate(description=TEXT)))
    assert rule.breach(Guarded(**{"candidate": Candidate(description=TEXT), **facts})) is None
    others = tuple(other for other in Requirement if other is not requirement)
    assert Guarded(**{"candidate": Candidate(description=TEXT), **facts}).has().isdisjoint(others)


@pytest.mark.parametrize(
    "facts",
    [
        {"candidate": Candidate(description=TEXT, confidence=0.5)},
        {
            "candidate": Candidate(
                description=TEXT, confidence=0.7, confidence_source=ConfidenceSource.DEFAULT
            )
        },
        {"candidate": Candidate(description=TEXT, options=("a",))},
        {
            "candidate": Candidate(description=TEXT),
            "links": (Link(relation=Relation.CONTRADICTS, to="x", why="possible reversal"),),
        },
    ],
)
def test_what_does_not_count(facts: dict) -> None:
    """A default is not stated, one option is no choice, and a comparison is nobody's link."""
    assert Guarded(**facts).has() == frozenset()


def test_asked_when_a_decision_is_taken() -> None:
    """Refused with the name of the rule, kept once nothing is missing; forced, it says that it is."""
    with DecisionLog.open(":memory:") as log:
        work = Deliberation(log, guardrails=[AUTH])
        answer = work.record_decision(TEXT)
        assert (answer.verdict, answer.assessment.primary.id) == (
            DecisionVerdict.QUARANTINED,
            "guardrail.auth",
        )
        assert answer.reason == "guardrail auth: a decision like this needs a review (--review-by says when)"
        assert work.record_decision("Use SQLite for the log because there is one writer").kept
        opened = work.start("agent", "How do people log in?")
        assert not work.try_finalize(opened, TEXT).kept
        assert work.record_decision(TEXT, review_by=2e9).kept
        forced = work.record_decision(f"{TEXT} everywhere", force=True)
        assert (forced.kept, forced.decision.forced) == (True, True)
        assert log.counts().refused_by_rule()["guardrail.auth"] == 3
        assert Deliberation(log, guardrails=[AUTH], mode=Mode.ADVISE).record_decision(f"{TEXT} now").kept
        kept = log.list(status=Status.KEPT).decisions
        assert sum(1 for each in kept for _ in broken_guardrails([AUTH], Guarded.of(each))) == 2


def test_a_question_keeps_the_decision() -> None:
    """A rule that asks refuses nothing, and the answer says what is missing."""
    rule = Guardrail(name="why", require=(Requirement.REASON, Requirement.LINK), action=GuardrailAction.ASK)
    with DecisionLog.open(":memory:") as log:
        work = Deliberation(log, guardrails=[rule])
        answer = work.record_decision(TEXT)
        assert answer.kept
        (question,) = answer.asks
        assert "guardrail why" in question
        assert "a reason (--reason), a link to another decision (--link)" in question
        assert answer.to_dict()["asks"] == [question]
        links = [Link(relation=Relation.SUPERSEDES, to=answer.id)]
        newer = work.record_decision("Use keys for authentication", reasons=["no secret"], links=links)
        assert (newer.kept, newer.asks) == (True, ())
        assert log.get(answer.id).superseded_by == newer.id
        assert log.get(newer.id) == newer.decision


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "there is no [[guardrails]]"),
        ("[guardrails]", "there is no [[guardrails]]"),
        ("guardrails = [1]", "guardrails[1] = 1: expected a table"),
        ("[[guardrails]]\nrequire = ['review']", "guardrails[1].name = None: expected"),
        ("[[guardrails]]\nname = 'a b'\nrequire = ['review']", "guardrails[1].name"),
        ("[[guardrails]]\nname = 'a'", "guardrails[1].require = None: expected a text"),
        (
            "[[guardrails]]\nname = 'a'\nrequire = ['reviews']",
            "guardrails[1].require = 'reviews': expected one of",
        ),
        (
            "[[guardrails]]\nname = 'a'\nrequire = []\nword = 'x'",
            "guardrails[1].word: no such key; did you mean words",
        ),
        (
            "[[guardrails]]\nname = 'a'\nrequire = ['link']\naction = 'stop'",
            "action = 'stop': expected one of",
        ),
        ("[[guardrails]]\nname = 'a'\nrequire = ['link']\nwords = [3]", "guardrails[1].words"),
        ("[[guardrails]]\nname = 'a'\nrequire = 'link'\n" * 2, "there are two of this name"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: str, expected: str) -> None:
    """The message names the file, the rule and the key."""
    path = tmp_path / "rules.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_guardrails(path)
    assert expected in str(error.value)
    assert "rules.toml" in str(error.value)


def test_a_file_of_rules(tmp_path: Path) -> None:
    """The settings of a project are such a file, whatever else they say."""
    path = tmp_path / "ebbtide.toml"
    path.write_text(
        "profile = 'spec'\n[[guardrails]]\nname = 'auth'\nwords = 'auth*'\nrequire = ['review']\n"
        "[[guardrails]]\nname = 'all'\nrequire = ['reason', 'two-options']\naction = 'ask'\n",
        encoding="utf-8",
    )
    first, second = load_guardrails(path)
    assert first == AUTH
    assert second.require == (Requirement.REASON, Requirement.TWO_OPTIONS)
    assert (second.action, second.words) == (GuardrailAction.ASK, ())
