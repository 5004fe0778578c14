"""What a decision takes back is asked about in any session, however long ago it was taken."""

import json
import re
from dataclasses import replace

import pytest

from ebbtide.decision_log.deliberation.answer import DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Relation
from ebbtide.decision_log.store.rows import subject_hashes
from ebbtide.decision_log.store.statements import standing
from ebbtide.profile.duplicates import DuplicateRules

DAY = 86_400.0
HASHES = (9118332724741389926, 3470990435244664640, -5442857155898297423)
FIRST = "Set the timeout of the HTTP client to 30 s"
SECOND = "Raise the timeout of the HTTP client to 60 s because uploads are slow"


@pytest.fixture
def work(log):
    return Deliberation(log.scope(agent="coder"))


def test_a_contradiction_in_another_session_names_the_earlier_decision(work):
    first = work.record_decision(FIRST, session="s1", ts=0.0)
    second = work.record_decision(SECOND, session="s2", ts=30 * DAY)
    assert (second.verdict, second.reversals) == (DecisionVerdict.KEPT, (first.id,))
    assert second.duplicate.contradicts
    assert [(link.relation, link.to) for link in second.decision.links] == [(Relation.CONTRADICTS, first.id)]


def test_what_was_opened_is_asked_about_when_it_is_final(work):
    first = work.record_decision(FIRST, session="s1", ts=0.0)
    opened = work.start("coder", "How long should the client wait?", "decision", "s2", ts=DAY)
    assert work.try_finalize(opened, SECOND, ts=DAY + 1).reversals == (first.id,)


def test_nobody_is_asked_about_what_does_not_stand(work):
    first = work.record_decision(FIRST, session="s1", ts=0.0)
    second = work.record_decision(SECOND, session="s2", ts=DAY)
    work.log.supersede(first.id, by=second.id)
    third = work.record_decision(SECOND + " again", session="s3", ts=2 * DAY)
    assert third.reversals == ()
    fourth = work.record_decision(FIRST, session="s4", ts=3 * DAY)
    assert fourth.reversals == (third.id,)


def test_other_agents_and_tenants_and_later_decisions_are_not_named(work):
    log = work.log
    Deliberation(log.scope(tenant="other")).record_decision(FIRST, session="s1", ts=0.0)
    work.record_decision("Set the timeout of the SMTP client to 30 s", session="s1", ts=0.0)
    assert work.record_decision(SECOND, session="s2", ts=DAY).reversals == ()
    assert work.record_decision(FIRST, session="s3", ts=0.0).reversals == (), "taken before the other one"


def test_a_repeat_in_another_session_is_no_duplicate(work):
    work.record_decision(FIRST, session="s1", ts=0.0)
    again = work.record_decision(FIRST, session="s2", ts=DAY)
    assert (again.verdict, again.reversals) == (DecisionVerdict.KEPT, ())


def test_by_the_spec_nothing_outside_of_the_window_is_asked_about(work):
    quiet = Deliberation(work.log, duplicates=replace(DuplicateRules.DEFAULT, rivals_at_most=0))
    work.record_decision(FIRST, session="s1", ts=0.0)
    assert quiet.record_decision(SECOND, session="s2", ts=DAY).reversals == ()
    assert DuplicateRules.SPEC.rivals_at_most == 0


def test_words_of_any_script_can_be_asked_for(work):
    first = work.record_decision(
        "\u542f\u7528\u751f\u4ea7\u73af\u5883\u7684\u91cd\u8bd5\u673a\u5236", ts=0.0, force=True
    )
    assert work.record_decision("'; DROP TABLE decisions; --\" OR gateway\x00", ts=DAY, force=True).kept
    assert work.log.get(first.id).status == "kept"


def test_a_contradiction_inside_of_a_batch_is_seen(work):
    rows = [
        {"description": FIRST, "session": "s1", "ts": 0.0},
        {"description": "Keep the nightly backup of the orders", "session": "s1", "ts": 1.0},
        {"description": SECOND, "session": "s2", "ts": DAY},
    ]
    first, _, second = work.record_batch(rows)
    assert second.reversals == (first.id,)


def subjects(work):
    return work.log.store.read(lambda session: session.rows("SELECT key, id FROM decision_subjects"))


def test_what_is_taken_out_leaves_no_trace_of_its_subject(work):
    first = work.record_decision(FIRST, session="s1", ts=0.0)
    other = work.record_decision("Keep the nightly backup of the orders", session="s1", ts=0.0)
    work.log.redact(first.id, by="ann")
    assert {identifier for _, identifier in subjects(work)} == {other.id}
    work.log.purge(before=DAY, status="kept", by="ann")
    assert subjects(work) == []
    assert work.record_decision(SECOND, session="s2", ts=2 * DAY).reversals == ()


def test_one_that_is_restored_is_asked_about(work):
    refusal = work.record_decision("ok").assessment
    strict = Deliberation(work.log, gate=lambda *_: refusal)
    first = strict.record_decision(FIRST, session="s1", ts=0.0)
    assert first.verdict is DecisionVerdict.QUARANTINED
    assert subjects(work) == []
    work.log.restore(first.id, by="ann")
    assert work.record_decision(SECOND, session="s2", ts=DAY).reversals == (first.id,)


def test_the_closest_of_many_on_a_subject_is_named(work):
    first = work.record_decision("Keep the nightly backup of the orders table", session="s0", ts=0.0)
    for number in range(40):
        work.record_decision(
            f"Keep the nightly build of module{number} on port {number}",
            session=f"n{number}",
            ts=number + 1.0,
        )
    answer = work.record_decision("Drop the nightly backup of the orders table", session="z", ts=DAY)
    assert answer.reversals == (first.id,)


@pytest.mark.parametrize("text", ["Use Redis", "Keep the nightly backup of table7"])
def test_a_server_without_statistics_reads_no_more_than_it_is_asked_for(postgres_url, text):
    """However many decisions an agent has on a subject or on others, a few rows are read."""
    rows = [{"description": f"Keep the nightly backup of table{number}"} for number in range(200)]
    with DecisionLog.open(postgres_url, agent="coder") as log:
        Deliberation(log).record_batch([{"description": "Use Redis"}, *rows])
        values = (log.tenant, subject_hashes(log.tenant, "coder", text)[0], log.tenant, "coder", 2e9, 16)
        plan = log.store.write(
            lambda tx: tx.session.rows(f"EXPLAIN (ANALYZE, FORMAT JSON) {standing(1)}", values)
        )
    nodes = re.findall(r'"Actual Rows": (\d+)', json.dumps(plan[0][0]))
    assert 1 <= max(map(int, nodes)) <= 16


def test_the_hashes_are_those_of_every_store():
    """Where this fails, stores of before have other keys: a migration has to fill their index anew."""
    assert subject_hashes("default", "coder", FIRST) == HASHES
    assert subject_hashes("default", "writer", FIRST) != HASHES
    assert subject_hashes("default", "coder", "x" * 3000) == ()
