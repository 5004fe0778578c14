"""The loop monitor: events of an agent's run in, signals out.

Source: divergence spec, section 5 (clauses D10 to D14); notes on each rule stand in its module.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Self

from ebbtide.divergence.detectors.across_chains import Chains
from ebbtide.divergence.detectors.near_duplicates import argument_text
from ebbtide.divergence.ladder import CARRIED_ON, Finding, Loop
from ebbtide.divergence.signals import LEVELS, Signal
from ebbtide.divergence.snapshot import ChainSnapshot, MonitorSnapshot
from ebbtide.divergence.state import from_bytes, restore_watch, to_bytes, watch_state
from ebbtide.divergence.watch import ChainWatch
from ebbtide.errors import ConfigError
from ebbtide.events.event import Call, Phase
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile

_SCHEMA = 1
_STARTED = Phase.STARTED
_NO_CALLS = frozenset({"llm", "user", "system"})
_SHOWN = 160  # characters of a call that a signal shows
_NUMBERS = 1 << 62  # numbers of events that a state can carry
_NUMBER = (int, float)  # a union would be built anew at every look
_LATEST_S = 1e15  # sums and differences of such times stay exact enough


class LoopMonitor:
    """Watches an agent's calls and messages, and says when they go in circles or burn money for nothing.

    One monitor watches one session, in bounded memory, whatever its length. It never raises and never
    halts: an event that cannot be read counts in `degraded`, and the caller decides what a signal means.
    `update` may be called from several threads; the order in which they come is the order of the events.

    Args:
        profile: Thresholds; see `ebbtide.profile.divergence.LoopRules`.
        tools: What is declared about tools; see `ToolPolicies`.
        max_chains: Chains that are watched at once; for one more, the one that was silent longest is dropped.

    Raises:
        ConfigError: `max_chains` is below 1.

    >>> monitor = LoopMonitor()
    >>> for _ in range(3):
    ...     signals = monitor.update(Call(name="ls", args={"path": "."}, result="a.txt"))
    >>> [(signal.kind.value, signal.level.value, signal.copies) for signal in signals]
    [('repeat', 'hint', 3)]
    """

    def __init__(
        self,
        profile: Profile = Profile.DEFAULT,
        *,
        tools: ToolPolicies | None = None,
        max_chains: int = 64,
    ) -> None:
        if max_chains < 1:
            raise ConfigError(f"max_chains = {max_chains!r}: expected 1 or more")
        self._profile = profile
        self._rules = profile.divergence
        self._tools = tools or None
        self._max_chains = max_chains
        self._chains: dict[str, ChainWatch] = {}
        self.latest: ChainWatch | None = None  #: the chain of the latest event
        self._across = Chains(self._rules)
        self._lock = threading.Lock()
        self._pause_s = math.inf if self._rules.pause_s is None else self._rules.pause_s
        self._degraded = 0
        self._last_fault: str | None = None
        self._duplicates = 0
        self._dropped = 0

    def update(self, call: Call) -> tuple[Signal, ...]:
        """Take one more event.

        Returns:
            What is to be told now. A loop is told once a level, and again as its count doubles; a STARTED
            call that would go on with a blocked loop is told every time, since each has to be refused.
        """
        with self._lock:
            return self._take(call) or ()

    def _take(self, call: Call) -> tuple[Signal, ...] | None:
        """As `update`, under a lock; None for an event that was told before, and does not count."""
        try:
            watch = self.latest
            if watch is None or watch.name != call.chain_id:
                watch = self._watch(call.chain_id)
            seq = call.seq
            if seq is None:
                watch.event += 1
            elif type(seq) is int and seq == (numbering := watch.numbering).expected and numbering.in_order:
                watch.event = seq  # as `take` would have it, but most events are the next one
                numbering.expected = seq + 1
            elif not self._is_new(watch, seq):
                self._duplicates += 1
                return None
            policy = self._tools.get(call.name) if self._tools is not None else None
            if call.phase is _STARTED:
                return self._started(watch, call, policy)
            signals: tuple[Signal, ...] = ()
            ts, before = call.ts, watch.ts
            if before is not None and type(ts) is float and before <= ts <= _LATEST_S:
                watch.ts = ts
                watch.gap_s = ts - before
                if ts - before >= self._pause_s:
                    watch.pause()
            elif ts is not None or call.waited_s is not None:
                self._pass_time(watch, ts, call.waited_s)
            elif watch.gap_s is not None:
                watch.gap_s = None
            if (
                call.agent is not None
                or call.cost_usd is not None
                or call.input_tokens is not None
                or call.output_tokens is not None
                or call.cache_read_tokens is not None
                or call.cache_write_tokens is not None
            ):
                signals = self._aside(watch, call)
            found = watch.other(call) if call.kind in _NO_CALLS else watch.call(call, policy)
            return signals if found is None else signals + self._told(watch, call, found)
        except Exception as error:  # noqa: BLE001 - watching must never break the run that is watched
            self._fault(f"{type(error).__name__}: {error}")
            return ()

    def snapshot(self) -> MonitorSnapshot:
        """What is known now; reading changes nothing."""
        with self._lock:
            return MonitorSnapshot(
                chains=tuple(ChainSnapshot.of(watch) for watch in self._chains.values()),
                degraded=self._degraded,
                last_fault=self._last_fault,
                duplicates=self._duplicates,
                dropped_chains=self._dropped,
            )

    def to_state(self) -> dict[str, Any]:
        """Everything that later signals depend on, as plain data that JSON can carry."""
        with self._lock:
            return {
                "schema": _SCHEMA,
                "chains": [watch_state(watch) for watch in self._chains.values()],
                "across": self._across.to_state(),
                "counts": [self._degraded, self._last_fault, self._duplicates, self._dropped],
            }

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, Any],
        profile: Profile = Profile.DEFAULT,
        *,
        tools: ToolPolicies | None = None,
        max_chains: int = 64,
    ) -> Self:
        """The monitor that `to_state` described; with the same profile and tools, it goes on from there.

        Raises:
            ConfigError: The state is of another version, or not a state.
        """
        if not isinstance(state, Mapping) or state.get("schema") != _SCHEMA:
            found = state.get("schema") if isinstance(state, Mapping) else state
            raise ConfigError(f"state schema {found!r:.40}: this version reads {_SCHEMA}")
        monitor = cls(profile, tools=tools, max_chains=max_chains)
        try:
            monitor._across.restore(state["across"])
            for entry in state["chains"]:
                watch = restore_watch(entry, monitor._rules, monitor._across)
                monitor._chains[watch.name] = monitor.latest = watch
            monitor._degraded, monitor._last_fault, monitor._duplicates, monitor._dropped = state["counts"]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ConfigError(f"not the state of a monitor: {error!r}") from error
        return monitor

    def to_bytes(self) -> bytes:
        """`to_state`, small."""
        return to_bytes(self.to_state())

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        profile: Profile = Profile.DEFAULT,
        *,
        tools: ToolPolicies | None = None,
        max_chains: int = 64,
    ) -> Self:
        """The monitor that `to_bytes` described.

        Raises:
            ConfigError: The bytes are of another version, or damaged.
        """
        return cls.from_state(from_bytes(data), profile, tools=tools, max_chains=max_chains)

    def _started(self, watch: ChainWatch, call: Call, policy: ToolPolicy | None) -> tuple[Signal, ...]:
        loop = watch.started(call, policy)
        return () if loop is None else (self._signal(watch, loop, call, ""),)

    def _aside(self, watch: ChainWatch, call: Call) -> tuple[Signal, ...]:
        """Take what an event tells beside itself: what it cost and who acts."""
        spent = watch.spend.add(call, watch.ts, watch.event)
        watch.spending = watch.spending or watch.spend.is_known
        signals = () if spent is None else self._told(watch, call, spent)
        agent = call.agent
        if agent is not None and agent != watch.hand_offs.agent:
            before, watch.hand_offs.agent = watch.hand_offs.agent, agent
            if before is not None:
                signals += self._told(watch, call, watch.hand_off(before, agent))
        return signals

    def _watch(self, chain_id: str) -> ChainWatch:
        """The watch of a chain, moved to the end: the first in line was silent longest."""
        watch = self._chains.pop(chain_id, None)
        if watch is None:
            watch = ChainWatch(chain_id, self._rules, self._across)
            if len(self._chains) >= self._max_chains:
                del self._chains[next(iter(self._chains))]
                self._dropped += 1
            self._across.several = self._across.several or bool(self._chains)
        self._chains[chain_id] = self.latest = watch
        return watch

    def _is_new(self, watch: ChainWatch, seq: int) -> bool:
        """Whether the event of that number comes for the first time; it is the latest event then."""
        if type(seq) is not int or not -_NUMBERS < seq < _NUMBERS:
            self._fault(f"seq = {seq!r:.40}: expected a whole number; the event counts by itself")
            watch.event += 1
        elif watch.numbering.take(seq):
            watch.event = seq
        else:
            return False
        return True

    def _pass_time(self, watch: ChainWatch, ts: float | None, gap: float | None) -> None:
        """Take a time, or a time that has passed, that may be the first of its chain, odd, or late."""
        if ts is not None:
            if not _is_time(ts):
                self._fault(f"ts = {ts!r:.40}: expected seconds; the time is not known")
                ts = None
            elif watch.ts is not None and ts < watch.ts:
                self._fault(f"ts = {ts!r:.40} is before {watch.ts!r}: the time stands still")
                ts = watch.ts
        if ts is not None:
            gap = None if watch.ts is None else ts - watch.ts
            watch.ts = ts
        elif gap is not None:
            if not _is_time(gap) or gap < 0:
                self._fault(f"waited_s = {gap!r:.40}: expected seconds, 0 or more; the time is not known")
                gap = None
            else:
                watch.ts = (watch.ts or 0.0) + gap
        watch.gap_s = gap
        if gap is not None and gap >= self._pause_s:
            watch.pause()

    def _told(self, watch: ChainWatch, call: Call, found: Finding | None) -> tuple[Signal, ...]:
        if found is None or found is CARRIED_ON:
            return ()
        known = found.key in watch.ladder.loops
        loop, tell = watch.ladder.note(found, watch.repetition.calls, watch.event)
        if watch.spending and (found.begins or not known):
            loop.cost_before, loop.tokens_before = watch.spent_before(loop.first_event)
        return (self._signal(watch, loop, call, found.evidence),) if tell else ()

    def _signal(self, watch: ChainWatch, loop: Loop, call: Call, evidence: str) -> Signal:
        spend = watch.spend
        return Signal(
            id=loop.key.hex(),
            kind=loop.kind,
            level=LEVELS[loop.level],
            chain_id=watch.name,
            tools=loop.tools,
            period=loop.period,
            copies=loop.count,
            threshold=loop.at,
            calls=loop.calls,
            relapses=loop.relapses,
            first_event=loop.first_event,
            last_event=loop.last_event,
            cost_usd=None if spend.cost_usd is None else spend.cost_usd - loop.cost_before,
            tokens=None if spend.tokens is None else spend.tokens - loop.tokens_before,
            evidence=evidence or _shown(call),
        )

    def _fault(self, text: str) -> None:
        self._degraded += 1
        self._last_fault = text[:200]


def find_loops(
    calls: Iterable[Call], profile: Profile = Profile.DEFAULT, *, tools: ToolPolicies | None = None
) -> list[Signal]:
    """Every signal of a recorded run: the fold of `LoopMonitor.update` over its events.

    >>> [signal.period for signal in find_loops(Call(name=name, result="same") for name in "ababab")]
    [2]
    """
    monitor = LoopMonitor(profile, tools=tools)
    return [signal for call in calls for signal in monitor.update(call)]


def _is_time(value: object) -> bool:
    return (
        isinstance(value, _NUMBER) and not isinstance(value, bool) and abs(value) <= _LATEST_S
    )  # not for NaN


def _shown(call: Call) -> str:
    return f"{call.name} {argument_text(call.args) or call.text or ''}"[:_SHOWN].strip()
