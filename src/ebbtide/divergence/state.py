"""A chain's watch as plain data and back, and plain data as few bytes."""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ebbtide.divergence.detectors.across_chains import Chains
from ebbtide.divergence.detectors.failing import Failures
from ebbtide.divergence.detectors.same_tool import ToolRun
from ebbtide.divergence.detectors.sweep import Reading
from ebbtide.divergence.ladder import Loop
from ebbtide.divergence.packing import pack_keys, unpack_keys
from ebbtide.divergence.signals import LoopKind
from ebbtide.divergence.watch import ChainWatch
from ebbtide.errors import ConfigError
from ebbtide.events.identity import settled, settled_answer
from ebbtide.profile.divergence import LoopRules

_T = TypeVar("_T")

_MAGIC = b"EBBL\x01"  # what it is, and the version of the form
_MOST = 64_000_000  # bytes that a state may unfold to

_PLAIN = (
    "event",
    "ts",
    "gap_s",
    "runs",
    "unreadable",
    "talked",
    "spending",
    "batch",
    "retried",
)


def watch_state(watch: ChainWatch) -> dict[str, Any]:
    """Everything that the watch's later findings depend on."""
    name, key, size, answer, event = watch.latest
    return {
        "name": watch.name,
        **{name: getattr(watch, name) for name in _PLAIN},
        "numbering": watch.numbering.to_state(),
        "latest_user": watch.latest_user.hex(),
        "batch_calls": pack_keys(sorted(map(settled, watch.batch_calls))),
        "cost_before": list(watch.cost_before),
        "tokens_before": list(watch.tokens_before),
        "repetition": watch.repetition.to_state(),
        "spend": watch.spend.to_state(),
        "spoken": watch.spoken.to_state(),
        "hand_offs": watch.hand_offs.to_state(),
        "run": _fields(watch.same_tool.run),
        "latest": [name, settled(key).hex(), size, settled_answer(answer).hex(), event],
        "readings": [[key.hex(), _fields(reading)] for key, reading in watch.sweeps.readings.items()],
        "numbers": [[name, list(numbers)] for name, numbers in watch.sweeps.numbers.items()],
        "failing": [[name, _fields(failures)] for name, failures in watch.failing.tools.items()],
        "loops": [_fields(loop) for loop in watch.ladder.loops.values()],
    }


def restore_watch(state: Mapping[str, Any], rules: LoopRules, chains: Chains) -> ChainWatch:
    """The watch that `watch_state` described."""
    watch = ChainWatch(state["name"], rules, chains)
    watch.settle = True
    for name in _PLAIN:
        setattr(watch, name, state[name])
    watch.numbering.restore(state["numbering"])
    watch.latest_user = bytes.fromhex(state["latest_user"])
    watch.batch_calls.update(unpack_keys(state["batch_calls"]))
    watch.cost_before.extend(state["cost_before"])
    watch.tokens_before.extend(state["tokens_before"])
    watch.repetition.restore(state["repetition"])
    watch.spend.restore(state["spend"])
    watch.spoken.restore(state["spoken"])
    watch.hand_offs.restore(state["hand_offs"])
    watch.same_tool.run = _item(ToolRun, state["run"])
    name, key, size, answer, event = state["latest"]
    watch.latest = (name, bytes.fromhex(key), size, bytes.fromhex(answer), event)
    watch.sweeps.readings = {
        bytes.fromhex(key): _item(Reading, reading) for key, reading in state["readings"]
    }
    watch.sweeps.numbers = {name: tuple(numbers) for name, numbers in state["numbers"]}
    watch.failing.tools = {name: _item(Failures, failures) for name, failures in state["failing"]}
    loops = (_item(Loop, loop) for loop in state["loops"])
    watch.ladder.loops = {loop.key: loop for loop in loops}
    return watch


def to_bytes(state: Mapping[str, Any]) -> bytes:
    """A state as bytes: a version, and the data compressed."""
    return _MAGIC + zlib.compress(json.dumps(state, separators=(",", ":")).encode(), 6)


def from_bytes(data: bytes) -> dict[str, Any]:
    """The state that `to_bytes` made bytes of.

    Raises:
        ConfigError: The bytes are of another version, or damaged.
    """
    if not isinstance(data, bytes | bytearray) or bytes(data[: len(_MAGIC)]) != _MAGIC:
        raise ConfigError(f"{bytes(data[:8])!r}: not the state of a monitor, or of another version")
    unfold = zlib.decompressobj()
    try:
        text = unfold.decompress(bytes(data[len(_MAGIC) :]), _MOST)
        state = json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise ConfigError(f"the state of a monitor is damaged: {error}") from error
    if not isinstance(state, dict):
        raise ConfigError("the state of a monitor is damaged: expected an object")
    return state


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
    return kind(**{name: _READ[name](value) if name in _READ else value for name, value in values.items()})
