"""Finds the sessions that an agent writes after its start: files that are new, and files that grow."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, Self

from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile, SessionSearch
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of, root_session

_NO_LETTER: Final = re.compile(r"[^a-zA-Z0-9]")
# What asks for an earlier session, by the agent: the same letter is something else for another one, and a
# prompt may be one of these words.
_RESUMES: Final[Mapping[CodingAgent, frozenset[str]]] = {
    CodingAgent.CLAUDE: frozenset("-c --continue -r --resume --from-pr".split()),
    CodingAgent.CODEX: frozenset("resume fork".split()),
    CodingAgent.GEMINI: frozenset("-r --resume".split()),
    CodingAgent.OPENCODE: frozenset("-c --continue -s --session".split()),
    CodingAgent.COPILOT: frozenset("-r --resume --continue --session-id --connect".split()),
    CodingAgent.PI: frozenset("-c --continue -r --resume --session --fork".split()),
    CodingAgent.QWEN: frozenset("-c --continue -r --resume".split()),
    CodingAgent.KIMI: frozenset("-c -C --continue -r --resume -S --session".split()),
    CodingAgent.CURSOR: frozenset("resume --resume --continue".split()),
    CodingAgent.DROID: frozenset("-r --resume -s --session-id".split()),
    CodingAgent.GOOSE: frozenset("-r --resume".split()),
    CodingAgent.GROK: frozenset("-c --continue -r --resume".split()),
    CodingAgent.HERMES: frozenset("-c --continue -r --resume".split()),
    CodingAgent.IFLOW: frozenset("-c --continue -r --resume".split()),
    CodingAgent.KIRO: frozenset("-r --resume --resume-id --resume-picker".split()),
    CodingAgent.GPTME: frozenset("-r --resume".split()),
    CodingAgent.OPENCLAW: frozenset("--session-id --to".split()),
}
# Commands that are not called like their agents.
_COMMANDS: Final = {"cursor-agent": CodingAgent.CURSOR, "kiro-cli": CodingAgent.KIRO}
# Any agent may be behind a name that is none of theirs.
_ANY_RESUMES: Final = frozenset("resume fork --resume --continue --session".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBaseline:
    """The machine as it was before the agent started.

    Args:
        command: The command line of the agent.
        folders: Folders in which it may work: the present one, and those that its command line names.
        files: When each session file was written last, in seconds since 1970, by its path.
    """

    command: tuple[str, ...]
    folders: tuple[str, ...]
    files: Mapping[str, float]

    @classmethod
    def of(cls, command: Sequence[str], environment: Mapping[str, str]) -> Self:
        """Looks at the machine, in an environment such as `os.environ`."""
        search = SessionSearch.of(environment, agents=_agents(command))
        named = (word.rpartition("=")[2] for word in command[1:])
        folders = [os.getcwd(), *filter(os.path.isdir, named)]  # noqa: PTH109 - any text is a name
        return cls(
            command=tuple(command),
            folders=tuple(dict.fromkeys(map(os.path.realpath, folders))),
            files={file.path: file.modified for file in search.files},
        )

    @property
    def resumes(self) -> bool:
        """True if the command line asks for an earlier session."""
        words = self.command[1:]
        with suppress(ValueError):
            words = words[: words.index("--")]  # a prompt is behind it
        agent = next(iter(_agents(self.command)), None)
        asking = _ANY_RESUMES if agent is None else _RESUMES.get(agent, frozenset())
        return any((word.partition("=")[0] if word.startswith("-") else word) in asking for word in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A session file that was written since the start.

    Args:
        file: The file.
        origin: Its own session.
        session: The session that it belongs to: of a sub-agent the one that started it.
        is_new: True if the session was not there before.
    """

    file: SessionFile
    origin: SessionOrigin
    session: str
    is_new: bool


class SessionFinder:
    """Finds the sessions of one agent.

    A session whose record says a folder is the agent's only if the agent may work there. Where there is a
    session that is new, one that was there before and grows is somebody else's, unless the command line
    resumes one.

    Args:
        start: The machine before the agent.
        environment: Variables and their values, as in `os.environ`.
    """

    def __init__(self, start: SessionBaseline, environment: Mapping[str, str]) -> None:
        self._start = start
        self._environment = environment
        self._agents = _agents(start.command)
        self._names = frozenset().union(*map(_names_of, start.folders))
        self._origins: dict[str, SessionOrigin] = {}

    def look(self) -> list[WrittenFile]:
        """The files of the agent's sessions that were written since the start, the latest first."""
        search = SessionSearch.of(self._environment, agents=self._agents)
        files = [file for file in search.files if self._is_written(file)]
        for file in files:
            known = self._origins.get(file.path)
            # The first lines of a file may not say yet where the agent works.
            if known is None or not _is_path(known.project):
                self._origins[file.path] = origin_of(file)
        by_agent: dict[CodingAgent, dict[str, SessionOrigin]] = {}
        for file in files:
            origin = self._origins[file.path]
            by_agent.setdefault(file.agent, {})[origin.id] = origin
        sessions = {file.path: root_session(self._origins[file.path], by_agent[file.agent]) for file in files}
        new = {
            (file.agent, sessions[file.path])
            for file in files
            if self._origins[file.path].is_main and not self._was_there(file.path)
        }
        found = []
        for file in files:
            session, own = sessions[file.path], self._origins[file.path]
            if self._may_be_in(by_agent[file.agent].get(session, own).project):
                is_new = (file.agent, session) in new
                found.append(WrittenFile(file=file, origin=own, session=session, is_new=is_new))
        if self._start.resumes or not any(item.is_new for item in found):
            return found
        return [item for item in found if item.is_new]

    def _was_there(self, path: str) -> bool:
        """True if a session was there before; Codex unpacks an old one before it goes on with it."""
        return path in self._start.files or f"{path}.zst" in self._start.files

    def _is_written(self, file: SessionFile) -> bool:
        is_read = not file.obstacle and not file.path.endswith(".zst")  # what is packed grows no more
        return is_read and self._start.files.get(file.path) != file.modified

    def _may_be_in(self, project: str | None) -> bool:
        """True if a session of this project may be the agent's: its folder, or a name for it; or unknown."""
        if project is None:
            return True
        return (os.path.realpath(project) if _is_path(project) else project) in self._names


def _agents(command: Sequence[str]) -> tuple[CodingAgent, ...]:
    """The agent whose name the command has; none where any agent may be behind it."""
    name = PurePath(command[0]).name.partition(".")[0]
    return tuple(agent for agent in CodingAgent if agent.value == name or _COMMANDS.get(name) is agent)


def _is_path(project: str | None) -> bool:
    return project is not None and Path(project).is_absolute()


def _names_of(folder: str) -> frozenset[str]:
    """A folder, and the names that agents give the folder of its sessions."""
    digest = hashlib.sha256(folder.encode(errors="surrogateescape")).hexdigest()
    return frozenset({folder, _NO_LETTER.sub("-", folder), PurePath(folder).name, digest})
