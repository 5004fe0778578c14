"""The rounds of a recorded run, cut as `Supervisor` cuts them, for whoever wants them without a verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.monitor import tools_of
from ebbtide.divergence.signals import LoopSignal
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.summary.ending import EndingReader, RunEnding
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

_MODEL = "assistant"  # who speaks where the run names nobody
_EVERY_ROUND = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardRounds:
    """The rounds of the longest conversation in a run.

    Args:
        rounds: In the order of the run, numbered from 1.
        tool_calls: Calls of tools in the whole run.
        conversations: Chains with rounds, this one among them.
        ending: How the run ended.
    """

    rounds: tuple[Round, ...]
    tool_calls: int
    conversations: int
    ending: RunEnding


def heard_rounds(items: Iterable[Event | Round], profile: Profile = Profile.DEFAULT) -> HeardRounds:
    """The rounds of a run: what `RunSummary.rounds` has one point each for, up to its thousand.

    Args:
        items: The events of the run, in its order.
        profile: Its section `supervision` says which turns are rounds.
    """
    listener = _RoundListener(EndingReader(tools_of(None, profile.divergence)))
    supervisor = Supervisor(profile, eager_rounds=_EVERY_ROUND, listener=listener)
    for item in items:
        supervisor.record(item)
    supervisor.settle()
    longest = max(listener.chains.values(), key=len, default=[])
    in_order = sorted(longest, key=lambda read_round: read_round.event)
    return HeardRounds(
        rounds=tuple(
            replace(read_round.item, number=number, agent=read_round.item.agent or _MODEL)
            for number, read_round in enumerate(in_order, start=1)
        ),
        tool_calls=listener.tool_calls,
        conversations=len(listener.chains),
        ending=listener.ending.read(),
    )


@dataclass(slots=True)
class _RoundListener:
    """Keeps the rounds; all else is passed over."""

    ending: EndingReader
    chains: dict[str, list[ReadRound]] = field(default_factory=lambda: defaultdict(list))
    tool_calls: int = 0

    def event(self, event: Event, number: int, loops: LoopState) -> None:
        self.tool_calls += isinstance(event, ToolCall)
        self.ending.see(event, number)

    def loop(self, signal: LoopSignal, verdict: Verdict) -> None:
        pass

    def ignored(self, subject: Hashable) -> None:
        pass

    def round(self, chain_id: str, read_round: ReadRound) -> None:
        self.chains[chain_id].append(read_round)

    def verdict(self, verdict: Verdict, first_event: int) -> None:
        pass
