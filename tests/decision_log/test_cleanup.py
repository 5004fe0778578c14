"""Noise out of a log that has some already: planned, done in one step, undone."""

import json
from collections.abc import Iterator

import pytest

from ebbtide.decision_log.cleaning import cleanup
from ebbtide.decision_log.cleaning.cleanup import Plan, Protection
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionOutcome,
    DecisionScope,
    Link,
    Relation,
    Review,
    Status,
)
from ebbtide.decisions.candidate import Candidate, Reason, Source
from ebbtide.errors import ConfigError, StaleDecisionError
from ebbtide.profile import Profile

CHOICE = "Use SQLite for the decision log because there is one writer"
NOISE = "Let me check the logs first."


class Rows:
    """A log of imported rows, a minute apart."""

    def __init__(self, log: DecisionLog) -> None:
        self.log = log
        self.at = 1_700_000_000.0

    def add(
        self, description: str, *, after_s: float = 60.0, source: Source = Source.IMPORT, **fields
    ) -> str:
        self.at += after_s
        candidate = Candidate(description=description, source=source)
        scope = DecisionScope(**{name: fields.pop(name) for name in ("agent", "session") if name in fields})
        entry = Decision(scope=scope, candidate=candidate, opened_at=self.at, settled_at=self.at, **fields)
        (added,) = self.log.add_batch([entry])
        return added.id

    def statuses(self) -> dict[str, Status]:
        return {decision.id: decision.status for decision in self.log.iterate()}


@pytest.fixture
def rows() -> Iterator[Rows]:
    with DecisionLog.open(":memory:", clock=lambda: 1_800_000_000.0) as log:
        yield Rows(log)


def ids(plan: Plan) -> list[str]:
    return [row.id for row in plan.going]


@pytest.mark.clause("Q15")
def test_noise_is_planned_taken_out_and_brought_back(rows: Rows) -> None:
    """The plan changes nothing, applying it quarantines the noise, restoring it undoes that."""
    kept, noise, short = rows.add(CHOICE), rows.add(NOISE), rows.add("skip")
    before = list(rows.log.iterate())
    plan = cleanup.audit(rows.log)
    assert list(rows.log.iterate()) == before
    assert ids(plan) == [noise, short]
    assert plan.examined == 3
    assert sum(plan.by_rule.values()) == 2
    changes = cleanup.apply(rows.log, plan)
    assert [(decision.id, decision.status) for decision in changes] == [
        (noise, Status.QUARANTINED),
        (short, Status.QUARANTINED),
    ]
    assert [decision.id for decision in rows.log.list().decisions] == [kept]
    assert rows.log.get(noise).assessment == plan.going[0].assessment
    assert {decision.id for decision in cleanup.restore(rows.log, plan)} == {noise, short}
    assert set(rows.statuses().values()) == {Status.KEPT}
    assert rows.log.verify().ok


@pytest.mark.clause("Q15")
def test_duplicates_are_those_within_the_window(rows: Rows) -> None:
    """Of two equal decisions within five minutes the later one goes; after that both stay."""
    first = rows.add(CHOICE)
    again = rows.add(CHOICE, after_s=299.0)
    rows.add(CHOICE, after_s=600.0)
    (row,) = cleanup.audit(rows.log).going
    assert (row.id, row.duplicate_of) == (again, first)
    assert row.rule.startswith("duplicate.")


def test_other_sessions_decide_for_themselves(rows: Rows) -> None:
    """Equal decisions of two sessions are two."""
    rows.add(CHOICE, session="a")
    rows.add(CHOICE, session="b")
    assert cleanup.audit(rows.log).going == ()


def test_a_reversal_is_a_question(rows: Rows) -> None:
    """What contradicts an earlier decision stays, and is asked about."""
    first = rows.add("Enable retries for the billing client")
    second = rows.add("Disable retries for the billing client")
    plan = cleanup.audit(rows.log)
    assert plan.going == ()
    assert [(decision.id, decision.of) for decision in plan.reversals] == [(second, first)]


def test_noise_is_no_original(rows: Rows) -> None:
    """What goes itself is nothing that another row could repeat."""
    rows.add(NOISE)
    rows.add(NOISE)
    assert [row.duplicate_of for row in cleanup.audit(rows.log).going] == [None, None]


PROTECTED = {
    "explicit": (Protection.EXPLICIT, {"source": Source.EXPLICIT}),
    "forced": (Protection.FORCED, {"forced": True}),
    "reviewed": (
        Protection.REVIEWED,
        {"reviews": (Review(outcome=DecisionOutcome.SUCCESS, by="ana", ts=1.0),)},
    ),
    "superseding": (Protection.SUPERSEDING, {"links": (Link(relation=Relation.SUPERSEDES, to="x"),)}),
    "linked": (Protection.LINKED, {"links": (Link(relation=Relation.DEPENDS_ON, to="x"),)}),
}


@pytest.mark.parametrize(("why", "fields"), PROTECTED.values(), ids=PROTECTED)
def test_what_somebody_cares_about_stays(rows: Rows, why: Protection, fields: dict) -> None:
    """It is listed with the reason why it stays."""
    noise = rows.add("skip", **fields)
    plan = cleanup.audit(rows.log)
    assert [(row.id, row.protected) for row in plan.rows] == [(noise, why)]
    assert cleanup.apply(rows.log, plan) == ()
    assert rows.statuses() == {noise: Status.KEPT}


def test_what_others_refer_to_stays(rows: Rows) -> None:
    """A link protects both its ends."""
    noise = rows.add("skip")
    rows.add(CHOICE, links=(Link(relation=Relation.DEPENDS_ON, to=noise),))
    (row,) = cleanup.audit(rows.log).rows
    assert row.protected is Protection.LINKED


def test_what_was_brought_back_stays(rows: Rows) -> None:
    """A person said that it is a decision: the next clean-up leaves it."""
    noise = rows.add(NOISE)
    cleanup.apply(rows.log, cleanup.audit(rows.log))
    rows.log.restore(noise, by="ana", why="it is one")
    (row,) = cleanup.audit(rows.log).rows
    assert row.protected is Protection.RESTORED


def test_undoing_a_plan_protects_nothing(rows: Rows) -> None:
    """It says nothing about single rows: the next clean-up finds the same ones."""
    rows.add(NOISE)
    plan = cleanup.audit(rows.log)
    cleanup.apply(rows.log, plan)
    cleanup.restore(rows.log, plan)
    assert ids(cleanup.audit(rows.log)) == ids(plan)


@pytest.mark.clause("Q15")
def test_a_row_that_changed_stops_it_all(rows: Rows) -> None:
    """The rows that changed are named, and none is touched."""
    noise, other = rows.add(NOISE), rows.add("skip")
    plan = cleanup.audit(rows.log)
    rows.log.review(other, Review(outcome=DecisionOutcome.SUCCESS, by="ana", ts=rows.at))
    assert cleanup.changed_since(rows.log, plan.going) == (other,)
    with pytest.raises(StaleDecisionError, match=other):
        cleanup.apply(rows.log, plan)
    assert set(rows.statuses().values()) == {Status.KEPT}
    assert [decision.id for decision in cleanup.apply(rows.log, plan, leave=[other])] == [noise]


def test_applying_twice_is_refused(rows: Rows) -> None:
    """A plan is good for once; restoring twice does nothing the second time."""
    rows.add(NOISE)
    plan = cleanup.audit(rows.log)
    cleanup.apply(rows.log, plan)
    with pytest.raises(StaleDecisionError):
        cleanup.apply(rows.log, plan)
    assert len(cleanup.restore(rows.log, plan)) == 1
    assert cleanup.restore(rows.log, plan) == ()


def test_a_plan_survives_its_file(rows: Rows) -> None:
    """Through JSON and back it is the same plan, under the same name."""
    rows.add(NOISE)
    rows.add(CHOICE)
    rows.add(CHOICE)
    rows.add("skip", source=Source.EXPLICIT)
    plan = cleanup.audit(rows.log)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table["rows"][0].update(id="other"),
        lambda table: table.update(rows=[]),
        lambda table: table.pop("tenant"),
        lambda table: table.update(kind="something"),
        lambda table: table.update(rows=[3]),
        lambda table: table.update(hash="0" * 64),
    ],
)
def test_a_plan_that_was_changed_is_refused(rows: Rows, change) -> None:
    """What is applied is what was looked at."""
    rows.add(NOISE)
    table = cleanup.audit(rows.log).to_dict()
    change(table)
    with pytest.raises(ConfigError):
        Plan.from_dict(table)


def test_a_plan_is_bound_to_its_scope(rows: Rows) -> None:
    """The plan of one agent is not applied to another, nor a row left out that it does not have."""
    rows.add(NOISE, agent="coder")
    plan = cleanup.audit(rows.log.scope(agent="coder"))
    assert len(plan.going) == 1
    with pytest.raises(ConfigError, match="agent 'coder'"):
        cleanup.apply(rows.log.scope(agent="tester"), plan)
    with pytest.raises(ConfigError, match="does not take out x"):
        cleanup.apply(rows.log.scope(agent="coder"), plan, leave=["x"])


def test_the_profile_judges(rows: Rows) -> None:
    """The letter of the spec refuses what the default profile keeps."""
    rows.add("Use a queue here")
    assert [row.rule for row in cleanup.audit(rows.log, Profile.SPEC).going]
    assert cleanup.audit(rows.log, Profile.SPEC).profile == "spec"


def test_a_reason_saves_a_short_one() -> None:
    """The gate sees the whole record, not its description alone."""
    with DecisionLog.open(":memory:") as log:
        candidate = Candidate(
            description="Use Kafka", reasons=(Reason(text="It runs already"),), source=Source.IMPORT
        )
        log.add_batch([Decision(candidate=candidate, opened_at=1.0)])
        assert cleanup.audit(log).going == ()
