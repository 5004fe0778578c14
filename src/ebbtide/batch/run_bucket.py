"""The live runs of one bucket of a stream, as one value of its state.

An engine of streams asks for the state of each key by itself, and between two processes each question takes
as long as some events do. So runs share a key: a bucket is read and written once a batch, however many of its
runs have new events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Self

_HEAD = 4  # bytes of the length of the head


@dataclass(slots=True, kw_only=True)
class StreamedRun:
    """What is kept of a run between two batches.

    Args:
        state: What `advance` returned.
        heard_ms: When its latest rows came, by the clock of the engine.
        is_silent: Whether it was told that nothing is heard of it.
    """

    state: bytes
    heard_ms: int
    is_silent: bool = False


@dataclass(slots=True, kw_only=True)
class RunBucket:
    """The live runs that share a key.

    Args:
        runs: By their ids.
        timer_ms: When the engine will ask whether one is silent; None where it will not.
    """

    runs: dict[str, StreamedRun] = field(default_factory=dict)
    timer_ms: int | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The bucket that `to_bytes` described."""
        start = _HEAD + int.from_bytes(data[:_HEAD], "big")
        timer_ms, heads = json.loads(data[_HEAD:start])
        ends = accumulate((length for *_, length in heads), initial=start)
        runs = {
            run_id: StreamedRun(state=data[begin:end], heard_ms=heard_ms, is_silent=is_silent)
            for (run_id, heard_ms, is_silent, _), (begin, end) in zip(heads, pairwise(ends), strict=True)
        }
        return cls(runs=runs, timer_ms=timer_ms)

    def to_bytes(self) -> bytes:
        """A head in JSON, and the states one behind the other."""
        heads = [(run_id, run.heard_ms, run.is_silent, len(run.state)) for run_id, run in self.runs.items()]
        head = json.dumps((self.timer_ms, heads), separators=(",", ":")).encode()
        states = (run.state for run in self.runs.values())
        return b"".join((len(head).to_bytes(_HEAD, "big"), head, *states))

    def forget(self, before_ms: int) -> None:
        """Forget the runs of which nothing was heard since."""
        for run_id in [run_id for run_id, run in self.runs.items() if run.heard_ms < before_ms]:
            del self.runs[run_id]

    def silent(self, before_ms: int) -> Iterator[tuple[str, StreamedRun]]:
        """The runs of which nothing was heard since, each once."""
        for run_id, run in self.runs.items():
            if not run.is_silent and run.heard_ms <= before_ms:
                run.is_silent = True
                yield run_id, run

    def first_heard_ms(self) -> int | None:
        """When the run was heard that will be silent next; None where no run will."""
        return min((run.heard_ms for run in self.runs.values() if not run.is_silent), default=None)
