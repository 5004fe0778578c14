"""A hooked session that grows line by line comes to the sum of `check` of its file at the end."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import usd
from ebbtide.checking import check
from ebbtide.service.hooks.hook_service import HookService
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.runs.run_store import SQLiteRunStore

Line = dict[str, Any]


def answer(name: str, line: str, output: int, *, at: int, words: str = "Looking.") -> Line:
    """A line of the model's answer `name`, which took `output` tokens so far."""
    usage = {"input_tokens": 1_000 * at, "cache_read_tokens": 7, "output_tokens": output}
    content = [{"type": "text", "text": words}]
    message = {
        "id": name,
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "usage": usage,
    }
    stamp = f"2026-11-20T10:{at:02}:00.000Z"
    return {"type": "assistant", "uuid": line, "sessionId": "s", "timestamp": stamp, "message": message}


def person(line: str, at: int) -> Line:
    message = {"role": "user", "content": f"Go on with part {at}."}
    stamp = f"2026-11-20T10:{at:02}:30.000Z"
    return {"type": "user", "uuid": line, "sessionId": "s", "timestamp": stamp, "message": message}


def of_agent(line: Line) -> Line:
    return {**line, "isSidechain": True, "agentId": "a1"}


def progress(line: Line) -> Line:
    """The line of the parent that carries one of its sub-agent."""
    held = {key: line[key] for key in ("type", "uuid", "timestamp", "message")}
    data = {"type": "agent_progress", "agentId": "a1", "message": held}
    return {"type": "progress", "sessionId": "s", "timestamp": line["timestamp"], "data": data}


STREAMED = [answer("m1", "u1", 5, at=1), answer("m1", "u2", 50, at=1), person("u3", 1)]
SUB_AGENT = [answer("s1", "u4", 60, at=2), answer("s2", "u5", 70, at=3)]
IN_PROGRESS = [progress(line) for line in SUB_AGENT]
LATER = [answer("m2", "u6", 80, at=4), person("u7", 4)]
COPY = [{**line, "uuid": f"copy of {line['uuid']}"} for line in (*STREAMED, *LATER)]
PADDING = [person(f"long {number}", 5) | {"note": "x" * 50_000} for number in range(14)]
SESSIONS = {
    "streamed lines of one message": STREAMED + LATER,
    "a resumed copy": [*STREAMED, *LATER, *COPY, answer("m3", "u9", 9, at=6)],
    "a resumed copy far behind": [*STREAMED, *LATER, *PADDING, *COPY, answer("m3", "u9", 9, at=6)],
    "a sub-agent in lines of progress": STREAMED + IN_PROGRESS + LATER,
}


class Hooked:
    """A session whose lines come one by one, each with a hook; the service may be started again between."""

    def __init__(self, folder: Path, *, restarts: bool) -> None:
        self.folder, self.restarts = folder, restarts
        self.path = folder / "s.jsonl"
        self.path.touch()
        self._start()
        self.hook("SessionStart", source="startup")

    def _start(self) -> None:
        store = HookStore(SQLiteRunStore(self.folder / "runs.db"), self.folder / "sessions.db")
        self.service = HookService(store)

    def restart(self) -> None:
        self.service.close()
        self._start()

    def hook(self, name: str, **fields: Any) -> None:
        event = {"session_id": "s", "hook_event_name": name, "transcript_path": str(self.path), **fields}
        self.service.take("claude", json.dumps(event).encode())
        assert not self.service.status()["faults"]

    def grow(self, line: Line) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if self.restarts:
            self.restart()
        self.hook("Stop", stop_hook_active=True)

    def sums(self) -> tuple[float | None, int | None]:
        """Dollars and tokens so far."""
        tally = self.service.runs.get("claude:s").tally
        return usd(tally.cost), tally.tokens

    def calls(self) -> int:
        """Calls of models so far."""
        return self.service.runs.get("claude:s").tally.model_calls


def checked(path: Path) -> tuple[float | None, int | None]:
    """The same of a file as `ebbtide check` counts it."""
    spent = check(path, RunOptions(prices=Prices())).spent
    return spent.cost_usd, spent.tokens.total


@pytest.mark.parametrize("restarts", [False, True], ids=["one service", "a restart at each line"])
@pytest.mark.parametrize("lines", SESSIONS.values(), ids=SESSIONS)
def test_the_sum_is_that_of_check(tmp_path: Path, lines: list[Line], restarts: bool) -> None:
    """Every call once, as the ids of the provider name them, whenever the service read its line."""
    session = Hooked(tmp_path, restarts=restarts)
    for line in lines:
        session.grow(line)
        if line["type"] != "progress":
            assert session.sums() == checked(session.path)
    session.hook("SessionEnd")
    assert session.sums() == checked(session.path)
    assert session.calls() == len({name for line in lines if (name := id_of(line))})


def id_of(line: Line) -> str | None:
    """The id of the message of a model in a line."""
    held = line["data"]["message"] if line["type"] == "progress" else line
    name: str | None = held["message"].get("id")
    return name


def test_a_call_grows_over_a_rest_and_a_restart(tmp_path: Path) -> None:
    """It was given while the agent rested, its next line was read, and then the service began anew."""
    session = Hooked(tmp_path, restarts=False)
    session.grow(STREAMED[0])
    with session.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(STREAMED[1]) + "\n")
    session.hook("PostToolBatch", tool_calls=[])
    session.restart()
    session.grow(LATER[0])
    session.hook("SessionEnd")
    session.restart()
    session.grow(LATER[1])
    session.hook("SessionEnd")
    assert session.sums() == checked(session.path)
    assert session.calls() == 2


def test_the_file_of_a_sub_agent_adds_what_its_parent_does_not_have(tmp_path: Path) -> None:
    """Its calls stand in lines of progress of its parent, and in a file of its own: they count once."""
    session = Hooked(tmp_path, restarts=False)
    for line in (*STREAMED, *IN_PROGRESS, person("u8", 3)):
        session.grow(line)
    file = tmp_path / "agent-a1.jsonl"
    file.write_text("".join(json.dumps(of_agent(line)) + "\n" for line in SUB_AGENT), encoding="utf-8")
    session.hook("SubagentStop", agent_id="a1", agent_transcript_path=str(file))
    assert session.sums() == checked(session.path)
