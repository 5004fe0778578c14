"""The money of files that are named: by any key, and as a line of totals, it is the sum of their runs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.cli.runs.money import MoneyKey

SAMPLES = Path(__file__).parents[1] / "traces" / "samples"
Here = Callable[..., Any]


def totals(here: Here, *words: str) -> dict[str, Any]:
    """The last line of what `check --json` prints."""
    done = here("check", *words, "--json")
    (*_, last) = done.output.splitlines()
    line: dict[str, Any] = json.loads(last)
    assert line["type"] == "totals"
    return line


def amounts(spent: dict[str, Any]) -> dict[str, Any]:
    tokens = {name: count or 0 for name, count in spent["tokens"].items()}
    return {**tokens, "cost": round((spent["cost_usd"] or 0.0) * 1e9)}


def call(number: int) -> dict[str, Any]:
    usage = {"input_tokens": 1000, "output_tokens": 10}
    message = {"id": f"m{number}", "model": "claude-sonnet-4-5", "usage": usage, "role": "assistant"}
    line = {"type": "assistant", "session_id": "s", "uuid": f"u{number}"}
    return {**line, "message": {**message, "content": [{"type": "text", "text": "Done."}]}}


def result(cost: float) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "session_id": "s", "total_cost_usd": cost}


@pytest.mark.parametrize("place", ["one", "two"])
def test_samples_of_every_format(here: Here, tmp_path: Path, place: str) -> None:
    """A copy of an agent's session beside it counts once by either way; other formats have no such name."""
    files = tmp_path / "files"
    shutil.copytree(SAMPLES, files / "one")
    if place == "two":
        for path in [*(files / "one").glob("claude_code*"), *(files / "one").glob("codex*")]:
            shutil.copy(path, files / f"again-{path.name}")
    whole = totals(here, str(files))
    for key in (MoneyKey.MODEL, MoneyKey.AGENT, MoneyKey.DAY):
        by = totals(here, str(files), "--by", key.value)
        assert amounts(by["spent"]) == amounts(whole["spent"])
        groups = by[f"by_{key}"]
        assert sum(row["tokens"]["input"] for row in groups) == by["spent"]["tokens"]["input"]
    assert whole["spent"]["cost_usd"] > 0


@pytest.mark.parametrize("cost", [0.5, 0.001])
def test_a_stated_total_counts_once_beside_its_copy(here: Here, tmp_path: Path, cost: float) -> None:
    """The total of `claude -p`, above or below the list price, is the cost of the run and of its copy."""
    lines = "\n".join(map(json.dumps, [call(1), call(2), result(cost)]))
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        path.write_text(lines, encoding="utf-8")
    names = list(map(str, paths))
    for words in ([*names], [*names, "--by", "model"], [names[1], "--by", "session"]):
        spent = totals(here, *words)["spent"]
        assert spent["cost_usd"] == pytest.approx(cost, abs=1e-12)
        assert (spent["tokens"]["input"], spent["llm_calls"]) == (2000, 2)


def test_a_table_for_programs(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, [call(1), call(2)])), encoding="utf-8")
    rows = list(
        csv.DictReader(io.StringIO(here("check", str(path), "--by", "model", "--format", "csv").output))
    )
    assert [(row["model"], row["llm_calls"], row["input"]) for row in rows] == [
        ("claude-sonnet-4-5", "2", "2000")
    ]


def test_what_cannot_be_read_is_named(here: Here, tmp_path: Path) -> None:
    good, bad = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    good.write_text(json.dumps(call(1)), encoding="utf-8")
    bad.write_text("{", encoding="utf-8")
    done = here("check", str(good), str(bad), "--by", "model")
    assert (done.code, "b.jsonl: UNREADABLE" in done.message) == (2, True)
    assert here("check", str(bad), "--by", "model").code == 2


def test_one_session_is_summed_with_what_it_started(here: Here, tmp_path: Path) -> None:
    """As its bill is that of its tree."""
    path, below = tmp_path / "s.jsonl", tmp_path / "s" / "subagents" / "agent-x.jsonl"
    below.parent.mkdir(parents=True)
    path.write_text(json.dumps(call(1) | {"sessionId": "s"}), encoding="utf-8")
    below.write_text(
        json.dumps(call(2) | {"sessionId": "s", "agentId": "x", "isSidechain": True}), encoding="utf-8"
    )
    assert totals(here, str(path), "--by", "session")["spent"]["llm_calls"] == 2


def test_a_tool_with_a_cost_is_no_call_of_a_model(here: Here, tmp_path: Path) -> None:
    """As `check FILE` has it: its cost counts, in the same sum."""
    path = tmp_path / "run.jsonl"
    calls = [
        {"kind": "tool", "name": "search", "args": {"q": 1}, "result": "a", "cost_usd": 0.5},
        {"kind": "llm", "name": "message", "model": "m", "cost_usd": 0.25},
    ]
    path.write_text("\n".join(map(json.dumps, calls)))
    spent = totals(here, str(path), "--by", "model")["spent"]
    alone = json.loads(here("check", str(path), "--json").output)["spent"]
    assert (spent["cost_usd"], spent["llm_calls"]) == (0.75, 1)
    assert (alone["cost_usd"], alone["llm_calls"]) == (0.75, 1)
