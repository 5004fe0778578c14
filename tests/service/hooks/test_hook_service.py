"""What the service answers, event by event, without a process around it."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.service.hooks.hook_service import HookService
from ebbtide.service.hooks.hook_store import HookStore, latest_events
from ebbtide.supervision.runs.run_store import SQLiteRunStore


@pytest.fixture
def service(tmp_path: Path) -> HookService:
    return HookService(HookStore(SQLiteRunStore(tmp_path / "runs.db"), tmp_path / "sessions.db"))


def codex(number: int, *, command: str = "ls", output: str = "none") -> bytes:
    event = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash"}
    answer = {"tool_input": {"command": command}, "tool_response": output, "tool_use_id": f"c{number}"}
    return json.dumps({**event, **answer}).encode()


def claude(number: int, **fields: Any) -> bytes:
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{number}"}
    event = {"session_id": "s", "hook_event_name": "PostToolBatch"}
    return json.dumps({**event, "tool_calls": [{**call, "tool_response": "none"}], **fields}).encode()


def note(answer: dict[str, Any] | None) -> str:
    return (answer or {}).get("hookSpecificOutput", {}).get("additionalContext", "")


def test_an_unknown_agent_has_no_answer(service: HookService) -> None:
    assert service.take("aider", b"{}") is None


def test_nothing_ends_before_it_was_told(service: HookService) -> None:
    """Events that came while the service started are a loop already: the model hears of it first."""
    for number in range(6):
        assert service.take("claude", claude(number), is_late=True) == {}
    first = service.take("claude", claude(6), stops=True)
    assert note(first).startswith("[ebbtide] ")
    assert "continue" not in (first or {})
    second = service.take("claude", claude(7), stops=True)
    assert second is not None
    assert second["continue"] is False


def test_a_note_that_did_not_arrive_comes_with_the_next(service: HookService) -> None:
    answers = [service.take("codex", codex(number)) for number in range(3)]
    assert answers[2] is not None
    assert note(answers[2])
    service.undelivered("codex", codex(2), answers[2])
    assert note(answers[2]) in note(service.take("codex", codex(3, command="pwd", output="/")))
    assert service.take("codex", codex(4, command="date", output="Monday")) == {}


def test_codex_is_never_ended(service: HookService) -> None:
    answers = [service.take("codex", codex(number), stops=True) for number in range(9)]
    assert not any("continue" in (answer or {}) for answer in answers)
    assert sum(bool(note(answer)) for answer in answers) == 2


def test_a_failure_is_told_with_its_batch(service: HookService) -> None:
    """What failed counts as failed: three failures of one call are a loop of failures."""
    for number in range(3):
        failure = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": f"t{number}"}
        service.take("claude", json.dumps({"session_id": "s", **failure}).encode())
        answer = service.take("claude", claude(number))
    assert note(answer)
    assert service.runs.get("claude:s").tally.events == 3


def test_calls_at_once_are_one_batch_where_the_file_tells(service: HookService, tmp_path: Path) -> None:
    """Codex tells each call by itself; six equal ones of one answer are no loop."""
    path = tmp_path / "rollout.jsonl"
    path.write_text("")
    start = {
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "transcript_path": str(path),
    }
    service.take("codex", json.dumps(start).encode())
    usage = {"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": 110}
    info = {"last_token_usage": usage, "total_token_usage": usage}
    path.write_text(
        json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}) + "\n"
    )
    for number in range(6):
        event = {**json.loads(codex(number)), "transcript_path": str(path)}
        assert service.take("codex", json.dumps(event).encode()) == {}
    assert service.runs.get("codex:s").tally.tokens == 110


def test_the_last_event_is_known_afterwards(service: HookService, tmp_path: Path) -> None:
    service.take("codex", codex(0))
    service.close()
    when, run = latest_events(tmp_path / "sessions.db")["codex"]
    assert run == "codex:s"
    assert when > 1e9
    assert latest_events(tmp_path / "absent.db") == {}


def test_a_restart_remembers(service: HookService, tmp_path: Path) -> None:
    """The switch, and which events were there."""
    off = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "ebbtide off"}
    service.take("codex", codex(0))
    service.take("codex", json.dumps(off).encode())
    service.take("codex", codex(1))
    service.close()
    again = HookService(HookStore(SQLiteRunStore(tmp_path / "runs.db"), tmp_path / "sessions.db"))
    assert [again.take("codex", codex(number)) for number in range(6)] == [{}] * 6
    assert again.runs.get("codex:s").tally.events == 6
