"""The one file that a command reads: a folder is refused with what to do instead."""

from __future__ import annotations

import os

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.source import STDIN


def single_file(name: str, advice: str) -> str:
    """The name of the file, or of a folder that holds one run.

    Raises:
        TranscriptError: It is a folder of files; `advice` says in a sentence what to do with it.
    """
    if name != STDIN and os.path.isdir(name):  # noqa: PTH112 - pathlib takes long to load
        from ebbtide.traces.agents.openhands import is_conversation

        if not is_conversation(name):
            raise TranscriptError(
                "this is a folder, and the command reads one file", source=name, hint=advice
            )
    return name
