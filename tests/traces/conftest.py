"""What the tests of readers share: the samples, and short ways to look at events."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, Phase, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.events.usage import CLASSES
from ebbtide.traces.reading import Trace, open_trace

_COUNTED = {"tool": ToolCall, "llm": ModelCall, "user": Message}


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of small traces, written for these tests."""
    return Path(__file__).parent / "samples"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database of OpenCode as it was recorded."""
    path = tmp_path / "opencode.db"
    rows = Path(__file__).parent / "opencode" / "database.sql"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(rows.read_text(encoding="utf-8"))
    return path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder with the sessions of an old OpenCode as they were recorded, a file each."""
    recorded = Path(__file__).parent / "opencode" / "files.jsonl"
    for line in recorded.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        path = tmp_path / entry["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(entry["content"], encoding="utf-8")
    return next((tmp_path / "storage" / "session").iterdir())


@pytest.fixture
def calls(samples: Path) -> Callable[..., list[Event]]:
    """Reads a sample, or a file; nothing in it may be left unread, as far as `faults` allows."""

    def read(name: str | Path, *, form: str, faults: int = 0) -> list[Event]:
        trace = open_trace(samples / name)
        events = [event for event in trace if not isinstance(event, Round)]
        assert (trace.format.name, trace.fault_count) == (form, faults)
        return events

    return read


def _has_only_begun(event: Event) -> bool:
    return isinstance(event, ToolCall) and event.phase is Phase.STARTED


@pytest.fixture(scope="session")
def totals() -> Callable[[list[Event]], dict[str, Any]]:
    """Counts of events by kind, and sums of tokens by class and of cost."""

    def count(events: list[Event]) -> dict[str, Any]:
        counts: dict[str, Any] = {
            name: sum(isinstance(event, kind) and not _has_only_begun(event) for event in events)
            for name, kind in _COUNTED.items()
        }
        usages = [event.usage for event in events if event.usage is not None]
        for name in CLASSES:
            amounts = [amount for usage in usages if (amount := getattr(usage, name)) is not None]
            counts[name] = sum(amounts) if amounts else None
        costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        counts["cost_usd"] = pytest.approx(sum(costs)) if costs else None
        return counts

    return count


@pytest.fixture(scope="session")
def read_data() -> Callable[[bytes], tuple[Trace, list[Any]]]:
    """Reads a trace from memory."""

    def read(data: bytes) -> tuple[Trace, list[Any]]:
        trace = Trace.of(data, source="x")
        return trace, list(trace)

    return read
