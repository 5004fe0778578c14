"""A detector of loops, and what the detectors of one chain share: its calls, its loops, the thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ebbtide.budget.tally import Tally
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.repetition import Repetition
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key
from ebbtide.profile.divergence import LoopRules


@dataclass(slots=True)
class Spread:
    """One call with its answer, and the chains that got no further with it."""

    first_event: int
    weights: dict[str, int]
    reported: bool = False


class SessionMemory:
    """What the chains of one session share.

    Attributes:
        several: Whether the session has more than one chain or run.
        spreads: Calls with their answers that chains repeated, or failed with.
    """

    __slots__ = ("several", "spreads")

    def __init__(self) -> None:
        self.several = False
        self.spreads: dict[Key, Spread] = {}

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        spreads = [
            [key.hex(), spread.first_event, spread.weights, spread.reported]
            for key, spread in self.spreads.items()
        ]
        return [self.several, spreads]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self.several, spreads = state
        self.spreads = {
            bytes.fromhex(key): Spread(first, dict(weights), reported)
            for key, first, weights, reported in spreads
        }


class ChainMemory:
    """What the detectors of one chain share.

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
        callers: Agents whose calls are recorded: what they tell of them is no second call.
        take_deed: Takes a call that an agent tells of, and notes the agent in `callers`.
    """

    __slots__ = (
        "callers",
        "name",
        "registry",
        "repetition",
        "rules",
        "runs",
        "searches",
        "session",
        "take_deed",
        "tally",
    )

    def __init__(self, name: str, rules: LoopRules, session: SessionMemory, tally: Tally) -> None:
        self.name = name
        self.rules = rules
        self.session = session
        self.tally = tally
        self.registry = LoopRegistry()
        self.repetition = Repetition(rules)
        self.runs = 0
        self.searches = False
        self.callers: dict[str | None, None] = {}
        self.take_deed: Callable[[ToolCall], Finding | None] = _take_nothing

    def patience(self, moment: Moment | None) -> int:
        """Times that equal calls take at least: more where a service is down and is asked with a pause."""
        return self.rules.outage if moment is not None and moment.is_outage else 0


def _take_nothing(_: ToolCall) -> Finding | None:
    return None


class Detector:
    """What finds loops: it sees one event after the other, in bounded memory.

    Args:
        memory: What it shares with the other detectors of its chain.
    """

    __slots__ = ("_memory", "_registry", "_rules")

    def __init__(self, memory: ChainMemory) -> None:
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

    def reset(self) -> None:
        """Begin afresh."""

    def to_state(self) -> Any:
        """All that later findings depend on, as plain data."""
        return None

    def restore(self, state: Any) -> None:
        """Take up what `to_state` gave."""
