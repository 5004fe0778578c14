"""An agent in a terminal of its own, led by a process that does for it what a shell does.

On Ctrl-Z the system stops nobody whose group is the first of its session: an agent that is the first process
of its terminal could not go to sleep.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

STOPPED: Final = b"S"  #: what the leader reports when the agent has gone to sleep
PYTHON_IGNORES: Final = (signal.SIGPIPE, signal.SIGXFSZ)  #: and what it starts would do so, too
_NUMBER: Final = 4  # bytes of the number of a process
_FIRST_FREE: Final = 3  # descriptor behind the standard streams
_LAST: Final = 1 << 16
_STDERR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LedAgent:
    """An agent that was started.

    Args:
        leader: The process that leads, which ends as the agent ends.
        group: The group of the agent's processes.
        reports: Descriptor from which `STOPPED` comes.
    """

    leader: int
    group: int
    reports: int


def start_led(command: Sequence[str], terminal: int, *, has_errors: bool) -> LedAgent:
    """Starts an agent.

    Args:
        command: Its command line.
        terminal: The end of a pseudo terminal that is for programs.
        has_errors: True if its standard error goes there too, rather than where that of the caller goes.

    Raises:
        OSError: It cannot be started.
    """
    reports, report = os.pipe()
    try:
        leader = os.fork()
        if leader == 0:
            _lead(command, terminal, report, has_errors=has_errors)
    finally:
        os.close(report)
    number = os.read(reports, _NUMBER)
    if len(number) != _NUMBER:
        os.close(reports)
        os.waitpid(leader, 0)
        raise ChildProcessError("no process can be started")
    return LedAgent(leader=leader, group=int.from_bytes(number, "big"), reports=reports)


def _lead(command: Sequence[str], terminal: int, report: int, *, has_errors: bool) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        errors = None if has_errors else _copy(_STDERR)
        os.login_tty(terminal)
        if errors is not None:
            os.dup2(errors, _STDERR)
        agent = os.fork()
        if agent == 0:
            _become(command)
        with suppress(OSError):  # it has done so itself
            os.setpgid(agent, agent)
        os.write(report, agent.to_bytes(_NUMBER, "big"))
        # The pipes of the caller: what waits for their end would wait for this process.
        os.closerange(_FIRST_FREE, report)
        os.closerange(report + 1, _LAST)
        while True:
            _, status = os.waitpid(agent, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                _end_as(status)
            os.write(report, STOPPED)
    finally:
        os._exit(126)


def _copy(descriptor: int) -> int | None:
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def _become(command: Sequence[str]) -> NoReturn:
    os.setpgid(0, 0)
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, before)
    for number in PYTHON_IGNORES:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], [*command])  # noqa: S606 - no shell
    except OSError as error:
        os.write(_STDERR, f"ebbtide: {command[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _end_as(status: int) -> NoReturn:
    """Ends this process as the agent has ended."""
    if os.WIFEXITED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # nobody can handle SIGKILL
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)
