"""This machine's sessions of coding agents: which files, of which session and project. None is read yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.errors import TranscriptError
from ebbtide.report.plurals import count
from ebbtide.traces.sessions.agent_homes import AGENT_HOMES, CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile, SessionSearch
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of, root_session

AGENT_NAMES = {home.agent: home.name for home in AGENT_HOMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPart:
    """A file of a session, and what is known of it without checking it.

    Args:
        session: The session that it belongs to; that of a sub-agent is the one that started it.
        project: Where the agent worked, for a sub-agent that of its session; None where unknown.
        is_main: Whether it is the session itself, and not a sub-agent of it.
        day: When the session was written last, as ``2026-11-23`` by the clock of this machine.
    """

    file: SessionFile
    session: str
    project: str | None
    is_main: bool
    day: str

    def __str__(self) -> str:
        where = f" in {self.project}" if self.project else ""
        at = local_time(self.file.modified, "%Y-%m-%d %H:%M")
        return f"a {AGENT_NAMES[self.file.agent]} session{where}, last written at {at}: {self.file.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSessions:
    """The sessions that are wanted.

    Args:
        selection: Which are.
        parts: Their files by path, the latest first.
        unreadable: Folders that could not be looked into, and why.
    """

    selection: SessionFilter
    parts: Mapping[str, SessionPart]
    unreadable: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, selection: SessionFilter, origin: Callable[[SessionFile], SessionOrigin] = origin_of
    ) -> MachineSessions:
        """Looks for the wanted sessions; `origin` says where one comes from.

        Raises:
            TranscriptError: There are none; it says where was looked.
        """
        search = SessionSearch.of(os.environ, since=selection.since, agents=selection.agents)
        parts = {
            part.file.path: part for part in _parts(search.files, origin) if selection.wants(part.project)
        }
        if not parts:
            raise TranscriptError(_nothing_there(search, selection))
        return cls(selection=selection, parts=parts, unreadable=search.unreadable)

    def newest(self) -> SessionPart:
        """The session that was written last, of those that can be read.

        Raises:
            TranscriptError: None can.
        """
        for path, part in self.parts.items():
            # What is packed grows no more.
            if part.is_main and not part.file.obstacle and not path.endswith(".zst"):
                return part
        reasons = dict.fromkeys(part.file.obstacle for part in self.parts.values() if part.file.obstacle)
        what = f"none of {count(len(self.parts), 'file')} can be watched"
        raise TranscriptError(": ".join((what, *reasons)))


def local_time(seconds: float, form: str) -> str:
    """Formats seconds since 1970 by the clock of this machine, as `strftime` does."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime(form)


def _parts(files: Iterable[SessionFile], origin: Callable[[SessionFile], SessionOrigin]) -> list[SessionPart]:
    origins = {file.path: origin(file) for file in files}
    by_session = {(file.agent, origins[file.path].id): file for file in files}
    by_id: dict[CodingAgent, dict[str, SessionOrigin]] = {}
    for file in files:
        by_id.setdefault(file.agent, {})[origins[file.path].id] = origins[file.path]
    sessions = {file.path: root_session(origins[file.path], by_id[file.agent]) for file in files}
    latest: dict[tuple[CodingAgent, str], float] = {}
    for file in files:
        latest.setdefault((file.agent, sessions[file.path]), file.modified)
    parts = []
    for file in files:
        session, own = sessions[file.path], origins[file.path]
        start = by_session.get((file.agent, session), file)
        parts.append(
            SessionPart(
                file=file,
                session=session,
                project=origins[start.path].project or own.project,
                is_main=own.is_main,
                day=local_time(latest[file.agent, session], "%Y-%m-%d"),
            )
        )
    return parts


def _nothing_there(search: SessionSearch, selection: SessionFilter) -> str:
    """That there is no session, where was looked, and what to do."""
    conditions = [selection.period, f"of a project like {selection.project!r}" if selection.project else ""]
    lines = [" ".join(["no coding agent session", *filter(None, conditions)]) + "; these were searched:"]
    lines += [
        f"{folder.agent}: {folder.path}{'' if folder.is_there else ' (not there)'}"
        for folder in search.folders
    ]
    lines += [f"{path}: {reason}" for path, reason in search.unreadable]
    if search.files:
        lines.append(f"Of other projects: {count(len(search.files), 'file')}.")
    if search.older:
        lines.append(f"Older: {count(search.older, 'session')}; --since all includes them.")
    lines.append("To check a file: ebbtide check FILE. To see an example: ebbtide demo.")
    return "\n".join(lines)
