"""The processes of an agent, to which signals go together."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import Final

_PATIENCE_S: Final = 2.0  # from SIGTERM to SIGKILL for what an agent has left behind
_LOOK_S: Final = 0.02
_PROCESSES: Final = ("ps", "-A", "-o", "pid=,ppid=")


class ProcessFamily:
    """Sends signals to an agent and to what it has started.

    Args:
        agent: Number of its process.
        has_group: True if its group is its own; else it is that of the caller, in which others may be.
    """

    def __init__(self, agent: int, *, has_group: bool) -> None:
        self._agent = agent
        self._has_group = has_group
        self._children: set[int] = set()

    def send(self, number: int) -> None:
        """Sends a signal to all."""
        if self._has_group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._agent, number)
            return
        self._children |= _children(self._agent)
        self.send_to_agent(number)
        for child in self._left():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, number)

    def send_to_agent(self, number: int) -> None:
        """Sends a signal to the agent alone."""
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self._agent, number)

    def end_rest(self) -> None:
        """Ends what the agent has left behind; it is over itself."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._send_to_rest(number)
            end = time.monotonic() + _PATIENCE_S
            while self._has_rest():
                if time.monotonic() >= end:
                    break
                time.sleep(_LOOK_S)
            else:
                return

    def _send_to_rest(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self._has_group:
                os.killpg(self._agent, number)
                os.killpg(self._agent, signal.SIGCONT)
        if not self._has_group:
            for child in self._left():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, number)

    def _has_rest(self) -> bool:
        if not self._has_group:
            return bool(self._left())
        try:
            os.killpg(self._agent, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _left(self) -> list[int]:
        """The children that are there, in the group in which they were: their numbers may be others' now."""
        left = []
        for child in self._children:
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(child) == os.getpgrp():
                    left.append(child)
        return left


def _children(agent: int) -> set[int]:
    """Everything below a process, as far as the system tells."""
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            _PROCESSES, capture_output=True, check=False, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.SubprocessError):
        return set()
    pairs = [line.split() for line in done.stdout.splitlines()]
    parents = {int(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2}
    below: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in below | {agent}} - below:
        below |= more
    return below
