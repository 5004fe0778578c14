"""Runs that share calls: a copy, a fork or a resumed session counts its own, and knows what it inherited."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbtide.budget.prices import Prices
from ebbtide.checking import check, check_many
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary

OPTIONS = RunOptions(prices=Prices({"m": {"input": 1.0, "output": 2.0}}, public=False))


def line(number: int, session: str = "s") -> dict[str, Any]:
    """A call of a model."""
    message = {
        "role": "assistant",
        "id": f"msg{number}",
        "model": "m",
        "content": [{"type": "text", "text": f"Step {number}."}],
        "usage": {"input_tokens": 1000 + number, "output_tokens": 10 * number},
    }
    stamp = f"2026-05-01T10:{number // 60:02}:{number % 60:02}Z"
    common = {"type": "assistant", "uuid": f"u{number}", "sessionId": session, "requestId": f"r{number}"}
    return {**common, "timestamp": stamp, "message": message}


def write(path: Path, numbers: list[int], session: str = "s") -> Path:
    """A session file with some calls."""
    lines = [
        {"type": "user", "uuid": "p", "sessionId": session, "message": {"role": "user", "content": "Go."}}
    ]
    lines += [line(number, session) for number in numbers]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def checked(paths: list[Path]) -> dict[str, RunSummary]:
    """Summaries by the name of the file."""
    found = {path.name: result for path, result in check_many(paths, OPTIONS, jobs=1)}
    assert all(isinstance(result, RunSummary) for result in found.values())
    return found  # type: ignore[return-value]


def test_a_resumed_copy_counts_what_it_adds(tmp_path: Path) -> None:
    """Calls that were copied are inherited: they cost nothing here, and the sentence says from where."""
    first = write(tmp_path / "first.jsonl", [1, 2, 3])
    second = write(tmp_path / "second.jsonl", [1, 2, 3, 4], "t")
    found = checked([first, second])
    assert found["first.jsonl"].inherited is None
    own = found["second.jsonl"]
    assert (own.spent.llm_calls, own.spent.tokens.total) == (1, 1044)
    assert own.inherited is not None
    assert (own.inherited.llm_calls, own.inherited.tokens.total) == (3, 3066)
    assert own.began_from == str(first)
    assert "It began from first.jsonl" in own.bill.sentence
    assert check(second, OPTIONS).spent.llm_calls == 4


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6, unique=True), min_size=1, max_size=4))
def test_copies_change_no_sum(tmp_path: Path, files: list[list[int]]) -> None:
    """However calls are spread and copied over files, their runs sum up to each call once."""
    paths = [
        write(tmp_path / f"{place}.jsonl", sorted(numbers), f"s{place}")
        for place, numbers in enumerate(files)
    ]
    found = checked(paths)
    distinct = {number for numbers in files for number in numbers}
    assert sum(run.spent.tokens.total or 0 for run in found.values()) == sum(1000 + 11 * n for n in distinct)
    assert sum(run.spent.llm_calls for run in found.values()) == len(distinct)
    cost = sum(run.spent.cost_usd or 0 for run in found.values())
    assert round(cost * 1e6) == sum(1000 + 21 * n for n in distinct)


def test_the_last_call_of_a_sub_agent_is_of_its_own_file(tmp_path: Path) -> None:
    """The result that its parent got states that call too: it counts once, and is no fork."""
    own = {**line(1, "s"), "isSidechain": True, "agentId": "a"}
    usage = own["message"]["usage"]
    content = [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]
    answer = {"type": "user", "uuid": "x", "sessionId": "s", "timestamp": own["timestamp"]}
    answer |= {"message": {"role": "user", "content": content}}
    answer |= {"toolUseResult": {"agentId": "a", "usage": usage}}
    parent, child = tmp_path / "parent.jsonl", tmp_path / "agent-a.jsonl"
    parent.write_text("\n".join(map(json.dumps, [line(2), answer])), encoding="utf-8")
    child.write_text(json.dumps(own), encoding="utf-8")
    found = checked([parent, child])
    assert sum(run.spent.llm_calls for run in found.values()) == 2
    assert sum(run.spent.tokens.total or 0 for run in found.values()) == 2000 + 33
    assert found["parent.jsonl"].began_from is None
