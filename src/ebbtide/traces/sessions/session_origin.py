"""Of which session a file is, and in which folder its agent worked: told by the first lines of the file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.source import unpacked_pieces
from ebbtide.traces.records.fields import identifier, mapping, text
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile

_LINES = 50  # that are looked at
_HEAD_BYTES = 1 << 20
_GEMINI_FIELD = re.compile(r'"(sessionId|projectHash)"\s*:\s*"([^"\\]*)"')
_HASH_LENGTH = 16  # the shortest of Gemini CLI's versions


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOrigin:
    """Where a session comes from.

    Args:
        id: The session.
        parent: The session that started it as a sub-agent; None for one of its own.
        project: The folder that the agent worked in, or as much as its name for it tells; None where unknown.
    """

    id: str
    parent: str | None = None
    project: str | None = None


def origin_of(file: SessionFile) -> SessionOrigin:
    """Where a session comes from, as its file says; what cannot be read says nothing."""
    reader = {
        CodingAgent.CLAUDE: _of_claude,
        CodingAgent.CODEX: _of_codex,
        CodingAgent.GEMINI: _of_gemini,
        CodingAgent.OPENCODE: _of_opencode,
    }.get(file.agent)
    if reader is None or file.obstacle:
        return SessionOrigin(id=PurePath(file.path).stem)
    return reader(file)


def root_session(origin: SessionOrigin, origins: Mapping[str, SessionOrigin]) -> str:
    """The session that one belongs to, over any number of sub-agents that started each other.

    Args:
        origin: Where it comes from.
        origins: Those of the same agent, by their ids.
    """
    before = {origin.id}
    while origin.parent is not None and origin.parent not in before:
        before.add(origin.parent)
        if origin.parent not in origins:
            return origin.parent
        origin = origins[origin.parent]
    return origin.id


def _of_claude(file: SessionFile) -> SessionOrigin:
    path = PurePath(file.path)
    session = project = None
    is_main = file.is_main and not path.stem.startswith("agent-")
    for record in _records(file.path):
        session = session or identifier(record.get("sessionId"))
        project = project or text(record.get("cwd"))
        if project and (session or is_main):
            break
    inside = path.relative_to(file.folder).parts
    project = project or inside[0]
    if is_main:
        return SessionOrigin(id=path.stem, project=project)
    parent = session if file.is_main else inside[1]
    return SessionOrigin(id=path.stem, parent=parent, project=project)


def _of_codex(file: SessionFile) -> SessionOrigin:
    stem = PurePath(file.path).name.partition(".jsonl")[0]
    for record in _records(file.path):
        if record.get("type") != "session_meta":
            continue
        head = mapping(record.get("payload"))
        name = identifier(head.get("id")) or stem
        started = mapping(mapping(mapping(head.get("source")).get("subagent")).get("thread_spawn"))
        parents = (head.get("parent_thread_id"), started.get("parent_thread_id"), head.get("session_id"))
        parent = next((other for value in parents if (other := identifier(value)) not in (None, name)), None)
        return SessionOrigin(id=name, parent=parent, project=text(head.get("cwd")))
    return SessionOrigin(id=stem)


def _of_gemini(file: SessionFile) -> SessionOrigin:
    fields = dict(_GEMINI_FIELD.findall(_head(file.path)))
    path = PurePath(file.path)
    inside = path.relative_to(file.folder).parts
    project = _gemini_project(file.folder, inside[0], fields.get("projectHash", "")) or inside[0]
    parent = None if file.is_main else inside[2]
    return SessionOrigin(id=fields.get("sessionId") or path.stem, parent=parent, project=project)


def _of_opencode(file: SessionFile) -> SessionOrigin:
    from ebbtide.traces.agents.opencode_storage import stored_session

    try:
        session = stored_session(file.path)
    except (TranscriptError, RecursionError):
        return SessionOrigin(id=PurePath(file.path).stem)
    return SessionOrigin(id=session.id, parent=session.parent, project=session.directory)


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
    try:
        value = json_value(_head(Path(folder).with_name("projects.json")))
    except (TranscriptError, RecursionError):
        return {}
    return mapping(mapping(value).get("projects"))


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()


def _head(path: str | Path) -> str:
    return b"".join(_pieces(path)).decode(errors="replace")


def _records(path: str) -> Iterator[Mapping[str, Any]]:
    """The objects in the first lines of a file."""
    splitter = LineSplitter(_HEAD_BYTES)
    lines = chain.from_iterable(map(splitter.feed, _pieces(path)))
    for line in islice(lines, _LINES):
        try:
            value = json_value(line)
        except (TranscriptError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(value, dict):
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
