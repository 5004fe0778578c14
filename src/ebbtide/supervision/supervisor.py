"""One run, one verdict: events and rounds in, what to do out.

Source: DESIGN, "One ladder"; divergence spec, sections 1 and 5; novelty spec, section 4.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from typing import Any, Self

from ebbtide.budget.limit_alerts import LimitWatch
from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.pricing import Pricer
from ebbtide.errors import ConfigError
from ebbtide.events.event import Call, Phase
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.listener import Listener
from ebbtide.supervision.run_chain import RunChain
from ebbtide.supervision.run_monitor import RunMonitor
from ebbtide.supervision.run_watch import CHAINS, RunWatch
from ebbtide.supervision.supervisor_snapshot import ConversationSnapshot, SupervisorSnapshot
from ebbtide.supervision.supervisor_state import packed, unpacked
from ebbtide.supervision.verdict import Action, Verdict
from ebbtide.text.embedding.vectors import Embedder

_SCHEMA = 1


class Supervisor:
    """Watches one run and says what to do with it: allow, nudge, finalize, escalate or stop.

    It joins four engines: loops and spending, the convergence of the conversation, hard limits, and the
    joint rule of `ebbtide.supervision.joint`. A verdict stands until something new is known: a new answer
    of a tool, a round that brings something, a new word of a person, or `acknowledge`. Each is told once.
    `settle` says that nothing more comes: a conversation with hardly any calls is then judged by the novelty
    of all its rounds, those of people too, as `ConvergenceMeter` would.

    It never raises on an event: what cannot be read counts in `snapshot().degraded`. It may be used from
    several threads; the order in which they come is the order of the events. No clock is inside.

    Args:
        profile: Thresholds of all engines.
        tools: What is declared about tools.
        limits: What the run may take, over all its chains; None sets no limit.
        prices: What tokens cost, for events that tell tokens and no cost; None knows no price.
        shadow: Say everything, and have nothing done about it: `check_before_model` allows.
        embedder: Turns the semantic level of the conversation on.
        eager_rounds: Rounds that are read although no verdict can depend on them, for a report.
        listener: Told of everything that is found.

    >>> supervisor = Supervisor()
    >>> for _ in range(3):
    ...     verdict = supervisor.record(Call(name="ls", args={"path": "."}, result="a.txt"))
    >>> verdict.action.value, supervisor.check_before_model().nudge
    ('nudge', 'The same call gave the same answer again: it will not change by asking. Try something ...')
    >>> supervisor.check_before_model().action.value
    'allow'
    """

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
        self._profile = profile
        self._tools = tools
        self._shadow = shadow
        #: What is known, for those who read it at every event; whoever else does holds no lock.
        self.run = RunWatch(
            profile,
            tools=tools,
            limits=limits,
            pricer=None if prices is None else Pricer(prices),
            shadow=shadow,
            embedder=embedder,
            eager_rounds=eager_rounds,
            listener=listener,
        )
        self._lock = threading.Lock()
        self._degraded = 0
        self._last_fault: str | None = None

    @property
    def events(self) -> int:
        """Events so far, over all chains."""
        return self.run.events

    def record(self, event: Call | Round) -> Verdict:
        """Take one more event or round.

        Returns:
            What was said at this event; else the finalize, escalate or stop that stands; else allow. So a
            nudge comes once, and an ending stays.
        """
        with self._lock:
            run = self.run
            try:
                if type(event) is Call or isinstance(event, Call):
                    return run.call(event)
                if isinstance(event, Round):
                    return run.round(event)
                self._fault(f"{type(event).__name__}: expected a Call or a Round")
            except Exception as error:  # noqa: BLE001 - watching must never break the run that is watched
                self._fault(f"{type(error).__name__}: {error}")
            return run.answer(run.latest)

    def verdict(self, chain_id: str | None = None) -> Verdict:
        """What stands now, for one chain or the whole run. Reading changes nothing."""
        with self._lock:
            return self._verdict(chain_id)

    def _verdict(self, chain_id: str | None) -> Verdict:
        run = self.run
        chains = [chain for name, chain in run.chains.items() if chain_id in (None, name)]
        standing = [run.board.standing(1), *(chain.board.standing(chain.turn) for chain in chains)]
        found = [item.verdict for item in standing if item is not None]
        return max(found, key=lambda verdict: (verdict.rank, verdict.event or 0), default=run.calm)

    def check_before_model(self, chain_id: str | None = None, *, now: float | None = None) -> Verdict:
        """What to do before the next call of the model: the verb for adapters.

        A nudge is handed over once: put its text before the model. After a finalize one call is made, and
        the check after it says stop. An escalate stays until something new comes. A person may overrule all
        of them: by a new word, `acknowledge` or `extend`.

        Args:
            chain_id: The chain whose model is called; None takes the one of the latest event.
            now: Seconds on the clock of the events, for the limit of time.
        """
        with self._lock:
            run = self.run
            chain = run.latest if chain_id is None else run.chains.get(chain_id)
            run.checked = True
            try:
                if now is not None and run.limits is not None:
                    run.say_limits(run.limits.at(now))
                if chain is not None:
                    run.settle(chain)
                    chain.turn += 1
            except Exception as error:  # noqa: BLE001 - likewise
                self._fault(f"{type(error).__name__}: {error}")
            return run.calm if self._shadow else run.hand_over(chain)

    def check_before_tool(self, call: Call) -> Verdict:
        """What to do before a tool is called; weaker, since a model that is refused a call makes the next.

        Returns:
            A nudge where this call goes on with a loop that was told and went on: refuse it, and give the
            text as its answer. A finalize, escalate or stop that stands; else allow.
        """
        with self._lock:
            run = self.run
            try:
                # Without its number: the call itself is still to come under it.
                started = dataclasses.replace(call, phase=Phase.STARTED, seq=None)
                signals = run.monitor.update(started)
                verdict = run.answer(run.chains.get(call.chain_id))
                if not verdict.ends and signals:
                    verdict = run.loop_verdict(signals[0], Action.NUDGE, goes_on=True)
            except Exception as error:  # noqa: BLE001 - likewise
                self._fault(f"{type(error).__name__}: {error}")
                verdict = run.calm
            return run.calm if self._shadow else verdict

    def acknowledge(self, chain_id: str | None = None) -> None:
        """A person has seen what stands, and lets the run go on.

        The same is not said again until something new was known in between; a loop is told once more before
        it ends the run. Hard limits stay.
        """
        with self._lock:
            for chain in self.run.chains.values():
                if chain_id in (None, chain.name):
                    chain.forgive()

    def extend(self, turns: int, *, limits: Limits | None = None) -> None:
        """Let the run go on for some more turns of the model, whatever stands; then it stands again.

        Args:
            turns: 1 or more. Hard limits stay, unless other ones are given.
            limits: Take the place of the limits; what was taken so far counts against them.

        Raises:
            ConfigError: `turns` is no whole number from 1 on.
        """
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise ConfigError(f"turns = {turns!r:.40}: expected a whole number, 1 or more")
        with self._lock:
            run = self.run
            if limits is not None:
                before, run.limits = run.limits, LimitWatch(limits)
                if before is not None:
                    run.limits.go_on_from(before)
                run.board.lift(list(run.board.items))
            for chain in run.chains.values():
                chain.board.silence(chain.turn + turns)

    def settle(self) -> None:
        """Say that nothing more comes: what a model said last is a round, and every round is read."""
        with self._lock:
            run = self.run
            for chain in list(run.chains.values()):
                try:
                    run.settle(chain)
                    run.heard(chain, chain.rounds.catch_up())
                    run.conclude(chain)
                except Exception as error:  # noqa: BLE001 - likewise
                    self._fault(f"{type(error).__name__}: {error}")

    def snapshot(self) -> SupervisorSnapshot:
        """What is known now; reading changes nothing."""
        with self._lock:
            run = self.run
            chains = run.chains.values()
            return SupervisorSnapshot(
                verdict=self._verdict(None),
                standing=tuple(
                    item.verdict
                    for board in (run.board, *(chain.board for chain in chains))
                    for item in board.items.values()
                ),
                events=run.events,
                conversations=tuple(
                    ConversationSnapshot(
                        chain_id=chain.name,
                        turns=chain.turn,
                        rounds=chain.rounds.read,
                        low_run=chain.rounds.low_run,
                        signal=chain.rounds.latest,
                    )
                    for chain in chains
                ),
                calls=run.monitor.snapshot(),
                degraded=self._degraded + run.monitor.degraded,
                last_fault=self._last_fault or run.monitor.last_fault,
            )

    def to_state(self) -> dict[str, Any]:
        """Everything that later verdicts depend on, as plain data that JSON can carry."""
        with self._lock:
            run = self.run
            return {
                "schema": _SCHEMA,
                "monitor": run.monitor.to_state(),
                "chains": [chain.to_state() for chain in run.chains.values()],
                "latest": run.latest.name if run.latest else None,
                "board": run.board.to_state(),
                "limits": run.limits.to_state() if run.limits else None,
                "counts": [run.events, run.checked, self._degraded, self._last_fault],
            }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], profile: Profile = Profile.DEFAULT, **how: Any) -> Self:
        """The supervisor that `to_state` described; made the same way, it goes on from there.

        Args:
            state: What `to_state` gave.
            profile: The profile that it had.
            how: The other arguments that it was made with.

        Raises:
            ConfigError: The state is of another version, or not a state.
        """
        if not isinstance(state, Mapping) or state.get("schema") != _SCHEMA:
            found = state.get("schema") if isinstance(state, Mapping) else state
            raise ConfigError(f"state schema {found!r:.40}: this version reads {_SCHEMA}")
        supervisor = cls(profile, **how)
        run = supervisor.run
        try:
            run.monitor = RunMonitor.from_state(
                state["monitor"], profile, tools=supervisor._tools, max_chains=CHAINS
            )
            for entry in state["chains"]:
                run.chain(entry["name"]).restore(entry)
            latest: RunChain | None = run.chains.get(state["latest"])
            run.latest = latest
            run.board.restore(state["board"])
            if run.limits is not None and state["limits"] is not None:
                run.limits.restore(state["limits"])
            run.events, run.checked, supervisor._degraded, supervisor._last_fault = state["counts"]
        except ConfigError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"not the state of a supervisor: {error!r}") from error
        return supervisor

    def to_bytes(self) -> bytes:
        """`to_state`, small."""
        return packed(self.to_state())

    @classmethod
    def from_bytes(cls, data: bytes, profile: Profile = Profile.DEFAULT, **how: Any) -> Self:
        """The supervisor that `to_bytes` described.

        Raises:
            ConfigError: The bytes are of another version, or damaged.
        """
        return cls.from_state(unpacked(data), profile, **how)

    def _fault(self, text: str) -> None:
        self._degraded += 1
        self._last_fault = text[:200]
