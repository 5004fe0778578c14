"""Which files a command is to read: those named, and those in folders named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.openhands_folder import is_conversation
from ebbtide.traces.input.source import STDIN


def trace_files(names: Sequence[str]) -> tuple[list[str], bool]:
    """The files, in the order of their names, and whether the answer is a table.

    Hidden files and folders inside a folder are passed over, and so are links to folders: they may go round
    in circles.

    Raises:
        TranscriptError: A folder holds no file, or standard input is named beside something else.
    """
    if STDIN in names and len(names) > 1:
        raise TranscriptError("- cannot be one of several inputs", hint="Give files, or - alone.")
    files: list[str] = []
    several = len(names) > 1
    for name in names:
        if name == STDIN or not Path(name).is_dir() or is_conversation(name):
            files.append(name)
            continue
        inside = _inside(name)
        if not inside:
            raise TranscriptError("there is no file in this folder", source=name)
        files += inside
        several = True
    return list(dict.fromkeys(files)), several


def _inside(folder: str) -> list[str]:
    paths = []
    for place, folders, files in os.walk(folder):
        if is_conversation(place):
            paths.append(place)
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [str(Path(place, name)) for name in sorted(files) if not name.startswith(".")]
    return paths
