"""Bytes of an input that grows: a file that is looked at again and again, or standard input."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from ebbtide.traces.agents.opencode_storage import is_in_database
from ebbtide.traces.input.lines import Tail
from ebbtide.traces.input.source import STDIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one look at the input gave.

    Args:
        data: New bytes; empty where there are none yet.
        restarted: The file was emptied, rewritten or replaced: what comes now belongs to a new run.
    """

    data: bytes = b""
    restarted: bool = False


def pieces(
    name: str,
    *,
    poll_s: float = 0.25,
    until_end: bool = False,
    idle_s: float | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[Piece]:
    """What comes in, with an empty piece at every look that found nothing.

    Args:
        name: The file, a session in a database of OpenCode, or ``-`` for standard input, whose end is the
            end.
        poll_s: Seconds between two looks.
        until_end: End where a file ends now, and do not wait for more.
        idle_s: End when nothing came for so many seconds; None waits for ever.
        now: Seconds on any clock.

    Raises:
        TranscriptError: At the start the file cannot be read.
    """
    if name == STDIN:
        looks = _stdin_looks(poll_s)
    else:
        looks = _session_looks(name, poll_s) if is_in_database(name) else _file_looks(name, poll_s)
    last = now()
    with closing(looks):
        for piece in looks:
            yield piece
            if piece.data or piece.restarted:
                last = now()
            elif (until_end and name != STDIN) or (idle_s is not None and now() - last >= idle_s):
                return


def _file_looks(name: str, poll_s: float) -> Generator[Piece, None, None]:
    with closing(Tail(name)) as tail:
        while True:
            data = tail.look()
            yield Piece(restarted=True) if data is None else Piece(data=data)
            if data == b"":
                time.sleep(poll_s)


def _session_looks(name: str, poll_s: float) -> Generator[Piece, None, None]:
    from ebbtide.traces.agents.opencode import SessionTail

    tail = SessionTail(name)
    while True:
        data = tail.look()
        yield Piece(data=data)
        if not data:
            time.sleep(poll_s)


def _stdin_looks(poll_s: float) -> Generator[Piece, None, None]:
    chunks: queue.Queue[bytes] = queue.Queue(maxsize=16)
    descriptor = sys.stdin.fileno()

    def read_chunks() -> None:
        while True:
            data = os.read(descriptor, 1 << 16)
            chunks.put(data)
            if not data:
                return

    # A thread, since not every system can wait for a pipe with a time limit.
    threading.Thread(target=read_chunks, daemon=True).start()
    while True:
        try:
            data = chunks.get(timeout=poll_s)
        except queue.Empty:
            yield Piece()
            continue
        if not data:
            return
        yield Piece(data=data)
