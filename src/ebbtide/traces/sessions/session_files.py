"""Files of sessions on this machine, by their names and times alone: only databases are opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import PurePath

from ebbtide.errors import TranscriptError
from ebbtide.traces.sessions.agent_homes import (
    AGENT_HOMES,
    AgentHome,
    CodingAgent,
    SessionPattern,
    folders_of,
)

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    """A file that holds a session, or a part of one; a session in a database is named as if it were one.

    Args:
        agent: Who wrote it.
        path: Its path.
        modified: When it was written last, in seconds since 1970.
        folder: The folder that was searched.
        is_main: Whether it is a session of its own, rather than one of a sub-agent, as far as its name tells.
        obstacle: Why it cannot be read; empty where it can.
    """

    agent: CodingAgent
    path: str
    modified: float
    folder: str
    is_main: bool
    obstacle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedFolder:
    """A folder where an agent keeps sessions.

    Args:
        agent: What people call the agent.
        path: The folder.
        is_there: Whether there is one.
    """

    agent: str
    path: str
    is_there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSearch:
    """Result of a search for the sessions on this machine.

    Args:
        files: Files of sessions that were written late enough, the latest first.
        older: How many main files were not.
        folders: Where was looked.
        unreadable: Folders that could not be looked into, each with the reason.
    """

    files: tuple[SessionFile, ...]
    older: int
    folders: tuple[SearchedFolder, ...]
    unreadable: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        *,
        since: float | None = None,
        agents: Collection[CodingAgent] = (),
    ) -> SessionSearch:
        """Look for files of sessions.

        Empty files are passed over, and so are links to folders inside the folders of an agent: they may go
        round in circles. A file that is there twice, by a link, counts once; so does a session that stands
        in a database and in files.

        Args:
            environment: Variables and their values, as in `os.environ`.
            since: Seconds since 1970; files that were written last before are left out.
            agents: Whose; empty: everybody's.
        """
        files: dict[str, SessionFile] = {}
        identities: set[tuple[int, int]] = set()
        folders: list[SearchedFolder] = []
        unreadable: dict[str, str] = {}
        older = 0
        for home in AGENT_HOMES:
            if agents and home.agent not in agents:
                continue
            for folder in folders_of(home, environment):
                is_there = _is_folder(folder)
                folders.append(SearchedFolder(agent=home.name, path=folder, is_there=is_there))
                if not is_there:
                    continue
                for pattern, path, status in _matches(home, folder, unreadable):
                    identity = (status.st_dev, status.st_ino)
                    if identity in identities:
                        continue
                    for file in _files_at(home.agent, folder, pattern, path, status.st_mtime):
                        name = _stem(file)
                        if name in files:
                            continue
                        if since is not None and file.modified < since:
                            older += pattern.is_main
                            continue
                        identities.add(identity)
                        files[name] = file
        latest_first = sorted(files.values(), key=lambda file: (-file.modified, file.path))
        return cls(
            files=tuple(latest_first),
            older=older,
            folders=tuple(folders),
            unreadable=tuple(sorted(unreadable.items())),
        )


def _files_at(
    agent: CodingAgent, folder: str, pattern: SessionPattern, path: str, modified: float
) -> list[SessionFile]:
    """The session in a file, or those in a database."""
    file = SessionFile(
        agent=agent,
        path=path,
        modified=modified,
        folder=folder,
        is_main=pattern.is_main,
        obstacle=pattern.obstacle,
    )
    if not pattern.is_database:
        return [file]
    from ebbtide.traces.agents.session_storage import stored_sessions

    try:
        sessions = stored_sessions(path)
    except TranscriptError as error:
        return [replace(file, obstacle=". ".join(filter(None, (error.what, error.hint))))]
    return [replace(file, path=session.path, modified=session.modified) for session in sessions]


def _stem(file: SessionFile) -> str:
    """Returns the stem that files of one session share, whatever they are written in."""
    if file.agent is CodingAgent.OPENCODE:
        return PurePath(file.path).stem if PurePath(file.path).stem.startswith("ses_") else file.path
    if file.agent in (CodingAgent.GOOSE, CodingAgent.HERMES):  # by its id, in a database and in files
        path = PurePath(file.path)
        return f"{file.agent.value}:{file.folder}:{path.stem.removeprefix('session_')}"
    return file.path.rpartition(".json")[0] or file.path


def _matches(
    home: AgentHome, folder: str, unreadable: dict[str, str]
) -> Iterator[tuple[SessionPattern, str, os.stat_result]]:
    for pattern in home.patterns:
        for path in _paths(folder, pattern.glob.split("/"), unreadable):
            try:
                status = os.stat(path)  # noqa: PTH116 - a Path of each of many files takes long
            except OSError:  # gone, or a link to nothing
                continue
            if stat.S_ISREG(status.st_mode) and status.st_size:
                yield pattern, path, status


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - Path raises where somebody may not look


def _paths(folder: str, parts: list[str], unreadable: dict[str, str]) -> Iterator[str]:
    """Paths below a folder that fit; only folders on the way to them are looked into."""
    first, *rest = parts
    if rest and not _WILD & set(first):
        below = f"{folder}{os.sep}{first}"
        if _is_folder(below) and not os.path.islink(below):  # noqa: PTH114
            yield from _paths(below, rest, unreadable)
        return
    if first == "**":
        yield from _paths(folder, rest, unreadable)
    try:
        with os.scandir(folder) as entries:
            names = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        unreadable[folder] = error.strerror or str(error)
        return
    for entry in names:
        if not rest:
            if fnmatchcase(entry.name, first):
                yield entry.path
        elif (first == "**" or fnmatchcase(entry.name, first)) and entry.is_dir(follow_symlinks=False):
            yield from _paths(entry.path, parts if first == "**" else rest, unreadable)
