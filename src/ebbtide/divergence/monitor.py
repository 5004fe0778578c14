"""The loop monitor: events of an agent's run in, signals out.

Source: divergence spec, section 5 (clauses D10 to D14); notes on each rule stand in its module.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import UNITS, Tally
from ebbtide.codec import restore_state, state_of
from ebbtide.divergence.chain_memory import SessionMemory
from ebbtide.divergence.chain_table import LIVE_CHAINS, MOST_CHAINS, ChainTable
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding, Loop
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import argument_display
from ebbtide.divergence.signals import LoopSignal, Measurement
from ebbtide.engine_state import EngineState
from ebbtide.errors import LONGEST, ConfigError, error_text, expect, shown, warn_degraded
from ebbtide.events.event import Event, Phase, ToolCall, content, is_plain_event, title
from ebbtide.events.identity import identify, settled, settled_answer
from ebbtide.events.shipped_tools import shipped
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules

if TYPE_CHECKING:
    from ebbtide.divergence.snapshot import MonitorSnapshot

_Event = TypeVar("_Event", bound=Event)
_STARTED = Phase.STARTED  # reading a member off its enum takes as long as a call
_SHOWN = 160  # characters of a call that a signal shows
_NUMBERS = 1 << 62  # numbers of events that a state can carry
_NUMBER = (int, float)  # a union would be built anew at every look
_JITTER_S = 1.0  # by which the times of two writers differ
_LATEST_S = 1e15  # sums and differences of such times stay exact enough


class LoopMonitor(EngineState):
    """Watches an agent's calls and messages, and says when they go in circles or burn money for nothing.

    One monitor watches one session, in bounded memory, whatever its length. It never raises and never
    halts: an event that cannot be read counts in `degraded`, and the caller decides what a signal means.
    `update` may be called from several threads; the order in which they come is the order of the events.

    Args:
        profile: Thresholds; see `ebbtide.profile.divergence.LoopRules`.
        tools: What is declared about tools, before what is shipped; see `ToolPolicies`.
        prices: What tokens cost, for events that state tokens and no cost.
        live_chains: Chains that are kept at hand; others are packed until they come back.
        max_chains: Chains that are watched; for one more, the one that was silent longest is dropped.

    Attributes:
        tally: What the session took, over all its chains.
        latest: The chain of the latest event.
        degraded: Events that could not be read in full, or at all.
        last_fault: What was wrong with the latest of them.

    Raises:
        ConfigError: `live_chains` or `max_chains` is below 1.

    >>> monitor = LoopMonitor()
    >>> for _ in range(3):
    ...     signals = monitor.update(ToolCall(name="ls", args={"path": "."}, result="a.txt"))
    >>> [(signal.kind.value, signal.report, signal.copies) for signal in signals]
    [('repeat', 1, 3)]
    """

    _MAGIC = b"EBBL\x03"
    _SCHEMA = 3
    _OWNER = "a monitor"

    _session: SessionMemory
    tally: Tally
    chains: ChainTable[LoopState, None]
    degraded: int
    last_fault: str | None
    _duplicates: int

    def __init__(
        self,
        profile: Profile = Profile.DEFAULT,
        *,
        tools: ToolPolicies | None = None,
        prices: Prices | None = None,
        live_chains: int = LIVE_CHAINS,
        max_chains: int = MOST_CHAINS,
    ) -> None:
        expect("profile", profile, Profile)
        expect("tools", tools, ToolPolicies, optional=True)
        expect("prices", prices, Prices, optional=True)
        for name, value in (("live_chains", live_chains), ("max_chains", max_chains)):
            expect(name, value, int)
            if value < 1:
                raise ConfigError(f"{name} = {value!r}: expected 1 or more")
        self._how: dict[str, Any] = {
            "profile": profile,
            "tools": tools,
            "prices": prices,
            "live_chains": live_chains,
            "max_chains": max_chains,
        }
        self._rules = profile.divergence
        self._tools = tools_of(tools, self._rules)
        self._prices = prices
        self.chains = ChainTable(
            self._new_chain, LoopState.to_state, LoopState.restore, live=live_chains, most=max_chains
        )
        self.tally = Tally(prices)
        self.latest: LoopState | None = None
        self._session = SessionMemory()
        self._lock = threading.RLock()  # a signal handler may save in the middle of an event
        self._pause_s = math.inf if self._rules.pause_s is None else self._rules.pause_s
        self.degraded = 0
        self.last_fault: str | None = None
        self._warns = True  # until the first event that could not be read in full
        self._duplicates = 0

    def update(self, event: Event) -> tuple[LoopSignal, ...]:
        """Take one more event.

        Returns:
            What is to be reported now. A loop is reported when it is found, and again as it goes on. A call
            that has only STARTED shows nothing yet: `loop_of` says whether it goes on with a loop.

        Raises:
            TypeError: It is no event.
        """
        if not isinstance(event, Event):
            expect("event", event, Event)
        with self._lock:
            signals = self.take(self.plain(event)) or ()
        if self.degraded and self._warns:
            self._warns = False
            warn_degraded(self.last_fault)
        return signals

    def plain(self, event: _Event, *, counts: bool = True) -> _Event:
        """An event whose every field is what it says; one with others counts in `degraded`."""
        if is_plain_event(event):
            return event
        expect("counts", counts, bool)
        from ebbtide.events.plain_event import plain_event

        event, faults = plain_event(event)
        if faults and counts:
            self._fault("; ".join(faults))
        return event

    def take(self, event: Event, turn: int | None = None) -> tuple[LoopSignal, ...] | None:
        """As `update`, for a plain event and without the lock; None for an event that does not count.

        Those are calls that have only started, and events whose number was there before.

        Args:
            event: The event.
            turn: Number of the turn of the model that asked for it; None where nobody counts them.
        """
        try:
            call = event if isinstance(event, ToolCall) else None
            if call is not None and call.phase is _STARTED:
                return self._started(call)
            chain = self.latest
            if chain is None or chain.name != event.chain_id:
                chain = self._chain(event.chain_id)
            seq = event.seq
            if seq is None:
                chain.event += 1
            elif type(seq) is int and seq == (numbering := chain.numbering).expected and numbering.in_order:
                chain.event = seq  # as `take` would have it, but most events are the next one
                numbering.expected = seq + 1
            elif not self._is_new(chain, seq):
                self._duplicates += 1
                return None
            ts, before = event.ts, chain.ts
            if before is not None and type(ts) is float and before <= ts <= _LATEST_S:
                chain.ts = ts
                chain.gap_s = ts - before
                if ts - before >= self._pause_s:
                    chain.rest()
            elif ts is not None or event.waited_s is not None:
                self._pass_time(chain, ts, event.waited_s)
            elif chain.gap_s is not None:
                chain.gap_s = None
            if chain.gap_s is not None and chain.gap_s >= self._rules.wait_s:
                chain.has_time_passed = True
            chain.tally.add(event, chain.ts if ts is not None else None)
            signals: tuple[LoopSignal, ...] = ()
            moment = Moment(event, chain.event, chain.ts, chain.gap_s)
            if event.usage is not None:
                chain.spending = chain.spending or chain.spend.is_known
                burst = chain.spend.see(moment)
                if burst is not None:
                    signals = self._report(chain, event, burst)
            if event.agent is not None and event.agent != chain.hand_offs.agent:
                signals += self._report(chain, event, chain.hand_offs.take_over(event.agent, moment))
            if chain.wake_ups.at is not None:
                signals += self._report(chain, event, chain.wake_ups.see(moment))
            if call is None:
                finding = chain.see(moment)
            else:
                finding = chain.call(moment, call, self._tools.get(call.name), turn)
            return signals if finding is None else signals + self._report(chain, event, finding)
        except Exception as error:  # noqa: BLE001 - watching must never break the run that is watched
            self._fault(error_text(error))
            return ()

    def loop_of(self, call: ToolCall) -> LoopSignal | None:
        """The loop that a call would go on with; reading changes nothing.

        Args:
            call: A call that is about to be made. Its answer is not known yet.

        Returns:
            A loop that went on after it had been reported; None where the call belongs to none.
        """
        expect("call", call, ToolCall)
        with self._lock:
            call = self.plain(call, counts=False)
            chain = self.chains.find(call.chain_id)
            if chain is None:
                return None
            loop = _loop_of(chain, call, self._tools.get(call.name))
            return None if loop is None else _signal(chain, loop, call, None)

    def depth_of(self, call: ToolCall) -> int | None:
        """Returns the level of the agent that a call would start; None where it starts none."""
        expect("call", call, ToolCall)
        policy = self._tools.get(call.name)
        starts = policy is not None and policy.order_of(call.args) is not None
        return self._session.tree.depth_below(call.chain_id) if starts else None

    def chain(self, chain_id: str) -> LoopState | None:
        """A chain, or None where it is not watched; of one that was silent for long, a copy."""
        expect("chain_id", chain_id, str)
        return self.chains.find(chain_id)

    def add_round(self, chain_id: str) -> LoopState:
        """Count a round of a chain's conversation, which shows nothing here; the chain."""
        expect("chain_id", chain_id, str)
        chain = self._chain(chain_id)
        chain.tally.add_round()
        return chain

    @property
    def wake_up_missed_at(self) -> float | None:
        """Time of the events from which a wake-up is missed; None where none is awaited."""
        late_s = self._rules.wake_up_late_s
        with self._lock:
            awaited = self._session.wake_ups.values()
            return None if late_s is None or not awaited else min(awaited) + late_s

    def snapshot(self) -> MonitorSnapshot:
        """Returns what is known now; reading changes nothing."""
        from ebbtide.divergence.snapshot import ChainSnapshot, MonitorSnapshot

        with self._lock:
            return MonitorSnapshot(
                chains=tuple(ChainSnapshot.of(chain) for chain in self.chains.all()),
                degraded=self.degraded,
                last_fault=self.last_fault,
                duplicates=self._duplicates,
                dropped_chains=self.chains.losses,
            )

    def content(self) -> dict[str, Any]:
        """Everything that later signals depend on, as plain data that JSON can carry."""
        with self._lock:
            return state_of(self)

    def restore(self, content: Mapping[str, Any]) -> None:
        """Take up what `content` gave; for a monitor that has seen nothing yet."""
        restore_state(self, content)
        self.latest = self.chains.latest
        self._warns = not self.degraded

    def _settings(self) -> dict[str, Any]:
        return self._how

    def _chain(self, chain_id: str) -> LoopState:
        """A chain, which is the latest now."""
        chain = self.latest = self.chains.take(chain_id)
        self._session.several = self._session.several or len(self.chains) > 1
        return chain

    def _new_chain(self, chain_id: str) -> LoopState:
        return LoopState(chain_id, self._rules, self._session, Tally(self._prices, self.tally))

    def _started(self, call: ToolCall) -> tuple[LoopSignal, ...] | None:
        """A call is made: one that starts an agent may be one too many; None where it shows nothing."""
        policy = self._tools.get(call.name)
        if policy is None or policy.spawns is None:
            return None
        chain = self._chain(call.chain_id)
        finding = chain.begin_agent(Moment(call, chain.event, chain.ts), call, policy)
        return self._report(chain, call, finding) or None

    def _is_new(self, chain: LoopState, seq: int) -> bool:
        """True if the event of that number comes for the first time; it is the latest event then."""
        if type(seq) is not int or not -_NUMBERS < seq < _NUMBERS:
            self._fault(f"seq = {shown(seq)}: expected a whole number; the event counts by itself")
            chain.event += 1
        elif chain.numbering.take(seq):
            chain.event = seq
        else:
            return False
        return True

    def _pass_time(self, chain: LoopState, ts: float | None, gap: float | None) -> None:
        """Take a time, or a time that has passed, that may be the first of its chain, odd, or late."""
        if ts is not None:
            if not _is_time(ts):
                self._fault(f"ts = {shown(ts)}: expected seconds; the time is not known")
                ts = None
            elif chain.ts is not None and ts < chain.ts:
                if chain.ts - ts > _JITTER_S:
                    self._fault(f"ts = {shown(ts)} is before {chain.ts}: the time stands still")
                ts = chain.ts
        if ts is not None:
            gap = None if chain.ts is None else ts - chain.ts
            chain.ts = ts
        elif gap is not None:
            if not _is_time(gap) or gap < 0:
                self._fault(f"waited_s = {shown(gap)}: expected seconds, 0 or more; the time is not known")
                gap = None
            else:
                chain.ts = (chain.ts or 0.0) + gap
        chain.gap_s = gap
        if gap is not None and gap >= self._pause_s:
            chain.rest()

    def _report(self, chain: LoopState, event: Event, finding: Finding | None) -> tuple[LoopSignal, ...]:
        if finding is None or finding is CARRIED_ON:
            return ()
        is_new = finding.key not in chain.registry.loops
        loop, due = chain.registry.note(finding, chain.repetition.calls, chain.event)
        if chain.spending and (finding.begins or is_new):
            loop.cost_before, loop.tokens_before = chain.spent_before(loop.first_event)
        return (_signal(chain, loop, event, finding.measure),) if due else ()

    def _fault(self, text: str) -> None:
        self.degraded += 1
        self.last_fault = text[:LONGEST]


def find_loops(
    events: Iterable[Event], profile: Profile = Profile.DEFAULT, *, tools: ToolPolicies | None = None
) -> list[LoopSignal]:
    """Every signal of a recorded run: the fold of `LoopMonitor.update` over its events.

    >>> calls = [ToolCall(name="read", args={"path": name}, result="same") for name in "ababab"]
    >>> [signal.period for signal in find_loops(calls)]
    [2]
    """
    monitor = LoopMonitor(profile, tools=tools)
    return [signal for event in events for signal in monitor.update(event)]


def tools_of(tools: ToolPolicies | None, rules: LoopRules) -> ToolPolicies:
    """Returns what is declared of tools: the user's own first, then the shipped, where the rules want it."""
    own = ToolPolicies() if tools is None else tools
    if not rules.shipped_tools:
        return own
    return own.over(shipped()) if own else shipped()


def _loop_of(chain: LoopState, call: ToolCall, policy: ToolPolicy | None) -> Loop | None:
    """Returns the loop that a call would go on with, of those that went on after they had been reported."""
    persistent = chain.registry.persistent()
    if not persistent or (policy is not None and policy.exempt):
        return None
    name, args = call.name, call.args
    if policy is not None:
        name, args = policy.group or name, policy.arguments(args, policy.effect_of(args))
    if args is None:
        return None
    identity = identify(name, args, settle=chain.settle)
    if identity is None:
        return None
    key = settled(identity[0])
    answer = chain.repetition.answers.expected(identity[0])
    members = {key} if answer is None else {key, key + settled_answer(answer)}
    return next(
        (
            loop
            for loop in persistent
            if (loop.tool is not None and loop.tool == name) or members & loop.members
            if chain.goes_on(loop)
        ),
        None,
    )


def _signal(chain: LoopState, loop: Loop, event: Event, measure: Measurement | None) -> LoopSignal:
    tally = chain.tally
    return LoopSignal(
        id=loop.key.hex(),
        kind=loop.kind,
        report=loop.reports,
        chain_id=chain.name,
        tools=loop.tools,
        period=loop.period,
        copies=loop.count,
        threshold=loop.at,
        calls=loop.calls,
        relapses=loop.relapses,
        earlier_copies=loop.earlier_count,
        earlier_last=loop.earlier_last,
        first_event=loop.first_event,
        last_event=loop.last_event,
        cost_usd=None if tally.cost is None else (tally.cost - loop.cost_before) / UNITS,
        tokens=None if tally.tokens is None else tally.tokens - loop.tokens_before,
        measure=measure,
        is_proof=loop.is_proof,
        is_stated=loop.is_stated,
        latest_call=_shown(event),
    )


def _is_time(value: object) -> bool:
    # Not for NaN.
    return isinstance(value, _NUMBER) and not isinstance(value, bool) and abs(value) <= _LATEST_S


def _shown(event: Event) -> str:
    return f"{title(event)} {argument_display(content(event))}"[:_SHOWN].strip()
