"""Decisions that are recorded in one transaction: as one by one, and all of them or none."""

import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbtide.decision_log.deliberation.answer import DecisionVerdict
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.record.record import Link, Relation
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


SHORT = "Set the timeout of the HTTP client to 30 s"
LONG = "Raise the timeout of the HTTP client to 60 s because uploads are slow"
TEXTS = (
    SHORT,
    LONG,
    "Keep the nightly backup of the orders",
    "Drop the nightly backup of the orders because nobody reads it",
    "Use Redis",
    "Do not use Redis",
    "ok",
)
DRAWN = st.lists(
    st.fixed_dictionaries(
        {
            "description": st.sampled_from(TEXTS),
            "agent_id": st.sampled_from(["coder", "writer"]),
            "session": st.sampled_from(["s1", "s2", "s3"]),
            "ts": st.integers(min_value=0, max_value=5).map(lambda day: 86_400.0 * day),
            "force": st.booleans(),
        }
    ),
    max_size=12,
)


def asked_about(answers):
    """Verdicts, and which of the answers before each one is asked about."""
    places = {answer.id: place for place, answer in enumerate(answers) if answer.id is not None}
    return [(answer.verdict, tuple(places[each] for each in answer.reversals)) for answer in answers]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=DRAWN)
def test_contradictions_in_a_batch_are_those_between_calls(open_log, rows):
    """Whatever is recorded, in one transaction, one by one, or some of each, the same is asked about."""
    log = open_log()
    tenants = [log.scope(tenant=f"{way}-{time.perf_counter_ns()}") for way in ("whole", "halves", "single")]
    whole, halves, single = map(Deliberation, tenants)
    half = len(rows) // 2
    one_by_one = asked_about([single.record_decision(**row) for row in rows])
    assert asked_about(whole.record_batch(rows)) == one_by_one
    two = (*halves.record_batch(rows[:half]), *halves.record_batch(rows[half:]))
    assert asked_about(two) == one_by_one


def test_a_batch_sees_what_it_supersedes(log):
    """One that is superseded within the batch is asked about no more."""
    work = Deliberation(log)
    first = work.record_decision(SHORT, session="s1", ts=0.0)
    answers = work.record_batch(
        [
            {"description": "Keep the nightly backup of the orders", "session": "s2", "ts": 1.0},
            {
                "description": "Leave the timeouts of all clients to the platform team",
                "session": "s2",
                "ts": 2.0,
                "links": [Link(relation=Relation.SUPERSEDES, to=first.id)],
            },
            {"description": LONG, "session": "s3", "ts": 3.0},
            {"description": "Drop the nightly backup of the orders", "session": "s3", "ts": 4.0},
        ]
    )
    assert [answer.reversals for answer in answers] == [(), (), (), (answers[0].id,)]


def test_threads_that_share_a_commit_see_each_other(log):
    """Of two that wait for one transaction, the second is told of the first, which nobody could read yet."""
    work = Deliberation(log)
    work.record_decision("Use SQLite for the log because there is one writer")  # the stream is there
    is_leading, goes_on, answers = threading.Event(), threading.Event(), {}

    def lead(_) -> None:
        is_leading.set()
        assert goes_on.wait(30)

    def record(text: str) -> None:
        answers[text] = work.record_decision(text, session=text)

    threads = [threading.Thread(target=log.store.write, args=(lead,))]
    threads[0].start()
    assert is_leading.wait(30)
    for text in (SHORT, LONG):
        threads.append(threading.Thread(target=record, args=(text,)))
        threads[-1].start()
        time.sleep(0.2)  # until it waits
    goes_on.set()
    for thread in threads:
        thread.join()
    assert answers[LONG].reversals == (answers[SHORT].id,)
    assert log.verify().ok
