"""The log that the commands work on, and the options that several of them have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ebbtide.cli.declaration import OF_AGENT, SINCE, UNTIL, Argument, Option, shared
from ebbtide.clock import system_clock
from ebbtide.database.place import DECISIONS, user_data_file
from ebbtide.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from ebbtide.decision_log.log.decision_log import DecisionLog

Log = Annotated[
    str | None,
    Option(
        "--log",
        metavar="FILE|URL",
        envvar="EBBTIDE_LOG",
        help="File or postgresql:// URL of the log; the default is a file in your data folder.",
    ),
]
Tenant = Annotated[str, Option("--tenant", metavar="NAME", help="Tenant whose log is used.")]
Agent = Annotated[str | None, Option("--agent", "-a", metavar="NAME", help=OF_AGENT)]
Session = Annotated[
    str | None,
    Option("--session", "-s", metavar="NAME", help="Only this session; the default is all sessions."),
]
By = Annotated[str, Option("--by", metavar="NAME", help="Name to record as the author of this step.")]
Why = Annotated[str, Option("--why", metavar="TEXT", help="Reason to record.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Make the changes; without it, only list them.")]
Users = Annotated[bool, Option("--users", help="Also read the messages of users.")]
Limit = Annotated[
    int, Option("--limit", "-n", metavar="N", at_least=1, at_most=100_000, help="Maximum number of rows.")
]
Since = Annotated[str | None, Option("--since", metavar="WHEN", help=SINCE)]
Until = Annotated[str | None, Option("--until", metavar="WHEN", help=UNTIL)]
Identifier = Annotated[str, Argument(metavar="ID", help="Id of a decision, or the beginning of one.")]

_OF_A_LOG: dict[str, tuple[Any, Any]] = {"log": (Log, None), "tenant": (Tenant, "default")}
_PARTS: dict[str, tuple[Any, Any]] = {"agent": (Agent, None), "session": (Session, None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A log, and the part of it that is meant.

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
        """The file of the vectors of its decisions; None for a log that is no file, which keeps none."""
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
    """Returns the path of the log in the user's data folder."""
    return user_data_file(DECISIONS)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be made: {error.strerror or error}. --log names another place"
        ) from error


def with_log(*parts: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command the options that name a log; its first argument is the `Place` that they name.

    Args:
        *parts: What of the log can be named too: "agent", "session". An id needs neither.
    """
    return shared(_OF_A_LOG | {name: _PARTS[name] for name in parts}, Place)


_SPAN = re.compile(r"\+?(\d{1,5})([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def moment_of(text: str | None, name: str) -> float | None:
    """A time as written on the command line: a date, a date with a time, or ``30d`` from now (h, d, w, m, y).

    Raises:
        ConfigError: It is written in another way.
    """
    if text is None:
        return None
    span = _SPAN.fullmatch(text.strip().lower())
    if span:
        return system_clock() + timedelta(hours=int(span[1]) * _HOURS[span[2]]).total_seconds()
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ConfigError(
            f"{name} {text!r:.60}: expected such as 2026-03-01, 2026-03-01T10:00Z or 30d"
        ) from None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()


def past_moment_of(text: str | None, name: str) -> float | None:
    """Likewise, but ``30d`` is so long ago."""
    span = None if text is None else _SPAN.fullmatch(text.strip().lower())
    if span:
        return system_clock() - timedelta(hours=int(span[1]) * _HOURS[span[2]]).total_seconds()
    return moment_of(text, name)
