"""The way of bytes between an editor and an agent: both directions pass through, lines are added between."""

from __future__ import annotations

import json
import os
import pickle
import select
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import IO, Final

from ebbtide.bounded import Bounded
from ebbtide.cli.wrapper.acp_lines import (
    RequestId,
    answers_of,
    cancel_line,
    prompts_of,
    refused_line,
    said_line,
    with_notes,
    withdrawal_line,
    without,
)
from ebbtide.cli.wrapper.watcher_process import MessageKind, WatcherMessage
from ebbtide.errors import error_text
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

EDITOR: Final = b"e"  #: says that the bytes behind it are of the editor
AGENT: Final = b"a"  #: likewise of the agent
HEAD: Final = struct.Struct("=cI")  #: whose they are, and their number
LONGEST: Final = 32 << 20  #: bytes of a line that is held until it is whole, and that is judged
_READ: Final = 1 << 16  # bytes at once
_MOST_WAITING: Final = 64 << 20  # bytes that the process that watches may be behind
_NOTE_S: Final = 2.0  # that a prompt waits for its note at most, where the process that watches is behind
_MOST_REQUESTS: Final = 1000  # whose ids are remembered
_DRAIN_S: Final = 5.0  # that an editor has to read what an agent wrote before its end
_STDIN, _STDOUT = 0, 1
_BEHIND: Final = "the sessions are no longer watched, because that takes too long; the agent is not affected"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpWatchJob:
    """The work of the process that watches, which finds it pickled in its standard input, before the lines.

    Args:
        options: By what each session is judged.
        stops: True if a turn is to be cancelled in which a run is to end.
    """

    options: RunOptions
    stops: bool


class LineWriter:
    """Writes what passes through to a descriptor, and puts lines of its own between whole lines."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._is_inside = False  # of a line

    def write(self, data: bytes) -> None:
        """Writes some bytes.

        Raises:
            OSError: Nobody reads them.
        """
        with self._lock:
            end = data.find(b"\n") + 1
            if self._waiting and end:
                self._send(b"".join((data[:end], *self._waiting)))
                self._waiting.clear()
                data = data[end:]
                self._is_inside = False
            self._send(data)
            if data:
                self._is_inside = not data.endswith(b"\n")

    def insert(self, line: bytes) -> None:
        """Writes a line as soon as no other one is open.

        Raises:
            OSError: Nobody reads it.
        """
        with self._lock:
            if self._is_inside:
                self._waiting.append(line)
            else:
                self._send(line)

    def close(self) -> None:
        """Closes the descriptor; what comes later is an error, as where nobody reads."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


class AcpRelay:
    """Passes the lines of an editor to an agent and back, and shows them to a process that watches.

    A line of the editor passes when it is whole, so that a prompt can take a note along. Bytes of the agent
    pass as they come.

    Args:
        report: Takes a sentence for the person.

    Attributes:
        agent_pipes: Standard input and output of the agent.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        agent_input, to_agent = os.pipe()
        self._from_agent, agent_output = os.pipe()
        self.agent_pipes = (agent_input, agent_output)
        self._agent, self._editor = LineWriter(to_agent), LineWriter(_STDOUT)
        self._over, self._ends = os.pipe()
        self._report = report
        self._waiting: SimpleQueue[tuple[bytes, bytes] | None] = SimpleQueue()
        self._news = threading.Condition()  # of all below
        self._is_watched = False
        self._bytes = 0  # that wait
        self._prompts = 0
        self._latest: dict[str, int] = {}  # number of the latest prompt, by session
        self._noted = 0  # number of the latest prompt whose note is known
        self._notes: dict[int, str] = {}  # by the numbers of their prompts
        self._stops = False
        self._answered: Bounded[RequestId, None] = Bounded(_MOST_REQUESTS)  # by the editor
        self._refused: Bounded[RequestId, None] = Bounded(_MOST_REQUESTS)  # in the editor's name
        self._orders: SimpleQueue[WatcherMessage] = SimpleQueue()
        self._back = threading.Thread(target=self._to_editor, daemon=True)
        self._feeder: threading.Thread | None = None

    def watch(self, job: AcpWatchJob, watcher: IO[bytes]) -> None:
        """Shows all that passes from now on to a process that watches, whose input is closed at the end."""
        self._is_watched, self._stops = True, job.stops
        self._feeder = threading.Thread(target=self._feed, args=(job, watcher), daemon=True)
        self._feeder.start()

    def start(self) -> None:
        """Starts to pass bytes on."""
        for descriptor in (_STDIN, _STDOUT):
            with suppress(OSError):  # one that is closed
                os.set_blocking(descriptor, True)  # the editor may have left it otherwise
        self._back.start()
        threading.Thread(target=self._to_agent, daemon=True).start()
        threading.Thread(target=self._obey, daemon=True).start()

    def finish(self) -> bool:
        """Passes on the last bytes of an agent that is over; returns True if all of them can be judged."""
        os.write(self._ends, b".")
        self._back.join(_DRAIN_S)
        _hang_up(_STDOUT, os.O_WRONLY)
        if self._feeder is None:
            return False
        is_whole = self._is_watched
        self._waiting.put(None)
        self._feeder.join(_DRAIN_S)
        return is_whole and not self._feeder.is_alive()

    def take(self, message: WatcherMessage) -> None:
        """Does what a note or a verdict asks for."""
        if message.kind is MessageKind.NOTE:
            with self._news:
                self._noted = message.prompt
                if message.text:
                    self._notes[message.prompt] = message.text
                self._news.notify_all()
        elif message.kind in (MessageKind.VERDICT, MessageKind.PERMISSION):
            # Neither side may be reading, and whoever takes signals must not wait.
            self._orders.put(message)

    def lose_watcher(self) -> None:
        """Notes that nobody judges any more."""
        with self._news:
            self._is_watched = False
            self._news.notify_all()

    def _obey(self) -> None:
        """Does what verdicts ask for, in their order."""
        while True:
            message = self._orders.get()
            with suppress(OSError):
                if message.kind is MessageKind.PERMISSION:
                    self._refuse(message)
                else:
                    self._end_turn(message)

    def _end_turn(self, message: WatcherMessage) -> None:
        if self._latest.get(message.session) == message.prompt:
            self._editor.insert(said_line(message.session, message.text))
        if message.action is Action.STOP and self._latest.get(message.session) == message.prompt:
            self._agent.insert(cancel_line(message.session))

    def _refuse(self, message: WatcherMessage) -> None:
        """Answers an open request for permission, as whoever cancels a turn must."""
        request: RequestId = json.loads(message.text)
        with self._news:
            if request in self._answered or self._latest.get(message.session) != message.prompt:
                return
            self._refused[request] = None
        self._agent.insert(refused_line(request))
        self._editor.insert(withdrawal_line(request))

    def _to_agent(self) -> None:
        rest: list[bytes] = []  # of a line that is not whole
        size = 0
        try:
            while data := os.read(_STDIN, _READ):
                *lines, last = data.split(b"\n")
                for line in lines:
                    self._pass(b"".join((*rest, line, b"\n")))
                    rest.clear()
                    size = 0
                rest.append(last)
                size += len(last)
                if size > LONGEST:
                    self._pass(b"".join(rest))
                    rest.clear()
                    size = 0
            self._pass(b"".join(rest))
        except OSError:  # the agent reads no more: the editor hears of that as if it wrote to the agent
            _hang_up(_STDIN, os.O_RDONLY)
        with suppress(OSError):
            self._agent.close()

    def _pass(self, line: bytes) -> None:
        """Passes a line to the agent, with notes for its prompts, and without answers that are too late."""
        numbers = {}  # of prompts that may have a note, by their places
        with self._news:
            for place, session in prompts_of(line).items():
                self._prompts += 1
                if session in self._latest:
                    numbers[place] = self._prompts
                self._latest[session] = self._prompts
        self._show(EDITOR, line)
        late = self._late_answers(line) if self._stops else []
        if notes := self._notes_of(numbers):
            try:
                line = with_notes(line, notes)
            except Exception as error:  # noqa: BLE001 - the agent does not notice
                self._report(
                    f"a note could not be delivered: {error_text(error)}; the prompt was not changed"
                )
        self._agent.write(without(line, late))

    def _notes_of(self, numbers: Mapping[int, int]) -> dict[int, str]:
        """Returns the notes for prompts, which may take a moment, by their places."""
        if not numbers:
            return {}
        last = max(numbers.values())
        with self._news:
            self._news.wait_for(lambda: self._noted >= last or not self._is_watched, _NOTE_S)
            known, self._notes = self._notes, {}
        return {place: known[number] for place, number in numbers.items() if number in known}

    def _late_answers(self, line: bytes) -> list[int]:
        """Returns the places of answers to requests that were answered before; remembers the others."""
        answers = answers_of(line)
        with self._news:
            for request in answers.values():
                if request not in self._refused:
                    self._answered.renew(request, None)
            return [place for place, request in answers.items() if request in self._refused]

    def _to_editor(self) -> None:
        looks = select.poll()
        looks.register(self._from_agent, select.POLLIN)
        looks.register(self._over, select.POLLIN)
        with suppress(OSError):  # the editor reads no more, or nothing more is there
            while True:
                if any(descriptor == self._over for descriptor, _ in looks.poll()):
                    os.set_blocking(self._from_agent, False)  # others may have the other end open
                data = os.read(self._from_agent, _READ)
                if not data:
                    break
                self._editor.write(data)
                self._show(AGENT, data)
        os.close(self._from_agent)
        _hang_up(_STDOUT, os.O_WRONLY)

    def _show(self, side: bytes, data: bytes) -> None:
        """Puts bytes in line for the process that watches."""
        with self._news:
            if not self._is_watched:
                return
            self._bytes += len(data)
            self._is_watched = self._bytes <= _MOST_WAITING
            if self._is_watched:
                self._waiting.put((side, data))
                return
        self._report(_BEHIND)

    def _feed(self, job: AcpWatchJob, watcher: IO[bytes]) -> None:
        with suppress(OSError), watcher:
            pickle.dump(job, watcher)
            watcher.flush()
            while (item := self._waiting.get()) is not None:
                side, data = item
                watcher.write(HEAD.pack(side, len(data)) + data)
                watcher.flush()
                with self._news:
                    self._bytes -= len(data)
        self.lose_watcher()


def _hang_up(descriptor: int, mode: int) -> None:
    """Closes a standard stream for whoever is at its other end, and keeps its number taken."""
    nowhere = os.open(os.devnull, mode)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
