"""Of which session a file is, and in which folder its agent worked: known by the first lines of the file."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import unquote

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import value_or_none
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.source import unpacked_pieces
from ebbtide.traces.records.fields import identifier, mapping, text
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile

_LINES = 50  # that are looked at
_HEAD_BYTES = 1 << 20
_GEMINI_FIELD = re.compile(r'"(sessionId|projectHash)"\s*:\s*"([^"\\]*)"')
_DATABASE: Final = ".db"
_BELOW = "subagents"  # the folder of what a session of Claude Code started
_HEADS: Final = ("session", "session_start")  # types of first lines, of pi, OpenClaw and Droid
_WORKSPACE = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n\\\"]{1,4000}?)\) Files")
_HASH_LENGTH = 16  # the shortest of Gemini CLI's versions


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOrigin:
    """Origin of a session.

    Args:
        id: The session.
        parent: The session that started it as a sub-agent, or that it is a fork of; None for one of its own.
        project: The folder that the agent worked in, or as much as its name for it says; None where unknown.
        role: Its place beside its parent, in the words of `RunRole`.
        name: Its kind of agent, or the name that its parent gave it; empty where it has none.
    """

    id: str
    parent: str | None = None
    project: str | None = None
    role: str = "session"
    name: str = ""

    @property
    def is_main(self) -> bool:
        """True if it is a session of its own: a fork is one, what a session started is not."""
        return self.parent is None or self.role == "fork"


def origin_of(file: SessionFile) -> SessionOrigin:
    """Returns the origin of a session, as its file states it; what cannot be read states nothing."""
    reader = {
        CodingAgent.CLAUDE: _of_claude,
        CodingAgent.CODEX: _of_codex,
        CodingAgent.GEMINI: _of_gemini,
        CodingAgent.OPENCODE: _of_stored,
        CodingAgent.COPILOT: _of_copilot,
        CodingAgent.PI: _of_pi,
        CodingAgent.QWEN: _of_qwen,
        CodingAgent.KIMI: _of_kimi,
        CodingAgent.ANTIGRAVITY: _of_antigravity,
        CodingAgent.CURSOR: _of_cursor,
        CodingAgent.DROID: _of_pi,
        CodingAgent.OPENCLAW: _of_pi,
        CodingAgent.CLINE: _of_cline,
        CodingAgent.ROO: _of_cline,
        CodingAgent.GOOSE: _of_goose,
        CodingAgent.GROK: _of_grok,
        CodingAgent.HERMES: _of_hermes,
        CodingAgent.IFLOW: _of_goose,
        CodingAgent.KIRO: _of_kiro,
        CodingAgent.GPTME: _of_gptme,
    }.get(file.agent)
    if reader is None or file.obstacle:
        return SessionOrigin(id=PurePath(file.path).stem)
    return reader(file)


AGENT_OF_FORMAT: Final = {
    "claude-code": CodingAgent.CLAUDE,
    "codex": CodingAgent.CODEX,
    "gemini-cli": CodingAgent.GEMINI,
    "opencode": CodingAgent.OPENCODE,
    "goose": CodingAgent.GOOSE,
    "hermes": CodingAgent.HERMES,
}


def origin_at(path: str | os.PathLike[str], form: str) -> SessionOrigin | None:
    """Returns the origin of the session in any file; None where the format is not that of a coding agent."""
    agent = AGENT_OF_FORMAT.get(form)
    if agent is None:
        return None
    file = SessionFile(agent=agent, path=os.fspath(path), modified=0.0, folder="", is_main=True)
    return origin_of(file)


def root_session(origin: SessionOrigin, origins: Mapping[str, SessionOrigin]) -> str:
    """The session that one belongs to, over any number of sub-agents that started each other.

    Args:
        origin: Where it comes from.
        origins: Those of the same agent, by their ids.
    """
    before = {origin.id}
    while not origin.is_main and origin.parent is not None and origin.parent not in before:
        before.add(origin.parent)
        if origin.parent not in origins:
            return origin.parent
        origin = origins[origin.parent]
    return origin.id


def _of_claude(file: SessionFile) -> SessionOrigin:
    path = PurePath(file.path)
    name = path.name.partition(".json")[0]
    session = project = None
    below = path.parts.index(_BELOW) if _BELOW in path.parts[1:-1] else None
    is_main = below is None and not name.startswith("agent-")
    for record in _records(file.path):
        session = session or identifier(record.get("sessionId"))
        project = project or text(record.get("cwd"))
        if project and (session or is_main):
            break
    if file.folder:
        project = project or path.relative_to(file.folder).parts[0]
    if is_main:
        return SessionOrigin(id=name, project=project)
    parent = session if below is None else path.parts[below - 1]
    kind = _agent_type(path.with_name(f"{name}.meta.json"))
    return SessionOrigin(id=name, parent=parent, project=project, role="sub-agent", name=kind)


def _agent_type(path: PurePath) -> str:
    """The kind of a sub-agent, of the file that Claude Code writes beside its own; empty without."""
    return text(mapping(value_or_none(_head(str(path)))).get("agentType")) or ""


def _of_codex(file: SessionFile) -> SessionOrigin:
    stem = PurePath(file.path).name.partition(".jsonl")[0]
    for record in _records(file.path):
        if record.get("type") != "session_meta":
            continue
        head = mapping(record.get("payload"))
        name = identifier(head.get("id")) or stem
        started = mapping(mapping(mapping(head.get("source")).get("subagent")).get("thread_spawn"))
        parents = ("parent_thread_id", "forked_from_id", "session_id")
        ids = [
            ("thread", started.get(parents[0])),
            *(zip(("thread", "fork", "thread"), map(head.get, parents), strict=True)),
        ]
        found = ((role, other) for role, value in ids if (other := identifier(value)) not in (None, name))
        role, parent = next(found, ("session", None))
        kind = text(started.get("agent_nickname")) or text(started.get("agent_role")) or ""
        return SessionOrigin(id=name, parent=parent, project=text(head.get("cwd")), role=role, name=kind)
    return SessionOrigin(id=stem)


def _of_copilot(file: SessionFile) -> SessionOrigin:
    folder = PurePath(file.path).parent.name
    for record in _records(file.path):
        if record.get("type") == "session.start":
            head = mapping(record.get("data"))
            project = text(mapping(head.get("context")).get("cwd"))
            return SessionOrigin(id=identifier(head.get("sessionId")) or folder, project=project)
    return SessionOrigin(id=folder)


def _of_pi(file: SessionFile) -> SessionOrigin:
    for record in _records(file.path):
        if record.get("type") in _HEADS and (name := identifier(record.get("id"))) is not None:
            return SessionOrigin(id=name, project=text(record.get("cwd")))
    return SessionOrigin(id=PurePath(file.path).stem)


def _of_cursor(file: SessionFile) -> SessionOrigin:
    # PROJECT/agent-transcripts/SESSION/SESSION.jsonl, and SESSION/subagents/AGENT.jsonl for sub-agents.
    path = PurePath(file.path)
    project = path.relative_to(file.folder).parts[0] if file.folder else None
    if file.is_main:
        return SessionOrigin(id=path.stem, project=project)
    return SessionOrigin(id=path.stem, parent=path.parents[1].name, project=project, role="sub-agent")


def _of_cline(file: SessionFile) -> SessionOrigin:
    # TASK/api_conversation_history.json, or SESSION/SESSION.messages.json; the first message has the folder.
    folder = _WORKSPACE.search(_head(file.path))
    return SessionOrigin(id=PurePath(file.path).parent.name, project=folder and folder[1])


def _of_goose(file: SessionFile) -> SessionOrigin:
    if PurePath(file.path).parent.suffix == _DATABASE:
        return _of_stored(file)
    # Of iFlow too: a line has the folder, and the file the id.
    heads = (text(record.get("working_dir", record.get("cwd"))) for record in _records(file.path))
    return SessionOrigin(id=PurePath(file.path).stem, project=next(filter(None, heads), None))


def _of_hermes(file: SessionFile) -> SessionOrigin:
    path = PurePath(file.path)
    return _of_stored(file) if path.parent.suffix == _DATABASE else SessionOrigin(id=path.stem)


def _of_grok(file: SessionFile) -> SessionOrigin:
    folder = PurePath(file.path).parent  # PROJECT/SESSION/chat_history.jsonl
    return SessionOrigin(id=folder.name, project=unquote(folder.parent.name))


def _of_kiro(file: SessionFile) -> SessionOrigin:
    path = PurePath(file.path)
    beside = mapping(value_or_none(_head(str(path.with_suffix(".json")))))
    parent = identifier(beside.get("parent_session_id"))
    role = "session" if parent is None else "child session"
    return SessionOrigin(id=path.stem, parent=parent, project=text(beside.get("cwd")), role=role)


def _of_gptme(file: SessionFile) -> SessionOrigin:
    return SessionOrigin(id=PurePath(file.path).parent.name)  # SESSION/conversation.jsonl


def _of_qwen(file: SessionFile) -> SessionOrigin:
    path = PurePath(file.path)
    heads = ((identifier(record.get("sessionId")), text(record.get("cwd"))) for record in _records(file.path))
    session, project = next((head for head in heads if head[0] is not None), (None, None))
    if file.is_main:
        return SessionOrigin(id=session or path.stem, project=project)
    return SessionOrigin(id=path.stem, parent=path.parent.name, project=project, role="sub-agent")


def _of_kimi(file: SessionFile) -> SessionOrigin:
    # SESSION/agents/AGENT/wire.jsonl
    path = PurePath(file.path)
    agent, session = path.parent.name, path.parents[2].name
    records = [record for record in _records(file.path) if record.get("type") == "config.update"]
    project = next((cwd for record in records if (cwd := text(record.get("cwd"))) is not None), None)
    if file.is_main:
        return SessionOrigin(id=session, project=project)
    names = (text(record.get("profileName")) for record in records)
    kind = next((name for name in names if name is not None), "")
    return SessionOrigin(
        id=f"{session}/{agent}", parent=session, project=project, role="sub-agent", name=kind
    )


def _of_antigravity(file: SessionFile) -> SessionOrigin:
    return SessionOrigin(id=PurePath(file.path).parents[2].name)  # ID/.system_generated/logs/FILE


def _of_gemini(file: SessionFile) -> SessionOrigin:
    fields = dict(_GEMINI_FIELD.findall(_head(file.path)))
    path = PurePath(file.path)
    # PROJECT/chats/FILE, and below that SESSION/FILE for those of sub-agents.
    is_main = path.parts[-3:-2] != ("chats",)
    at = -3 if is_main else -4
    place = path.parts[at] if len(path.parts) >= -at else None
    project = None
    if place is not None and (file.folder or path.parts[at + 1] == "chats"):
        folder = file.folder or str(path.parents[-at - 1])
        project = _gemini_project(folder, place, fields.get("projectHash", "")) or place
    parent, role = (None, "session") if is_main else (path.parts[-2], "sub-agent")
    return SessionOrigin(id=fields.get("sessionId") or path.stem, parent=parent, project=project, role=role)


def _of_stored(file: SessionFile) -> SessionOrigin:
    from ebbtide.traces.agents.session_storage import stored_session

    try:
        session = stored_session(file.path)
    except (TranscriptError, RecursionError):
        return SessionOrigin(id=PurePath(file.path).stem)
    role = "session" if session.parent is None else session.role
    return SessionOrigin(id=session.id, parent=session.parent, project=session.directory, role=role)


def _gemini_project(folder: str, name: str, digest: str) -> str | None:
    """The project that Gemini CLI keeps under a short name, or under the digest of its path."""
    root = _head(Path(folder, name, ".project_root")).strip()
    if root:
        return root
    for path, short in _gemini_projects(folder).items():
        by_digest = len(digest) >= _HASH_LENGTH and _digest(path).startswith(digest)
        if short == name or by_digest:
            return path
    return None


def _gemini_projects(folder: str) -> Mapping[str, Any]:
    return mapping(mapping(value_or_none(_head(Path(folder).with_name("projects.json")))).get("projects"))


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()


def _head(path: str | Path) -> str:
    return b"".join(_pieces(path)).decode(errors="replace")


def _records(path: str) -> Iterator[Mapping[str, Any]]:
    """The objects in the first lines of a file."""
    splitter = LineSplitter(_HEAD_BYTES)
    lines = chain.from_iterable(map(splitter.feed, _pieces(path)))
    for line in islice(lines, _LINES):
        if isinstance(value := value_or_none(line), dict):
            yield value


def _pieces(path: str | Path) -> Iterator[bytes]:
    """The beginning of a file, unpacked; nothing where it cannot be read."""
    size = 0
    with suppress(TranscriptError):
        for piece in unpacked_pieces(path):
            yield piece
            size += len(piece)
            if size >= _HEAD_BYTES:
                return
