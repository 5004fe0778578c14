"""Origins of runs: who reports one, and for whom it works."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ebbtide.service.runs.run_event import masked_name, plain_text


class RunSource(StrEnum):
    """Source of the events of a run."""

    API = "api"  #: it sends them
    HOOKS = "hooks"  #: the hooks of a coding agent do
    SPANS = "otlp"  #: in spans of OpenTelemetry
    SESSION_FILE = "session file"  #: they are read in the file that a coding agent writes

    @property
    def can_stop(self) -> bool:
        """True if a run asks before it goes on, so that somebody can end it."""
        return self in (RunSource.API, RunSource.HOOKS)


#: Runs of agents that a person talks with: they wait in between.
WITH_PERSON: Final = (RunSource.HOOKS, RunSource.SESSION_FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrigin:
    """Origin of a run. A name that has a key in it is kept without it: names are labels everywhere.

    Args:
        project: Of which project it is; None where nobody says.
        agent: Which agent works, likewise.
        user: For whom, likewise.
        source: How its events come.
    """

    project: str | None = None
    agent: str | None = None
    user: str | None = None
    source: RunSource = RunSource.API

    def __post_init__(self) -> None:
        for field in ("project", "agent", "user"):
            name = getattr(self, field)
            if name is not None:
                object.__setattr__(self, field, masked_name(plain_text(name)))
