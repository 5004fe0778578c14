"""What the tests of readers share: the samples, and short ways to look at events."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Call
from ebbtide.traces.trace import Trace, open_trace

CLASSES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of small traces, written for these tests."""
    return Path(__file__).parent / "samples"


@pytest.fixture
def calls(samples: Path) -> Callable[..., list[Call]]:
    """Reads a sample, or a file; nothing in it may be left unread, as far as `faults` allows."""

    def read(name: str | Path, *, form: str, faults: int = 0) -> list[Call]:
        trace = open_trace(samples / name)
        found = [event for event in trace if isinstance(event, Call)]
        assert (trace.format.name, trace.fault_count) == (form, faults)
        return found

    return read


@pytest.fixture(scope="session")
def totals() -> Callable[[list[Call]], dict[str, Any]]:
    """Counts of events by kind, and sums of tokens by class and of cost."""

    def count(events: list[Call]) -> dict[str, Any]:
        found: dict[str, Any] = {
            kind: sum(call.kind == kind for call in events) for kind in ("tool", "llm", "user")
        }
        for name in CLASSES:
            known = [value for call in events if (value := getattr(call, name)) is not None]
            found[name] = sum(known) if known else None
        costs = [call.cost_usd for call in events if call.cost_usd is not None]
        found["cost_usd"] = pytest.approx(sum(costs)) if costs else None
        return found

    return count


@pytest.fixture(scope="session")
def read_data() -> Callable[[bytes], tuple[Trace, list[Any]]]:
    """Reads a trace from memory."""

    def read(data: bytes) -> tuple[Trace, list[Any]]:
        trace = Trace.of(data, source="x")
        return trace, list(trace)

    return read
