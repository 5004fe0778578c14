"""The yardstick of bills, and the home folder that the first screen is measured on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.bill_sums import Sums
from benchmarks.raw_calls import claude_lines, codex_lines, counted_once, token_sums
from benchmarks.speed.machine import renewed

UUID = "0a1b2c3d-0000-4000-8000-00000000000a"


def answer(
    name: str, output: int, *, request: str = "req_1", at: str = "2026-05-01T10:00:00Z"
) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": 50}
    usage |= {"cache_creation_input_tokens": 9}
    split = {"cache_creation": {"ephemeral_1h_input_tokens": 4, "ephemeral_5m_input_tokens": 5}}
    message = {"id": name, "model": "claude-opus-4-6", "usage": usage | split}
    return {"type": "assistant", "timestamp": at, "requestId": request, "message": message}


def progress(name: str, output: int) -> dict[str, Any]:
    return {"type": "progress", "data": {"type": "agent_progress", "message": answer(name, output)}}


def result(agent: str, output: int, prompt: int = 3) -> dict[str, Any]:
    split = {"ephemeral_1h_input_tokens": 4, "ephemeral_5m_input_tokens": 5}
    usage = {**answer("", output)["message"]["usage"], "input_tokens": prompt, "cache_creation": split}
    return {"type": "user", "toolUseResult": {"agentId": agent, "usage": usage}}


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records) + "{broken\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("records", "calls", "output"),
    [
        pytest.param([answer("msg_1", 1), answer("msg_1", 7)], 1, 7, id="lines of one call grow"),
        pytest.param([answer("msg_1", 7), answer("msg_2", 7)], 2, 14, id="two calls"),
        pytest.param([answer("msg_1", 7), progress("msg_2", 5)], 2, 12, id="a sub-agent in progress lines"),
        pytest.param([answer("msg_1", 7), progress("msg_1", 7)], 1, 7, id="one call in both kinds of lines"),
        pytest.param(
            [answer("REDACTED", 7), answer("REDACTED", 7, at="2026-05-01T10:00:09Z")], 2, 14, id="masked ids"
        ),
        pytest.param([result("a1", 9), result("a1", 9)], 1, 9, id="a result, twice"),
        pytest.param(
            [{**answer("msg_1", 9), "agentId": "a1"}, result("a1", 9)],
            1,
            9,
            id="a result of a call with a line",
        ),
        pytest.param(
            [{**answer("msg_1", 9), "agentId": "a1"}, result("a1", 9, 4)],
            2,
            18,
            id="a result of another call",
        ),
        pytest.param([answer("msg_1", 7), {"type": "user", "message": "hello"}], 1, 7, id="other lines"),
    ],
)
def test_each_call_counts_once_with_its_most_output(
    tmp_path: Path, records: list[dict[str, Any]], calls: int, output: int
) -> None:
    found = counted_once(claude_lines(written(tmp_path / "a.jsonl", *records)))
    assert (len(found), token_sums(found)["output"]) == (calls, output)
    assert token_sums(found)["cache_write_1h"] == 4 * calls


def test_a_copied_file_adds_nothing(tmp_path: Path) -> None:
    files = [written(tmp_path / name, answer("msg_1", 7), answer("msg_2", 3)) for name in ("a", "b")]
    assert len(counted_once(call for path in files for call in claude_lines(path))) == 2


def test_a_repeated_count_of_codex_is_no_call(tmp_path: Path) -> None:
    used = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2, "total_tokens": 12}
    info = {"total_token_usage": used, "last_token_usage": used}
    count = {"type": "event_msg", "payload": {"type": "token_count", "info": info}}
    head = {"type": "session_meta", "payload": {"id": UUID}}
    (call,) = codex_lines(written(tmp_path / "rollout.jsonl", head, count, count))
    assert call.tokens == (6, 2, 4, 0, 0)


def test_what_a_total_of_codex_grows_by_beside_its_calls_is_counted(tmp_path: Path) -> None:
    def count(whole: int, last: int) -> dict[str, Any]:
        info = {"total_token_usage": {"output_tokens": whole}, "last_token_usage": {"output_tokens": last}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    calls = list(codex_lines(written(tmp_path / "rollout.jsonl", count(5, 5), count(8, 3), count(20, 2))))
    assert [(call.record, call.tokens[1]) for call in calls if call.record == "growth"] == [("growth", 10)]
    assert token_sums(counted_once(calls))["output"] == 20


def test_renewed_ids_are_others_and_stay_equal_among_themselves() -> None:
    text = f'{{"sessionId": "{UUID}", "uuid": "{UUID}", "id": "msg_01ABCDEFGHIJKL", "n": 12}}'
    assert renewed(text, 0) == text
    first, second = json.loads(renewed(text, 1)), json.loads(renewed(text, 2))
    assert first["sessionId"] == first["uuid"] != second["uuid"]
    assert first["uuid"] != UUID
    assert first["id"] != "msg_01ABCDEFGHIJKL"
    assert first["n"] == 12
    assert len(renewed(text, 1)) == len(text)


def test_the_line_of_a_machine_stands_for_all_runs() -> None:
    def line(cost: float, **more: Any) -> dict[str, Any]:
        tokens = {"input": 1, "output": 2, "cache_read": None, "cache_write": 3}
        spent = {"tokens": tokens, "llm_calls": 1, "cost_usd": cost}
        return {"spent": spent, "bill": {"classes": [], "models": [], "stated": None}, **more}

    runs = [line(0.25), line(0.5), {"skipped": "no trace"}]
    assert (Sums.of(runs).cost, Sums.of(runs).all_tokens, Sums.of(runs).unread) == (0.75, 12, ["no trace"])
    assert Sums.of([*runs, line(0.5, type="totals")]).cost == 0.5
