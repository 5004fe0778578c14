"""Cache of what the money pass found in files, kept until they change."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ebbtide.traces.money.file_cache import FileCache, stamp_of
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of

_TELL_ALL = (CodingAgent.CLAUDE, CodingAgent.CODEX)  # whose files alone say where they come from


class KnownFile(msgspec.Struct, array_like=True, gc=False):
    """Calls that a file gave, and the marks by which it is known to be the same.

    Args:
        size: Bytes.
        modified_ns: When it was written last, in nanoseconds since 1970.
        inode: Its number.
        tail: Digest of the last bytes before the place to go on from.
        session: The id of the session.
        parent: The session that it comes from; None for one of its own.
        project: The folder that the agent worked in.
        role: Its place beside its parent.
        found: Its calls.
    """

    size: int
    modified_ns: int
    inode: int
    tail: bytes
    session: str
    parent: str | None
    project: str | None
    role: str
    found: FileCalls


class MoneyCache(FileCache[KnownFile]):
    """Calls of files, by their paths.

    Args:
        folder: The folder; None keeps nothing.
        mark: That of the program: what another one wrote is not taken.
    """

    def __init__(self, folder: Path | None, mark: str = "") -> None:
        super().__init__(folder, KnownFile, "money", mark)

    def origin(self, file: SessionFile) -> SessionOrigin:
        """Returns where a session comes from; its file is not opened where it has not changed.

        Args:
            file: The file of the session.
        """
        known = self.get(file.path) if file.agent in _TELL_ALL else None
        if known is not None:
            try:
                status = os.stat(file.path)  # noqa: PTH116 - a Path of each of many files takes long
            except OSError:
                known = None
            else:
                if stamp_of(status) == (known.size, known.modified_ns, known.inode):
                    return SessionOrigin(
                        id=known.session, parent=known.parent, project=known.project, role=known.role
                    )
        return origin_of(file)
