"""What the service answers, event by event, without a process around it."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.service.hooks.hook_service import HookService
from ebbtide.service.hooks.hook_store import HookStore, latest_events
from ebbtide.supervision.runs.run_store import SQLiteRunStore


class Clock:
    """Seconds since 1970, which a test sets."""

    now = 1.8e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(tmp_path: Path, clock: Clock) -> HookService:
    store = HookStore(SQLiteRunStore(tmp_path / "runs.db"), tmp_path / "sessions.db")
    return HookService(store, clock=clock)


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


def take(
    service: HookService, agent: str, body: bytes, *, arrives: bool = True, **flags: bool
) -> dict[str, Any]:
    """Returns the answer to an event, which reaches its agent or does not."""
    answer = service.take(agent, body, **flags)
    assert answer is not None
    if answer.ticket is not None and arrives:
        service.confirm(answer.ticket, has_arrived=True)
    return answer.content


def test_an_unknown_agent_has_no_answer(service: HookService) -> None:
    assert service.take("aider", b"{}") is None


def test_nothing_ends_before_it_was_told(service: HookService) -> None:
    """Events that came while the service started are a loop already: the model hears of it first."""
    for number in range(6):
        assert take(service, "claude", claude(number), is_late=True) == {}
    first = take(service, "claude", claude(6), stops=True)
    assert note(first).startswith("[ebbtide] ")
    assert "continue" not in (first or {})
    second = take(service, "claude", claude(7), stops=True)
    assert second is not None
    assert second["continue"] is False


def test_a_note_waits_for_an_event_that_takes_words(service: HookService) -> None:
    """Cursor reads nothing with a call that failed: the next one that succeeds has the note."""

    def cursor(number: int, name: str, **answer: str) -> bytes:
        call = {"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": f"c{number}"}
        return json.dumps({"conversation_id": "s", "hook_event_name": name, **call, **answer}).encode()

    for number in range(3):
        event = cursor(number, "postToolUseFailure", error_message="no such file")
        assert take(service, "cursor", event) == {}
    answer = take(service, "cursor", cursor(3, "postToolUse", tool_output='{"exitCode":0,"stdout":"a"}'))
    assert answer.get("additional_context", "").startswith("[ebbtide] "), answer


def test_a_note_that_did_not_arrive_comes_with_the_next(service: HookService) -> None:
    for number in range(2):
        assert take(service, "codex", codex(number)) == {}
    lost = service.take("codex", codex(2))
    assert lost is not None
    assert lost.ticket is not None
    service.confirm(lost.ticket, has_arrived=False)
    assert note(lost.content) in note(take(service, "codex", codex(3, command="pwd", output="/")))
    assert take(service, "codex", codex(4, command="date", output="Monday")) == {}


def test_no_run_is_ended_without_a_note_that_arrived(service: HookService, clock: Clock) -> None:
    """Ten answers that nobody reads each have the note; the run ends only after one that was read."""
    answers = []
    for number in range(13):
        clock.now += 2.0
        answers.append(take(service, "claude", claude(number), arrives=False, stops=True))
    assert [bool(note(answer)) for answer in answers] == [False] * 2 + [True] * 11
    assert not any("continue" in answer for answer in answers)
    clock.now += 2.0
    assert note(take(service, "claude", claude(13), stops=True))
    assert take(service, "claude", claude(14), stops=True)["continue"] is False


def test_a_note_is_on_its_way_for_a_moment(service: HookService, clock: Clock) -> None:
    """Calls at once are told once; a note that is not confirmed by then comes again."""
    for number in range(2):
        take(service, "codex", codex(number))
    assert note(take(service, "codex", codex(2), arrives=False))
    assert not note(take(service, "codex", codex(3, command="pwd", output="/"), arrives=False))
    clock.now += 0.4
    assert note(take(service, "codex", codex(4, command="date", output="Monday")))
    clock.now += 0.4
    assert not note(take(service, "codex", codex(5, command="id", output="ann")))


def test_a_new_word_of_a_person_takes_a_note_back(service: HookService) -> None:
    for number in range(3):
        take(service, "codex", codex(number), arrives=False)
    words = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Look elsewhere."}
    take(service, "codex", json.dumps(words).encode())
    assert take(service, "codex", codex(3, command="pwd", output="/")) == {}


def test_agents_of_a_session_get_their_own_notes(service: HookService, clock: Clock) -> None:
    """A note for a sub-agent waits for it, and says nothing about the agent that a person talks to."""
    for number in range(3):
        lost = take(service, "claude", claude(number, agent_id="x"), arrives=False)
    clock.now += 2.0
    calls = [
        {"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "m", "tool_response": "b"}
    ]
    assert take(service, "claude", claude(7, tool_calls=calls)) == {}
    other = [{**calls[0], "tool_use_id": "n"}]
    assert note(lost) in note(take(service, "claude", claude(8, agent_id="x", tool_calls=other)))


def test_codex_is_never_ended(service: HookService) -> None:
    answers = [take(service, "codex", codex(number), stops=True) for number in range(9)]
    assert not any("continue" in (answer or {}) for answer in answers)
    assert sum(bool(note(answer)) for answer in answers) == 2


def test_a_failure_is_told_with_its_batch(service: HookService) -> None:
    """What failed counts as failed: three failures of one call are a loop of failures."""
    for number in range(3):
        failure = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": f"t{number}"}
        take(service, "claude", json.dumps({"session_id": "s", **failure}).encode())
        answer = take(service, "claude", claude(number))
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
    take(service, "codex", json.dumps(start).encode())
    usage = {"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": 110}
    info = {"last_token_usage": usage, "total_token_usage": usage}
    path.write_text(
        json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}) + "\n"
    )
    for number in range(6):
        event = {**json.loads(codex(number)), "transcript_path": str(path)}
        assert take(service, "codex", json.dumps(event).encode()) == {}
    assert service.runs.get("codex:s").tally.tokens == 110


def test_the_last_event_is_known_afterwards(service: HookService, tmp_path: Path) -> None:
    take(service, "codex", codex(0))
    service.close()
    when, run = latest_events(tmp_path / "sessions.db")["codex"]
    assert run == "codex:s"
    assert when > 1e9
    assert latest_events(tmp_path / "absent.db") == {}


def test_a_restart_remembers(service: HookService, tmp_path: Path) -> None:
    """The switch, and which events were there."""
    off = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "ebbtide off"}
    take(service, "codex", codex(0))
    take(service, "codex", json.dumps(off).encode())
    take(service, "codex", codex(1))
    service.close()
    again = HookService(HookStore(SQLiteRunStore(tmp_path / "runs.db"), tmp_path / "sessions.db"))
    assert [take(again, "codex", codex(number)) for number in range(6)] == [{}] * 6
    assert again.runs.get("codex:s").tally.events == 6


class HookedSession:
    """A session of Claude Code with its file, whose hooks answer at once.

    Args:
        service: The service.
        folder: Where its file is.
        flags: What the hooks were installed with.
    """

    def __init__(self, service: HookService, folder: Path, **flags: bool) -> None:
        self.service, self.flags, self.lines = service, flags, 0
        self.path = folder / "s.jsonl"
        self.path.write_text("")
        self.hook("SessionStart", source="startup")
        self.hook("UserPromptSubmit", prompt="Write the report.", prompt_id="p")

    def hook(self, name: str, **fields: Any) -> dict[str, Any]:
        event = {"session_id": "s", "hook_event_name": name, "transcript_path": str(self.path), **fields}
        return take(self.service, "claude", json.dumps(event).encode(), **self.flags)

    def write(self, kind: str, message: dict[str, Any], **fields: Any) -> None:
        self.lines += 1
        before = f"u{self.lines - 1}" if self.lines > 1 else None
        line = {"type": kind, "uuid": f"u{self.lines}", "parentUuid": before, "sessionId": "s", **fields}
        with self.path.open("a") as file:
            file.write(json.dumps({**line, "message": message}) + "\n")

    def round(self, number: int, *, works: bool = False) -> dict[str, Any]:
        """The model says that it is done, and another hook says that it is not: the answer of ours."""
        if works:
            self.hook("PostToolBatch", tool_calls=[self.look(number)])
        text = f"The report is written, part {number * 7}."
        usage = {"input_tokens": 5, "output_tokens": 5}
        answer = {"id": f"m{number}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
        self.write(
            "assistant", {**answer, "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}
        )
        reply = self.hook("Stop", stop_hook_active=number > 1, last_assistant_message=text)
        words = "Stop hook feedback:\n[node stop.mjs]: The report has no summary yet."
        self.write("user", {"role": "user", "content": words}, isMeta=True)
        return reply

    def look(self, number: int) -> dict[str, Any]:
        call = {"tool_name": "Read", "tool_input": {"file_path": f"/n/{number}.md"}}
        return {**call, "tool_use_id": f"t{number}", "tool_response": f"page {number * 7919}"}

    def spawn(self, number: int, order: str, *, ends: bool = True) -> dict[str, Any]:
        """An agent is started, and its answer comes."""
        call = {"tool_name": "Agent", "tool_use_id": f"a{number}", "tool_input": {"prompt": order}}
        reply = self.hook("PreToolUse", **call)
        if ends:
            self.hook("PostToolBatch", tool_calls=[{**call, "tool_response": f"report {number * 7919}"}])
        return reply


def test_a_hook_that_is_never_satisfied_is_told_to_the_person(service: HookService, tmp_path: Path) -> None:
    """The model cannot end it: the person hears of the hook with the answer to its fourth word, once."""
    session = HookedSession(service, tmp_path)
    replies = [session.round(number) for number in range(1, 9)]
    assert replies[:4] == [{}] * 4
    assert replies[4]["systemMessage"].startswith("[ebbtide] node stop.mjs inserted the same text 4 times")
    assert "Change or clear the hook" in replies[4]["systemMessage"]
    assert list(replies[4]) == ["systemMessage"]
    assert replies[5:] == [{}] * 3
    line = service.status_line(json.dumps({"session_id": "s"}).encode())
    assert line.endswith("STUCK")


def test_a_hook_that_is_never_satisfied_ends_the_run_where_that_is_wanted(
    service: HookService, tmp_path: Path
) -> None:
    """Told first, then ended."""
    session = HookedSession(service, tmp_path, stops=True)
    replies = [session.round(number) for number in range(1, 7)]
    assert replies[5]["continue"] is False
    assert "continue" not in replies[4]


def test_a_hook_whose_words_are_worked_on_is_none(service: HookService, tmp_path: Path) -> None:
    """Something new is read in each round."""
    session = HookedSession(service, tmp_path)
    assert [session.round(number, works=True) for number in range(1, 9)] == [{}] * 8


def test_agents_that_get_one_order_are_told_to_the_person(service: HookService, tmp_path: Path) -> None:
    """The fifth start is one too many, before it is made; the model is told nothing."""
    session = HookedSession(service, tmp_path)
    replies = [session.spawn(number, "Review the page and its tests.") for number in range(20)]
    told = [number for number, reply in enumerate(replies, 1) if reply]
    assert told == [5]
    assert list(replies[4]) == ["systemMessage"]


def test_agents_with_parts_of_the_work_are_none(service: HookService, tmp_path: Path) -> None:
    """Twenty parts, one after the other, and the best of five at once."""
    session = HookedSession(service, tmp_path)
    parts = [session.spawn(number, f"Review page {number}.") for number in range(20)]
    best = [session.spawn(number, "Draft the summary.", ends=False) for number in range(20, 25)]
    assert parts + best == [{}] * 25
