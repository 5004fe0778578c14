"""Results by file, kept in the user's cache folder, so that only what changed is worked on again.

Whatever is wrong with the folder or with what is in it, the cache is as good as empty: it is written anew,
by renaming, and nothing depends on it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar
from zlib import crc32

import msgspec

_FORM = 2
_SHARDS = 16  # files, so that a session that grows has only a part written again
_PACKAGE = Path(__file__).parents[2]
_T = TypeVar("_T")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder for what can be made again, as the platform has it."""
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


def program_mark(version: str) -> str:
    """A text that differs for another version of the program, released or not."""
    sizes = []
    for folder, _, names in os.walk(_PACKAGE):
        for name in names:
            if name.endswith((".py", ".toml")):
                status = os.stat(f"{folder}{os.sep}{name}")  # noqa: PTH116 - a Path of each takes long
                sizes.append((folder, name, status.st_size, status.st_mtime_ns))
    return f"{version} {crc32(repr(sorted(sizes)).encode()):08x}"


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    """Returns what a file is known by as long as nobody writes to it: its size, time and number."""
    return status.st_size, status.st_mtime_ns, status.st_ino


class FileCache(Generic[_T]):
    """Results of files, by their paths, in some shards of one folder.

    Args:
        folder: The folder; None keeps nothing.
        kind: The class of what is kept of a file.
        name: What it is, in the names of the shards.
        mark: Whatever was kept under another one is not taken, such as by another version of the program.
    """

    def __init__(self, folder: Path | None, kind: type[_T], name: str, mark: str) -> None:
        self._folder = folder
        self._name = name
        self._head = f"ebbtide {name} {_FORM} {mark}\n".encode()
        self._decoder = msgspec.msgpack.Decoder(dict[str, kind])  # type: ignore[valid-type]
        self._shards: dict[int, dict[str, _T]] = {}
        self._changed: set[int] = set()

    def get(self, path: str) -> _T | None:
        """Returns what is kept of a file; None where that is nothing."""
        return self._shard(_number(path)).get(path)

    def put(self, path: str, known: _T) -> None:
        """Keep what is known of a file, from `save` on."""
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

    def _shard(self, number: int) -> dict[str, _T]:
        shard = self._shards.get(number)
        if shard is None:
            shard = self._shards[number] = self._read(number)
        return shard

    def _read(self, number: int) -> dict[str, _T]:
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
                return self._decoder.decode(body)
        with suppress(OSError):
            path.unlink()
        return {}

    def _path(self, number: int) -> Path:
        return Path(self._folder or "", f"{self._name}-{number:02}")


def _number(path: str) -> int:
    return crc32(path.encode(errors="surrogateescape")) % _SHARDS


def _is_there(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - a Path of each of many files takes long
