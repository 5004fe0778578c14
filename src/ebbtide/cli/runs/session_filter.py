"""Selects the wanted ones of this machine's sessions by age, project and agent."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from ebbtide.cli.declaration import OF_AGENT, SINCE, UNTIL, Option, shared
from ebbtide.errors import ConfigError
from ebbtide.report.plurals import count
from ebbtide.traces.sessions.agent_homes import CodingAgent

DEFAULT_SINCE = "7d"
_AGO = re.compile(r"(\d{1,9})([hdw])", re.ASCII)
_UNITS = {"h": ("hour", 3_600), "d": ("day", 86_400), "w": ("week", 604_800)}
_ALL = "all"
SECTION = "Sessions on this machine, if no trace is named"

Since = Annotated[str | None, Option("--since", metavar="WHEN", help=SINCE, section=SECTION)]
Until = Annotated[str | None, Option("--until", metavar="WHEN", help=UNTIL, section=SECTION)]
Project = Annotated[
    str | None,
    Option("--project", metavar="NAME", help="Only projects with NAME in their path.", section=SECTION),
]
Agents = Annotated[
    list[CodingAgent] | None,
    Option("--agent", "-a", metavar="NAME", help=OF_AGENT, section=SECTION),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """The age, project and agents of the wanted sessions.

    Args:
        since: Seconds since 1970; those that were written last before are left out. None: any.
        until: Seconds since 1970 before which calls count; None: all.
        period: The start in words, such as "in the last 7 days"; empty for any.
        project: A part of the path of the project, in any case of letters; empty: any.
        agents: Whose; empty: everybody's.
        options: The options that say so.
    """

    since: float | None = None
    until: float | None = None
    period: str = ""
    project: str = ""
    agents: tuple[CodingAgent, ...] = ()
    options: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        since: str | None = None,
        project: str | None = None,
        agents: list[CodingAgent] | None = None,
        until: str | None = None,
        *,
        now: float | None = None,
    ) -> SessionFilter:
        """Reads the filter from the command line.

        Args:
            since: Such as ``24h``, ``7d``, ``2w``, ``2026-11-01`` or ``all``; None is seven days.
            project: A part of a path; None: any.
            agents: Whose; None: everybody's.
            until: As `since`, but a day counts as a whole; None: any.
            now: Seconds since 1970; None asks the clock.

        Raises:
            ConfigError: A time cannot be read.
        """
        now = time.time() if now is None else now
        start, period = _since(DEFAULT_SINCE if since is None else since, now)
        values = {"--since": since, "--project": project, "--agent": agents, "--until": until}
        return cls(
            since=start,
            until=_until(until, now),
            period=period,
            project=project or "",
            agents=tuple(map(CodingAgent, agents or ())),
            options=tuple(name for name, value in values.items() if value is not None),
        )

    def wants(self, project: str | None) -> bool:
        """Returns True if sessions of the project are wanted."""
        return self.project.casefold() in (project or "").casefold()

    def refuse_beside_trace(self) -> None:
        """Refuse to select sessions of this machine where a trace is named.

        Raises:
            ConfigError: An option is given that selects.
        """
        if self.options:
            raise ConfigError(
                f"{self.options[0]} selects sessions on this machine; leave it out if you name a trace"
            )


_WHICH = {"project": (Project, None), "agents": (Agents, None)}
with_session_filter = shared({"since": (Since, None), **_WHICH}, SessionFilter.read)
#: Who sums money can name the end of the period, too.
with_session_period = shared({"since": (Since, None), "until": (Until, None), **_WHICH}, SessionFilter.read)


def _since(words: str, now: float) -> tuple[float | None, str]:
    if words == _ALL:
        return None, ""
    ago = _AGO.fullmatch(words)
    if ago is not None and int(ago[1]):
        unit, seconds = _UNITS[ago[2]]
        number = int(ago[1])
        return now - number * seconds, f"in the last {count(number, unit) if number > 1 else unit}"
    try:
        day = datetime.strptime(words, "%Y-%m-%d").astimezone()
        return day.timestamp(), f"since {words}"
    except (ValueError, OverflowError):
        raise ConfigError(
            f"--since {words!r:.40}: expected 24h, 7d, 2w, a day such as 2026-11-01, or all"
        ) from None


def _until(words: str | None, now: float) -> float | None:
    if words is None or words == _ALL:
        return None
    try:
        day = datetime.strptime(words, "%Y-%m-%d").astimezone()
        return (day + timedelta(days=1)).timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        return _since(words, now)[0]
    except ConfigError as error:
        raise ConfigError(str(error).replace("--since", "--until", 1)) from None
