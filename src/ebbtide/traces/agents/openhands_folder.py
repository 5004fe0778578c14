"""A conversation of OpenHands as it stands on disk: a folder with one event a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.session_sniffing import is_openhands_event
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.input.source import readable

_EVENT_FILE = re.compile(r"(?:event-)?(\d+)(?:-[0-9A-Fa-f-]+)?\.json")
_STATE = "base_state.json"
_STATE_EVENT = b'{"kind": "ConversationStateUpdateEvent", "key": "full_state", "value": '
_LARGEST_FIRST = 8 << 20  # bytes of the first event, which has the tools and their descriptions


def is_conversation(path: str | os.PathLike[str]) -> bool:
    """Whether this is such a folder: its event files stand in it, or in its folder ``events``.

    Raises:
        OSError: It cannot be read.
    """
    first = min(_event_files(_events_of(Path(path))), default=None)
    if first is None or first[-1].stat().st_size > _LARGEST_FIRST:
        return False
    with suppress(TranscriptError):
        return is_openhands_event(json_value(_read(first[-1]).decode(errors="replace")))
    return False


def conversation_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The events as JSON lines, by the numbers of their files; at the end the state, which has the costs.

    Args:
        path: A folder for which `is_conversation` holds.

    Raises:
        TranscriptError: A file cannot be read.
    """
    folder = _events_of(Path(path))
    for _, _, file in sorted(_event_files(folder)):
        yield _line(_read(file))
    state = folder.parent / _STATE if folder.name == "events" else folder / _STATE
    if state.is_file():
        yield _line(_STATE_EVENT + _read(state) + b"}")


def _events_of(folder: Path) -> Path:
    inside = folder / "events"
    return inside if inside.is_dir() else folder


def _event_files(folder: Path) -> Iterator[tuple[int, str, Path]]:
    if folder.is_dir():
        for file in folder.iterdir():
            if (match := _EVENT_FILE.fullmatch(file.name)) is not None and file.is_file():
                yield int(match[1]), file.name, file


def _read(file: Path) -> bytes:
    with readable(file):
        return file.read_bytes()


def _line(data: bytes) -> bytes:
    # Line ends stand only between the parts of JSON, never in its texts.
    return data.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
