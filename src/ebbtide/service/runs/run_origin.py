"""Origins of runs."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.service.runs.run_event import masked_name, plain_text
from ebbtide.service.runs.run_source import RunSource


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
