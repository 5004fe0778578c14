"""`ebbtide acp`: between an editor and an agent that speaks the Agent Client Protocol."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from typing import Any

import pytest

EBBTIDE_ACP = [sys.executable, "-P", "-m", "ebbtide", "acp"]
AGENT = [sys.executable, "-P", str(Path(__file__).parent / "scripted_acp_agent.py")]
LATEST_S = 60.0
MARK = "[ebbtide] "
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs /proc to find the process that watches"
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine of its own."""
    return {**os.environ, "HOME": str(tmp_path), "EBBTIDE_STATE": str(tmp_path / "state")}


class Editor:
    """An editor that keeps every byte, with an agent behind `ebbtide acp`."""

    def __init__(self, line: list[str], folder: Path, environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.folder = folder
        self.sent, self.seen, self.errors = bytearray(), bytearray(), bytearray()
        self.requests = 0
        self.is_over = False
        self.news = threading.Condition()
        self.process = subprocess.Popen(
            line, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd=folder, start_new_session=True
        )
        self.readers = [
            threading.Thread(target=target, daemon=True) for target in (self.read, self.read_errors)
        ]
        for reader in self.readers:
            reader.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        while not self.is_over:
            data = os.read(self.process.stdout.fileno(), 65536)
            with self.news:
                self.seen += data
                self.is_over = not data
                self.news.notify_all()

    def read_errors(self) -> None:
        assert self.process.stderr is not None
        while data := os.read(self.process.stderr.fileno(), 65536):
            self.errors += data

    def until(self, is_there: Callable[[], Any]) -> Any:
        """What a condition gives as soon as it holds."""
        with self.news:
            self.news.wait_for(lambda: self.is_over or is_there(), LATEST_S)
            found = is_there()
            assert found, (self.seen[-2_000:], self.errors)
            return found

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.sent += data
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        """Sends a request; its number."""
        self.requests += 1
        message = {"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}
        self.send(json.dumps(message, separators=(",  ", ": ")).encode() + b"\n")
        return self.requests

    def batch(self, *requests: tuple[str, dict[str, Any]]) -> list[int]:
        """Sends requests as one batch; their numbers."""
        messages = []
        for method, params in requests:
            self.requests += 1
            messages.append({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params})
        self.send(json.dumps(messages, separators=(",  ", ": ")).encode() + b"\n")
        return [message["id"] for message in messages]

    def messages(self) -> list[dict[str, Any]]:
        return messages_in(self.seen[: self.seen.rfind(b"\n") + 1])

    def answer(self, number: int) -> dict[str, Any]:
        """The result of a request."""

        def answers() -> list[dict[str, Any]]:
            return [
                message for message in self.messages() if message.get("id") == number and "result" in message
            ]

        (message,) = self.until(answers)
        return dict(message["result"])

    def begin(self) -> str:
        return str(self.answer(self.ask("session/new", cwd="/", mcpServers=[]))["sessionId"])

    def prompt(self, session: str, words: str) -> int:
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": words}])

    def turn(self, session: str, words: str) -> str:
        """Why a turn ended."""
        return str(self.answer(self.prompt(session, words))["stopReason"])

    def said(self) -> list[str]:
        """What we said in the place of the agent."""
        updates = [message.get("params", {}).get("update", {}) for message in self.messages()]
        words = [str(update.get("content", {}).get("text", "")) for update in updates if "content" in update]
        return [text.strip() for text in words if MARK in text]

    def received(self) -> list[dict[str, Any]]:
        """What the agent read."""
        return messages_in((self.folder / "agent.in").read_bytes())

    def notes(self) -> list[str]:
        """What the agent was told beside the words of the person, by prompt."""
        if not self.requests:
            return []
        prompts = [m["params"]["prompt"] for m in self.received() if m.get("method") == "session/prompt"]
        return ["\n".join(block["text"] for block in blocks[1:]) for blocks in prompts]

    def close(self) -> str:
        """Closes the input, waits for the end, and returns what was said on standard error."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        return self.end()

    def end(self) -> str:
        self.process.wait(LATEST_S)
        for reader in self.readers:
            reader.join(LATEST_S)
        return self.errors.decode()

    def watcher(self) -> int:
        """The number of the process that judges."""
        for name in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                parent = (name.parent / "stat").read_text().rpartition(")")[2].split()[1]
                if b"acp_watcher" in name.read_bytes() and int(parent) == self.process.pid:
                    return int(name.parent.name)
        raise AssertionError("nobody watches")


def messages_in(data: bytes) -> list[dict[str, Any]]:
    """The messages of some lines, those of batches, too."""
    values = map(json.loads, data.splitlines())
    return [message for value in values for message in (value if isinstance(value, list) else [value])]


@pytest.fixture
def editor(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[..., Editor]]:
    """Starts the scripted agent, or another, behind `ebbtide acp` with some options."""
    editors: list[Editor] = []

    def start(*options: str, agent: list[str] = AGENT, line: list[str] | None = None) -> Editor:
        editors.append(Editor(line or [*EBBTIDE_ACP, *options, "--", *agent], tmp_path, environment))
        return editors[-1]

    yield start
    for one in editors:
        if one.process.poll() is None:
            one.process.kill()
        one.end()
        for file in (one.process.stdin, one.process.stdout, one.process.stderr):
            with suppress(OSError):
                if file is not None:
                    file.close()


PROMPT = b'{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}'
ODD_LINES = [
    b"",
    b"   ",
    b"\r",
    b"no JSON",
    b"{}",
    b"[]",
    b"null",
    b'{"jsonrpc": "2.0",   "id" : 1e2, "method":"x/unknown", "params": {"a" : [ 1.50 ,true ] } }  ',
    b'[{"jsonrpc":"2.0","id":1,"method":"initialize"},' + PROMPT + b"]",
    '{"jsonrpc":"2.0","method":"session/update","params":{"text":"caf\u00e9 \u20ac \U0001f6a2"}}'.encode(),
    b'{"method":"session/update","params":{"text":"caf\\u00e9 \\ud83d"}}',
    b'{"method":"session/update","params":{"sessionId":"s","update":{"toolCallId":["x"]}}}',
    b'{"method":"session/update","params":{"sessionId":7,"update":[]}}',
    b'{"id":null,"result":null}',
    b'{"id":{"x":1},"method":"session/new"}',
    b'{"id":1,"method":"session/prompt"}',
    b'{"id":1,"method":"session\\/prompt","params":{"sessionId":["s"],"prompt":7}}',
    b'{"id":2,"method":"session\\/prompt","params":{"sessionId":"s","prompt":7}}',
    PROMPT + b"\r",
    b"  " + PROMPT,
    bytes(range(256)).replace(b"\n", b""),
    b"\xff\xfe" * 1000,
    b"[" * 20_000,
    b'{"a":' * 20_000,
    b'{"method":"session/prompt","params":{"x":"' + b"y" * (3 << 20) + b'"}}',
]


def test_bytes_pass_both_ways(editor) -> None:
    """Whatever they are, and the last line without an end."""
    shown = editor("--stop", agent=["cat"])
    data = b"\n".join([*ODD_LINES, *ODD_LINES[:10], b"the end"])
    shown.send(data)
    said = shown.close()
    assert shown.process.returncode == 0, said
    assert shown.seen == data
    assert "lines could not be read." in said


def test_a_line_of_any_size_passes(editor) -> None:
    """Also one that is too long to be judged, and what stands behind it."""
    shown = editor("--stop", agent=["cat"])
    data = b'{"method":"session/prompt","params":{"x":"' + b"y" * (70 << 20) + b'"}}\n' + PROMPT + b"\n"
    shown.send(data)
    shown.close()
    assert shown.process.returncode == 0
    assert shown.seen == data


def test_a_byte_of_the_agent_passes_before_its_line_ends(editor) -> None:
    """Nothing waits for a whole line on the way to the editor."""
    shown = editor(agent=["sh", "-c", "printf half; cat"])
    shown.until(lambda: shown.seen == b"half")
    shown.close()


@pytest.mark.parametrize(("line", "code"), [("exit 7", 7), ("kill -TERM $$", 143), ("exec >&-; exit 0", 0)])
def test_the_exit_code_is_that_of_the_agent(editor, line: str, code: int) -> None:
    """As a shell has it, while the editor keeps its end open."""
    shown = editor(agent=["sh", "-c", line])
    said = shown.end()
    assert shown.process.returncode == code, said
    assert said == "ebbtide: no session received a prompt, so nothing was watched.\n"


def test_options_behind_the_name_are_the_agents(editor) -> None:
    """Also without two dashes."""
    shown = editor(line=[*EBBTIDE_ACP, "echo", "--stop", "-p", "x"])
    shown.end()
    assert shown.seen == b"--stop -p x\n"


def test_a_program_that_is_not_there(editor) -> None:
    """The message names it, and the code is that of wrong usage."""
    shown = editor(agent=["no-such-agent"])
    said = shown.end().splitlines()[0]
    assert shown.process.returncode == 2
    assert said == (
        "ebbtide: no-such-agent: no such program. "
        "Write the command as in a shell: ebbtide acp -- opencode acp"
    )


def wait_for_watcher(shown: Editor) -> None:
    """Has a session loop until a note says that somebody judges."""
    session = shown.begin()
    end = time.monotonic() + LATEST_S
    while not any(shown.notes()):
        assert time.monotonic() < end
        shown.turn(session, "loop 6")


def test_a_healthy_session_is_left_alone(editor) -> None:
    """Sixty calls: both get each other's bytes, and the last line has the verdict and the cost."""
    shown = editor("--stop")
    session = shown.begin()
    assert shown.turn(session, "work 60; cost 0.25; say All is listed.") == "end_turn"
    assert shown.turn(session, "work 3; cost 0.75; say All is listed.") == "end_turn"
    said = shown.close()
    assert shown.seen == (shown.folder / "agent.out").read_bytes()
    assert shown.sent == (shown.folder / "agent.in").read_bytes()
    assert said == f"ebbtide: FINISHED, HEALTHY: $0.75. Session: {session}\n"


def test_a_loop_is_ended(editor) -> None:
    """The editor reads why, and the session goes on with the next prompt, which says what the loop was."""
    shown = editor("--stop")
    session = shown.begin()
    assert shown.turn(session, "loop 5000") == "cancelled"
    (reason,) = shown.said()
    assert reason.startswith("[ebbtide] This run was ended: search ")
    assert "times in a row, same arguments, same result" in reason
    assert shown.turn(session, "work 30; say All is listed.") == "end_turn"
    said = shown.close()
    cancels = [message for message in shown.received() if message["method"] == "session/cancel"]
    assert [message["params"] for message in cancels] == [{"sessionId": session}]
    first, second = shown.notes()
    assert first == ""
    assert second.startswith("[ebbtide] search ")
    assert "Try something else" in second
    assert len(shown.said()) == 1
    assert f"ebbtide: a turn of {session} was ended: search 4 times in a row" in said
    assert "FINISHED, NOISY: cost unknown." in said


def test_without_the_option_a_note_goes_with_the_next_prompt(editor) -> None:
    """The loop goes to its end. All of the prompt but the note is as the editor wrote it, but for spaces."""
    shown = editor()
    wait_for_watcher(shown)
    before = len(shown.notes())
    session = shown.begin()
    assert shown.turn(session, "loop 6; say Nothing is there.") == "end_turn"
    assert shown.turn(session, "say Caf\u00e9.") == "end_turn"
    assert shown.turn(session, "say It is over.") == "end_turn"
    said = shown.close()
    assert shown.seen == (shown.folder / "agent.out").read_bytes()
    first, second, third = shown.notes()[before:]
    assert (first, third) == ("", "")
    assert second == (
        "[ebbtide] search 6 times in a row, same arguments, same result; the loop continued after the "
        "first warning. The same call returned the same result again. Repeating it will not change it. "
        "Try something else, or say what is missing and finish."
    )
    sent = [json.loads(line) for line in shown.sent.splitlines()]
    received = shown.received()
    received[-2]["params"]["prompt"].pop()
    assert received[-4:] == sent[-4:]
    assert f"ebbtide: a turn of {session} would have been ended by --stop: search 4 times" in said


def test_a_loop_that_is_over_is_not_mentioned(editor) -> None:
    """The agent has found its way by itself."""
    shown = editor()
    wait_for_watcher(shown)
    session = shown.begin()
    shown.turn(session, "loop 3; work 5; say All is listed.")
    shown.turn(session, "say Yes.")
    shown.close()
    assert shown.notes()[-2:] == ["", ""]


def test_one_session_does_not_end_another(editor) -> None:
    """Each is judged by itself, and has its own last line."""
    shown = editor("--stop")
    bad, good = shown.begin(), shown.begin()
    assert shown.turn(good, "work 30; say All is listed.") == "end_turn"
    assert shown.turn(bad, "loop 5000") == "cancelled"
    assert shown.turn(good, "work 30; say All is listed.") == "end_turn"
    said = shown.close()
    assert shown.notes() == ["", "", ""]
    assert f"FINISHED, HEALTHY: cost unknown. Session: {good}" in said
    assert f"a turn of {bad} was ended: " in said


def test_the_past_of_a_session_is_not_judged(editor) -> None:
    """It comes again with `session/load`: neither its loop nor its cost is of this run."""
    shown = editor("--stop", "--max-cost", "1")
    shown.answer(shown.ask("session/load", sessionId="old", cwd="/", mcpServers=[]))
    assert shown.turn("old", "work 30; say All is listed.; cost 5.25") == "end_turn"
    said = shown.close()
    assert shown.said() == []
    assert said == "ebbtide: FINISHED, HEALTHY: $0.25. Session: old\n"


def test_a_limit_ends_the_turn(editor) -> None:
    """A healthy agent that costs more than it may."""
    shown = editor("--stop", "--max-cost", "0.50")
    session = shown.begin()
    assert shown.turn(session, "work 3; cost 0.75; work 5000") == "cancelled"
    said = shown.close()
    (reason,) = shown.said()
    assert "$0.75 of $0.50" in reason
    assert f"a turn of {session} was ended: " in said


def test_calls_that_a_person_allows_are_calls(editor) -> None:
    """They begin with the request for permission in some agents."""
    shown = editor("--stop")
    session = shown.begin()
    number = shown.prompt(session, "ask 5000")
    answered = 0
    end = time.monotonic() + LATEST_S
    while not any(message.get("id") == number for message in shown.messages()):
        assert time.monotonic() < end
        asked = [m for m in shown.messages() if m.get("method") == "session/request_permission"]
        for message in asked[answered:]:
            answered += 1
            shown.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode() + b"\n")
        time.sleep(0.01)
    assert shown.answer(number) == {"stopReason": "cancelled"}
    shown.close()


@pytest.mark.parametrize("verb", ["hold", "late"])
def test_a_request_for_permission_ends_with_its_turn(editor, verb: str) -> None:
    """The agent gets the answer of a client that cancels, and the later one of the editor goes nowhere."""
    shown = editor("--stop")
    session = shown.begin()
    assert shown.turn(session, f"{verb} 5000") == "cancelled"
    (asked,) = [m["id"] for m in shown.messages() if m.get("method") == "session/request_permission"]
    answers = [message for message in shown.received() if message.get("id") == asked]
    assert [answer["result"] for answer in answers] == [{"outcome": {"outcome": "cancelled"}}]
    withdrawn = [m["params"] for m in shown.messages() if m.get("method") == "$/cancel_request"]
    assert withdrawn == [{"requestId": asked}]
    late = {"jsonrpc": "2.0", "id": asked, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}
    shown.send(json.dumps(late).encode() + b"\n")
    other = {"jsonrpc": "2.0", "id": "other", "result": {}}
    shown.send(json.dumps([late, other]).encode() + b"\n")
    assert shown.turn(session, "work 3; say All is listed.") == "end_turn"
    shown.close()
    assert [message for message in shown.received() if message.get("id") == asked] == answers
    lines = (shown.folder / "agent.in").read_bytes().splitlines()
    assert [other] in [json.loads(line) for line in lines]


def test_a_request_for_permission_stays_without_the_option(editor) -> None:
    """Nobody ends its turn."""
    shown = editor()
    wait_for_watcher(shown)
    session = shown.begin()
    assert shown.turn(session, "hold 6; say Nothing is there.") == "end_turn"
    (asked,) = [m["id"] for m in shown.messages() if m.get("method") == "session/request_permission"]
    answer = {"jsonrpc": "2.0", "id": asked, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}
    shown.send(json.dumps(answer).encode() + b"\n")
    shown.close()
    assert [message for message in shown.received() if message.get("id") == asked] == [answer]
    assert not [m for m in shown.messages() if m.get("method") == "$/cancel_request"]


def test_messages_of_a_batch_are_judged(editor) -> None:
    """In both directions: a loop in batches of updates ends a turn, and notes go into a batch of prompts."""
    shown = editor("--stop")
    bad, good = shown.begin(), shown.begin()
    numbers = shown.batch(
        ("session/prompt", {"sessionId": good, "prompt": [{"type": "text", "text": "work 3"}]}),
        ("session/prompt", {"sessionId": bad, "prompt": [{"type": "text", "text": "pack 9; loop 5000"}]}),
    )
    assert [shown.answer(number)["stopReason"] for number in numbers] == ["end_turn", "cancelled"]
    (reason,) = shown.said()
    assert "times in a row, same arguments, same result" in reason
    numbers = shown.batch(
        ("session/prompt", {"sessionId": good, "prompt": [{"type": "text", "text": "work 3"}]}),
        ("session/prompt", {"sessionId": bad, "prompt": [{"type": "text", "text": "work 3"}]}),
    )
    assert [shown.answer(number)["stopReason"] for number in numbers] == ["end_turn", "end_turn"]
    said = shown.close()
    first, second, third, fourth = shown.notes()
    assert (first, second, third) == ("", "", "")
    assert fourth.startswith("[ebbtide] search ")
    assert json.loads((shown.folder / "agent.in").read_bytes().splitlines()[-1])[0]["params"] == {
        "sessionId": good,
        "prompt": [{"type": "text", "text": "work 3"}],
    }
    assert f"a turn of {bad} was ended: search " in said
    assert "could not be read" not in said


def test_an_agent_that_dies_is_reported(editor) -> None:
    """In the middle of a turn, while the editor waits."""
    shown = editor("--stop")
    session = shown.begin()
    shown.prompt(session, "work 3; die")
    said = shown.end()
    assert shown.process.returncode == 3
    assert said == f"ebbtide: CUT OFF: cost unknown. Session: {session}\n"


def test_an_editor_that_goes_away_ends_the_agent(editor) -> None:
    """As it would without us: the agent cannot write any more."""
    shown = editor(agent=["sh", "-c", "while echo on; do sleep 0.05; done"])
    shown.until(lambda: b"on" in shown.seen)
    assert shown.process.stdout is not None
    keeper = os.dup(shown.process.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, shown.process.stdout.fileno())
    os.close(keeper)
    os.close(nowhere)
    shown.process.wait(LATEST_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_agent(editor, number: signal.Signals) -> None:
    """As from a terminal, or from an editor that ends its agents."""
    shown = editor(agent=["sh", "-c", "echo ready; exec sleep 60"])
    shown.until(lambda: b"ready" in shown.seen)
    shown.process.send_signal(number)
    shown.end()
    assert shown.process.returncode == 128 + number


@needs_proc
def test_the_agent_goes_on_where_the_watch_fails(editor) -> None:
    """It is killed in the middle of a turn: bytes pass, and one line says so."""
    shown = editor("--stop")
    session = shown.begin()
    number = shown.prompt(session, "work 200; say All is listed.")
    shown.until(lambda: b"call-9" in shown.seen)
    os.kill(shown.watcher(), signal.SIGKILL)
    assert shown.answer(number) == {"stopReason": "end_turn"}
    assert shown.turn(session, "loop 20") == "end_turn"
    said = shown.close()
    assert shown.process.returncode == 0
    assert shown.seen == (shown.folder / "agent.out").read_bytes()
    assert shown.sent == (shown.folder / "agent.in").read_bytes()
    assert said == "ebbtide: the session was not watched to its end; the agent was not affected\n"


@needs_proc
def test_the_agent_goes_on_where_the_watch_hangs(editor) -> None:
    """A prompt waits for its note for two seconds at most."""
    shown = editor("--stop")
    session = shown.begin()
    shown.turn(session, "work 3")
    watcher = shown.watcher()
    os.kill(watcher, signal.SIGSTOP)
    begin = time.monotonic()
    assert shown.turn(session, "loop 20") == "end_turn"
    assert time.monotonic() - begin < 20
    os.kill(watcher, signal.SIGKILL)
    said = shown.close()
    assert shown.sent == (shown.folder / "agent.in").read_bytes()
    assert said == "ebbtide: the session was not watched to its end; the agent was not affected\n"


def test_the_agent_runs_where_nothing_can_watch_it(editor) -> None:
    """One line says so."""
    program = "import sys; sys.executable = '/nowhere'; from ebbtide.cli.app import main; main()"
    shown = editor(line=[sys.executable, "-P", "-c", program, "acp", "--", *AGENT])
    session = shown.begin()
    assert shown.turn(session, "loop 20") == "end_turn"
    said = shown.close()
    assert shown.process.returncode == 0
    assert said == "ebbtide: the agent is not watched, and nothing ends it: No such file or directory\n"


def test_standard_error_may_be_closed(tmp_path: Path, environment: dict[str, str]) -> None:
    """The last lines have no reader then, and the code is that of the agent."""
    pipe = subprocess.PIPE
    line = [*EBBTIDE_ACP, "--", "sh", "-c", "cat; exit 7"]
    process = subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd=tmp_path)
    assert process.stderr is not None
    process.stderr.close()
    output = process.communicate(b"no JSON\n", timeout=LATEST_S)[0]
    assert (process.returncode, output) == (7, b"no JSON\n")


def test_pipes_that_do_not_wait_are_no_end(tmp_path: Path, environment: dict[str, str]) -> None:
    """Some editors leave theirs so: one that is empty, or full, is not closed."""
    (given, to_us), (from_us, output) = os.pipe(), os.pipe()
    for descriptor in (given, output):
        os.set_blocking(descriptor, False)
    line = [*EBBTIDE_ACP, "--", "sh", "-c", "head -c 1000000 /dev/zero; cat"]
    process = subprocess.Popen(
        line, stdin=given, stdout=output, stderr=subprocess.DEVNULL, env=environment, cwd=tmp_path
    )
    os.close(given)
    os.close(output)
    held, end = b"", time.monotonic() + LATEST_S
    while int.from_bytes(held, sys.byteorder) < 60_000:
        assert time.monotonic() < end
        held = ioctl(from_us, FIONREAD, bytes(4))
        time.sleep(0.01)
    os.write(to_us, b"the end\n")
    os.close(to_us)
    with os.fdopen(from_us, "rb") as file:
        assert file.read() == bytes(1_000_000) + b"the end\n"
    assert process.wait(LATEST_S) == 0


def test_nothing_of_the_folder_is_run(editor, tmp_path: Path) -> None:
    """A module there is none of ours."""
    (tmp_path / "pickle.py").write_text("open('planted', 'w').close()\n")
    shown = editor(agent=["true"])
    assert "no session received a prompt" in shown.end()
    assert not (tmp_path / "planted").exists()
