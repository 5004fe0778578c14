"""What a decision takes back is asked about in any session, however long ago it was taken."""

from dataclasses import replace

import pytest

from ebbtide.decision_log.answer import DecisionVerdict
from ebbtide.decision_log.deliberation import Deliberation
from ebbtide.decision_log.record import Relation
from ebbtide.profile.duplicates import DuplicateRules

DAY = 86_400.0
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
