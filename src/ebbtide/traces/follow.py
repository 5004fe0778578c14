"""A file that grows, looked at again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from ebbtide.convergence.transcript import Round
from ebbtide.errors import TranscriptError
from ebbtide.traces.source import readable
from ebbtide.traces.stream import RoundStream
from ebbtide.traces.turns import RoundUnit

_CHUNK = 1 << 20
_FINGERPRINT = 64  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What was new in a file.

    Args:
        rounds: In the order of their numbers.
        errors: Broken lines; what stands around them was read.
        restarted: The file was emptied, rewritten or replaced, and is read from its start: with this growth a
            new conversation begins.
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
    with readable(path):
        file = FileIO(path)
    stream = RoundStream(unit=unit, source=os.fspath(path))
    last = b""
    try:
        while True:
            restarted = not _goes_on(file, last)
            if not restarted and not (data := file.read(_CHUNK)) and (newer := _replacement(path, file)):
                file.close()
                file, restarted = newer, True
            if restarted:
                file.seek(0)
                stream = RoundStream(unit=unit, source=os.fspath(path))
                data = last = b""
            last = (last + data)[-_FINGERPRINT:]
            growth = _growth(stream, data, restarted=restarted)
            if growth.rounds or growth.errors or restarted:
                yield growth
            if not data and not restarted:
                sleep(poll_s)
    finally:
        file.close()


def _goes_on(file: FileIO, last: bytes) -> bool:
    """Whether what was read last still stands where it stood; the position is behind it again."""
    file.seek(-len(last), os.SEEK_CUR)
    return file.read(len(last)) == last


def _replacement(path: str | os.PathLike[str], file: FileIO) -> FileIO | None:
    """The other file that has the name now; None if it is the same one, or there is none at the moment."""
    try:
        if os.path.samestat(Path(path).stat(), os.fstat(file.fileno())):
            return None
        return FileIO(path)
    except OSError:
        return None


def _growth(stream: RoundStream, data: bytes, *, restarted: bool) -> Growth:
    rounds: list[Round] = []
    errors: list[TranscriptError] = []
    while True:
        try:
            rounds += stream.feed(data)
        except TranscriptError as error:
            errors.append(error)
            data = b""
        else:
            return Growth(rounds=tuple(rounds), errors=tuple(errors), restarted=restarted)
