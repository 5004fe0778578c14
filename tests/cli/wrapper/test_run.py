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

EBBTIDE_RUN = [sys.executable, "-P", "-m", "ebbtide", "run"]
AGENT = Path(__file__).parent / "scripted_agent.py"
OPENCODE = AGENT.with_name("scripted_opencode.py")
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
    """A terminal of 30 by 100, in which a command line runs."""

    def __init__(self, line: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(line[0], line, environment)  # noqa: S606 - no shell
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
            if not self.read():
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
                while self.read():
                    pass
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            self.read()

    def read_for(self, duration_s: float) -> None:
        """Takes what is shown in that time."""
        end = time.monotonic() + duration_s
        while time.monotonic() < end:
            self.read()

    def read(self) -> bool:
        """Takes what is shown; False at its end."""
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
    return lambda *words: Terminal([*EBBTIDE_RUN, *words], tmp_path, environment)


@pytest.fixture
def shell(tmp_path: Path, environment: dict[str, str]) -> Callable[[str], Terminal]:
    """Opens a terminal with a shell, for which $RUN is `ebbtide run`."""
    known = {**environment, "RUN": " ".join(EBBTIDE_RUN), "PYTHON": sys.executable}
    return lambda script: Terminal(["sh", "-c", script], tmp_path, known)


def test_pipes_pass_through_byte_for_byte(piped) -> None:
    """Nothing is added to the output: what is said stands on standard error."""
    data = bytes(range(256)) * 4_000
    process = piped("--", "cat", given=data)
    assert (process.returncode, process.stdout == data) == (0, True)
    assert b"no coding agent session was written here" in process.stderr


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
        b"ebbtide: no-such-agent: no such program. Write the command as in a shell: ebbtide run -- claude",
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
    assert "same arguments, same result" in said
    assert b"done" not in process.stdout
    assert time.monotonic() - begin < 45


def test_a_loop_in_a_session_of_many_files_is_ended(piped) -> None:
    """OpenCode 1.0 writes a file for each message and each part."""
    process = piped("--stop", "--", sys.executable, str(OPENCODE), "500")
    assert process.returncode == 60, process.stderr
    said = process.stderr.decode()
    assert "the run was ended: " in said
    assert "same arguments, same result" in said
    assert "storage/session/project/ses_0.json" in said


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
    assert b"the session was not watched to its end; the agent was not affected" in process.stderr


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
    assert b"no coding agent session was written here" in process.stderr


def test_nothing_of_the_folder_is_run(piped, tmp_path: Path) -> None:
    """A module there is none of ours."""
    (tmp_path / "pickle.py").write_text("open('planted', 'w').close()\n")
    process = piped("--", "true")
    assert b"no coding agent session was written here" in process.stderr
    assert not (tmp_path / "planted").exists()


def is_there(number: int) -> bool:
    """True if a process runs; one that is over and that nobody asked for is not counted."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, check=False)
    return done.stdout.strip()[:1] not in (b"", b"Z")


@pytest.mark.parametrize("has_terminal", [False, True])
def test_what_the_agent_has_started_ends_with_it(
    tmp_path: Path, environment: dict[str, str], has_terminal: bool
) -> None:
    """A shell keeps Ctrl-C from what runs behind. Where there is a terminal, it gives the input alone."""
    line = f"sleep 300 & echo $! > child; {sys.executable} {AGENT} loop 500; wait"
    master, slave = pty.openpty()
    try:
        process = subprocess.run(
            [*EBBTIDE_RUN, "--stop", "--", "sh", "-c", line],
            stdin=slave if has_terminal else subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            cwd=tmp_path,
            timeout=LATEST_S,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    assert process.returncode == 60, process.stderr
    assert not is_there(int((tmp_path / "child").read_text()))


def test_keys_reach_an_agent_that_reads_a_pipe(shell, tmp_path: Path) -> None:
    """The terminal sends Ctrl-Z and Ctrl-C to what has started the agent."""
    (tmp_path / "agent.py").write_text(
        "import signal, time\n"
        "signal.signal(signal.SIGCONT, lambda *_: print('awake', flush=True))\n"
        "print('ready', flush=True)\n"
        "try:\n    while True: time.sleep(0.1)\n"
        "except KeyboardInterrupt: print('heard', flush=True)\n"
    )
    shown = shell("set -m; echo words | $RUN -- $PYTHON agent.py; echo stopped; fg; echo over")
    shown.until(b"ready")
    shown.send(b"\x1a")
    shown.until(b"stopped")
    shown.until(b"awake")
    shown.send(b"\x03")
    shown.until(b"heard")
    shown.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_without_a_terminal_reaches_the_agent(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    """As from a supervisor, or from CI."""
    line = [*EBBTIDE_RUN, "--", "sh", "-c", "echo ready; exec sleep 60"]
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
    process.send_signal(number)
    process.communicate(timeout=LATEST_S)
    assert process.returncode == 128 + number


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


def test_standard_error_that_goes_elsewhere_stays_there(shell, tmp_path: Path) -> None:
    """Standard output is a terminal, and a file takes what the agent says beside."""
    shown = shell("$RUN -- sh -c 'test -t 1 && echo out; echo beside >&2' 2>errors")
    assert shown.end() == 0
    assert b"out" in shown.seen
    assert b"beside" not in shown.seen
    assert (tmp_path / "errors").read_text().splitlines()[0] == "beside"


MODES = r"\033[?1049h\033[?25l\033[?2004h\033[?1000;1006h\033[>1uworks"


def test_the_terminal_is_put_back_after_a_killed_agent(shell, tmp_path: Path) -> None:
    """Its screen, its cursor, its keys and its mouse, its title, and what `stty` knows."""
    shown = shell(f"stty -g >a; $RUN -- sh -c 'printf \"{MODES}\"; kill -9 $$'; echo $?; stty -g >b")
    assert shown.end() == 0
    before, after = shown.seen.split(b"works")
    assert b"\x1b[22;2t" in before
    for undone in (b"[?1049l", b"[?25h", b"[?2004l", b"[?1000l", b"[?1006l", b"[<1u", b"[0m", b"[23;2t"):
        assert b"\x1b" + undone in after
    assert b"137" in after
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


def test_modes_of_an_agent_that_ends_itself_are_its_own(shell) -> None:
    """Some programs set them for others."""
    shown = shell(f"$RUN -- printf '{MODES}'")
    assert shown.end() == 0
    assert b"\x1b[?1049l" not in shown.seen


SLEEPERS = {
    "nothing": "",
    "handler": (
        "def sleep(*_):\n"
        "    print('good night', flush=True)\n"
        "    signal.signal(signal.SIGTSTP, signal.SIG_DFL)\n"
        "    os.kill(0, signal.SIGTSTP)\n"
        "signal.signal(signal.SIGTSTP, sleep)\n"
    ),
}


@pytest.mark.parametrize("kind", SLEEPERS)
def test_ctrl_z_stops_the_agent_and_its_caller(shell, tmp_path: Path, kind: str) -> None:
    """The agent as it wants to be; the terminal is meanwhile exactly as it was before."""
    (tmp_path / "agent.py").write_text(
        f"import os, signal, sys\n{SLEEPERS[kind]}"
        "signal.signal(signal.SIGCONT, lambda *_: print('awake', flush=True))\n"
        "print('ready', flush=True)\n"
        "print('got', sys.stdin.readline(), flush=True)\n"
    )
    shown = shell(
        "set -m; stty -icrnl -echo; stty -g >a; $RUN -- $PYTHON agent.py; stty -g >b; echo stopped; "
        "fg; stty -g >c; echo over"
    )
    shown.until(b"ready")
    shown.send(b"\x1a")
    shown.until(b"stopped")
    shown.until(b"awake")
    shown.send(b"a line\n")
    shown.until(b"got a line")
    shown.until(b"over")
    shown.end()
    assert (b"good night" in shown.seen) == (kind == "handler")
    modes = {(tmp_path / name).read_text() for name in "abc"}
    assert len(modes) == 1


def test_an_agent_that_ignores_ctrl_z_goes_on(terminal) -> None:
    """As it would alone."""
    program = (
        "import signal\n"
        "signal.signal(signal.SIGTSTP, lambda *_: print('no', flush=True))\n"
        "print('ready', flush=True)\n"
        "print('got', input(), flush=True)\n"
    )
    shown = terminal("--", sys.executable, "-c", program)
    shown.until(b"ready")
    shown.send(b"\x1a")
    shown.until(b"no")
    shown.send(b"a line\r")
    shown.until(b"got a line")
    assert shown.end() == 0


ANSWER_S = 1.1  # a key that comes earlier is taken for one that the person was typing
ASKED = b"ebbtide: paused (Enter or c continues, q ends): WebSearch "


def times_asked(shown: Terminal) -> list[int]:
    """How often the call had been repeated, each time that the person was asked."""
    return [int(count) for count in re.findall(re.escape(ASKED) + rb"(\d+) times", shown.seen)]


def state(tmp_path: Path) -> bytes:
    """The state of the process that writes the session: T is paused."""
    (path,) = tmp_path.glob(".claude/projects/*/*.jsonl")
    line = ["ps", "-o", "stat=", "-p", path.stem.rpartition("-")[2]]
    return subprocess.run(line, capture_output=True, check=True).stdout[:1]


def test_a_loop_is_paused_until_a_key_ends_it(terminal, tmp_path: Path) -> None:
    """A key that was on its way is not the answer; what goes on is asked about when it has grown."""
    shown = terminal("--pause", "--", sys.executable, str(AGENT), "loop", "500")
    shown.until(ASKED)
    shown.send(b"q")
    assert state(tmp_path) == b"T"
    shown.read_for(ANSWER_S)
    first = max(times_asked(shown))
    shown.send(b"\r")
    end = time.monotonic() + LATEST_S
    while max(times_asked(shown)) == first:
        assert time.monotonic() < end
        shown.read()
    assert set(times_asked(shown)) <= {4, 5, 10, 20, 40, 80}
    assert state(tmp_path) == b"T"
    shown.read_for(ANSWER_S)
    shown.send(b"q")
    assert shown.end() == 60
    assert b"the run was ended: WebSearch" in shown.seen


def test_a_paused_run_goes_on_to_its_end(terminal) -> None:
    """The code is that of the agent, and the last lines say what happened."""
    shown = terminal("--pause", "--max-steps", "3", "--", sys.executable, str(AGENT), "work", "300")
    shown.until(b"ebbtide: paused (Enter or c continues, q ends): ")
    shown.read_for(ANSWER_S)
    shown.send(b"c")
    assert shown.end() == 0
    assert b"the run was paused, and continued: " in shown.seen
    assert shown.seen.count(b"ebbtide: paused (") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [("--pause", b"--pause needs a terminal"), ("--pause --stop", b"--pause and --stop cannot be combined")],
)
def test_a_pause_that_cannot_be(piped, words: str, said: bytes) -> None:
    """On pipes nobody could answer; and a run is paused or ended."""
    process = piped(*words.split(), "--", "true")
    assert process.returncode == 2
    assert said in process.stderr
