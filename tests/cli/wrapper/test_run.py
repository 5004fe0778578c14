"""`ebbtide run`: an agent in its terminal, or on pipes, that is watched and may be ended."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from struct import pack

import pytest

AGENT = Path(__file__).parent / "scripted_agent.py"
LATEST_S = 60.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine without sessions, on which a terminal has titles."""
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
        "EBBTIDE_STATE": str(tmp_path / "state"),
    }


@pytest.fixture
def piped(tmp_path: Path, environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs a command line behind `ebbtide run`, on pipes."""

    def run(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "ebbtide", "run", *words],
            input=given,
            capture_output=True,
            env=environment,
            cwd=tmp_path,
            timeout=LATEST_S,
            check=False,
        )

    return run


class Terminal:
    """A terminal of 30 by 100, in which a command line runs behind `ebbtide run`."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            line = [sys.executable, "-m", "ebbtide", "run", *words]
            os.execve(sys.executable, line, environment)  # noqa: S606 - no shell
        self.resize(30, 100)

    def resize(self, rows: int, columns: int) -> None:
        ioctl(self.fd, termios.TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def send(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def until(self, words: bytes) -> bytes:
        """What is shown until these words come."""
        end = time.monotonic() + LATEST_S
        while words not in self.seen:
            assert time.monotonic() < end, self.seen[-2_000:]
            if not self._read():
                break
        assert words in self.seen, self.seen[-2_000:]
        return self.seen

    def end(self) -> int:
        """The exit code."""
        end = time.monotonic() + LATEST_S
        while True:
            assert time.monotonic() < end, self.seen[-2_000:]
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self._read():
                    pass
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            self._read()

    def _read(self) -> bool:
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)


@pytest.fixture
def terminal(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Terminal]:
    """Opens a terminal with a command line behind `ebbtide run`."""
    return lambda *words: Terminal(list(words), tmp_path, environment)


def test_pipes_pass_through_byte_for_byte(piped) -> None:
    """Nothing is added to the output: what is said stands on standard error."""
    data = bytes(range(256)) * 4_000
    process = piped("--", "cat", given=data)
    assert (process.returncode, process.stdout == data) == (0, True)
    assert b"no session of a coding agent was written here" in process.stderr


@pytest.mark.parametrize(("line", "code"), [("exit 7", 7), ("kill -TERM $$", 143), ("yes | head -1", 0)])
def test_the_exit_code_is_that_of_the_agent(piped, line: str, code: int) -> None:
    """As a shell has it; and a broken pipe ends what writes to one."""
    assert piped("--", "sh", "-c", line).returncode == code


def test_options_behind_the_name_are_the_agents(piped) -> None:
    """Also without two dashes."""
    assert piped("echo", "--stop", "-p", "x").stdout == b"--stop -p x\n"


def test_a_program_that_is_not_there(piped) -> None:
    """The message names it, and the code is that of wrong usage."""
    process = piped("--", "no-such-agent")
    assert (process.returncode, process.stderr.splitlines()[0]) == (
        2,
        b"ebbtide: no-such-agent: no such program. Write the agent as in a shell: ebbtide run -- claude",
    )


def test_a_healthy_run_is_left_alone(piped) -> None:
    """Sixty calls: the last line has its verdict, its cost and its session."""
    process = piped("--stop", "--", sys.executable, str(AGENT), "work", "60")
    assert (process.returncode, process.stdout) == (0, b"done\n"), process.stderr
    said = process.stderr.decode()
    assert re.search(r"FINISHED, HEALTHY: .*\$0\.\d+.* Session: \S+\.jsonl", said), said


@pytest.mark.parametrize("what", ["loop", "deaf"])
def test_a_loop_is_ended(piped, what: str) -> None:
    """Also where the agent refuses to go; long before it would end by itself."""
    begin = time.monotonic()
    process = piped("--stop", "--", sys.executable, str(AGENT), what, "500")
    assert process.returncode == 60, process.stderr
    said = process.stderr.decode()
    assert "the run was ended: " in said
    assert "same arguments, same answer" in said
    assert b"done" not in process.stdout
    assert time.monotonic() - begin < 45


def test_without_the_option_nothing_is_ended(piped) -> None:
    """The loop goes to its end, and the last line says what it was."""
    process = piped("--", sys.executable, str(AGENT), "loop", "12")
    assert (process.returncode, process.stdout) == (0, b"done\n")
    said = process.stderr.decode()
    assert "--stop would have ended it: " in said
    assert "FINISHED, NOISY: " in said


def test_a_limit_ends_the_run(piped) -> None:
    """A healthy agent that costs more than it may."""
    process = piped("--stop", "--max-steps", "5", "--", sys.executable, str(AGENT), "work", "3000")
    assert process.returncode == 60, process.stderr
    assert b"the run was ended: " in process.stderr


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs /proc to find the process that watches"
)
def test_the_agent_goes_on_where_the_watch_fails(piped) -> None:
    """Here it kills what watches it: it ends as it would, and one line says so."""
    others = "for p in $(cat /proc/$PPID/task/*/children); do [ $p != $$ ] && kill -9 $p; done"
    process = piped("--stop", "--", "sh", "-c", f"{others}; sleep 1; echo on")
    assert (process.returncode, process.stdout) == (0, b"on\n")
    assert b"the session was not watched to its end; the agent was not touched" in process.stderr


def with_interpreter(path: str) -> list[str]:
    """`ebbtide run` where another program is started for the process that watches."""
    program = f"import sys; sys.executable = {path!r}; from ebbtide.cli.app import main; main()"
    return [sys.executable, "-P", "-c", program, "run"]


def test_the_agent_runs_where_nothing_can_watch_it(tmp_path: Path, environment: dict[str, str]) -> None:
    """One line says so."""
    line = [*with_interpreter(str(tmp_path / "gone")), "--stop", "--", "sh", "-c", "echo on; exit 7"]
    process = subprocess.run(
        line, capture_output=True, env=environment, cwd=tmp_path, timeout=LATEST_S, check=False
    )
    assert (process.returncode, process.stdout) == (7, b"on\n"), process.stderr
    said = process.stderr.decode().splitlines()
    assert said == ["ebbtide: the agent is not watched, and nothing ends it: No such file or directory"]


def test_many_old_sessions_do_not_hold_the_agent_up(tmp_path: Path, environment: dict[str, str]) -> None:
    """What watches is slow here: it begins when the agent is over, and gets more than a pipe holds."""
    folder = tmp_path / ".claude" / "projects" / "-old"
    folder.mkdir(parents=True)
    for number in range(2_000):
        (folder / f"{number:064}.jsonl").write_text("{}\n")
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.05; done\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    process = subprocess.run(
        [*with_interpreter(str(slow)), "--", "touch", "go"],
        capture_output=True,
        env=environment,
        cwd=tmp_path,
        timeout=LATEST_S,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert b"no session of a coding agent was written here" in process.stderr


def test_nothing_of_the_folder_is_run(piped, tmp_path: Path) -> None:
    """A module there is none of ours."""
    (tmp_path / "pickle.py").write_text("open('planted', 'w').close()\n")
    process = piped("--", "true")
    assert b"no session of a coding agent was written here" in process.stderr
    assert not (tmp_path / "planted").exists()


def test_a_signal_without_a_terminal_reaches_the_agent(tmp_path: Path, environment: dict[str, str]) -> None:
    """As from a supervisor, or from CI."""
    line = [sys.executable, "-P", "-m", "ebbtide", "run", "--", "sh", "-c", "echo ready; exec sleep 60"]
    process = subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LATEST_S)
    assert process.returncode == 128 + signal.SIGINT


def test_keys_colours_and_sizes_pass_through(terminal) -> None:
    """The agent has a terminal of the same size, and hears when that changes."""
    program = (
        "import os, shutil, signal, sys\n"
        "signal.signal(signal.SIGWINCH, lambda *_: print('now', *os.get_terminal_size()[::-1], flush=True))\n"
        "print('tty', sys.stdin.isatty(), *os.get_terminal_size()[::-1], '\\x1b[31mred', flush=True)\n"
        "print('got', input(), flush=True)\n"
    )
    shown = terminal("--", sys.executable, "-c", program)
    shown.until(b"tty True 30 100 \x1b[31mred")
    shown.resize(40, 120)
    shown.until(b"now 40 120")
    shown.send("caf\u00e9 \u20ac\r".encode())
    shown.until("got caf\u00e9 \u20ac".encode())
    assert shown.end() == 0


def test_ctrl_c_reaches_the_agent_once(terminal) -> None:
    """It comes from the agent's own terminal."""
    program = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: print('interrupted', flush=True))\n"
        "print('ready', flush=True)\n"
        "time.sleep(1.5); time.sleep(1.5); print('over', flush=True)\n"
    )
    shown = terminal("--", sys.executable, "-c", program)
    shown.until(b"ready")
    shown.send(b"\x03")
    shown.until(b"over")
    assert shown.end() == 0
    assert shown.seen.count(b"interrupted") == 1


def test_the_title_shows_how_the_run_stands(terminal) -> None:
    """While it goes on; a Ctrl-C ends it, and the last line says what it was."""
    shown = terminal("--", sys.executable, str(AGENT), "work", "6000")
    shown.until(b"\x1b]2;ebbtide: GOING ON")
    shown.send(b"\x03")
    assert shown.end() == 128 + signal.SIGINT
    assert re.search(rb"ebbtide: CUT OFF.* Session: ", shown.seen, re.DOTALL)


def test_a_loop_in_a_terminal_is_ended(terminal) -> None:
    """The terminal is as it was, and says why."""
    shown = terminal("--stop", "--", sys.executable, str(AGENT), "loop", "500")
    assert shown.end() == 60
    assert b"the run was ended: WebSearch 4 times in a row" in shown.seen
