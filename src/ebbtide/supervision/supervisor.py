"""One run, one verdict: events and rounds in, what to do out.

Source: DESIGN, "One ladder"; divergence spec, sections 1 and 5; novelty spec, section 4.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ebbtide.budget.limit_alerts import LimitAlerts
from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.shared.budget_refusal import BudgetRefusal
from ebbtide.budget.tally import Tally
from ebbtide.checks import whole
from ebbtide.engine_state import EngineState, restoring, unpack_state
from ebbtide.errors import LONGEST, ConfigError, error_text, expect, warn_degraded
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.active_verdicts import hand_over
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.listener import Listener
from ebbtide.supervision.run_state import RunState
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.embedding.vectors import Embedder

if TYPE_CHECKING:
    from ebbtide.supervision.supervisor_snapshot import SupervisorSnapshot


class Supervisor(EngineState):
    """Watches one run and answers what to do with it: allow, nudge, finalize, escalate or stop.

    It joins four engines: loops and spending, the convergence of the conversation, hard limits, and the
    joint rule of `ebbtide.supervision.judgement`. A verdict holds until something new is known: a new answer
    of a tool, a round that brings something, a new word of a person, or `acknowledge`. Each is given once.
    `settle` says that nothing more comes: a conversation with hardly any calls is then judged by the novelty
    of all its rounds, those of people too, as `ConvergenceMeter` would.

    It never raises on an event: what cannot be read counts in `snapshot().degraded`. It may be used from
    several threads; the order in which they come is the order of the events. A listener and a signal handler
    may call it too: what they save in the middle of an event may lack a part of that event. It can be copied
    and pickled, without its listener. No clock is inside.

    Args:
        profile: Thresholds of all engines.
        tools: What is declared about tools.
        limits: What the run may take, over all its chains; None sets no limit.
        prices: What tokens cost, for events that state tokens and no cost; None knows no price.
        shadow: Report everything, and have nothing done about it: `check_before_model` allows.
        embedder: Turns the semantic level of the conversation on.
        eager_rounds: Rounds that are read although no verdict can depend on them, for a report.
        listener: Called with everything that is reported.

    >>> supervisor = Supervisor()
    >>> for _ in range(3):
    ...     verdict = supervisor.record(ToolCall(name="ls", args={"path": "."}, result="a.txt"))
    >>> verdict.action.value, supervisor.check_before_model().nudge
    ('nudge', 'The same call returned the same result again. Repeating it will not change it. Try ...')
    >>> supervisor.check_before_model().action.value
    'allow'
    """

    _MAGIC = b"EBBS\x03"
    _SCHEMA = 4
    _OWNER = "a supervisor"

    def __init__(
        self,
        profile: Profile = Profile.DEFAULT,
        *,
        tools: ToolPolicies | None = None,
        limits: Limits | None = None,
        prices: Prices | None = None,
        shadow: bool = False,
        embedder: Embedder | None = None,
        eager_rounds: int = 0,
        listener: Listener | None = None,
    ) -> None:
        expect("profile", profile, Profile)
        expect("tools", tools, ToolPolicies, optional=True)
        expect("limits", limits, Limits, optional=True)
        expect("prices", prices, Prices, optional=True)
        expect("eager_rounds", eager_rounds, int)
        self._shadow = shadow
        self._arguments: dict[str, Any] = {
            "profile": profile,
            "tools": tools,
            "limits": limits,
            "prices": prices,
            "shadow": shadow,
            "embedder": embedder,
            "eager_rounds": eager_rounds,
        }
        self._run = RunState(**self._arguments, listener=listener)
        # Re-entrant, since a listener may ask, and a signal handler may save, in the middle of an event.
        self._lock = threading.RLock()
        self._degraded = 0
        self._warns = True  # until the first event that could not be read in full
        self._last_fault: str | None = None

    @property
    def checks_claims(self) -> bool:
        """True if the last words of a run are held against its record."""
        profile: Profile = self._arguments["profile"]
        return profile.supervision.check_claims

    @property
    def events(self) -> int:
        """Events so far, over all chains."""
        return self._run.monitor.tally.events

    @property
    def tally(self) -> Tally:
        """Tally of what the run took so far, over all chains."""
        return self._run.monitor.tally

    @property
    def wake_up_missed_at(self) -> float | None:
        """Time of the events from which a wake-up that an agent waits for is missed; None where none does."""
        return self._run.monitor.wake_up_missed_at

    @property
    def limits(self) -> Limits | None:
        """Limits of the run; None where there is no limit."""
        return None if self._run.alerts is None else self._run.alerts.limits

    def watches(self, chain_id: str) -> bool:
        """True if a chain of that name is known: it had an event, or its model was asked for."""
        expect("chain_id", chain_id, str)
        return chain_id in self._run.chains

    def tally_of(self, chain_id: str) -> Tally | None:
        """Returns the tally of one chain so far; None where it is not known, or was dropped."""
        expect("chain_id", chain_id, str)
        loops = self._run.monitor.chain(chain_id)
        return None if loops is None else loops.tally

    def record(self, event: Event | Round) -> Verdict:
        """Take one more event or round.

        Returns:
            What came at this event; else the finalize, escalate or stop that holds; else allow. So a
            nudge comes once, and an ending stays.

        Raises:
            TypeError: It is neither an event nor a round.
        """
        if not isinstance(event, Event | Round):
            expect("event", event, Event, Round)
        with self._lock:
            run = self._run
            try:
                if isinstance(event, Event):
                    verdict = run.take(run.monitor.plain(event))
                else:
                    verdict = run.take_round(event)
            except Exception as error:  # noqa: BLE001 - watching must never break the run that is watched
                self._fault(error_text(error))
                verdict = run.judgement.answer(run.latest)
        if self._warns and (self._degraded or run.monitor.degraded):
            self._warns = False
            warn_degraded(self._last_fault or run.monitor.last_fault)
        return verdict

    def verdict(self, chain_id: str | None = None) -> Verdict:
        """Returns the verdict that holds now, for one chain or the whole run, with the counts of now.

        Reading changes nothing.
        """
        expect("chain_id", chain_id, str, optional=True)
        with self._lock:
            return self._verdict(chain_id)

    def _verdict(self, chain_id: str | None) -> Verdict:
        verdict = max(
            self._run.verdicts(chain_id),
            key=lambda verdict: (verdict.rank, verdict.event or 0),
            default=self._run.judgement.all_clear,
        )
        return self._run.counted(verdict)

    def ending(self, chain_id: str) -> Verdict | None:
        """The finalize, escalate or stop that holds for a chain; None where there is none, or in shadow.

        It is what `check_before_tool` gives where it ends the run, for less: no call has to be described.
        """
        expect("chain_id", chain_id, str)
        if self._shadow:
            return None
        with self._lock:
            return self._run.judgement.ending(self._run.chains.find(chain_id))

    def check_before_model(self, chain_id: str | None = None, *, now: float | None = None) -> Verdict:
        """Returns what to do before the next call of the model: the verb for adapters.

        A nudge is handed over once: put its text before the model. After a finalize one call is made, and
        the check after it is a stop. An escalate stays until something new comes. A person may overrule all
        of them: by a new word, `acknowledge` or `extend`. A call that is let through counts against the
        limits until a call of its chain is recorded.

        Args:
            chain_id: The chain whose model is called; None takes the one of the latest event.
            now: Seconds on the clock of the events, for the limit of time.
        """
        expect("chain_id", chain_id, str, optional=True)
        expect("now", now, int, float, optional=True)
        with self._lock:
            run = self._run
            judgement = run.judgement
            chain = None
            try:
                chain = run.begin_turn(chain_id)
                if run.alerts is not None:
                    judgement.limits(run.alerts.before_model(chain.name if chain else chain_id, now))
            except Exception as error:  # noqa: BLE001 - likewise
                self._fault(error_text(error))
            verdict = judgement.all_clear
            if not self._shadow:
                judgement.due = []
                verdict = hand_over(run.actives(chain), self.events, judgement.all_clear)
            if run.alerts is not None and verdict.rank <= Action.FINALIZE.rank:
                run.alerts.let_through(chain_id)
            return verdict

    def hold_budget(self, refusal: BudgetRefusal | None) -> None:
        """Say what the budgets that other runs draw on too make of the next call, before it is checked.

        Args:
            refusal: Why they do not allow it; None where they do: then what was said before is taken back.
        """
        expect("refusal", refusal, BudgetRefusal, optional=True)
        with self._lock:
            self._run.judgement.budget(refusal)

    def check_before_tool(self, call: ToolCall) -> Verdict:
        """Returns what to do before a tool is called.

        It is the weaker check, since a model that is refused a call makes the next.

        Returns:
            A nudge where this call goes on with a loop that went on after it had been reported. A finalize,
            escalate or stop that holds, or a stop where the call would start an agent too many; else allow.
        """
        expect("call", call, ToolCall)
        with self._lock:
            run = self._run
            if self._shadow:
                return run.judgement.all_clear
            call = run.monitor.plain(call, counts=False)
            chain = run.chains.find(call.chain_id)
            try:
                verdict = run.judgement.answer(chain)
                if verdict.ends:
                    return verdict
                alerts = run.alerts
                if alerts is not None and (depth := run.monitor.depth_of(call)) is not None:
                    alert = alerts.one_more_agent(depth)
                    if alert is not None:
                        return run.judgement.limit_verdict(alert)
                signal = run.monitor.loop_of(call)
                if signal is None or run.judgement.ignores(signal):
                    return verdict
                return run.judgement.loop_verdict(signal, chain, goes_on=False)
            except Exception as error:  # noqa: BLE001 - likewise
                self._fault(error_text(error))
                return run.judgement.all_clear

    def acknowledge(self, chain_id: str | None = None) -> None:
        """A person has seen what holds, and lets the run go on.

        The same is not reported again until something new was known in between; a loop is reported once more
        before it ends the run. Hard limits stay.
        """
        expect("chain_id", chain_id, str, optional=True)
        with self._lock:
            for chain in self._run.chains.change(chain_id):
                chain.forgive()

    def extend(self, turns: int, *, limits: Limits | None = None) -> None:
        """Let the run go on for some more turns of the model, whatever holds; then it holds again.

        Args:
            turns: 1 or more. Hard limits stay, unless other ones are given.
            limits: Take the place of the limits; what was taken so far counts against them.

        Raises:
            ConfigError: `turns` is no whole number from 1 on.
        """
        expect("limits", limits, Limits, optional=True)
        whole("turns", turns, 1)
        with self._lock:
            run = self._run
            if limits is not None:
                before = run.alerts
                run.alerts = LimitAlerts(limits, self.tally) if before is None else before.replaced(limits)
                run.judgement.run.lift(list(run.judgement.run.items))
            for chain in run.chains.change(None):
                chain.active.silence(chain.turn + turns)

    def settle(self) -> None:
        """Say that nothing more comes: what a model said last is a round, and every round is read."""
        with self._lock:
            run = self._run
            for chain in run.chains.change(None):
                try:
                    run.settle(chain)
                    run.judgement.rounds(chain, chain.rounds.catch_up())
                    run.conclude(chain)
                except Exception as error:  # noqa: BLE001 - likewise
                    self._fault(error_text(error))

    def uncounted_limits(self) -> list[Verdict]:
        """A stop for each limit that could not be counted, if nothing more comes; reading changes nothing."""
        with self._lock:
            alerts = [] if self._run.alerts is None else self._run.alerts.uncounted()
            return [self._run.judgement.limit_verdict(alert) for alert in alerts]

    def snapshot(self) -> SupervisorSnapshot:
        """Returns what is known now; reading changes nothing."""
        from ebbtide.supervision.supervisor_snapshot import ConversationSnapshot, SupervisorSnapshot

        with self._lock:
            run = self._run
            chains = list(run.chains.all())
            return SupervisorSnapshot(
                verdict=self._verdict(None),
                active=tuple(
                    run.counted(item.verdict)
                    for active in (run.judgement.run, *(chain.active for chain in chains))
                    for item in active.items.values()
                ),
                events=self.events,
                conversations=tuple(
                    ConversationSnapshot(
                        chain_id=chain.name,
                        turns=chain.turn,
                        rounds=chain.rounds.rounds_read,
                        low_run=chain.rounds.low_run,
                        signal=chain.rounds.latest,
                        cut_texts=chain.rounds.cut_texts,
                        claims_left_out=chain.rounds.claims_left_out,
                    )
                    for chain in chains
                ),
                calls=run.monitor.snapshot(),
                degraded=self._degraded + run.monitor.degraded,
                last_fault=self._last_fault or run.monitor.last_fault,
            )

    def content(self) -> dict[str, Any]:
        """Everything that later verdicts depend on, as plain data that JSON can carry."""
        with self._lock:
            return {"run": self._run.to_state(), "counts": [self._degraded, self._last_fault]}

    def restore(self, content: Mapping[str, Any]) -> None:
        """Take up what `content` gave; for a supervisor that has seen nothing yet."""
        self._run.restore(content["run"])
        self._degraded, self._last_fault = content["counts"]
        self._warns = not (self._degraded or self._run.monitor.degraded)

    def load(self, data: bytes) -> None:
        """Take up what `to_bytes` gave; for a supervisor that has seen nothing yet.

        Raises:
            ConfigError: The bytes are of another version, or damaged; or it has seen something.
        """
        with self._lock:
            if self.events:
                raise ConfigError(f"load after {self.events} events: expected a new supervisor")
            state = unpack_state(data, self._MAGIC, self._OWNER)
            with restoring(state, self._SCHEMA, self._OWNER, is_sealed=False):
                self.restore(state)

    def _settings(self) -> dict[str, Any]:
        return self._arguments

    def _fault(self, text: str) -> None:
        self._degraded += 1
        self._last_fault = text[:LONGEST]
