"""Packed states that were made to fill the memory."""

import tracemalloc
import zlib
from collections.abc import Callable
from hashlib import blake2b

import pytest

from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.errors import ConfigError
from ebbtide.events.event import ToolCall
from ebbtide.supervision.supervisor import Supervisor

_MEGABYTE = 1 << 20
_STARTS = {"zeros": (b"", b"0"), "a text": (b'{"a": "', b"a"), "lists": (b'{"a": [', b"[],")}


@pytest.mark.parametrize("shape", _STARTS)
@pytest.mark.parametrize("make", [Supervisor, LoopMonitor])
def test_a_bomb_is_refused(make: Callable[[], Supervisor | LoopMonitor], shape: str) -> None:
    """A hundred megabytes behind a good beginning: a ConfigError, in a fraction of that memory."""
    begin, piece = _STARTS[shape]
    packer = zlib.compressobj(9)
    parts = [
        packer.compress(begin),
        *(packer.compress(piece * _MEGABYTE) for _ in range(100)),
        packer.flush(),
    ]
    body = b"".join(parts)
    bomb = type(make())._MAGIC + blake2b(body, digest_size=8).digest() + body
    tracemalloc.start()
    with pytest.raises(ConfigError, match="unfolds without an end"):
        type(make()).from_bytes(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * _MEGABYTE


def test_a_state_of_many_chains_that_are_alike_is_read() -> None:
    """It packs better than a hundred to one, and is no bomb."""
    supervisor = Supervisor()
    for number in range(6_000):
        supervisor.record(ToolCall(name="ls", args={"a": 1}, result="x", chain_id=str(number % 60)))
    data = supervisor.to_bytes()
    assert Supervisor.from_bytes(data).to_bytes() == data
