"""The first sum of `ebbtide check` over the homes of all agents is the sum of the bills of their files."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parents[1] / "traces" / "samples"
AT = "2026-05-12T01:02:27Z"


def pi() -> str:
    usage = {"input": 12, "output": 7, "cacheRead": 3, "cacheWrite": 0, "cost": {"total": 0.25}}
    said = {"role": "assistant", "model": "m", "responseId": "r1", "usage": usage, "content": []}
    lines: list[dict[str, Any]] = [{"type": "session", "id": "p", "timestamp": AT, "cwd": "/srv/pi"}]
    lines += [
        {"type": "message", "id": str(number), "timestamp": AT, "message": message}
        for number, message in enumerate([{"role": "user", "content": "Go."}, said, said])
    ]
    return "\n".join(map(json.dumps, lines))


def copilot() -> str:
    usage = {"inputTokens": 100, "outputTokens": 50, "cacheReadTokens": 60, "cacheWriteTokens": 0}
    said = {"apiCallId": "c1", "model": "gpt-5.4-mini", "content": "Done.", "outputTokens": 45}
    kinds = {
        "session.start": {"sessionId": "c", "context": {"cwd": "/srv/copilot"}},
        "user.message": {"content": "Go."},
        "assistant.message": said,
        "session.shutdown": {"modelMetrics": {"gpt-5.4-mini": {"usage": usage}}},
    }
    lines = [
        {"type": kind, "data": data, "id": kind, "timestamp": AT, "parentId": None}
        for kind, data in kinds.items()
    ]
    return "\n".join(map(json.dumps, lines))


def claude(call: int, **fields: Any) -> dict[str, Any]:
    """A line of a call of Claude Code with a tool of an MCP server."""
    usage = {"input_tokens": 100, "cache_read_input_tokens": 0, "output_tokens": 10 * call}
    use = {"type": "tool_use", "id": f"t{call}", "name": fields.pop("tool", "Read"), "input": {}}
    message = {"id": f"m{call}", "role": "assistant", "model": "m", "content": [use], "usage": usage}
    at = f"2026-05-12T{call:02}:30:00Z"
    return {
        "type": "assistant",
        "sessionId": "s",
        "cwd": "/srv/a",
        "timestamp": at,
        "message": message,
        **fields,
    }


@pytest.fixture
def home(here: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for variable in ("XDG_CACHE_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    places = {
        ".claude/projects/-srv-a/a.jsonl": "\n".join(json.dumps(claude(call)) for call in (1, 2)),
        ".codex/sessions/2026/02/01/rollout-1.jsonl": (SAMPLES / "codex.jsonl").read_text(encoding="utf-8"),
        ".gemini/tmp/x/chats/session-1.jsonl": (SAMPLES / "gemini_cli.jsonl").read_text(encoding="utf-8"),
        ".copilot/session-state/c/events.jsonl": copilot(),
        ".pi/agent/sessions/--srv-pi--/1_p.jsonl": pi(),
    }
    for name, content in places.items():
        path = home / name
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    database = home / "data/opencode/opencode.db"
    database.parent.mkdir(parents=True)
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript((SAMPLES.parent / "opencode/database.sql").read_text(encoding="utf-8"))
    return home


def test_every_agent_is_in_the_first_sum(here: Callable[..., Any], home: Path) -> None:
    """To the token, and to a hundredth of a cent, cold and again."""
    for _ in range(2):
        *runs, totals = map(json.loads, here("check", "--since", "all", "--json").output.splitlines())
        tokens: dict[str, int] = defaultdict(int)
        cost: dict[str, float] = defaultdict(float)
        for run in runs:
            agent = run["session"]["agent"]
            tokens[agent] += sum(count or 0 for count in run["spent"]["tokens"].values())
            cost[agent] += run["spent"]["cost_usd"] or 0.0
        first = {row["agent"]: row for row in totals["by_agent"]}
        assert {agent: sum(row["tokens"].values()) for agent, row in first.items()} == tokens
        assert {agent: row["cost_usd"] or 0.0 for agent, row in first.items()} == pytest.approx(
            cost, abs=1e-6
        )
        assert set(first) == {"claude", "codex", "gemini", "opencode", "copilot", "pi"}
        projects = {row["project"] for row in totals["by_project"]}
        assert {"/srv/pi", "/srv/copilot"} <= projects


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("skill", {"review": 2, "kit:plan": 1, "none": 2}),
        ("server", {"github": 1, "plugin_kit_db": 1, "none": 3}),
        ("plugin", {"kit": 2, "none": 3}),
        ("hour", {f"2026-05-12 {hour:02}:00": 1 for hour in range(1, 6)}),
        ("day", {"2026-05-12": 5}),
        ("model", {"m": 5}),
    ],
)
def test_groups_by_what_people_ask(
    here: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    groups: dict[str, int],
) -> None:
    """A skill as its line names it, a server by the name of the tool, a plugin by either; all adds up."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines = [
        claude(1, attributionSkill="review"),
        claude(2, attributionSkill="review", tool="mcp__github__create_issue"),
        claude(3, attributionSkill="kit:plan"),
        claude(4, tool="mcp__plugin_kit_db__query"),
        claude(5),
    ]
    path = tmp_path / "home/.claude/projects/-srv-a/s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    options = ("--since", "all", "--by", key, "--timezone", "UTC")
    totals = json.loads(here("check", *options, "--json").output)
    assert {row[key]: row["llm_calls"] for row in totals[f"by_{key}"]} == groups
    for name, whole in totals["spent"]["tokens"].items():
        assert sum(row["tokens"][name] for row in totals[f"by_{key}"]) == whole
    table = here("check", *options, "--format", "csv").output.splitlines()
    assert table[0] == f"{key},sessions,llm_calls,cost_usd,input,output,cache_read,cache_write,unpriced"
    assert sorted(row.split(",")[0] for row in table[1:]) == sorted(groups)
