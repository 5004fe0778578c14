"""Which decision log a command opens, and which part of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ebbtide.errors import StoreError

if TYPE_CHECKING:
    from ebbtide.decision_log.log.decision_log import DecisionLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which log, and which part of it.

    Args:
        log: Path or URL; None takes the file in the user's data folder.
        tenant: Whose log.
        agent: Of which agent; None: of all.
        session: Of which session; None: of all.
    """

    log: str | None = None
    tenant: str = "default"
    agent: str | None = None
    session: str | None = None

    @property
    def vectors(self) -> Path | None:
        """Where the vectors of its decisions are kept; None for a log that is no file, which keeps none."""
        place = self.log or str(default_file())
        return None if "://" in place or place == ":memory:" else Path(f"{place}.vectors")

    def forget_vectors(self) -> None:
        """Delete the vectors; they are made anew where they are needed."""
        if self.vectors is not None:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.vectors}{suffix}").unlink(missing_ok=True)

    def open(self, *, new: bool = False) -> DecisionLog:
        """The log.

        Args:
            new: Whether it may be made where there is none.

        Raises:
            StoreError: There is none, or it cannot be used.
            ConfigError: A name cannot be one.
        """
        from ebbtide.decision_log.log.decision_log import DecisionLog

        place = self.log or str(default_file())
        if not new and "://" not in place and place != ":memory:" and not Path(place).exists():
            raise StoreError(
                f"{place}: there is no decision log. `ebbtide decisions record` or `import` begins one; "
                "--log or EBBTIDE_LOG names another place"
            )
        if new and self.log is None:
            _make_folder(Path(place).parent)
        return DecisionLog.open(place, tenant=self.tenant, agent=self.agent, session=self.session, create=new)


def default_file() -> Path:
    """The log in the user's data folder.

    Source: XDG Base Directory Specification, XDG_DATA_HOME; on Windows the local application data.
    """
    folder = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    # A relative path is to be ignored, says that specification.
    data = Path(folder) if folder and Path(folder).is_absolute() else Path.home() / ".local" / "share"
    return data / "ebbtide" / "decisions.db"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be made: {error.strerror or error}. --log names another place"
        ) from error
