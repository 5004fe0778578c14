"""Sources of the events of a run."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


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
