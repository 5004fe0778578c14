"""A process that watches beside an agent, started and heard: none of its work delays the agent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Final

from ebbtide.cli.wrapper.messages import WatcherMessage

PATIENCE_S: Final = 30.0  #: for the last sentence about a session
UNWATCHED: Final = "the session was not watched to its end; the agent was not affected"


class WatcherProcess:
    """Starts a process that watches, and takes its messages.

    Args:
        module: Its module, which finds its job pickled at the start of its standard input.
        job: That input, or `subprocess.PIPE` for one that is written to later.
        take: Takes each message.
        descriptors: Descriptors that it inherits.

    Attributes:
        input: Its standard input, where that is a pipe.
        output: Descriptor of its standard output.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self,
        module: str,
        job: IO[bytes] | int,
        take: Callable[[WatcherMessage], None],
        descriptors: Sequence[int] = (),
    ) -> None:
        self._take = take
        self._rest = b""
        self._process = subprocess.Popen(  # noqa: S603 - a module of ours
            [sys.executable, "-P", "-m", module],
            stdin=job,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors,
            start_new_session=True,  # a Ctrl-C is for the agent
        )
        self.input, self._process.stdin = self._process.stdin, None  # `communicate` would flush it
        output = self._process.stdout
        self.output = None if output is None else output.fileno()

    def hear(self, data: bytes) -> None:
        """Takes what the process writes, a message a line."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            with suppress(KeyError, TypeError, ValueError):
                self._take(WatcherMessage.from_line(line))

    def finish(self) -> None:
        """Lets the process report, and waits for it."""
        try:
            rest, _ = self._process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            rest, _ = self._process.communicate()
        self.hear(rest)

    def kill(self) -> None:
        """Ends the process, which then reports no more."""
        self._process.kill()
