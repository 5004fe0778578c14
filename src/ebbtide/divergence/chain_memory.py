"""A detector of loops, and what the detectors of one chain share: its calls, its loops, the thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ebbtide.bounded import Bounded
from ebbtide.budget.tally import Tally
from ebbtide.codec import State
from ebbtide.divergence.agent_tree import AgentTree
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.repetition import Repetition
from ebbtide.divergence.started_work import StartedWork
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key
from ebbtide.events.usage import Usage
from ebbtide.profile.divergence import LoopRules

_SPREADS: Final = 32  # calls of a session that are followed over its chains at once
_WAKE_UPS: Final = 256  # chains of a session that lie at rest at once


@dataclass(slots=True)
class Spread:
    """One call with its answer, and the chains that got no further with it."""

    first_event: int
    weights: dict[str, int]
    reported: bool = False


class SessionMemory(State):
    """Memory that the chains of one session share.

    Attributes:
        several: Whether the session has more than one chain or run.
        tree: Its agents.
        spreads: Calls with their answers that chains repeated, or failed with.
        wake_ups: When the agent of a chain wants to be woken up, by the chain.
    """

    several: bool = False
    spreads: Bounded[Key, Spread] = Bounded(_SPREADS)
    tree: AgentTree
    wake_ups: Bounded[str, float] = Bounded(_WAKE_UPS)

    def __init__(self) -> None:
        super().__init__()
        self.tree = AgentTree()


class ChainMemory(State):
    """Memory that the detectors of one chain share.

    Args:
        name: The chain.
        rules: The thresholds.
        session: What the chains of the session share.
        tally: Counts what the chain takes.

    Attributes:
        registry: The loops of the chain.
        repetition: Its calls with their answers.
        runs: Runs that began in it.
        searches: Whether something was looked for and not found.
        started: What the chain set going or changed of late.
        callers: Agents whose calls are recorded: what they state of them is no second call.
        take_deed: Takes a call that an agent states, and notes the agent in `callers`.
        condensed_at: Place of the latest call when the context was last condensed.
        known_looks: Looks that showed what they had shown before.
        advanced_at: Place of the latest look that showed how something has come further.
        changes: Changes that were declared and landed.
        witnessed: Answers that were not known, of calls that did not fail: what bears witness to work.
        deeds: A count that grows with those of them whose call was no mere glance: it changed something, or
            may have, read on or read much, or what it asks for moves.
    """

    registry: LoopRegistry
    repetition: Repetition
    runs: int = 0
    started: StartedWork
    advanced_at: int = 0
    condensed_at: int = 0
    known_looks: int = 0
    changes: int = 0
    witnessed: int = 0
    deeds: int = 0
    callers: dict[str | None, None] = {}

    def __init__(self, name: str, rules: LoopRules, session: SessionMemory, tally: Tally) -> None:
        super().__init__()
        self.name = name
        self.rules = rules
        self.session = session
        self.tally = tally
        self.registry = LoopRegistry()
        self.repetition = Repetition(rules)
        self.searches = False
        self.started = StartedWork()
        self.take_deed: Callable[[ToolCall], Finding | None] = _take_nothing

    def patience(self, moment: Moment | None) -> int:
        """Times that equal calls take at least: more where a service is down and is asked with a pause."""
        return self.rules.outage if moment is not None and moment.is_outage else 0


def _take_nothing(_: ToolCall) -> Finding | None:
    return None


class Detector(State):
    """Detector of loops: it sees one event after the other, in bounded memory.

    Args:
        memory: What it shares with the other detectors of its chain.
    """

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__()
        self._memory = memory
        self._rules = memory.rules
        self._registry = memory.registry

    def see(self, moment: Moment) -> Finding | None:
        """Take one more event.

        Returns:
            A loop; CARRIED_ON where it explains the event and there is nothing to report; None where it has
            nothing to say about it.
        """
        raise NotImplementedError


PROBE: Final = "ebbtide_probe"  #: the name of the tool


def probe_call(number: int, result: str, *, error: bool = False, **args: object) -> ToolCall:
    """A call of the probe, the `number`th of its run: one each second, for a cent."""
    usage = Usage(cost_usd=0.01)
    return ToolCall(name=PROBE, args=args, result=result, error=error, usage=usage, ts=float(number))
