"""A file that grows, looked at again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Round
from ebbtide.traces.input.tail import Tail
from ebbtide.traces.stream import RoundStream
from ebbtide.traces.transcripts.turns import RoundUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What was new in a file.

    Args:
        rounds: In the order of their numbers.
        errors: Broken lines; what stands around them was read.
        restarted: The file was emptied, rewritten or replaced, and is read from its start. What comes after
            this belongs to a new conversation.
    """

    rounds: tuple[Round, ...] = ()
    errors: tuple[TranscriptError, ...] = ()
    restarted: bool = False


def follow(
    path: str | os.PathLike[str],
    *,
    unit: RoundUnit = RoundUnit.TURN,
    poll_s: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Growth]:
    """What comes into a file of JSON lines, for as long as the caller asks; first what is there already.

    The rounds since the last restart are those that reading the whole file would give; a circle comes when
    the next one begins.

    Args:
        path: The file. It may be emptied, rewritten or replaced meanwhile, or be away for a while.
        unit: What a round is, if the lines do not say so themselves.
        poll_s: Seconds between two looks.
        sleep: Waits so many seconds.

    Raises:
        TranscriptError: At the start the file cannot be read.
    """
    tail = Tail(path)
    stream = RoundStream(unit=unit, source=os.fspath(path))
    with closing(tail):
        while True:
            data = tail.look()
            if data is None:
                stream = RoundStream(unit=unit, source=os.fspath(path))
                yield Growth(restarted=True)
            elif data:
                growth = _growth(stream, data)
                if growth.rounds or growth.errors:
                    yield growth
            else:
                sleep(poll_s)


def _growth(stream: RoundStream, data: bytes) -> Growth:
    rounds: list[Round] = []
    errors: list[TranscriptError] = []
    while True:
        try:
            rounds += stream.feed(data)
        except TranscriptError as error:
            errors.append(error)
            data = b""
        else:
            return Growth(rounds=tuple(rounds), errors=tuple(errors))
