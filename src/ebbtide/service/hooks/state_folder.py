"""The folder of the service: who runs, where to reach it, and the runs.

The client reads it too, and must not wait for an import: what the client needs stands in `hook_client`.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ebbtide.errors import StoreError
from ebbtide.service.file_lock import lock_file
from ebbtide.service.hooks.hook_client import exchange, state_folder

_LONGEST_SOCKET = 100  # bytes of a path that every system takes
_STATUS_S = 2.0  # that the service may take to say how it stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Address of a service.

    Args:
        port: On 127.0.0.1.
        since: When it began, in seconds since 1970.
    """

    pid: int
    port: int
    token: str
    since: float


class StateFolder:
    """The folder, made where there is none; only its owner looks into it.

    Args:
        path: The folder; None takes that of the user.

    Raises:
        StoreError: It cannot be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = Path(state_folder()) if path is None else path
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            probe = self.path / f".probe-{secrets.token_hex(4)}"
            probe.touch(mode=0o600)
            probe.unlink()
        except OSError as error:
            raise StoreError(
                f"{self.path}: {error.strerror or error}. Make it writable, or name another folder in "
                "EBBTIDE_STATE"
            ) from error
        self._lock: int | None = None

    @property
    def runs(self) -> Path:
        """The file of the runs."""
        return self.path / "runs.db"

    @property
    def sessions(self) -> Path:
        """The file of what is remembered of sessions beside their runs."""
        return self.path / "sessions.db"

    @property
    def socket(self) -> Path | None:
        """The Unix socket; None where the path is too long for one."""
        path = self.path / "socket"
        return path if len(os.fsencode(path)) <= _LONGEST_SOCKET else None

    def lock(self) -> bool:
        """Takes the lock of the service, if it is free; True if this process is now the service.

        It is until it ends, however it ends.
        """
        self._lock = lock_file(self.path / "lock")
        return self._lock is not None

    def unlock(self) -> None:
        """This process is not the service any more."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write(self, address: Address) -> None:
        """Say where the service is reached.

        Raises:
            StoreError: The file cannot be written.
        """
        temporary = self.path / ".service.json"
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(address), file)
            temporary.replace(self.path / "service.json")
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror or error}") from error

    def leave(self) -> None:
        """Take the address away: the service ends."""
        for name in ("service.json", "socket"):
            with suppress(OSError):
                (self.path / name).unlink()


def read_address(folder: Path) -> Address | None:
    """Returns the latest address of the service; None where none is stated. It may have been killed since."""
    try:
        fields: dict[str, Any] = json.loads((folder / "service.json").read_text(encoding="utf-8"))
        return Address(**fields)
    except (OSError, TypeError, ValueError):
        return None


def ask_status() -> dict[str, Any] | None:
    """Returns the status of the service on this machine; None where none answers."""
    content = exchange("GET", "/status", b"", time.monotonic() + _STATUS_S)
    try:
        value = None if content is None else json.loads(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
