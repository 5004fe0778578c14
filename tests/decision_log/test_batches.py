"""Decisions that are recorded in one transaction: as one by one, and all of them or none."""

import pytest

from ebbtide.decision_log.answer import DecisionVerdict
from ebbtide.decision_log.deliberation import Deliberation
from ebbtide.errors import ConfigError

ROWS = (
    {"description": "Use SQLite for the log because there is one writer", "confidence": 0.8},
    {
        "description": "Use a queue for the mails because bursts are long",
        "agent_id": "writer",
        "session": "s1",
    },
    {"description": "use SQLite for the log because there is one writer."},
    {"description": "ok"},
    {"description": "Use SQLite for the log because there is one writer", "force": True},
)


def told(answer):
    return (answer.verdict, answer.duplicate and answer.duplicate.repeat, answer.decision.scope)


def test_a_batch_is_what_one_by_one_is(open_log, clock):
    """The verdicts, duplicates within the batch among them, are those of single calls in the same order."""
    log = open_log()
    one_by_one = log.scope(tenant="other")
    now = clock.now
    answers = Deliberation(log).record_batch(ROWS)
    clock.now = now
    work = Deliberation(one_by_one)
    singles = [work.record_decision(**row) for row in ROWS]
    assert [told(each)[:2] for each in answers] == [told(each)[:2] for each in singles]
    assert answers[2].verdict is DecisionVerdict.DUPLICATE
    assert answers[2].duplicate.of == answers[0].id
    assert log.counts() == one_by_one.counts()
    assert [log.get(answer.decision.id).status for answer in answers] == [
        answer.decision.status for answer in answers
    ]
    assert log.verify().ok


def test_a_batch_is_recorded_whole_or_not(open_log):
    """One that cannot be recorded leaves nothing of the others; an empty batch is none."""
    log = open_log()
    work = Deliberation(log)
    with pytest.raises(ConfigError, match="confidence"):
        work.record_batch([*ROWS, {"description": "Use more of it", "confidence": 7}])
    with pytest.raises(TypeError, match="description"):
        work.record_batch([*ROWS, {"session": "s1"}])
    assert log.counts().by_status == {}
    assert work.record_batch([]) == ()
    assert work.last is None
    answers = work.record_batch(iter(ROWS))
    assert work.last == answers[-1]
