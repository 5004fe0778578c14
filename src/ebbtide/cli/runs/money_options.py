"""The options of `ebbtide check` about money."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from ebbtide.cli.declaration import UNTIL, Option, shared
from ebbtide.cli.runs.session_filter import SECTION, until_of
from ebbtide.errors import ConfigError
from ebbtide.traces.money.file_cache import cache_folder


class MoneyKey(StrEnum):
    """By what money is summed."""

    MODEL = "model"
    DAY = "day"
    HOUR = "hour"
    PROJECT = "project"
    SESSION = "session"
    TREE = "tree"
    AGENT = "agent"
    SKILL = "skill"
    SERVER = "server"
    PLUGIN = "plugin"


By = Annotated[
    MoneyKey | None,
    Option(
        "--by",
        metavar="WHAT",
        help="Print only the cost, summed by WHAT. It also works for named files.",
        section=SECTION,
    ),
]
Until = Annotated[
    str | None,
    Option("--until", metavar="WHEN", help=UNTIL, section=SECTION),
]
UsesCache = Annotated[
    bool,
    Option(
        "--cache/--no-cache",
        help="Cache what was read from session files; the default is yes.",
        section=SECTION,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyOptions:
    """The sums of money to show.

    Args:
        by: By what to sum it, and nothing else; None: the money by day, project and agent, then the verdicts.
        until: Seconds since 1970 before which calls count; None: all.
        cache_folder: Where what files gave is kept; None where it is not.
    """

    by: MoneyKey | None = None
    until: float | None = None
    cache_folder: Path | None = None

    @classmethod
    def read(cls, by: str | None, until: str | None, cache: bool) -> MoneyOptions:
        """Reads the options from the command line.

        Raises:
            ConfigError: `until` cannot be read.
        """
        return cls(
            by=None if by is None else MoneyKey(by),
            until=until_of(until),
            cache_folder=cache_folder(os.environ) if cache else None,
        )

    def refuse_beside_trace(self) -> None:
        """Refuse a period where a trace is named.

        Raises:
            ConfigError: One is given.
        """
        if self.until is not None:
            raise ConfigError("--until selects sessions on this machine; leave it out if you name a trace")


with_money_options = shared(
    {"by": (By, None), "until": (Until, None), "cache": (UsesCache, True)}, MoneyOptions.read
)
