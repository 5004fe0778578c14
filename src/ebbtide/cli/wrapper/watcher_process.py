"""A process that watches beside an agent, and its messages: none of its work delays the agent."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import IO, Any, Final

import msgspec

from ebbtide.cli.terminal import plain
from ebbtide.errors import error_text
from ebbtide.supervision.ladder import Action
from ebbtide.text.redaction import redact

PATIENCE_S: Final = 30.0  #: for the last sentence about a session
UNWATCHED: Final = "the session was not watched to its end; the agent was not affected"


class MessageKind(StrEnum):
    """The content of a message."""

    STANDING = "standing"  #: the present state of the run, in a few words
    VERDICT = "verdict"  #: the run is to end, or a person is wanted, and why
    REPORT = "report"  #: the outcome of the run
    FAULT = "fault"  #: the reason why a session is not watched
    NOTE = "note"  #: text to put before the model, and empty where there is none
    PERMISSION = "permission"  #: the id of a request for permission in a turn that was ended, as JSON


class WatcherMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the process, a JSON object a line.

    Args:
        kind: Its content.
        text: A sentence or some words, safe for a terminal unless it is a note.
        action: The action of a verdict; None in other messages.
        session: The session that it is about; empty where the agent has only one.
        prompt: Number of the prompt of the session after which it came; 0 where prompts are not seen.
    """

    kind: MessageKind
    text: str
    action: Action | None = None
    session: str = ""
    prompt: int = 0


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
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                self._take(msgspec.json.decode(line, type=WatcherMessage))

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


def send(
    kind: MessageKind, text: str, action: Action | None = None, *, session: str = "", prompt: int = 0
) -> None:
    """Writes a message from inside the process, whose text masks secrets unless it is for a program."""
    is_for_a_program = kind in (MessageKind.NOTE, MessageKind.PERMISSION)
    text = text if is_for_a_program else plain(redact(text))
    message = WatcherMessage(kind=kind, text=text, action=action, session=session, prompt=prompt)
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


def do_job(work: Callable[[Any], None]) -> None:
    """Does the job that is pickled at the start of standard input, inside the process."""
    job = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this one
    try:
        work(job)
    except BrokenPipeError:  # nobody listens any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:  # noqa: BLE001 - whoever holds the agent says so at its end
        send(MessageKind.FAULT, error_text(error))
