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
    """Hash of a body in canonical JSON."""
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


class StreamCheck:
    """Follows the chain of one stream, event by event, in order of their numbers."""

    def __init__(self, tenant: str, agent: str, noted_head: str | None = None) -> None:
        self._tenant = tenant
        self._agent = agent
        self._previous = GENESIS
        self._next = 1
        self._latest = float("-inf")
        self._missing: dict[int, str] = {}
        self._noted = noted_head
        self._noted_seq = int(noted_head.split(":", 1)[0]) if noted_head else 0
        self._seen_noted = not noted_head or self._noted_seq == 0
        self.faults: list[Fault] = []
        self.events = 0
        self.purged = 0

    @property
    def head(self) -> str:
        """The last event, ``seq:hash``."""
        return f"{self._next - 1}:{self._previous}"

    def take(self, event: StoredEvent) -> None:
        """Look at the next event."""
        self.events += 1
        if event.seq != self._next:
            problem = f"events {self._next} to {event.seq - 1} were removed"
            self._fault(self._next, problem if event.seq > self._next else "numbered twice")
        expected = chain_digest(
            self._previous,
            (self._tenant, self._agent, event.seq),
            (event.kind, event.decision_id, event.ts, event.body_hash),
        )
        if expected != event.hash:
            self._fault(event.seq, "its hash does not follow: it, or one before it, was changed or moved")
        if event.ts < self._latest:
            self._fault(event.seq, "its time is before that of the event before it")
        self._body(event)
        if event.seq == self._noted_seq:
            self._seen_noted = True
            if f"{event.seq}:{event.hash}" != self._noted:
                self._fault(event.seq, "it is not the head that was noted")
        # From here on the stored hash is followed, so that one change is one fault.
        self._previous, self._next, self._latest = event.hash, event.seq + 1, event.ts

    def _body(self, event: StoredEvent) -> None:
        if event.body_json is None:
            self._missing[event.seq] = event.decision_id
            return
        if body_digest_or_none(event.body_json) != event.body_hash:
            self._fault(event.seq, "its body was changed")
            return
        if event.kind in ERASING:
            body = json.loads(event.body_json)
            for seq in body.get("events", ()):
                if self._missing.get(seq) == event.decision_id:
                    del self._missing[seq]
                    self.purged += 1

    def finish(self, head: str | None) -> None:
        """The stream has ended.

        Args:
            head: What the store says the last event is, ``seq:hash``; None where it does not say.
        """
        for seq in self._missing:
            self._fault(seq, "its body is missing, and no event says that it was purged")
        if head is not None and head != self.head:
            self._fault(self._next - 1, f"the store says that {head.split(':', 1)[0]} is the last event")
        if not self._seen_noted:
            self._fault(self._noted_seq, "the stream ends before the head that was noted")
        self.faults.sort(key=lambda fault: fault.seq)

    def _fault(self, seq: int, what: str) -> None:
        self.faults.append(Fault(agent=self._agent, seq=seq, what=what))


def body_digest_or_none(body_json: str) -> str | None:
    """Hash of a stored body; None where it is no ASCII, which nothing of ours ever is."""
    return body_digest(body_json) if body_json.isascii() else None


def check_stream(
    tenant: str,
    agent: str,
    events: Iterable[StoredEvent],
    *,
    head: str | None = None,
    noted_head: str | None = None,
) -> StreamCheck:
    """Follow a whole stream, in order of its numbers.

    Args:
        tenant: Whose stream.
        agent: Whose stream.
        events: All of it.
        head: What the store says the last event is.
        noted_head: A head that was noted before.
    """
    check = StreamCheck(tenant, agent, noted_head)
    for event in events:
        check.take(event)
    check.finish(head)
    return check
