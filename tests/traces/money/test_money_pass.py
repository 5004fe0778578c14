"""The money pass counts the calls that the readers count, from the start or from where a file grew."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace, CallSums
from ebbtide.events.event import Event
from ebbtide.traces.money import claude, codex
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.money.machine_calls import MachineCalls
from ebbtide.traces.money.money_cache import MoneyCache
from ebbtide.traces.reading import open_trace
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile

SAMPLES = Path(__file__).parents[1] / "samples"


def line(call: int, output: int, *, kind: str = "assistant", **fields: Any) -> dict[str, Any]:
    """A record of a call of Claude Code, on a line of its own or in one about progress."""
    usage = {"input_tokens": call, "cache_read_input_tokens": 100 * call, "output_tokens": output}
    message = {"id": f"msg_{call}", "model": "claude-opus-4-6", "usage": usage}
    time = f"2026-10-24T10:00:{call:02}Z"
    record = {"requestId": f"req_{call}", "timestamp": time, "message": message}
    if kind == "progress":
        data = {"type": "agent_progress", "agentId": "a1", "message": {"type": "assistant", **record}}
        return {"type": kind, "sessionId": "s", "timestamp": time, "data": data}
    return {"type": kind, "sessionId": "s", **record, **fields}


def result(call: int, output: int) -> dict[str, Any]:
    usage = {"input_tokens": call, "cache_read_input_tokens": 100 * call, "output_tokens": output}
    stated = {"agentId": "a1", "totalTokens": 9, "usage": usage}
    return {"type": "user", "sessionId": "s", "message": {"content": []}, "toolUseResult": stated}


def sums(*files: FileCalls) -> CallSums:
    ledger = CallLedger()
    for number, found in enumerate(files):
        for call in found.calls:
            ledger.sight(CallPlace(str(number)), call)
    return sums_of(ledger)


def sums_of(ledger: CallLedger) -> CallSums:
    total = CallSums()
    for call in ledger.calls():
        total.add(call.usage, 0)
    return total


def found_in(records: list[dict[str, Any]]) -> FileCalls:
    found = FileCalls(calls=[], models={})
    claude.add_calls(found, [json.dumps(record).encode() for record in records])
    return found


@pytest.mark.parametrize(
    ("records", "calls", "output"),
    [
        pytest.param([line(1, 2), line(1, 9), line(1, 9)], 1, 9, id="lines of one call"),
        pytest.param([line(1, 2), line(2, 3, kind="progress")], 2, 5, id="a sub-agent in progress lines"),
        pytest.param([line(2, 1, kind="progress"), result(3, 40)], 2, 41, id="a result states one call more"),
        pytest.param([line(2, 1, kind="progress"), result(2, 40)], 1, 40, id="a result states a known call"),
        pytest.param([line(1, 2, toolUseResult="text"), line(2, 2)], 2, 4, id="a field of another class"),
        pytest.param([line(1, 2) | {"message": "text"}, line(2, 2)], 1, 2, id="a message that is none"),
    ],
)
def test_calls_of_claude_code(records: list[dict[str, Any]], calls: int, output: int) -> None:
    total = sums(found_in(records))
    assert (total.calls, total.output_tokens) == (calls, output)


_RECORDS = st.lists(
    st.builds(
        # A call is of the session or of its sub-agent, never of both.
        lambda call, output, kind: (
            result(call + 5, output)
            if kind == "user"
            else line(call + 5 * (kind == "progress"), output, kind=kind)
        ),
        st.integers(1, 5),
        st.integers(0, 9),
        st.sampled_from(["assistant", "progress", "user"]),
    ),
    max_size=10,
)


@given(_RECORDS, st.integers(0, 10), st.randoms())
def test_no_split_copy_or_order_of_lines_changes_a_sum(
    records: list[dict[str, Any]], at: int, random: Any
) -> None:
    whole = sums(found_in(records))
    assert sums(found_in(records[:at]), found_in(records[at:])) == whole
    assert sums(found_in(records), found_in(records + records)) == whole
    shuffled = list(records)
    random.shuffle(shuffled)
    assert sums(found_in(shuffled)).tokens == whole.tokens


@pytest.mark.parametrize(("name", "add"), [("claude_code", claude.add_calls), ("codex", codex.add_calls)])
def test_the_reader_counts_the_same(name: str, add: Any) -> None:
    path = SAMPLES / f"{name}.jsonl"
    found = FileCalls(calls=[], models={})
    add(found, path.read_bytes().splitlines(keepends=True))
    events = [event for event in open_trace(path) if isinstance(event, Event) and event.usage is not None]
    read = sum(event.usage.tokens or 0 for event in events if event.usage is not None)
    assert sums(found).tokens == read > 0


def count(total: int, last: int) -> dict[str, Any]:
    usage = {"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": last}}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": usage}}


def codex_file(*records: dict[str, Any]) -> FileCalls:
    found = FileCalls(calls=[], models={})
    codex.add_calls(found, [json.dumps(record).encode() for record in records])
    return found


def test_a_count_of_codex_adds_what_its_total_grows_by() -> None:
    found = codex_file(count(100, 100), count(100, 100), count(350, 200))
    assert sums(found).tokens == 350


def test_a_fork_of_codex_counts_what_came_before_it_once() -> None:
    def meta(name: str) -> dict[str, Any]:
        return {"type": "session_meta", "payload": {"type": None, "id": name}}

    parent = codex_file(meta("p"), count(100, 100), count(300, 200))
    fork = codex_file(meta("f"), meta("p"), count(100, 100), count(300, 200), count(350, 50))
    assert sums(parent, fork).tokens == 350


def machine(path: Path, cache: MoneyCache) -> int:
    file = SessionFile(
        agent=CodingAgent.CLAUDE, path=str(path), modified=0.0, folder=str(path.parents[1]), is_main=True
    )
    calls = MachineCalls.of([file], cache)
    assert not calls.unread
    return sums_of(calls.ledger).tokens


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "projects" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line(call, 1)) + "\n" for call in range(1, 4)))
    return path


def test_a_file_that_grew_is_read_from_where_it_grew(session: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    before = machine(session, MoneyCache(folder))
    with session.open("a") as file:
        file.write(json.dumps(line(7, 1))[:40])
    assert machine(session, MoneyCache(folder)) == before
    with session.open("a") as file:
        file.write(json.dumps(line(7, 1))[40:] + "\n")
    assert machine(session, MoneyCache(folder)) == machine(session, MoneyCache(None)) == before + 708


def test_a_file_that_was_written_anew_is_read_anew(session: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    machine(session, MoneyCache(folder))
    session.write_text("".join(json.dumps(line(call, 5)) + "\n" for call in range(20, 29)))
    assert machine(session, MoneyCache(folder)) == machine(session, MoneyCache(None))


@pytest.mark.parametrize("content", [b"", b"ebbtide money 1 \nxxxx", b"\x00" * 500, None])
def test_a_cache_that_is_broken_is_thrown_away(session: Path, tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "cache"
    true = machine(session, MoneyCache(folder))
    for path in folder.iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[:-3] + b"abc" if content is None else content)
    assert machine(session, MoneyCache(folder)) == true
    assert machine(session, MoneyCache(folder, "another version")) == true


def test_a_cache_that_cannot_be_written_is_done_without(session: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert machine(session, MoneyCache(tmp_path / "cache")) == machine(session, MoneyCache(None))


def test_an_unchanged_file_is_not_opened(session: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    true = machine(session, MoneyCache(folder))
    status = session.stat()
    session.write_bytes(b"x" * status.st_size)
    os.utime(session, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert machine(session, MoneyCache(folder)) == true
