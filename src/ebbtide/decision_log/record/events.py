"""Events of decisions, append-only, and the chain that shows when somebody changed it afterwards.

Each agent of a tenant has one stream. Its events are numbered from 1, and the hash of each covers the hash
before it. The body is covered by its own hash only, so that a text can be purged and the chain still holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from ebbtide.codec import Record

#: What stands before the first event of a stream.
GENESIS = ""

_dumps = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False
).encode


class EventKind(StrEnum):
    """The kinds of events of a decision."""

    OPENED = "opened"  #: somebody thinks about it
    THOUGHT = "thought"  #: and notes what
    FINALIZED = "finalized"  #: it is taken, and the gate kept it or put it into quarantine
    ASSESSED = "assessed"  #: a clean-up put it into quarantine
    ABANDONED = "abandoned"  #: it was never taken, and its time is over
    LINKED = "linked"  #: it stands in a relation to another one
    AMENDED = "amended"  #: what its record says beside the decision was changed
    SUPERSEDED = "superseded"  #: another one took its place
    REVIEWED = "reviewed"  #: somebody saw how it turned out
    OCCURRED_AGAIN = "occurred_again"  #: it was decided once more, and that was refused as a duplicate
    RESTORED = "restored"  #: it came back from the quarantine
    IMPORTED = "imported"  #: it came from another log, as it stood there
    REDACTED = "redacted"  #: its text was taken out on request
    PURGED = "purged"  #: its text was taken out because its time was over


#: Events after which the bodies that they name may be missing.
ERASING = frozenset({EventKind.REDACTED, EventKind.PURGED})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent(Record):
    """One event of a stream.

    Args:
        tenant: Whose stream.
        agent: Whose stream.
        seq: Number in the stream, from 1, without gaps.
        kind: What happened.
        decision_id: To which decision.
        ts: Seconds since the epoch; within a stream it never goes back. Where the clock did, the body has
            its reading as ``at``.
        body: What is to be said of it; None where it was purged.
        body_hash: SHA-256 of the canonical JSON of the body; it stays when the body goes.
        hash: SHA-256 over the previous hash and everything above.
    """

    _SCHEMA: ClassVar = 1

    tenant: str
    agent: str
    seq: int
    kind: EventKind
    decision_id: str
    ts: float
    body: dict[str, Any] | None
    body_hash: str
    hash: str

    @property
    def at(self) -> float:
        """The reading of the clock, or the time that the caller gave."""
        return float(self.body["at"]) if self.body is not None and "at" in self.body else self.ts


def canonical_json(value: Any) -> str:
    r"""The one way to write a value: sorted keys, no spaces, ASCII only.

    NUL and lone surrogates are escaped, so that every text survives any database.

    >>> canonical_json({"b": 1.0, "a": "caf\u00e9"})
    '{"a":"caf\\u00e9","b":1.0}'
    """
    return _dumps(value)


def body_digest(body_json: str) -> str:
    """Hash of a body in canonical JSON, which is ASCII."""
    return hashlib.sha256(body_json.encode("ascii")).hexdigest()


def chain_digest(previous: str, place: tuple[str, str, int], facts: tuple[str, str, float, str]) -> str:
    """Hash of an event.

    Args:
        previous: Hash of the one before it.
        place: Tenant, agent and number.
        facts: Kind, id of the decision, time, and hash of the body.
    """
    preimage = _dumps([previous, *place, *facts])
    return hashlib.sha256(preimage.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event as it lies in the store: nothing in it is believed yet."""

    seq: int
    kind: str
    decision_id: str
    ts: float
    body_json: str | None
    body_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A place where a stream is not what was written.

    Args:
        agent: The stream.
        seq: The event, or the one that should be there.
        what: What is wrong with it.
    """

    agent: str
    seq: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(Record):
    """The result of checking streams.

    Args:
        faults: Every place that is not what was written, by stream and number.
        events: How many events were read.
        heads: The last event of each stream, ``seq:hash``. Note them somewhere else: a tail that was cut off
            shows only against a head that was noted before.
        purged: Bodies that are missing because an event says so.
    """

    _WIRE: ClassVar = "ok faults events heads purged"
    _SCHEMA: ClassVar = 1

    faults: tuple[Fault, ...]
    events: int
    heads: dict[str, str]
    purged: int

    @property
    def ok(self) -> bool:
        """True where everything is as it was written."""
        return not self.faults


def check_stream(
    tenant: str,
    agent: str,
    events: Iterable[StoredEvent],
    *,
    head: str | None = None,
    noted_head: str | None = None,
) -> Verification:
    """Follows the chain of one stream, event by event.

    Args:
        tenant: Whose stream.
        agent: Whose stream.
        events: All of it, in order of their numbers.
        head: What the store says the last event is, ``seq:hash``; None where it does not say.
        noted_head: A head that was noted before.
    """
    faults: list[Fault] = []

    def fault(seq: int, what: str) -> None:
        faults.append(Fault(agent=agent, seq=seq, what=what))

    previous, last, latest = GENESIS, 0, float("-inf")
    bodiless: dict[int, str] = {}
    noted_seq = int(noted_head.split(":", 1)[0]) if noted_head else 0
    is_noted_seen = noted_seq == 0
    total = purged = 0
    for event in events:
        total += 1
        if event.seq != last + 1:
            removed = f"events {last + 1} to {event.seq - 1} were removed"
            fault(last + 1, removed if event.seq > last else "numbered twice")
        facts = (event.kind, event.decision_id, event.ts, event.body_hash)
        if chain_digest(previous, (tenant, agent, event.seq), facts) != event.hash:
            fault(event.seq, "its hash does not follow: it, or one before it, was changed or moved")
        if event.ts < latest:
            fault(event.seq, "its time is before that of the event before it")
        if event.body_json is None:
            bodiless[event.seq] = event.decision_id
        elif not event.body_json.isascii() or body_digest(event.body_json) != event.body_hash:
            fault(event.seq, "its body was changed")
        elif event.kind in ERASING:
            for seq in json.loads(event.body_json).get("events", ()):
                if bodiless.get(seq) == event.decision_id:
                    del bodiless[seq]
                    purged += 1
        if event.seq == noted_seq:
            is_noted_seen = True
            if f"{event.seq}:{event.hash}" != noted_head:
                fault(event.seq, "it is not the head that was noted")
        # From here on the stored hash is followed, so that one change is one fault.
        previous, last, latest = event.hash, event.seq, event.ts
    for seq in bodiless:
        fault(seq, "its body is missing, and no event says that it was purged")
    own_head = f"{last}:{previous}"
    if head is not None and head != own_head:
        fault(last, f"the store says that {head.split(':', 1)[0]} is the last event")
    if not is_noted_seen:
        fault(noted_seq, "the stream ends before the head that was noted")
    faults.sort(key=lambda each: each.seq)
    return Verification(faults=tuple(faults), events=total, heads={agent: own_head}, purged=purged)
