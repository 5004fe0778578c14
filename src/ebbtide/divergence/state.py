"""A chain as plain data, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ebbtide.divergence.detectors.failing import Failures
from ebbtide.divergence.detectors.same_tool import ToolRun
from ebbtide.divergence.detectors.sweep import Reading
from ebbtide.divergence.loop_registry import Loop
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.identity import settled, settled_answer

_T = TypeVar("_T")

_PLAIN = (
    "event",
    "ts",
    "gap_s",
    "runs",
    "unreadable",
    "unrecorded",
    "has_spoken",
    "spending",
    "retried",
)


def chain_state(chain: LoopState) -> dict[str, Any]:
    """Everything that later findings about a chain depend on."""
    name, key, size, answer, event = chain.latest
    return {
        **{name: getattr(chain, name) for name in _PLAIN},
        "numbering": chain.numbering.to_state(),
        "latest_user": chain.latest_user.hex(),
        "batch": chain.batch.to_state(),
        "before_calls": [list(amounts) for amounts in chain.before_calls],
        "repetition": chain.repetition.to_state(),
        "waiting": [chain.waiting.has_time_passed, chain.waiting.latest],
        "tally": chain.tally.to_state(),
        "spend": chain.spend.to_state(),
        "spoken": chain.speech.to_state(),
        "hand_offs": chain.hand_offs.to_state(),
        "run": _fields(chain.same_tool.run),
        "latest": [name, settled(key).hex(), size, settled_answer(answer).hex(), event],
        "readings": [[key.hex(), _fields(reading)] for key, reading in chain.sweeps.readings.items()],
        "numbers": [[name, list(numbers)] for name, numbers in chain.sweeps.numbers.items()],
        "failing": [[name, _fields(failures)] for name, failures in chain.failing.tools.items()],
        "texts": chain.texts.to_state(),
        "commands": chain.effects.to_state(),
        "outcomes": chain.outcomes.to_state(),
        "callers": list(chain.callers),
        "told": None if chain.telling is None else chain.telling.to_state(),
        "loops": [_fields(loop) for loop in chain.registry.loops.values()],
    }


def restore_chain(chain: LoopState, state: Mapping[str, Any]) -> None:
    """Make a chain what `chain_state` described."""
    chain.settle = True
    for name in _PLAIN:
        setattr(chain, name, state[name])
    chain.numbering.restore(state["numbering"])
    chain.latest_user = bytes.fromhex(state["latest_user"])
    chain.batch.restore(state["batch"])
    chain.before_calls.extend((cost, tokens) for cost, tokens in state["before_calls"])
    chain.repetition.restore(state["repetition"])
    chain.waiting.has_time_passed, chain.waiting.latest = state["waiting"]
    chain.tally.restore(state["tally"])
    chain.spend.restore(state["spend"])
    chain.speech.restore(state["spoken"])
    chain.hand_offs.restore(state["hand_offs"])
    chain.same_tool.run = _item(ToolRun, state["run"])
    name, key, size, answer, event = state["latest"]
    chain.latest = (name, bytes.fromhex(key), size, bytes.fromhex(answer), event)
    chain.sweeps.readings = {
        bytes.fromhex(key): _item(Reading, reading) for key, reading in state["readings"]
    }
    chain.sweeps.numbers = {name: tuple(numbers) for name, numbers in state["numbers"]}
    chain.failing.tools = {name: _item(Failures, failures) for name, failures in state["failing"]}
    chain.texts.restore(state["texts"])
    chain.effects.restore(state["commands"])
    chain.outcomes.restore(state["outcomes"])
    chain.callers.update(dict.fromkeys(state["callers"]))
    if state["told"] is not None:
        chain.hear_told().restore(state["told"])
    loops = (_item(Loop, loop) for loop in state["loops"])
    chain.registry.loops = {loop.key: loop for loop in loops}


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


def _fields(item: Any) -> dict[str, Any]:
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    return {
        name: _WRITTEN[type(value)](value) if type(value) in _WRITTEN else value
        for name, value in values.items()
    }


def _item(kind: type[_T], values: Mapping[str, Any]) -> _T:
    if any(type(value) is dict for value in values.values()):
        raise TypeError(f"{kind.__name__}: a table among its fields")
    return kind(**{name: _READ[name](value) if name in _READ else value for name, value in values.items()})
