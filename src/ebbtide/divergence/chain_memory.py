"""A detector of loops, and what the detectors of one chain share: its calls, its loops, the thresholds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ebbtide.budget.tally import Tally
from ebbtide.divergence.agent_tree import AgentTree
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.repetition import Repetition
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key
from ebbtide.events.usage import Usage
from ebbtide.profile.divergence import LoopRules

_T = TypeVar("_T")


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
        tree: Its agents.
        spreads: Calls with their answers that chains repeated, or failed with.
    """

    __slots__ = ("several", "spreads", "tree")

    def __init__(self) -> None:
        self.several = False
        self.tree = AgentTree()
        self.spreads: dict[Key, Spread] = {}

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        spreads = [
            [key.hex(), spread.first_event, spread.weights, spread.reported]
            for key, spread in self.spreads.items()
        ]
        return [self.several, spreads, self.tree.to_state()]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self.several, spreads, tree = state
        self.tree.restore(tree)
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
        witnessed: Answers that were not known, of calls that did not fail: what bears witness to work.
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
        "witnessed",
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
        self.witnessed = 0
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


# How the fields that JSON cannot carry are written, and read again.
_WRITTEN: dict[type, Callable[[Any], Any]] = {
    bytes: bytes.hex,
    frozenset: lambda items: sorted(item.hex() if isinstance(item, bytes) else item for item in items),
    dict: lambda errors: [error.hex() for error in errors],
}
_READ: dict[str, Callable[[Any], Any]] = {
    "key": bytes.fromhex,
    "answer": bytes.fromhex,
    "grown_start": bytes.fromhex,
    "kind": LoopKind,
    "tools": tuple,
    "numbers": tuple,
    "ranges": lambda ranges: [(start, end) for start, end in ranges],
    "words": lambda words: None if words is None else frozenset(words),
    "members": lambda members: frozenset(map(bytes.fromhex, members)),
    "errors": lambda errors: dict.fromkeys(map(bytes.fromhex, errors)),
}


def fields_of(item: Any) -> dict[str, Any]:
    """The fields of a record, as plain data that JSON can carry."""
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    return {
        name: _WRITTEN[type(value)](value) if type(value) in _WRITTEN else value
        for name, value in values.items()
    }


def item_of(kind: type[_T], values: Mapping[str, Any]) -> _T:
    """The record that `fields_of` described."""
    if any(type(value) is dict for value in values.values()):
        raise TypeError(f"{kind.__name__}: a table among its fields")
    return kind(**{name: _READ[name](value) if name in _READ else value for name, value in values.items()})


PROBE: Final = "ebbtide_probe"  #: the name of the tool


def probe_call(number: int, result: str, *, error: bool = False, **args: object) -> ToolCall:
    """A call of the probe, the `number`th of its run: one each second, for a cent."""
    usage = Usage(cost_usd=0.01)
    return ToolCall(name=PROBE, args=args, result=result, error=error, usage=usage, ts=float(number))
