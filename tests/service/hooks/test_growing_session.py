"""Tokens of session files that grow while they are read."""

import json
from pathlib import Path

from ebbtide.events.event import ModelCall
from ebbtide.service.hooks.growing_session import GrowingSession
from ebbtide.traces.agents.claude_code import ClaudeCodeReader
from ebbtide.traces.agents.codex import CodexReader


def answer(number: int, tokens: int = 100) -> str:
    message = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Looking."}],
        "usage": {"input_tokens": tokens, "output_tokens": 10},
    }
    return json.dumps({"type": "assistant", "uuid": f"u{number}", "message": message}) + "\n"


def tokens(events: list) -> list[int]:
    return [event.usage.tokens for event in events]


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_each_answer_counts_once(tmp_path: Path) -> None:
    """Half a line waits for its rest, and an answer for the line after it; its words are left out."""
    path = tmp_path / "s.jsonl"
    file = GrowingSession(str(path), ClaudeCodeReader, chain="main")
    assert file.look() == []
    append(path, answer(1) + answer(1).replace("u1", "u1b") + answer(2)[:50])
    assert file.look() == []
    append(path, answer(2)[50:] + answer(3))
    events = file.look()
    assert tokens(events) == [110, 110]
    assert all(
        isinstance(event, ModelCall) and event.text is None and event.chain_id == "main" for event in events
    )
    assert file.look() == []
    assert tokens(file.finish()) == [110]


def test_a_restart_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(answer(number) for number in range(5)))
    first = GrowingSession(str(path), ClaudeCodeReader, chain="main", place=0)
    assert len(first.look()) == 4
    second = GrowingSession(str(path), ClaudeCodeReader, chain="main", place=first.place, calls=first.calls)
    append(path, answer(5))
    assert tokens(second.look()) == [110]
    assert second.calls == 5


def test_what_was_there_before_is_none_of_the_run(tmp_path: Path) -> None:
    """A session that was resumed before anybody watched: all but its open answer."""
    path = tmp_path / "s.jsonl"
    path.write_text("".join(answer(number) for number in range(5)))
    file = GrowingSession(str(path), ClaudeCodeReader, chain="main")
    append(path, answer(5))
    assert len(file.look()) == 1


def test_another_file_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(answer(1) + answer(2) + answer(3))
    file = GrowingSession(str(path), ClaudeCodeReader, chain="main", place=0)
    assert len(file.look()) == 2
    path.write_text(answer(7, 50) + answer(8))
    assert tokens(file.look()) == [60]


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{\n\xff\n[[[[\n5\n\n" + answer(1).encode() + answer(2).encode())
    assert tokens(GrowingSession(str(path), ClaudeCodeReader, chain="main", place=0).look()) == [110]


def test_a_total_of_codex_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    usage = {"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": 110}
    info = {"last_token_usage": usage, "total_token_usage": usage}
    line = json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}) + "\n"
    path.write_text(line * 3)
    assert tokens(GrowingSession(str(path), lambda _: CodexReader(), chain="main", place=0).look()) == [110]
