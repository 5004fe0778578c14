"""One sum of the same sessions on every face: each call once, to the unit, however they came to be there."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbtide.service.client import ServiceClient
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.mcp.run_tools import list_runs, spending

SHARED = Path(os.environ.get("EBBTIDE_DATA", Path(__file__).parents[4] / "shared" / "data"))
INCIDENTS = ("b02h", "c03", "c05", "c06", "c07", "c11", "c12", "c13", "c14", "c16", "c17", "c20")
CLAUDE = Path(".claude", "projects", "-srv-shop")
CODEX = Path(".codex", "sessions", "2026", "11", "20")
WAIT_S = 240.0


def call(number: int, session: str, agent: str | None = None) -> dict[str, Any]:
    usage = {"input_tokens": 1000 + number, "output_tokens": 7 * number, "cache_read_input_tokens": 90}
    message = {"id": f"m{number}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    message["content"] = [{"type": "text", "text": f"Step {number} is done."}]
    stamp = f"2026-11-20T{18 + number // 6:02}:{number % 6 * 9:02}:00Z"
    line = {
        "type": "assistant",
        "uuid": f"{session}{number}",
        "sessionId": session,
        "requestId": f"r{number}",
    }
    side = {"isSidechain": True, "agentId": agent} if agent else {}
    return {**line, **side, "timestamp": stamp, "cwd": "/srv/shop", "message": message}


def result(agent: str, number: int, session: str) -> dict[str, Any]:
    """What a sub-agent gave its parent, with the usage of its last call."""
    usage = call(number, session)["message"]["usage"]
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "It is there."}
    line = {"type": "user", "uuid": f"{session}r", "sessionId": session, "timestamp": "2026-11-20T20:50:00Z"}
    message = {"role": "user", "content": [block]}
    return {**line, "message": message, "toolUseResult": {"agentId": agent, "usage": usage}}


def count(total: int, last: int, at: str) -> dict[str, Any]:
    usages = {
        key: {"input_tokens": amount, "cached_input_tokens": 0, "output_tokens": amount // 10}
        for key, amount in (("total_token_usage", total), ("last_token_usage", last))
    }
    payload = {"type": "token_count", "info": usages}
    return {"timestamp": f"2026-11-20T{at}Z", "type": "event_msg", "payload": payload}


def thread(name: str, at: str, **more: str) -> dict[str, Any]:
    payload = {"id": name, "cwd": "/srv/shop", **more}
    return {"timestamp": f"2026-11-20T{at}Z", "type": "session_meta", "payload": payload}


def own_samples() -> dict[Path, list[dict[str, Any]]]:
    """A session with a sub-agent and with a resumed copy, and a thread of Codex with a fork."""
    model = {"timestamp": "2026-11-20T10:00:00Z", "type": "turn_context", "payload": {"model": "gpt-5.4"}}
    asked = {"type": "user", "uuid": "p", "sessionId": "s1", "timestamp": "2026-11-20T18:00:00Z"}
    asked["message"] = {"role": "user", "content": "Go on."}
    history = [call(number, "s1") for number in (1, 2, 3)]
    counts = [count(1000, 1000, "10:01:00"), count(2500, 1500, "10:02:00")]
    replayed = [count(1000, 1000, "11:00:00.2"), count(2500, 1500, "11:00:00.2")]
    return {
        CLAUDE / "s1.jsonl": [asked, *history, result("x", 12, "s1"), call(4, "s1")],
        CLAUDE / "s1" / "subagents" / "agent-x.jsonl": [call(11, "s1", "x"), call(12, "s1", "x")],
        CLAUDE / "s2.jsonl": [asked, *history, call(21, "s2"), call(22, "s2")],
        CODEX / "rollout-1.jsonl": [thread("t1", "10:00:00"), model, *counts],
        CODEX / "rollout-2.jsonl": [
            thread("t2", "11:00:00", forked_from_id="t1"), model, *replayed, count(3000, 500, "11:00:30"),
        ],
    }  # fmt: skip


def written(home: Path) -> None:
    for path, lines in own_samples().items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def copied(home: Path) -> None:
    """Sessions of real agents, and incidents with a bill, in the folders of their agents."""
    if not SHARED.exists():
        pytest.skip("the shared data is not here")
    for case in INCIDENTS:
        (folder,) = (SHARED / "incidents").glob(f"{case}-*")
        for file in folder.rglob("*.jsonl"):
            inside = file.relative_to(folder)
            if "projects" in inside.parts:
                target = home / ".claude" / inside
            elif "sessions" in inside.parts:
                target = home / ".codex" / inside
            else:
                place = home / CLAUDE if "claude" in folder.name else home / CODEX
                target = place / (inside.name if "claude" in folder.name else f"rollout-{inside.name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    cards = [json.loads(path.read_text(encoding="utf-8")) for path in SHARED.glob("sessions/*/*.json")]
    small = sorted((card for card in cards if card["agent"] == "claude-code"), key=lambda card: card["size"])
    for card in small[:12]:
        (packed,) = SHARED.glob(f"sessions/*/{card['id']}.jsonl.gz")
        target = home / CLAUDE / f"{card['id']}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.decompress(packed.read_bytes()))


def ebbtide(home: Path, *words: str) -> list[dict[str, Any]]:
    line = [sys.executable, "-m", "ebbtide", "--no-config", *words]
    environment = {**os.environ, "HOME": str(home), "TZ": "Asia/Kolkata"}
    done = subprocess.run(line, env=environment, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4), done.stderr
    return [json.loads(row) for row in done.stdout.splitlines() if row.startswith("{")]


def tokens_of(spent: dict[str, Any]) -> int:
    return sum(amount or 0 for amount in spent["tokens"].values())


def waited(ask: Callable[[], Any], wanted: tuple[int, float]) -> Any:
    """The answer as soon as it is the one that is wanted; the last one where it never is."""
    end = time.monotonic() + WAIT_S
    while True:
        answer = ask()
        if answer == pytest.approx(wanted, abs=1e-9) or time.monotonic() > end:
            return answer
        time.sleep(0.2)


def grown(paths: list[Path]) -> Iterator[None]:
    """Files that are written line by line, from half of their lines on."""
    rest: dict[Path, list[bytes]] = {}
    for path in paths:
        lines = path.read_bytes().splitlines(keepends=True)
        half = len(lines) // 2
        path.write_bytes(b"".join(lines[:half]))
        rest[path] = lines[half:]
    yield
    for path, lines in rest.items():
        step = max(1, len(lines) // 4)
        for start in range(0, len(lines), step):
            with path.open("ab") as file:
                file.write(b"".join(lines[start : start + step]))
            yield


@pytest.mark.parametrize("fill", [written, copied])
def test_every_face_has_one_sum(start, tmp_path: Path, fill: Callable[[Path], None]) -> None:
    """`check` in JSON by run and as a whole, the archive, the service and its tools for models."""
    home = tmp_path / "home"
    home.mkdir()
    fill(home)
    zone = "Asia/Kolkata"  # half an hour beside the hours of UTC
    lines = ebbtide(home, "check", "--since", "all", "--json", "--timezone", zone)
    by_day = ebbtide(home, "check", "--since", "all", "--json", "--timezone", zone, "--by", "day")[-1][
        "by_day"
    ]
    totals, runs = lines[-1], [line for line in lines[:-1] if "spent" in line]
    tokens, cost = wanted = tokens_of(totals["spent"]), totals["spent"]["cost_usd"]
    assert tokens > 0
    assert cost > 0
    assert sum(tokens_of(run["spent"]) for run in runs) == tokens
    assert sum(run["spent"]["cost_usd"] or 0 for run in runs) == pytest.approx(cost, abs=1e-9)
    ids = {run["id"] for run in runs}
    roots = [run for run in runs if run["parent"] not in ids and run["role"] != "copy"]
    trees = [run["bill"]["tree"] for run in roots]
    whole = sum(
        tokens_of(run["spent"]) if tree is None else tree["total"]["tokens"]
        for run, tree in zip(roots, trees, strict=True)
    )
    assert whole == tokens

    out = tmp_path / "archive.parquet"
    ebbtide(home, "archive", "check", str(home / ".claude"), str(home / ".codex"), "--out", str(out))
    import pyarrow.parquet as pq

    rows = pq.read_table(out).to_pylist()
    assert sum(row["tokens"] or 0 for row in rows) == tokens
    assert sum(row["cost_usd"] or 0 for row in rows) == pytest.approx(cost, abs=1e-9)

    now = time.time()
    for path in home.rglob("*.jsonl"):
        os.utime(path, (now, now))
    growth = grown(sorted(home.rglob("*.jsonl")))
    next(growth)
    service = start("--keep-days", "100000")  # the samples are old
    for number, _ in enumerate(growth):
        if number == 2:
            service.kill()
            service.start()

    def spent() -> tuple[int, float]:
        groups = service.get("/v1/spending", by="day")["groups"]
        return sum(group["tokens"] for group in groups), sum(group["cost_usd"] or 0 for group in groups)

    assert waited(spent, wanted) == pytest.approx(wanted, abs=1e-9)
    service.kill()
    service.start()
    assert waited(spent, wanted) == pytest.approx(wanted, abs=1e-9)

    groups = service.get("/v1/spending", by="day", timezone=zone)["groups"]
    assert {group["name"]: group["cost_usd"] or 0 for group in groups} == pytest.approx(
        {row["day"]: row["cost_usd"] or 0 for row in by_day}, abs=1e-9
    )
    listed = service.get("/v1/runs", limit=1000)["runs"]
    assert sum(run["cost_usd"] or 0 for run in listed) == pytest.approx(cost, abs=1e-9)
    summaries = [service.get(f"/v1/runs/{run['run_id']}/summary")["spent"] for run in listed]
    assert sum(map(tokens_of, summaries)) == tokens
    assert sum(item["cost_usd"] or 0 for item in summaries) == pytest.approx(cost, abs=1e-9)
    desk = Desk(connect=lambda: ServiceClient(service.url), open_log=None)  # type: ignore[arg-type]
    answer = spending(desk, by="model", since="2000-01-01")
    assert answer["cost_usd"] == pytest.approx(cost, abs=1e-9)
    rows_of_tool = list_runs(desk, since="2000-01-01", limit=200)["runs"]
    assert sum(row["cost_usd"] or 0 for row in rows_of_tool) == pytest.approx(cost, abs=1e-9)
