"""What the money pass found in files, kept in the user's cache folder, so that only what grew is read again.

Whatever is wrong with the folder or with what is in it, the cache is as good as empty: it is written anew,
by renaming, and nothing depends on it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import msgspec

from ebbtide.traces.money.file_calls import FileCalls

_FORM = 2
_SHARDS = 16  # files, so that a session that grows has only a part written again


class KnownFile(msgspec.Struct, array_like=True, gc=False):
    """What a file gave, and by what it is known to be the same.

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


_DECODER = msgspec.msgpack.Decoder(dict[str, KnownFile])


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder for what can be made again, as the platform has it.

    Args:
        environment: Variables and their values.
    """
    place = environment.get("XDG_CACHE_HOME", "")
    if not Path(place).is_absolute():
        home = Path("~").expanduser()
        if sys.platform == "darwin":
            place = str(home / "Library" / "Caches")
        elif sys.platform == "win32":
            place = environment.get("LOCALAPPDATA") or str(home / "AppData" / "Local")
        else:
            place = str(home / ".cache")
    return Path(place, "ebbtide")


class MoneyCache:
    """Files by path, in some shards of one folder.

    Args:
        folder: The folder; None keeps nothing.
        version: Of the program: what another one wrote is not taken.
    """

    def __init__(self, folder: Path | None, version: str = "") -> None:
        self._folder = folder
        self._head = f"ebbtide money {_FORM} {version}\n".encode()
        self._shards: dict[int, dict[str, KnownFile]] = {}
        self._changed: set[int] = set()

    def get(self, path: str) -> KnownFile | None:
        """What is known of a file."""
        return self._shard(_number(path)).get(path)

    def put(self, path: str, known: KnownFile) -> None:
        """Keep what a file gave, from `save` on."""
        number = _number(path)
        self._shard(number)[path] = known
        self._changed.add(number)

    def save(self) -> None:
        """Write what has changed; files that are gone are forgotten."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for number in self._changed:
                shard = {path: known for path, known in self._shards[number].items() if _is_there(path)}
                self._write(number, msgspec.msgpack.encode(shard))
        self._changed.clear()

    def _write(self, number: int, body: bytes) -> None:
        path = self._path(number)
        other = path.with_suffix(f".{os.getpid()}")
        try:
            with os.fdopen(os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.writelines((self._head, crc32(body).to_bytes(4, "big"), body))
            other.replace(path)
        finally:
            other.unlink(missing_ok=True)

    def _shard(self, number: int) -> dict[str, KnownFile]:
        shard = self._shards.get(number)
        if shard is None:
            shard = self._shards[number] = self._read(number)
        return shard

    def _read(self, number: int) -> dict[str, KnownFile]:
        if self._folder is None:
            return {}
        path = self._path(number)
        try:
            with path.open("rb") as file:
                if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                    return {}
                content = file.read()
        except OSError:
            return {}
        start = len(self._head) + 4
        body = memoryview(content)[start:]
        if content[:start] == self._head + crc32(body).to_bytes(4, "big"):
            with suppress(msgspec.MsgspecError, RecursionError):
                return _DECODER.decode(body)
        with suppress(OSError):
            path.unlink()
        return {}

    def _path(self, number: int) -> Path:
        return Path(self._folder or "", f"money-{number:02}")


def _number(path: str) -> int:
    return crc32(path.encode(errors="surrogateescape")) % _SHARDS


def _is_there(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - a Path of each of many files takes long
