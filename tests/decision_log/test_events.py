"""The chain of events: what is written holds, and what is changed shows."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.decision_log.record.events import (
    GENESIS,
    StoredEvent,
    body_digest,
    canonical_json,
    chain_digest,
    check_stream,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def chain(*bodies, kinds=None) -> list[StoredEvent]:
    events, previous = [], GENESIS
    for number, body in enumerate(bodies, start=1):
        body_json = canonical_json(body)
        kind = kinds[number - 1] if kinds else "thought"
        digest = body_digest(body_json)
        facts = (kind, "D1", float(number), digest)
        previous = chain_digest(previous, ("t", "a", number), facts)
        events.append(
            StoredEvent(
                seq=number,
                kind=kind,
                decision_id="D1",
                ts=float(number),
                body_json=body_json,
                body_hash=digest,
                hash=previous,
            )
        )
    return events


def faults(events, **heads) -> list[tuple[int, str]]:
    return [(fault.seq, fault.what) for fault in check_stream("t", "a", events, **heads).faults]


@given(JSON)
def test_canonical_json_loses_nothing(value):
    """Any value comes back, from ASCII without NUL."""
    text = canonical_json({"value": value})
    assert text.isascii()
    assert "\x00" not in text
    assert json.loads(text) == {"value": value}


def test_canonical_json_has_one_form():
    """The order in which a table was filled does not matter, and no number that is none is written."""
    assert canonical_json({"b": 1, "a": 2}) == canonical_json({"a": 2, "b": 1})
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


def test_lone_surrogates_and_nul_are_escaped():
    """What no database takes as text is written with escapes."""
    assert canonical_json("\ud800\x00") == r'"\ud800\u0000"'


@given(st.lists(JSON, max_size=6))
def test_what_is_written_verifies(bodies):
    """A chain that nobody touched has no faults, and its head is its last event."""
    events = chain(*bodies)
    check = check_stream("t", "a", events, head=f"{len(events)}:{events[-1].hash if events else ''}")
    assert not check.faults
    assert check.events == len(events)


@pytest.mark.parametrize(
    ("change", "seq"),
    [
        pytest.param(lambda e: [e[0], replace(e[1], body_json='{"text":"other"}'), *e[2:]], 2, id="body"),
        pytest.param(lambda e: [e[0], replace(e[1], body_json='{"text":"\xe9"}'), *e[2:]], 2, id="not ASCII"),
        pytest.param(lambda e: [e[0], replace(e[1], kind="reviewed"), *e[2:]], 2, id="kind"),
        pytest.param(lambda e: [e[0], replace(e[1], ts=1.5), *e[2:]], 2, id="time"),
        pytest.param(lambda e: [e[0], replace(e[1], decision_id="D2"), *e[2:]], 2, id="decision"),
        pytest.param(lambda e: [e[0], *e[2:]], 2, id="removed"),
        pytest.param(lambda e: e[1:], 1, id="first removed"),
        pytest.param(lambda e: [e[1], e[0], *e[2:]], 1, id="reordered"),
        pytest.param(lambda e: [*e[:2], e[1], *e[2:]], 2, id="doubled"),
        pytest.param(lambda e: [e[0], replace(e[1], body_json=None), *e[2:]], 2, id="body taken"),
    ],
)
def test_changes_show(change, seq):
    """Every change of a stored event is a fault, at the place where it is."""
    events = chain({"text": "a"}, {"text": "b"}, {"text": "c"}, {"text": "d"})
    problems = faults(change(events))
    assert problems
    assert problems[0][0] == seq


def test_new_hashes_do_not_help():
    """Who changes a body and computes its hash anew breaks the chain."""
    events = chain({"text": "a"}, {"text": "b"}, {"text": "c"})
    body = canonical_json({"text": "forged"})
    forged = replace(events[1], body_json=body, body_hash=body_digest(body))
    assert faults([events[0], forged, events[2]])[0][0] == 2


def test_a_cut_tail_shows_against_a_head():
    """A tail that was cut off shows against the store's own head, and against one that was noted."""
    events = chain({"text": "a"}, {"text": "b"}, {"text": "c"})
    noted_head = f"3:{events[-1].hash}"
    assert not faults(events[:2])
    assert "last event" in faults(events[:2], head=noted_head)[0][1]
    assert "noted" in faults(events[:2], noted_head=noted_head)[0][1]
    assert not faults(events, head=noted_head, noted_head=f"2:{events[1].hash}")


def test_a_rewritten_stream_shows_against_a_noted_head():
    """A stream that was written anew from the start is sound, but its head is another one."""
    noted_head = f"2:{chain({'text': 'a'}, {'text': 'b'})[-1].hash}"
    rewritten = chain({"text": "a"}, {"text": "x"}, {"text": "c"})
    assert not faults(rewritten)
    assert faults(rewritten, noted_head=noted_head) == [(2, "it is not the head that was noted")]


def test_bodies_go_only_where_an_event_says_so():
    """A missing body is in order where a later event of the same decision names it."""
    bodies = ({"text": "a"}, {"text": "b"}, {"events": [1]})
    events = chain(*bodies, kinds=["opened", "thought", "purged"])
    lost = [replace(events[0], body_json=None), *events[1:]]
    check = check_stream("t", "a", lost)
    assert (check.faults, check.purged) == ((), 1)
    both = [replace(events[0], body_json=None), replace(events[1], body_json=None), events[2]]
    assert [seq for seq, _ in faults(both)] == [2]
    other = [lost[0], events[1], replace(events[2], decision_id="D2")]
    assert faults(other)
