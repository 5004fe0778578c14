"""Signals: what evidence says of an outcome, and what a signal cannot see."""

import dataclasses

import pytest

from ebbtide.decision_log.calibration.outcome_signals import (
    BlindDecision,
    BlindLink,
    ChangeSignal,
    Evidence,
    EvidenceKind,
    OutcomeFinding,
    ReversalSignal,
    VerdictSignal,
    evidence_of,
    review_by_signals,
)
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionOutcome,
    DecisionScope,
    Link,
    Relation,
    Review,
    Status,
)
from ebbtide.decision_log.record.review import Basis, resolve
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Stakes
from ebbtide.errors import ConfigError

DAY = 86_400.0
BLIND = BlindDecision(id="d1", settled_at=1000.0, refs=("commit:4f2a9c1", "pr:90"))


def check(passed, *, source="ci", about="commit:4f2a9c1", ts=2000.0):
    return Evidence(kind=EvidenceKind.CHECK, about=about, source=source, ts=ts, passed=passed)


def revert(ts=3000.0):
    return Evidence(kind=EvidenceKind.REVERT, about="pr:90", source="revert 77b1d02", ts=ts)


def verdict(outcome, ts=4000.0, by="ann"):
    return Evidence(
        kind=EvidenceKind.VERDICT,
        about="decision:d1",
        source="comment 12",
        ts=ts,
        outcome=outcome,
        by=by,
    )


@pytest.mark.clause("Q17")
def test_a_signal_sees_neither_words_nor_confidence():
    """What may be known of a decision has no field for them, and nothing of them stands in the others."""
    hidden = "HIDDEN"
    decision = Decision(
        id="d1",
        scope=DecisionScope(),
        candidate=Candidate(
            description=hidden,
            options=(hidden,),
            reasons=(Reason(text=hidden),),
            assumptions=(hidden,),
            stakes=Stakes.HIGH,
            category="tooling",
            confidence=0.123456,
            confidence_source=ConfidenceSource.STATED,
        ),
        status=Status.SUPERSEDED,
        opened_at=5.0,
        settled_at=7.0,
        thoughts=(hidden,),
        links=(Link(relation=Relation.CONTRADICTS, to="d2", why=hidden),),
        superseded_by="d2",
        reviews=(Review(outcome=DecisionOutcome.SUCCESS, by="ann", evidence=hidden, ts=8.0),),
        prediction=hidden,
    )
    blind = BlindDecision.of(decision, refs=["pr:90"], times={"d2": 9.0})
    assert blind == BlindDecision(
        id="d1",
        settled_at=7.0,
        category="tooling",
        links=(BlindLink(relation=Relation.CONTRADICTS, to="d2", ts=9.0),),
        superseded_by="d2",
        superseded_at=9.0,
        refs=("pr:90",),
    )
    assert hidden not in repr(blind)
    assert "0.123456" not in repr(blind)
    names = {field.name for part in (BlindDecision, BlindLink) for field in dataclasses.fields(part)}
    assert names == {
        "id",
        "settled_at",
        "category",
        "links",
        "superseded_by",
        "superseded_at",
        "refs",
        "relation",
        "to",
        "ts",
    }


def test_an_open_decision_counts_from_its_beginning():
    """Where it was never settled, what happened since it was opened is about it."""
    decision = Decision(
        id="d1",
        scope=DecisionScope(),
        candidate=Candidate(description="x"),
        status=Status.OPENED,
        opened_at=5.0,
    )
    assert BlindDecision.of(decision).settled_at == 5.0


def test_only_what_is_about_the_decision_and_came_after_it_counts():
    """Other commits, and checks from before, say nothing; the rest comes oldest first."""
    mine = [check(True, ts=1000.0), verdict(DecisionOutcome.SUCCESS), revert()]
    others = [check(False, ts=999.9), check(False, about="commit:fffffff"), check(False, about="decision:d2")]
    assert evidence_of(BLIND, [*reversed(mine), *others]) == (mine[0], mine[2], mine[1])


@pytest.mark.clause("Q17")
@pytest.mark.parametrize(
    ("evidence", "outcome", "names"),
    [
        ([], None, ()),
        ([verdict(DecisionOutcome.SUCCESS)], None, ()),
        ([check(True)], DecisionOutcome.SUCCESS, ("ci passed (commit:4f2a9c1)",)),
        ([check(False)], DecisionOutcome.FAILURE, ("ci failed (commit:4f2a9c1)",)),
        (
            [check(True), check(False, source="lint")],
            DecisionOutcome.PARTIAL,
            ("ci passed (commit:4f2a9c1)", "lint failed (commit:4f2a9c1)"),
        ),
        ([check(False), check(True, ts=2500.0)], DecisionOutcome.SUCCESS, ("ci passed (commit:4f2a9c1)",)),
        ([check(True, ts=2500.0), revert()], DecisionOutcome.FAILURE, ("revert 77b1d02 (pr:90)",)),
        ([revert(), check(True, ts=3500.0)], DecisionOutcome.FAILURE, ("revert 77b1d02 (pr:90)",)),
    ],
    ids=["nothing", "no change", "passed", "failed", "some", "last run", "taken back", "green after revert"],
)
def test_what_became_of_the_changes(evidence, outcome, names):
    """A revert outweighs every check, and of several runs of one check the last counts."""
    finding = ChangeSignal().read(BLIND, evidence)
    if outcome is None:
        assert finding is None
    else:
        assert finding is not None
        assert (finding.outcome, finding.basis, finding.evidence) == (outcome, Basis.OBSERVED, names)


@pytest.mark.clause("Q17")
def test_a_verdict_is_a_person_s():
    """It enters the log under the person's name, the newest of several."""
    evidence = [verdict(DecisionOutcome.SUCCESS), verdict(DecisionOutcome.FAILURE, ts=5000.0, by="bob")]
    reviews = review_by_signals(BLIND, evidence)
    assert reviews == (
        Review(
            outcome=DecisionOutcome.FAILURE,
            by="bob",
            evidence="attested, strength 1: comment 12",
            ts=5000.0,
            observed=False,
        ),
    )
    assert VerdictSignal().read(BLIND, []) is None


@pytest.mark.parametrize(
    ("after_days", "found"),
    [(0.0, True), (3.0, True), (14.0, True), (14.1, False), (-1.0, False), (None, False)],
)
def test_an_early_reversal_is_partial_and_only_inferred(after_days, found):
    """A decision that was replaced within days did not last; why, and after weeks, is not known."""
    ts = None if after_days is None else 1000.0 + after_days * DAY
    replaced = BlindDecision(id="d1", settled_at=1000.0, superseded_by="d2", superseded_at=ts)
    contradicted = BlindDecision(
        id="d1",
        settled_at=1000.0,
        links=(
            BlindLink(relation=Relation.CONTRADICTS, to="d2", ts=ts),
            BlindLink(relation=Relation.RELATED_TO, to="d3", ts=1001.0),
        ),
    )
    for blind in (replaced, contradicted):
        finding = ReversalSignal().read(blind, [])
        assert (finding is not None) is found
        if finding is not None:
            assert (finding.outcome, finding.basis, finding.ts) == (
                DecisionOutcome.PARTIAL,
                Basis.INFERRED,
                ts,
            )
            assert finding.evidence == (f"superseded by d2 after {after_days:.1f} days",)


@pytest.mark.clause("Q17")
def test_signals_become_reviews_that_can_be_told_apart():
    """What was measured stands over what was concluded, and the names say which is which."""
    blind = dataclasses.replace(BLIND, superseded_by="d2", superseded_at=1000.0 + DAY)
    reviews = review_by_signals(blind, [check(True)])
    assert [(review.by, review.observed, review.evidence) for review in reviews] == [
        ("signal:changes", True, "observed, strength 0.5: ci passed (commit:4f2a9c1)"),
        ("signal:reversal", False, "inferred, strength 0.3: superseded by d2 after 1.0 days"),
    ]
    resolution = resolve(reviews)
    assert (resolution.outcome, resolution.basis, len(resolution.against)) == (
        DecisionOutcome.SUCCESS,
        Basis.OBSERVED,
        1,
    )


class Strict:
    """A signal of a plug-in: it wants two checks."""

    name = "strict"

    def read(self, decision, evidence):
        if len(evidence) < 2:
            return None
        return OutcomeFinding(
            outcome=DecisionOutcome.SUCCESS,
            basis=Basis.OBSERVED,
            strength=0.4,
            evidence=tuple(f"{item.source} {at}" for at, item in enumerate(evidence)),
            ts=evidence[-1].ts,
        )


def test_signals_of_others():
    """Whatever reads evidence is a signal; a review names five pieces of it and counts the rest."""
    evidence = [check(True, source=f"job {number}") for number in range(7)]
    (review,) = review_by_signals(BLIND, evidence, [Strict()])
    assert review.by == "signal:strict"
    assert review.evidence.endswith("job 3 3; job 4 4; and 2 more")
    assert review_by_signals(BLIND, evidence[:1], [Strict()]) == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: check(None), "passed = None"),
        (lambda: verdict(None), "no outcome"),
        (lambda: verdict(DecisionOutcome.SUCCESS, by=None), "expected a person"),
        (lambda: verdict(DecisionOutcome.SUCCESS, by="signal:changes"), "expected a person"),
        (lambda: ReversalSignal(within_days=0), "within_days = 0"),
        (
            lambda: OutcomeFinding(
                outcome=DecisionOutcome.SUCCESS, basis=Basis.OBSERVED, strength=0.5, evidence=(" ",), ts=0.0
            ),
            "name its evidence",
        ),
        (
            lambda: OutcomeFinding(
                outcome=DecisionOutcome.SUCCESS, basis=Basis.OBSERVED, strength=0.0, evidence=("ci",), ts=0.0
            ),
            "strength = 0.0",
        ),
        (
            lambda: OutcomeFinding(
                outcome=DecisionOutcome.SUCCESS, basis=Basis.ATTESTED, strength=0.5, evidence=("ci",), ts=0.0
            ),
            "a person behind it",
        ),
        (
            lambda: OutcomeFinding(
                outcome=DecisionOutcome.SUCCESS,
                basis=Basis.OBSERVED,
                strength=0.5,
                evidence=("ci",),
                ts=0.0,
                by="ann",
            ),
            "a person behind it",
        ),
    ],
    ids=["check", "verdict", "nobody's", "a signal's", "days", "evidence", "strength", "unsigned", "signed"],
)
def test_what_says_nothing_is_refused(make, message):
    """Evidence without a content, and a finding without evidence, are mistakes."""
    with pytest.raises(ConfigError, match=message):
        make()
