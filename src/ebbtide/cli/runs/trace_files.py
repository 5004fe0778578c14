"""Finds the files that a command reads: those named, and those in folders named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.openhands import is_conversation
from ebbtide.traces.agents.session_storage import sessions_at
from ebbtide.traces.input.folder import entries_in
from ebbtide.traces.input.source import STDIN


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFiles:
    """The files that a command is to read.

    Args:
        files: Their paths, in the order of their names.
        from_arguments: Those of them that the command line names.
        refusals: What stands in a folder and cannot be opened.
        several: Whether the answer is a table.
        are_growing: Whether they may be written at this moment, as for `checking.check`.
    """

    files: tuple[str, ...]
    from_arguments: frozenset[str]
    refusals: tuple[TranscriptError, ...]
    several: bool
    are_growing: bool = False

    def without(self, is_ignored: Callable[[str], bool]) -> tuple[TraceFiles, tuple[str, ...]]:
        """These but for the runs that are ignored, and those."""
        ignored = sorted(path for path in self.files if path != STDIN and is_ignored(path))
        files = tuple(path for path in self.files if path not in ignored)
        refusals = tuple(error for error in self.refusals if not is_ignored(str(error.source)))
        return dataclasses.replace(self, files=files, refusals=refusals), tuple(ignored)

    @classmethod
    def of(cls, names: Sequence[str]) -> TraceFiles:
        """The files behind names; as for `entries_in`, hidden ones and links to folders are passed over.

        A database of an agent stands for its sessions.

        Raises:
            TranscriptError: A folder holds no file, or standard input is named beside something else.
        """
        if STDIN in names and len(names) > 1:
            raise TranscriptError("- cannot be one of several inputs", hint="Give files, or - alone.")
        files: list[str] = []
        arguments: list[str] = []
        refusals: list[TranscriptError] = []
        for name in names:
            if len(sessions := sessions_at(name)) > 1:
                files += sessions
                continue
            if name == STDIN or not Path(name).is_dir() or is_conversation(name):
                files.append(name)
                arguments.append(name)
                continue
            inside = list(entries_in(name, is_one=is_conversation))
            if not inside:
                raise TranscriptError("there is no file in this folder", source=name)
            files += [path for entry in inside if entry.refusal is None for path in sessions_at(entry.path)]
            refusals += [entry.refusal for entry in inside if entry.refusal is not None]
        return cls(
            files=tuple(dict.fromkeys(files)),
            from_arguments=frozenset(arguments),
            refusals=tuple(refusals),
            several=len(names) > 1 or len(arguments) < len(names),
        )
