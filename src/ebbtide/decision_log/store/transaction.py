"""One write transaction: events are appended, decisions and counts follow, all or nothing."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ebbtide.database.session import Question, Session, Values, Write
from ebbtide.decision_log.record.events import EventKind, LogEvent, body_digest, canonical_json, chain_digest
from ebbtide.decision_log.record.folding import apply
from ebbtide.decision_log.record.identifiers import decision_id
from ebbtide.decision_log.record.record import Decision, DecisionScope, Status
from ebbtide.decision_log.store import questions, statements
from ebbtide.decision_log.store.database import Database
from ebbtide.decision_log.store.rows import DamagedRow, decision_of, row_of, subject_hashes
from ebbtide.decision_log.store.windows import StreamHead, Streams
from ebbtide.decisions.repeats.duplicates import Earlier
from ebbtide.errors import ConfigError, UnknownDecisionError

_STREAMS = 32  # streams whose windows are remembered
_KEY = 2  # tenant and agent
_FOR_EVER = 1e300
_LATEST_S = 1e12  # some thirty thousand years: what is beyond it is no time


class CountKey(NamedTuple):
    """The key of a count."""

    tenant: str
    agent: str
    source: str
    frame: str
    mode: str
    layer: str
    rule: str
    verdict: str


class OnSubject(NamedTuple):
    """Asks for the decisions that stand on the subject of a text.

    Args:
        tenant: Whose decisions.
        agent: Whose decisions, of all sessions.
        text: What is to be decided.
        at: When; what was taken later is left out.
        most: How many at most: those that share the most of the subject.
    """

    tenant: str
    agent: str
    text: str
    at: float
    most: int


class Transaction:
    """The statements of a writer. Nothing of it is seen by others, or acknowledged, before the commit.

    What is written is noted and goes to the database at once, at the end or before anything is read there.

    Args:
        session: The connection, inside a transaction that may write.
        database: What it is connected to.
        streams: Those of earlier transactions; `keep_streams` gives them back.
    """

    def __init__(self, session: Session, database: Database, streams: Streams) -> None:
        self.database = database
        self._session = session
        self._earlier_streams = streams
        self._streams: dict[tuple[str, str], StreamHead] = {}
        self._events: list[tuple[Any, ...]] = []
        self._saved: dict[tuple[str, str], tuple[Decision, bool]] = {}
        self._written_to: set[tuple[str, str, str]] = set()  # sessions of `_saved` ones
        self._counts: Counter[CountKey] = Counter()
        self._answers: dict[OnSubject, list[tuple[Any, ...]]] = {}
        self._on_subject: dict[int, list[str]] = {}  # ids of `_saved` ones that stand

    @property
    def session(self) -> Session:
        """The connection, with everything written to it that was noted so far."""
        self.flush()
        return self._session

    def ask_first(self, keys: Sequence[tuple[str, ...]], subjects: Sequence[OnSubject]) -> None:
        """Lock streams as far as they are there, and ask what stands, in one message to the database.

        Args:
            keys: Tenants and agents of streams; they are locked in alphabetical order, as everywhere.
            subjects: What `standing` will be asked for. Their streams are locked as well.
        """
        streams = [*keys, *((subject.tenant, subject.agent) for subject in subjects)]
        places = sorted({key for key in streams if len(key) == _KEY and key[-1]})
        lock = statements.HEAD + self.database.lock_row
        questions = {subject: each for subject in subjects if (each := _question(subject)) is not None}
        answers = self._session.rows_of_each([*((lock, key) for key in places), *questions.values()])
        for key, rows in zip(places, answers, strict=False):
            if rows:
                self._enter((key[0], key[1]), rows[0])
        for subject, rows in zip(questions, answers[len(places) :], strict=True):
            # Before the lock of its stream was there, an answer may be too old.
            if (subject.tenant, subject.agent) in self._streams:
                self._answers[subject] = rows

    def lock(self, tenant: str, agent: str) -> None:
        """Wait until no other writer is at this stream."""
        self._stream(tenant, agent)

    def new_id(self, tenant: str, agent: str, at: float) -> str:
        """The id of a decision whose first event comes next."""
        return decision_id(tenant, agent, self._stream(tenant, agent).seq + 1, at)

    def append(
        self, stream: tuple[str, str], kind: EventKind, decision: str, at: float, body: dict[str, Any]
    ) -> LogEvent:
        """Append an event to a stream.

        Args:
            stream: Tenant and agent whose stream it is.
            kind: What happened.
            decision: To which decision.
            at: When, by the clock or the caller. The time of the event does not go back within the stream;
                where `at` does, the body keeps it.
            body: What is to be said of it.
        """
        tenant, agent = stream
        head = self._stream(tenant, agent)
        ts = max(at, head.ts)
        if ts != at:
            body = {**body, "at": at}
        body_json = canonical_json(body)
        seq, body_hash = head.seq + 1, body_digest(body_json)
        digest = chain_digest(head.hash, (tenant, agent, seq), (kind.value, decision, ts, body_hash))
        self._events.append((tenant, agent, seq, kind.value, decision, ts, body_json, body_hash, digest))
        head.seq, head.hash, head.ts, head.changed = seq, digest, ts, True
        return LogEvent(
            tenant=tenant,
            agent=agent,
            seq=seq,
            kind=kind,
            decision_id=decision,
            ts=ts,
            body=body,
            body_hash=body_hash,
            hash=digest,
        )

    def happen(
        self, decision: Decision, kind: EventKind, at: float, body: dict[str, Any], *, new: bool = False
    ) -> Decision:
        """Append an event of a decision, and store what the decision is after it."""
        scope = decision.scope
        event = self.append((scope.tenant, scope.agent), kind, decision.id, at, body)
        decision = apply(decision, event)
        self.save(decision, new=new)
        return decision

    def fresh(self, before: Decision) -> Decision:
        """A decision that was read before, or as it is now where it changed since.

        Raises:
            UnknownDecisionError: It is gone.
        """
        scope = before.scope
        if self._stream(scope.tenant, scope.agent).seq == before.version:
            return before  # its last event is the last one of the stream
        if (scope.tenant, before.id) not in self._saved:
            rows = self._session.rows(statements.VERSION_OF, (scope.tenant, before.id, scope.agent))
            if rows and rows[0][0] == before.version:
                return before
        return self.load(scope.tenant, scope.agent, before.id)

    def agent_of(self, tenant: str, identifier: str) -> str:
        """The agent in whose stream a decision is.

        Raises:
            UnknownDecisionError: There is none of this tenant.
        """
        rows = self.session.rows(statements.AGENT_OF, (tenant, identifier))
        if not rows:
            raise UnknownDecisionError(identifier, f"tenant {tenant!r}")
        return str(rows[0][0])

    def load(self, tenant: str, agent: str | None, identifier: str) -> Decision:
        """A decision to be changed; nobody else changes it until the commit.

        Raises:
            UnknownDecisionError: There is none of this tenant, and agent where one is named.
        """
        if agent is None:
            agent = self.agent_of(tenant, identifier)
        self._stream(tenant, agent)
        saved = self._saved.get((tenant, identifier))
        if saved is not None and saved[0].scope.agent == agent:
            return saved[0]
        rows = self._session.rows(statements.DECISION_OF_AGENT, (tenant, identifier, agent))
        if not rows:
            raise UnknownDecisionError(identifier, f"tenant {tenant!r}, agent {agent!r}")
        return decision_of(rows[0])

    def exists(self, tenant: str, identifier: str) -> bool:
        """Returns True where the tenant has such a decision."""
        saved = (tenant, identifier) in self._saved
        return saved or bool(self._session.rows(statements.EXISTS, (tenant, identifier)))

    def earlier(
        self,
        scope: DecisionScope,
        print_of_text: str,
        *,
        at: float,
        window_s: float | None,
        final: bool,
        most: int,
        not_id: str | None = None,
    ) -> tuple[list[Earlier], bool]:
        """The decisions to compare a text with: like with like, of one tenant, agent and session.

        Args:
            scope: Tenant, agent and session; None is the session of decisions without one.
            print_of_text: Fingerprint of the text.
            at: When it is decided.
            window_s: How far to look, both ways: a clock can go back. None looks at all.
            final: Whether it is final; else it is about to be thought about.
            most: Rows that are read; of those before them only one with the same fingerprint.
            not_id: A decision that is not compared: the one that is being taken.

        Returns:
            The decisions, oldest first, and whether there were more.
        """
        stream, session = self._stream(scope.tenant, scope.agent), scope.session or ""
        low, high = (-_FOR_EVER, _FOR_EVER) if window_s is None else (at - window_s, at + window_s)
        window, truncated = stream.windows.between(session, low, high, final=final), False
        if window is None or len(window) > most:
            is_written = (scope.tenant, scope.agent, session) in self._written_to
            connection = self.session if is_written else self._session
            ask = partial(
                questions.earlier,
                connection,
                (scope.tenant, scope.agent, session),
                print_of_text,
                final=final,
                most=most,
            )
            window, truncated = ask((low, _FOR_EVER))
            if not truncated:
                stream.windows.keep(session, low, window, final=final)
                window = [row for row in window if row.ts <= high]
            elif high < _FOR_EVER:
                window, truncated = ask((low, high))
        return [row for row in window if row.id != not_id], truncated

    def standing(self, subject: OnSubject) -> list[tuple[str, str]]:
        """Ids and texts of the kept decisions on a subject, the newest first; see `OnSubject`."""
        rows = self._answers.get(subject)
        if rows is None:
            question = _question(subject)
            rows = [] if question is None else self._session.rows(*question)
        tenant, agent, text, at, most = subject
        texts: dict[str, str] = {}
        shared: Counter[str] = Counter()
        with DamagedRow():
            for identifier, description in rows:
                if (tenant, identifier) not in self._saved:
                    shared[identifier] += 1
                    texts[identifier] = json.loads(description)
        keys = subject_hashes(tenant, agent, text) if self._on_subject else ()
        for identifier in (identifier for key in keys for identifier in self._on_subject.get(key, ())):
            decision, _ = self._saved[tenant, identifier]
            if decision.status is Status.KEPT and (decision.settled_at is None or decision.settled_at <= at):
                shared[identifier] += 1
                texts[identifier] = decision.candidate.description
        closest = sorted(texts, key=lambda each: (shared[each], each), reverse=True)[:most]
        return [(identifier, texts[identifier]) for identifier in sorted(closest, reverse=True)]

    def forget_subject(self, decision: Decision) -> None:
        """Take out what a decision is about: its text goes."""
        scope = decision.scope
        hashes = subject_hashes(scope.tenant, scope.agent, decision.candidate.description)
        self.session.run_many(statements.DELETE_SUBJECT, [(key, decision.id) for key in hashes])

    def save(self, decision: Decision, *, new: bool = False) -> None:
        """Store what a decision is now."""
        scope = decision.scope
        key = (scope.tenant, decision.id)
        before = self._saved.get(key)
        self._saved[key] = (decision, new if before is None else before[1])
        self._written_to.add((scope.tenant, scope.agent, scope.session or ""))
        self._stream(scope.tenant, scope.agent).windows.note(decision)
        if decision.status is Status.KEPT and (before is None or before[0].status is not Status.KEPT):
            for subject in subject_hashes(scope.tenant, scope.agent, decision.candidate.description):
                self._on_subject.setdefault(subject, []).append(decision.id)

    def count(self, keys: Iterable[CountKey] | Counter[CountKey]) -> None:
        """Counts each of some keys once, or as often as a counter says."""
        self._counts.update(keys)

    def clear(self, tenant: str, agent: str) -> None:
        """Take out the decisions and counts of a stream, to be made anew from its events."""
        session = self.session
        session.run(statements.DELETE_DECISIONS, (tenant, agent))
        session.run(statements.DELETE_COUNTS, (tenant, agent))
        self._stream(tenant, agent).windows.clear()

    def flush(self) -> None:
        """Write what was only noted so far."""
        for sql, many in self.take_writes():
            self._session.run_many(sql, many)

    def take_writes(self) -> list[Write]:
        """Returns the writes that were noted, which count as written from here on."""
        new: list[Values] = []
        changed: list[Values] = []
        emptied: list[Values] = []
        subjects: dict[int, list[Values]] = {}
        for decision, is_new in self._saved.values():
            if decision.status is Status.KEPT:
                scope = decision.scope
                keys = subject_hashes(scope.tenant, scope.agent, decision.candidate.description)
                values = [value for key in keys for value in (key, decision.id)]
                subjects.setdefault(len(keys), []).append(values)
            if is_new:
                new.append(row_of(decision))
            elif decision.status is Status.PURGED:
                emptied.append(statements.values_of_change(row_of(decision), statements.EMPTIED))
            else:
                row = row_of(decision, words_too=False)
                changed.append(statements.values_of_change(row, statements.UPDATED))
        heads = [
            (stream.seq, stream.hash, stream.ts, tenant, agent)
            for (tenant, agent), stream in self._streams.items()
            if stream.changed
        ]
        # In one order everywhere, so that no two writers wait for each other.
        counts = [(*key, times) for key, times in sorted(self._counts.items())]
        writes: list[Write] = [
            (statements.INSERT_EVENT, self._events),
            (statements.INSERT_DECISION, new),
            (statements.UPDATE_DECISION, changed),
            (statements.EMPTY_DECISION, emptied),
            (statements.UPDATE_HEAD, heads),
            (statements.ADD_COUNT, counts),
            *((statements.insert_subject(keys), many) for keys, many in subjects.items() if keys),
        ]
        self._events, self._saved, self._written_to, self._counts = [], {}, set(), Counter()
        self._on_subject, self._answers = {}, {}
        for stream in self._streams.values():
            stream.changed = False
        return [(sql, many) for sql, many in writes if many]

    def keep_streams(self) -> None:
        """The commit is done: what is known of the streams holds for the next transaction."""
        for key, stream in self._streams.items():
            self._earlier_streams[key] = stream
        while len(self._earlier_streams) > _STREAMS:
            self._earlier_streams.popitem(last=False)

    def _stream(self, tenant: str, agent: str) -> StreamHead:
        key = (tenant, agent)
        stream = self._streams.get(key)
        if stream is not None:
            return stream
        question = statements.HEAD + self.database.lock_row
        rows = self._session.rows(question, key)
        if not rows:
            self._session.run(statements.INSERT_HEAD, (tenant, agent, -_LATEST_S))
            rows = self._session.rows(question, key)
        return self._enter(key, rows[0])

    def _enter(self, key: tuple[str, str], row: tuple[Any, ...]) -> StreamHead:
        stream = self._earlier_streams.pop(key, None)
        if stream is None or (stream.seq, stream.hash) != row[:2]:
            stream = StreamHead(*row)
        self._streams[key] = stream
        return stream


def _question(subject: OnSubject) -> Question | None:
    """The question to the database; None where nothing can be on it."""
    tenant, agent, text, at, most = subject
    keys = subject_hashes(tenant, agent, text) if most > 0 else ()
    if not keys:
        return None
    values = [value for key in keys for value in (tenant, key, tenant, agent, at, most)]
    return statements.standing(len(keys)), values


def checked_time(value: object, name: str = "ts") -> float:
    """A time in seconds since the epoch.

    Raises:
        ConfigError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ConfigError(f"{name} = {value!r:.40}: expected seconds since the epoch")
    if abs(value) >= _LATEST_S:
        raise ConfigError(f"{name} = {value!r}: expected seconds since the epoch, not milliseconds")
    return float(value)
