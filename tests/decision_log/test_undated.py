"""Decisions of which nobody knows when they were taken: they say so, and meet no window."""

import json

import pytest

from ebbtide.decision_log.cleaning.cleanup import audit
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.exchange.importing import import_decisions
from ebbtide.decision_log.exchange.json_form import read_jsonl, write_jsonl
from ebbtide.decision_log.exchange.reading import read_decisions
from ebbtide.decision_log.exchange.rows import RowFields
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.review import resolve
from ebbtide.errors import ConfigError

TEXT = "Use SQLite for the queue because there is one writer"


def bring(log, *rows):
    lines = [json.dumps(row) for row in rows]
    return import_decisions(log, read_jsonl(lines, "notes.jsonl")).created


def test_an_unknown_time_stays_unknown_in_the_log_and_out_of_it(log):
    (identifier,) = bring(log, {"description": TEXT, "outcome": "success"})
    decision = log.get(identifier)
    assert (decision.opened_at, decision.settled_at, decision.reviews[0].ts) == (None, None, None)
    assert resolve(decision.reviews).outcome == "success"
    line = json.loads("".join(write_jsonl([decision])))
    assert (line["opened_at"], line["settled_at"]) == (None, None)


def test_an_export_brings_the_unknown_time_back(log):
    (identifier,) = bring(log, {"description": TEXT})
    with DecisionLog.open(":memory:", agent="coder") as copy:
        assert import_decisions(copy, read_jsonl(write_jsonl(log.iterate()), "x")).created == (identifier,)
        assert copy.get(identifier).opened_at is None


def test_the_id_claims_no_time_and_is_the_same_again(log):
    (identifier,) = bring(log, {"description": TEXT})
    assert identifier.startswith("0" * 10)
    assert bring(log, {"description": TEXT}) == ()
    (dated,) = bring(log, {"description": TEXT, "time": "1970-01-01T00:00:00Z"})
    assert not dated.startswith("0" * 10)


def test_what_has_no_time_stands_last_and_in_no_span(log):
    (undated,) = bring(log, {"description": TEXT})
    (old,) = bring(log, {"description": "Keep the audit log for a year", "time": "1971-01-01"})
    assert [each.id for each in log.list().decisions] == [old, undated]
    assert [each.id for each in log.iterate(since=0.0)] == [old]
    assert log.purge(before=4e9, status="kept", by="test") == (old,)
    assert log.get(undated).candidate.description == TEXT


def test_what_has_no_time_meets_no_window(log):
    (undated,) = bring(log, {"description": TEXT})
    work = Deliberation(log)
    answer = work.record_decision(TEXT, ts=0.0)
    assert answer.kept
    assert answer.id != undated
    assert audit(log).rows == ()


@pytest.mark.parametrize(
    ("content", "keys"),
    [
        (json.dumps({"what": TEXT}), "description=what,time=wehn"),
        (json.dumps({"what": TEXT}), "description=waht"),
        (f"what,who\n{TEXT},ann\n", "description=what,agent=woh"),
    ],
    ids=["a time", "the description", "a column"],
)
def test_a_named_key_that_no_row_has_is_refused(content, keys):
    names = RowFields.parse(keys)
    list(read_decisions(content, "notes", keys=names))
    with pytest.raises(ConfigError, match=r"no row has 'w\w+'; the keys are 'what'"):
        names.check()


def test_a_key_that_one_row_has_is_enough():
    names = RowFields.parse("description=what,time=when")
    rows = [{"what": TEXT}, {"what": "Keep the audit log", "when": 5}]
    list(read_jsonl(map(json.dumps, rows), "notes", names))
    names.check()
    empty = RowFields.parse("description=what,agent=who")
    list(read_decisions(f"what,who\n{TEXT},\n", "notes.csv", keys=empty))
    empty.check()
