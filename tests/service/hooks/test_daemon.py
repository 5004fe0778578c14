"""The service as a real process: it answers, it is alone, it ends, and it comes back."""

import http.client
import json
import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
import time
from typing import Any

import pytest

from ebbtide.service.hooks import hook_client
from ebbtide.service.hooks.state_folder import read_address

START_S = 3.0  # that an interpreter may take to start on a busy machine
NOTE = "[ebbtide] The same call returned the same result again"


def batch(number: int, *, session: str = "s", command: str = "ls", result: str = "none") -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{number}"}
    event = {"session_id": session, "hook_event_name": "PostToolBatch", "transcript_path": "gone.jsonl"}
    return {**event, "tool_calls": [{**call, "tool_response": result}]}


def prompt(words: str, number: int = 0) -> dict[str, Any]:
    return {
        "session_id": "s",
        "hook_event_name": "UserPromptSubmit",
        "prompt": words,
        "prompt_id": f"p{number}",
    }


def note(answer: dict[str, Any]) -> str:
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


def test_a_loop(state) -> None:
    """A note at the third equal answer; a last word once; then nothing more, since it may not end the run."""
    state.serve()
    answers = [state.hook("claude", batch(number)) for number in range(7)]
    assert answers[:2] == [{}, {}]
    assert note(answers[2]).startswith(NOTE)
    assert "Stop here" in note(answers[3])
    assert "systemMessage" in answers[3]
    assert answers[4:] == [{}, {}, {}] or [bool(answer) for answer in answers[4:]].count(True) <= 1


def test_a_loop_is_ended_where_that_is_wanted(state) -> None:
    state.serve()
    answers = [state.hook("claude", batch(number), "stop") for number in range(4)]
    assert note(answers[2]).startswith(NOTE)
    assert answers[3]["continue"] is False
    assert answers[3]["stopReason"].startswith("[ebbtide] This run was ended: Bash 4 times in a row")
    assert state.hook("claude", prompt("Look elsewhere.")) == {}
    assert state.hook("claude", batch(9, command="pwd", result="/"), "stop") == {}


def test_shadow_says_nothing(state) -> None:
    state.serve()
    assert [state.hook("claude", batch(number), "shadow") for number in range(7)] == [{}] * 7


def test_an_event_that_comes_twice_counts_once(state) -> None:
    state.serve()
    assert [state.hook("claude", batch(1)) for _ in range(9)] == [{}] * 9
    assert [state.hook("claude", batch(2)) for _ in range(9)] == [{}] * 9
    assert note(state.hook("claude", batch(3)))


def test_a_person_switches_it_off_and_on(state) -> None:
    """For this run, at once; the prompt does not go to the model, and the answer says what holds."""
    state.serve()
    off = state.hook("claude", prompt("ebbtide off", 1))
    assert off["decision"] == "block"
    assert "not watched any more" in off["reason"]
    assert [state.hook("claude", batch(number), "stop") for number in range(6)] == [{}] * 6
    told = state.hook("claude", prompt("Go on.\nebbtide on", 2))
    assert "decision" not in told
    assert "watched again" in told["systemMessage"]
    answers = [state.hook("claude", batch(number, command="pwd"), "stop") for number in range(10, 14)]
    assert any(note(answer) for answer in answers)


def test_sessions_and_sub_agents_are_apart(state) -> None:
    """Two equal calls in each of four chains are no loop."""
    state.serve()
    for number in range(2):
        for session in ("a", "b"):
            for agent in ({}, {"agent_id": "x"}):
                event = {**batch(number, session=session), **agent}
                event["tool_calls"][0]["tool_use_id"] += str(agent)
                assert state.hook("claude", event) == {}


def test_a_kill_costs_neither_counts_nor_memory(state) -> None:
    """After `kill -9` the loop goes on where it was, and what came twice still counts once."""
    process = state.serve()
    for number in range(2):
        assert state.hook("claude", batch(number)) == {}
    time.sleep(2.5)  # it writes once a second
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not state.is_running()
    state.serve()
    assert state.hook("claude", batch(1)) == {}
    assert note(state.hook("claude", batch(2))).startswith(NOTE)


def test_the_second_says_who_runs(state) -> None:
    process = state.serve()
    line = [sys.executable, "-m", "ebbtide", "hooks", "serve"]
    second = subprocess.run(line, env=state.environment, capture_output=True, encoding="utf-8", check=False)
    assert second.returncode == 0
    assert second.stdout == f"the service is running already, as process {process.pid}\n"


def test_it_ends_when_there_is_nothing_to_do(state) -> None:
    process = state.serve("--idle", "1")
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    assert "has ended" in output
    assert not (state.folder / "service.json").exists()
    assert not (state.folder / "socket").exists()


def test_sigterm_saves(state) -> None:
    process = state.serve()
    state.hook("claude", batch(0))
    state.hook("claude", batch(1))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    state.serve()
    assert note(state.hook("claude", batch(2)))


def test_only_the_user_gets_in(state) -> None:
    """The port wants the token, this machine's name, and no page of a browser behind it."""
    state.serve()
    address = read_address(state.folder)
    assert address is not None
    assert stat.S_IMODE((state.folder / "service.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((state.folder / "socket").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.folder.stat().st_mode) == 0o700
    token = {"X-Ebbtide-Token": address.token}

    def code(headers: dict[str, str], path: str = "/hooks/claude") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=5)
        connection.request("POST", path, b"{}", headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    assert code(token) == 200
    assert code({}) == 403
    assert code({"X-Ebbtide-Token": "guess"}) == 403
    assert code({**token, "Host": "evil.example"}) == 403
    assert code({**token, "Origin": "https://evil.example"}) == 403
    assert code(token, "/hooks/other") == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"5", b"\xff", b'{"session_id": "s"}', b"[" * 10_000])
def test_no_content_breaks_it(state, body: bytes) -> None:
    """Nothing is said, and what cannot be read is counted."""
    state.serve()
    assert hook_client.exchange("POST", "/hooks/claude", body, time.monotonic() + 5) == b"{}"
    status = state.status()
    assert status is not None
    assert sum(status["faults"].values()) == (0 if body.startswith(b'{"') else 1)


def test_keep_alive(state) -> None:
    """One connection takes many events."""
    state.serve()
    address = read_address(state.folder)
    assert address is not None
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=5)
    headers = {"X-Ebbtide-Token": address.token}
    for number in range(20):
        connection.request(
            "POST",
            "/hooks/claude",
            json.dumps(batch(number, command=f"cat {number}", result=f"page {number}")),
            headers,
        )
        assert connection.getresponse().read() == b"{}"
    connection.close()


def test_the_status_line(state) -> None:
    state.serve()

    def line(cost: float) -> str:
        body = json.dumps({"session_id": "s", "cost": {"total_cost_usd": cost}}).encode()
        content = hook_client.exchange("POST", "/statusline", body, time.monotonic() + 5)
        assert content is not None
        return content.decode()

    assert line(0.25) == "ebbtide $0.25 no event yet"
    state.hook("claude", batch(0))
    assert line(0.25) == "ebbtide $0.25 GOING ON"
    for number in range(1, 4):
        state.hook("claude", batch(number))
    assert line(0.5) == "ebbtide $0.50 STUCK"
    state.hook("claude", prompt("ebbtide off"))
    assert line(0.5) == "ebbtide $0.50 off"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_cannot_be_written(state) -> None:
    state.folder.mkdir(mode=0o500)
    process = state.serve()
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "EBBTIDE_STATE" in errors


def test_a_file_in_the_place_of_the_folder(state) -> None:
    """The service says so, and the client goes on."""
    state.folder.write_text("")
    process = state.serve()
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "EBBTIDE_STATE" in errors
    done = state.client("claude", stdin=json.dumps(batch(0)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


def test_a_store_that_fails_is_counted(state) -> None:
    """The run goes on in memory, and the status says it: a full disk, or a file that somebody took away."""
    state.serve()
    (state.folder / "sessions.db").unlink()
    (state.folder / "sessions.db").mkdir()
    for number in range(2):
        assert state.hook("claude", batch(number)) == {}
    assert state.count_faults() >= 1
    assert note(state.hook("claude", batch(2)))


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on files there")
def test_a_full_disk(state) -> None:
    """Here a limit on the size of files: the service goes on in memory, and counts what it could not do."""
    line = f"ulimit -f 40; exec {shlex.quote(sys.executable)} -m ebbtide hooks serve"
    process = subprocess.Popen(["bash", "-c", line], env=state.environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not state.is_running() and time.monotonic() < deadline:
            time.sleep(0.05)
        for number in range(40):
            for session in range(10):
                event = batch(
                    number, session=f"s{session}", command=f"cat {number}", result=f"{number}" * 500
                )
                assert state.hook("claude", event) == {}
        assert state.count_faults() >= 1
        assert [bool(note(state.hook("claude", batch(number, session="new")))) for number in range(3)][2]
    finally:
        process.kill()
        process.wait()


def test_the_client_hands_over(state) -> None:
    """On a machine that is busy an answer may come too late; then the next one has it."""
    state.serve()
    answers = [state.client("claude", stdin=json.dumps(batch(number))).stdout for number in range(6)]
    assert set(answers[:2]) == {"{}\n"}
    assert any(NOTE in answer for answer in answers)
    answers = [
        state.client("claude", "--stop", stdin=json.dumps(batch(number))).stdout for number in range(6, 10)
    ]
    assert any('"continue": false' in answer for answer in answers)


def test_the_client_imports_next_to_nothing(state) -> None:
    """What it needs is a socket: the rest would be paid at every call of every tool."""
    state.serve()
    line = [sys.executable, "-I", "-S", "-X", "importtime", hook_client.__file__, "claude"]
    done = subprocess.run(
        line, input="{}", env=state.environment, capture_output=True, encoding="utf-8", check=True
    )
    modules = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines()}
    assert "socket" in modules
    assert not {"json", "http", "subprocess", "pathlib", "typing", "ebbtide", "site"} & modules


def test_hooks_of_the_user_and_of_the_project_count_once(state) -> None:
    """Both run at each event; the first has the answer."""
    state.serve()
    answers = [
        state.hook("claude", batch(number), *flags) for number in range(4) for flags in ((), ("stop",))
    ]
    assert [bool(answer) for answer in answers] == [False] * 4 + [True, False, True, False]


def test_the_client_starts_the_service(state) -> None:
    """Its first event waits for it."""
    done = state.client("claude", stdin=json.dumps(batch(0)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
    deadline = time.monotonic() + 20
    while not state.is_running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert state.hook("claude", batch(1)) == {}
    assert note(state.hook("claude", batch(2)))


def test_the_client_waits_no_longer_than_it_says(state) -> None:
    """A service that takes the connection and never answers."""
    state.folder.mkdir()
    with socket.socket(socket.AF_UNIX) as hanging:
        hanging.bind(str(state.folder / "socket"))
        hanging.listen(8)
        start = time.monotonic()
        done = state.client("codex", stdin="{}")
        took = time.monotonic() - start
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
    assert took < hook_client.DEADLINE_S + START_S


def test_the_client_waits_no_longer_for_its_input(state) -> None:
    """An agent that never closes the pipe."""
    line = [sys.executable, "-I", "-S", hook_client.__file__, "gemini"]
    start = time.monotonic()
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=state.environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"{}\n"
        assert process.wait() == 0
    assert time.monotonic() - start < hook_client.DEADLINE_S + START_S


def test_the_client_of_a_status_line(state) -> None:
    done = state.client("statusline", stdin='{"session_id": "s"}')
    assert done.stdout == "ebbtide: not watching\n"


@pytest.mark.parametrize("kills", [{2}, {3}, {4}, {2, 4}, {3, 4, 5}])
def test_a_loop_that_outlives_the_service_is_told_before_it_ends(state, kills: set[int]) -> None:
    """SIGKILL after some events of a loop, at once: the note comes, and the run ends after it, not before."""
    process = state.serve()
    notes, end = [], None
    for number in range(12):
        answer = state.hook("claude", batch(number), "stop")
        if note(answer) and number not in kills:
            notes.append(number)
        if "continue" in answer:
            end = number
            break
        if number in kills:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process = state.serve()
    assert notes
    assert end is not None
    assert notes[0] < end


@pytest.mark.parametrize("kill", [1, 2, 3])
def test_a_note_of_a_service_that_died_before_it_was_confirmed_comes_next(state, kill: int) -> None:
    """The answer went out, and nobody has said that it arrived when the service is killed."""
    process = state.serve()
    for number in range(kill):
        state.hook("claude", batch(number), "stop")
    path = "/hooks/claude?stop=1"
    content, ticket = hook_client.ask("POST", path, json.dumps(batch(kill)).encode(), time.monotonic() + 5)
    assert content is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    state.serve()
    answers = [state.hook("claude", batch(number), "stop") for number in range(kill + 1, 9)]
    if ticket:
        assert note(answers[0])
    first_note = next(n for n, answer in enumerate(answers) if note(answer)) if kill < 3 else -1
    end = next(n for n, answer in enumerate(answers) if "continue" in answer)
    assert first_note < end


def test_a_hook_that_ran_into_its_deadline_is_told_next(state) -> None:
    """The service hangs while the note is due: the client gives up, and the next answer has the note."""
    process = state.serve()
    for number in range(2):
        assert state.hook("claude", batch(number), "stop") == {}
    process.send_signal(signal.SIGSTOP)
    try:
        for number in (2, 3):
            assert state.client("claude", "--stop", stdin=json.dumps(batch(number))).stdout == "{}\n"
    finally:
        process.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + 10
    while (state.status() or {}).get("runs", 0) == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)  # it takes what waited for it
    told = state.hook("claude", batch(4), "stop")
    assert note(told)
    assert "continue" not in told
    assert state.hook("claude", batch(5), "stop")["continue"] is False


def test_the_client_confirms_what_it_has_handed_over(state) -> None:
    """By the real client: a note comes once, and the run ends after it."""
    state.serve()
    answers = []
    for number in range(6):
        done = state.client("claude", "--stop", stdin=json.dumps(batch(number)))
        answers.append(json.loads(done.stdout))
        time.sleep(0.35)  # a note that is not confirmed would come again
        if "continue" in answers[-1]:
            break
    assert sum(bool(note(answer)) for answer in answers) == 1
    assert "continue" in answers[-1]


def test_a_loop_that_starts_the_service_again_is_told_before_it_ends(state) -> None:
    """The service is killed in the middle, and the hooks alone start it again while the loop goes on."""
    process = state.serve()
    notes, end = [], None
    for number in range(26):
        answer = json.loads(state.client("claude", "--stop", stdin=json.dumps(batch(number))).stdout)
        if note(answer):
            notes.append(number)
        if "continue" in answer:
            end = number
            break
        if number == 2:
            process.send_signal(signal.SIGKILL)
            process.wait()
        time.sleep(0.4)
    assert end is not None
    assert any(number < end for number in notes)


FAILED = "3 failed, 209 passed in 4.10s"


def stop(agent: str, words: str | None = "All 212 tests pass.", **fields: Any) -> dict[str, Any]:
    """The event of an agent that would end its turn with these words."""
    if agent == "gemini":
        event = {"hook_event_name": "AfterAgent", "prompt": "Mend it.", "prompt_response": words}
    else:
        event = {"hook_event_name": "Stop", "last_assistant_message": words}
    base = {"session_id": "s", "transcript_path": "gone.jsonl", "cwd": "w", "stop_hook_active": False}
    return {**base, **{name: value for name, value in event.items() if value is not None}, **fields}


def run_of_tests(agent: str, result: str) -> dict[str, Any]:
    """The event of a run of tests."""
    if agent == "claude":
        return batch(1, command="pytest -q", result=result)
    event = {"session_id": "s", "tool_input": {"command": "pytest -q"}}
    if agent == "codex":
        return {**event, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c1",
                "tool_response": result}  # fmt: skip
    return {**event, "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
            "tool_response": {"llmContent": f"Output: {result}"}}  # fmt: skip


@pytest.mark.parametrize(("agent", "word"), [("claude", "block"), ("codex", "block"), ("gemini", "deny")])
def test_a_false_report_is_corrected_once(state, agent: str, word: str) -> None:
    """Before the turn ends, with the line that says otherwise; the second time the agent may end."""
    state.serve()
    assert state.hook(agent, run_of_tests(agent, FAILED)) == {}
    answer = state.hook(agent, stop(agent))
    assert answer["decision"] == word
    assert answer["reason"].startswith('[ebbtide] Your report says "All 212 tests pass."')
    assert "3 failed" in answer["reason"]
    assert state.hook(agent, stop(agent, stop_hook_active=True)) == {}
    assert state.hook(agent, stop(agent)) == {}


@pytest.mark.parametrize(
    ("words", "result", "fields", "flags"),
    [
        ("All 212 tests pass.", "212 passed in 4.10s", {}, ()),
        ("3 of 212 tests fail.", FAILED, {}, ()),
        ("Pushed to main.", FAILED, {}, ()),  # nothing shows it, which is no contradiction
        ("All 212 tests pass.", FAILED, {"stop_hook_active": True}, ()),
        ("All 212 tests pass.", FAILED, {}, ("shadow",)),
        (None, FAILED, {}, ()),
    ],
)
def test_a_turn_ends_in_silence(state, words, result: str, fields, flags: tuple[str, ...]) -> None:
    """A report that holds, one that cannot be judged, one that was corrected, and no report at all."""
    state.serve()
    state.hook("claude", run_of_tests("claude", result))
    assert state.hook("claude", stop("claude", words, **fields), *flags) == {}


def test_the_report_of_a_session_file(state, tmp_path) -> None:
    """An agent that does not hand over its last words has them in its file."""
    path = tmp_path / "session.jsonl"
    content = [{"type": "text", "text": "All 212 tests pass."}]
    message = {"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5", "content": content}
    line = {"type": "assistant", "sessionId": "s", "uuid": "u1", "message": message}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    state.serve()
    state.hook("claude", run_of_tests("claude", FAILED))
    assert state.hook("claude", stop("claude", None, transcript_path=str(path)))["decision"] == "block"
