"""The files of what a session started, found beside its own file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_origin import AGENT_OF_FORMAT, SessionOrigin, origin_at

_MOST: Final = 2_000  # files beside it that are looked into


def started_by(path: Path, form: str) -> list[tuple[Path, SessionOrigin]]:
    """The sub-agents and threads of a session, and theirs, that have files of their own.

    Claude Code and Gemini CLI have them in a folder of the session, Codex beside it in that of the day and of
    later ones. Sessions that stand in one database are read with the one that began them. Forks are not
    looked for: any session of the machine may be one.
    """
    agent = AGENT_OF_FORMAT.get(form)
    if agent is CodingAgent.CLAUDE:
        files = _of_claude(path)
    elif agent is CodingAgent.CODEX:
        files = _of_codex(path)
    elif agent is CodingAgent.GEMINI:
        files = _of_gemini(path, form)
    else:
        return []
    own = origin_at(path, form)
    if own is None:
        return []
    origins = []
    for file, _ in zip(files, range(_MOST), strict=False):
        origin = origin_at(file, form)
        if origin is not None and not origin.is_main:
            origins.append((file, origin))
    names = {own.id}
    found: dict[Path, SessionOrigin] = {}
    while True:
        more = [item for item in origins if item[0] not in found and item[1].parent in names]
        if not more:
            return list(found.items())
        found.update(more)
        names.update(origin.id for _, origin in more)


def _of_claude(path: Path) -> Iterator[Path]:
    yield from _files(path.with_name(path.name.partition(".json")[0]) / "subagents", "**/agent-*.jsonl")
    if not path.name.startswith("agent-"):
        yield from _files(path.parent, "agent-*.jsonl")


def _of_codex(path: Path) -> Iterator[Path]:
    """Rollouts of the same day, and of later days of the same month: names begin with the time."""
    if not path.name.startswith("rollout-"):
        return
    later = (folder for folder in _folders(path.parent.parent) if folder.name >= path.parent.name)
    for folder in sorted(later) if path.parent.name.isdigit() else (path.parent,):
        for file in _files(folder, "rollout-*.jsonl*"):
            if file.name > path.name:
                yield file


def _of_gemini(path: Path, form: str) -> Iterator[Path]:
    origin = origin_at(path, form)
    if origin is not None:
        yield from _files(path.parent / origin.id, "*.jsonl")


def _files(folder: Path, pattern: str) -> list[Path]:
    with suppress(OSError, ValueError):
        return sorted(file for file in folder.glob(pattern) if file.is_file())
    return []


def _folders(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir()]
    return []
