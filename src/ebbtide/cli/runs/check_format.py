"""The formats of the result of a check."""

from __future__ import annotations

from enum import StrEnum


class CheckFormat(StrEnum):
    """Formats in which the result of a check is printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    GITHUB = "github"  #: annotations of GitHub Actions
    JUNIT = "junit"
    SARIF = "sarif"
    MARKDOWN = "markdown"  #: for the summary of a job

    @property
    def is_report(self) -> bool:
        """True if it is written in one piece, for a CI system."""
        return self not in (CheckFormat.TEXT, CheckFormat.JSON, CheckFormat.CSV)
