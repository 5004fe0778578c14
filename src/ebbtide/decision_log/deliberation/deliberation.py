"""From a thought to a decision in the log, through the gate.

Source: decision quality gate, layers 1 to 3 (clauses Q04 to Q07, Q13).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, Unpack

from ebbtide.decision_log.deliberation import gated_steps
from ebbtide.decision_log.deliberation.answer import DecisionAnswer, DecisionVerdict
from ebbtide.decision_log.deliberation.proposal import (
    FinalWords,
    Proposal,
    RecordWords,
    checked_source,
    checked_text,
    propose,
)
from ebbtide.decision_log.log import steps
from ebbtide.decision_log.log.counting import verdict_keys
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Decision, DecisionScope, Mode
from ebbtide.decision_log.store.transaction import OnSubject, Transaction, checked_time
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate, Source, TurnContext
from ebbtide.decisions.gate.assess import assess
from ebbtide.errors import ConfigError, expect
from ebbtide.profile import Profile
from ebbtide.profile.duplicates import DuplicateRules

_T = TypeVar("_T")
_REMEMBERED = 4096  # opened decisions of this process that need not be read again


#: A judge of candidates; `ebbtide.decisions.gate.assess.assess` is one.
Gate = Callable[[Candidate, TurnContext | None, Profile], Assessment]


class Deliberation:
    """Takes decisions through the gate into a log.

    Checking for duplicates and writing are one transaction: of two that record the same at the same moment,
    in whatever thread or process, one has the record and the other hears so. All methods may be called
    from several threads.

    Args:
        log: Where to.
        profile: The rules of the gate.
        mode: What the gate may do; see `Mode`.
        duplicates: Window and thresholds; None takes those of the profile.
        gate: What judges candidates. Where it fails, the candidate is kept and the answer says `degraded`.
        frames: Frames in which turns are recorded; None takes those of the profile.

    >>> from ebbtide.decision_log.log.decision_log import DecisionLog
    >>> with DecisionLog.open(":memory:") as log:
    ...     work = Deliberation(log)
    ...     id = work.start("coder", "Where does the log live?", "decision", "s1")
    ...     work.think(id, "there is one writer")
    ...     kept = work.finalize(id, description="Use SQLite for the log because there is one writer")
    ...     again = work.start("coder", "Where does the log live?", "decision", "s1")
    ...     (kept == id, again, work.last.reason[:15])
    (True, None, 'Decided already')
    """

    def __init__(
        self,
        log: DecisionLog,
        *,
        profile: Profile = Profile.DEFAULT,
        mode: Mode = Mode.ENFORCE,
        duplicates: DuplicateRules | None = None,
        gate: Gate = assess,
        frames: Sequence[str] | None = None,
    ) -> None:
        expect("log", log, DecisionLog)
        expect("profile", profile, Profile)
        expect("duplicates", duplicates, DuplicateRules, optional=True)
        self.log = log
        self.profile = profile
        self.mode = Mode(mode)
        self.frames = frozenset(profile.decisions.frames if frames is None else frames)
        window = profile.duplicates if duplicates is None else duplicates
        self._rules = gated_steps.StepRules(profile=profile, duplicates=window, mode=self.mode)
        self._gate = gate
        self._opened: OrderedDict[str, Decision] = OrderedDict()
        self._lock = threading.Lock()
        self._local = threading.local()

    @property
    def last(self) -> DecisionAnswer | None:
        """The latest answer that this thread got; None before the first one."""
        return getattr(self._local, "answer", None)

    def assess(self, candidate: Candidate, context: TurnContext | None = None) -> Assessment:
        """Asks the gate; nothing is stored or counted."""
        return self._gate(candidate, context, self.profile)

    def start(
        self,
        agent_id: str,
        description: str,
        frame: str = "decision",
        session: str | None = None,
        *,
        ts: float | None = None,
    ) -> str | None:
        """Begin to think about something; see `try_start`.

        Returns:
            Its id; None where nothing is recorded in this frame, or where it was decided already. `last` says
            which, and why.
        """
        answer = self.try_start(agent_id, description, frame, session, ts=ts)
        return answer.id if answer.verdict is DecisionVerdict.OPENED else None

    def try_start(
        self,
        agent_id: str,
        description: str,
        frame: str = "decision",
        session: str | None = None,
        *,
        source: Source = Source.AUTO,
        ts: float | None = None,
    ) -> DecisionAnswer:
        """Begin to think about something, unless it was decided already.

        Args:
            agent_id: Who thinks.
            description: About what.
            frame: What the agent is doing; turns are recorded in ``decision`` and ``debug``, and in what the
                profile names.
            session: In which session; duplicates are looked for in it.
            source: How it came up.
            ts: When, in seconds since the epoch; None asks the clock.

        Raises:
            ConfigError: A name or time cannot be used.
            StoreError: The store cannot do it.

        Source: decision quality gate, 1c and layer 2 (clauses Q04, Q06).
        """
        scope, at = self.log.view.scope(agent_id, session), self._time(ts)
        candidate = Candidate(
            description=checked_text(description, "description"),
            frame=checked_text(frame, "frame"),
            source=checked_source(source),
        )
        if frame not in self.frames:
            return self._remember_answer(self._count_not_captured(scope, candidate))
        answer = self._write(scope.agent, lambda tx: gated_steps.start(tx, self._rules, scope, candidate, at))
        if answer.decision is not None:
            self._remember_opened(answer.decision)
        return self._remember_answer(answer)

    def think(self, decision_id: str | None, text: str, *, ts: float | None = None) -> None:
        """Note a thought on an open decision; for the id None nothing is done.

        Raises:
            UnknownDecisionError: The log has no such decision.
            LifecycleError: It is final already.
        """
        if decision_id is None:
            return
        at, thought, latest = self._time(ts), checked_text(text, "text"), self._recall(decision_id)
        self._remember_opened(
            self._write(latest.scope.agent, lambda tx: steps.add_thought(tx, tx.fresh(latest), thought, at))
        )

    def finalize(
        self, decision_id: str | None, description: str | None = None, **words: Unpack[FinalWords]
    ) -> str | None:
        """Take a decision that was opened; see `try_finalize`.

        Returns:
            Its id; None where it was refused, or where the id was None. `last` says why.
        """
        if decision_id is None:
            return None
        answer = self.try_finalize(decision_id, description, **words)
        return answer.id if answer.kept else None

    def try_finalize(
        self, decision_id: str, description: str | None = None, **words: Unpack[FinalWords]
    ) -> DecisionAnswer:
        """Take a decision that was opened: it goes into the log, or into quarantine.

        Also one that counts as abandoned can be taken. Doing it again with the same text changes nothing and
        gives the same verdict, so that a caller who did not hear the first answer can ask again.

        Args:
            decision_id: What `start` gave.
            description: What is decided; None takes what it was called when it was opened.
            **words: See `FinalWords`.

        Raises:
            ConfigError: A value cannot be used.
            UnknownDecisionError: The log has no such decision.
            LifecycleError: It is final already, with another text.
            StoreError: The store cannot do it.

        Source: decision quality gate, layers 1 to 3 (clauses Q06, Q13).
        """
        latest = self._recall(decision_id)
        proposal = self._propose(latest, description, words)
        answer = self._write(
            latest.scope.agent,
            lambda tx: gated_steps.finalize(tx, self._rules, proposal, tx.fresh(latest)),
            gated_steps.subjects(self._rules, proposal.taken),
        )
        with self._lock:
            self._opened.pop(decision_id, None)
        return self._remember_answer(answer)

    def record_decision(
        self,
        description: str,
        *,
        agent_id: str | None = None,
        session: str | None = None,
        frame: str = "decision",
        source: Source = Source.EXPLICIT,
        **words: Unpack[FinalWords],
    ) -> DecisionAnswer:
        """Record a decision on purpose, in one step and in any frame.

        It meets the quality rules and the window all the same, unless ``force=True``; the answer says why it
        was refused.

        Args:
            description: What is decided.
            agent_id: Who decides; None takes the agent of the log.
            session: In which session; None takes that of the log.
            frame: What the agent is doing.
            source: How it came up. Layer 1 of the gate is not asked of an explicit one.
            **words: See `FinalWords`.

        Raises:
            ConfigError: A value cannot be used.
            StoreError: The store cannot do it.

        Source: decision quality gate, 1c (clause Q05).
        """
        proposal = self._proposed(description, agent_id, session, frame, source, **words)
        return self._remember_answer(
            self._write(
                proposal.taken.scope.agent,
                lambda tx: gated_steps.finalize(tx, self._rules, proposal),
                gated_steps.subjects(self._rules, proposal.taken),
            )
        )

    def record_batch(self, rows: Iterable[RecordWords]) -> tuple[DecisionAnswer, ...]:
        """Record decisions as `record_decision` does, in this order: all of them with one commit, or none.

        Other writers wait until it is done; some hundred at once are many times as fast as one by one.

        Args:
            rows: The arguments of `record_decision`, for each of them.

        Returns:
            The answers, in the same order.

        Raises:
            ConfigError: A value cannot be used.
            StoreError: The store cannot do it.
        """
        proposals = [self._proposed(**row) for row in rows]

        def work(tx: Transaction) -> tuple[DecisionAnswer, ...]:
            for agent in sorted({each.taken.scope.agent for each in proposals}):
                tx.lock(self.log.tenant, agent)
            return tuple(gated_steps.finalize(tx, self._rules, each) for each in proposals)

        subjects = [
            subject for each in proposals for subject in gated_steps.subjects(self._rules, each.taken)
        ]
        answers = self._write(self.log.agent or "", work, subjects)
        for answer in answers[-1:]:
            self._remember_answer(answer)
        return answers

    def _proposed(
        self,
        description: str,
        agent_id: str | None = None,
        session: str | None = None,
        frame: str = "decision",
        source: Source = Source.EXPLICIT,
        **words: Unpack[FinalWords],
    ) -> Proposal:
        """A decision that nobody opened, with the assessment of the gate."""
        candidate = Candidate(
            description=checked_text(description, "description"),
            frame=checked_text(frame, "frame"),
            source=checked_source(source),
        )
        scope = self.log.view.scope(agent_id, session)
        return self._propose(Decision(scope=scope, candidate=candidate), None, words)

    def _propose(self, opened: Decision, description: str | None, words: FinalWords) -> Proposal:
        return propose(opened, description, words, self.log.clock(), self._judge)

    def _judge(
        self, candidate: Candidate, context: TurnContext | None
    ) -> tuple[Assessment | None, str | None]:
        try:
            return self._gate(candidate, context, self.profile), None
        except Exception as error:  # noqa: BLE001 - a decision must not be lost because a gate fails
            return None, f"{type(error).__name__}: {error}"[:200]

    def _count_not_captured(self, scope: DecisionScope, candidate: Candidate) -> DecisionAnswer:
        keys = verdict_keys(scope, candidate, None, self.mode.value, DecisionVerdict.NOT_CAPTURED.value)
        self._write(scope.agent, lambda tx: tx.count(keys))
        return DecisionAnswer(verdict=DecisionVerdict.NOT_CAPTURED, mode=self.mode)

    def _remember_opened(self, decision: Decision) -> None:
        with self._lock:
            self._opened[decision.id] = decision
            if len(self._opened) > _REMEMBERED:
                self._opened.popitem(last=False)

    def _recall(self, decision_id: str) -> Decision:
        """A decision as this process, or the store, last knew it."""
        with self._lock:
            decision = self._opened.get(decision_id)
        if decision is not None:
            return decision
        if not isinstance(decision_id, str):
            raise ConfigError(f"decision_id = {decision_id!r:.60}: expected an id")
        return self.log.stored(decision_id)

    def _time(self, ts: float | None) -> float:
        return checked_time(self.log.clock() if ts is None else ts)

    def _write(self, agent: str, work: Callable[[Transaction], _T], subjects: Sequence[OnSubject] = ()) -> _T:
        return self.log.store.write(work, order=(self.log.tenant, agent), subjects=subjects)

    def _remember_answer(self, answer: DecisionAnswer) -> DecisionAnswer:
        self._local.answer = answer
        return answer
