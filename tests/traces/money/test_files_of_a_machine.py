"""No split, copy, fork, order or concatenation of the files of a machine changes its sum."""

from __future__ import annotations

import gzip
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.ledger.call_ledger import CallSums
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import units
from ebbtide.checking import check_many
from ebbtide.cli.runs.money import MoneyKey, SessionMoney
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.money.money_cache import MoneyCache
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile

SHARED = Path(os.environ.get("EBBTIDE_DATA", Path(__file__).parents[4] / "shared" / "data"))
PRICES = Prices(
    {"large": {"input": 3.0, "output": 15.0, "cache_read": 0.3}, "small": {"input": 1.0, "output": 5.0}},
    public=False,
)
Line = dict[str, Any]
CALLS = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(["line", "streamed", "progress", "result", "no id"])),
    min_size=1,
    max_size=6,
)


@dataclass(frozen=True)
class File:
    """A file of a machine: its agent, its session, and its lines."""

    agent: CodingAgent
    session: str
    lines: tuple[Line, ...]


def at(second: int) -> str:
    return f"2026-11-20T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def claude(number: int, calls: Sequence[tuple[int, str]]) -> File:
    """A session of Claude Code; each call has a name of its own on the whole machine."""
    session = f"s{number}"
    asked = {"role": "user", "content": "Go on."}
    lines: list[Line] = [
        {"type": "user", "uuid": f"{session}p", "sessionId": session, "cwd": f"/srv/{number}",
         "timestamp": at(number * 100), "message": asked}
    ]  # fmt: skip
    for place, (output, kind) in enumerate(calls):
        name, second = f"{number}-{place}", number * 100 + place + 1
        usage = {"input_tokens": 10 * number + place, "cache_read_input_tokens": 100, "output_tokens": output}
        record = {
            "timestamp": at(second),
            "message": {
                "role": "assistant",
                "id": None if kind == "no id" else f"msg_{name}",
                "model": "large",
                "usage": usage,
                "content": [{"type": "text", "text": f"Step {name}."}],
            },
        }
        common = {"uuid": f"u{name}", "sessionId": session, "timestamp": at(second)}
        if kind == "progress":
            data = {
                "type": "agent_progress",
                "agentId": f"a{number}",
                "message": {"type": "assistant", "uuid": f"u{name}", **record},
            }
            lines.append({"type": "progress", **common, "data": data})
        elif kind == "result":
            block = {"type": "tool_result", "tool_use_id": f"t{name}", "content": "It is there."}
            stated = {"agentId": f"b{name}", "usage": usage, "resolvedModel": "small"}
            user = {"type": "user", **common, "message": {"role": "user", "content": [block]}}
            lines.append({**user, "toolUseResult": stated})
        else:
            line = {"type": "assistant", **common, **record}
            if kind == "streamed":
                message = {**record["message"], "usage": {**usage, "output_tokens": 0}}  # type: ignore[dict-item]
                lines.append({**line, "uuid": f"v{name}", "message": message})
            lines.append(line)
    return File(CodingAgent.CLAUDE, session, tuple(lines))


def codex(number: int, calls: Sequence[tuple[int, str]]) -> File:
    """A thread of Codex, each of whose counts states the total so far."""
    session, second, total = f"t{number}", 5000 + number * 100, 0
    meta = {"type": "session_meta", "payload": {"id": session, "cwd": f"/srv/{number}"}}
    lines: list[Line] = [{"timestamp": at(second), **meta}]
    for place, (output, kind) in enumerate(calls):
        second += 2
        total += 100 + output
        model = {"type": "turn_context", "payload": {"model": "small" if kind == "result" else "large"}}
        usages = {
            key: {"input_tokens": amount, "cached_input_tokens": 0, "output_tokens": place}
            for key, amount in (("total_token_usage", total), ("last_token_usage", 100 + output))
        }
        usages["total_token_usage"]["output_tokens"] = sum(range(place + 1))
        payload = {"type": "token_count", "info": usages}
        lines += [
            {"timestamp": at(second), **model},
            {"timestamp": at(second), "type": "event_msg", "payload": payload},
        ]
    return File(CodingAgent.CODEX, session, tuple(lines))


def fork_of(file: File, end: int, number: int) -> File:
    """A session that begins with the first lines of another one, as its agent writes it."""
    name = f"f{number}"
    if file.agent is CodingAgent.CLAUDE:
        lines = tuple({**line, "sessionId": name} for line in file.lines[:end])
        return File(file.agent, name, lines)
    now = at(9000 + number)
    meta = {"timestamp": now, "type": "session_meta"}
    own = {**meta, "payload": {"id": name, "forked_from_id": file.session}}
    replayed = ({**line, "timestamp": now} for line in file.lines[:end])
    return File(file.agent, name, (own, *replayed))


STEPS = ("split", "copy", "fork", "join", "twice")


def head_of(file: File, end: int) -> tuple[Line, ...]:
    """What says of which thread and model the counts of Codex are that follow a place in a file."""
    found: dict[str, Line] = {}
    for line in file.lines[:end]:
        kind = line.get("type")
        name = kind if kind != "event_msg" else line.get("payload", {}).get("type")
        if name in ("session_meta", "turn_context", "thread_settings_applied"):
            found[name] = line
    return tuple(found.values())


def changed(files: Sequence[File], steps: Iterable[tuple[str, int, int]]) -> list[File]:
    """The files after some steps; of forks, which no step may cut, one is made of what was there at first."""
    now, forks = list(files), []
    for number, (step, one, other) in enumerate(steps):
        file = now.pop(one % len(now))
        near = next((near for near in now if near.agent is file.agent), None)
        # A head of Codex before another one is how a fork begins: a part has a call, too.
        least = 3 if file.agent is CodingAgent.CODEX else 1
        if step == "split" and len(file.lines) > least:
            end = least + other % (len(file.lines) - least)
            now += [
                File(file.agent, file.session, file.lines[:end]),
                File(file.agent, f"{file.session}-{number}", head_of(file, end) + file.lines[end:]),
            ]
        elif step == "join" and near is not None:
            now.remove(near)
            now.append(File(file.agent, file.session, file.lines + near.lines))
        elif step == "copy":
            now += [file, File(file.agent, f"copy-{number}", file.lines)]
        elif step == "twice":
            now.append(File(file.agent, file.session, file.lines + file.lines))
        elif step == "fork":
            whole = files[one % len(files)]
            now.append(file)
            forks.append(fork_of(whole, 1 + other % len(whole.lines), number))
        else:
            now.append(file)
    return now + forks


def written(folder: Path, files: Sequence[File]) -> list[SessionFile]:
    found = []
    for number, file in enumerate(files):
        root = folder / file.agent.value
        path = root / "p" / f"{number}-{file.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in file.lines), encoding="utf-8")
        found.append(
            SessionFile(agent=file.agent, path=str(path), modified=0.0, folder=str(root), is_main=True)
        )
    return found


def money_of(files: Sequence[SessionFile], prices: Prices = PRICES) -> SessionMoney:
    return SessionMoney.read(files, prices, MoneyCache(None))


def by_class(money: SessionMoney) -> Mapping[str, int]:
    sums = money.total().sums
    return {name: getattr(sums, name) for name in CallSums.__slots__}


def checked(files: Sequence[SessionFile], prices: Prices = PRICES) -> Counter[str]:
    """Sums of the runs, as the check of files gives them."""
    sums: Counter[str] = Counter()
    paths = [file.path for file in files]
    for path, run in check_many(paths, RunOptions(prices=prices), jobs=1, is_growing=True):
        if not isinstance(run, RunSummary):
            assert getattr(run, "no_trace", False), (path, run)
            continue
        tokens = run.spent.tokens
        sums["cost_units"] += units(run.spent.cost_usd or 0.0)
        for name in ("input", "output", "cache_read", "cache_write"):
            sums[f"{name}_tokens"] += getattr(tokens, name) or 0
    return sums


STEP = st.tuples(st.sampled_from(STEPS), st.integers(0, 99), st.integers(0, 99))
MACHINES = st.tuples(st.lists(CALLS, max_size=3), st.lists(CALLS, max_size=2)).map(
    lambda parts: [
        *(claude(number, calls) for number, calls in enumerate(parts[0], 1)),
        *(codex(number, calls) for number, calls in enumerate(parts[1], 1)),
    ]
).filter(bool)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(MACHINES, st.lists(STEP, max_size=4), st.randoms())
def test_what_is_done_to_files_changes_no_sum(
    files: list[File], steps: list[tuple[str, int, int]], chance: Any
) -> None:
    """By the pass over money and by the check of the files, which agree in whole units."""
    others = changed(files, steps)
    chance.shuffle(others)
    with tempfile.TemporaryDirectory() as folder:
        whole = by_class(money_of(written(Path(folder, "whole"), files)))
        there = written(Path(folder, "other"), others)
        money = money_of(there)
        assert by_class(money) == whole
        assert_groups_add_up(money)
        found = checked(there)
        assert found == {name: whole[name] for name in found}


def assert_groups_add_up(money: SessionMoney) -> None:
    for key in MoneyKey:
        sums = CallSums()
        for group in money.by(key).values():
            sums += group.sums
        assert sums == money.total().sums, key


_SMALL = 300_000  # bytes of a real session that is taken


def samples() -> list[File]:
    """Real sessions, small ones of every project."""
    found: dict[tuple[str, str], list[File]] = {}
    for card_path in sorted(SHARED.glob("sessions/*/*.json")):
        card = json.loads(card_path.read_text(encoding="utf-8"))
        agent = {"claude-code": CodingAgent.CLAUDE, "codex": CodingAgent.CODEX}.get(card["agent"])
        group = found.setdefault((card["agent"], card["set"]), [])
        if agent is None or card["size"] > _SMALL or len(group) == 3:
            continue
        raw = gzip.decompress(card_path.with_suffix(".jsonl.gz").read_bytes()).splitlines()
        lines = [json.loads(line) for line in raw if line.startswith(b"{") and line.endswith(b"}")]
        group.append(File(agent, card["id"], tuple(lines)))
    return [file for group in found.values() for file in group]


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
@pytest.mark.parametrize("seed", range(4))
def test_what_is_done_to_real_files_changes_no_sum(seed: int, tmp_path: Path) -> None:
    files, chance, prices = samples(), random.Random(seed), Prices()  # noqa: S311
    steps = [(chance.choice(STEPS), *chance.choices(range(10**6), k=2)) for _ in files]
    others = changed(files, steps)
    chance.shuffle(others)
    whole = by_class(money_of(written(tmp_path / "whole", files), prices))
    there = written(tmp_path / "other", others)
    money = money_of(there, prices)
    assert by_class(money) == whole
    assert_groups_add_up(money)
    found = checked(there, prices)
    assert found == {name: whole[name] for name in found}
