"""The commits of a run, and their fates in a repository of git."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """Fates of a commit."""

    LANDED = "landed"
    REWRITTEN = "rewritten"
    REVERTED = "reverted"
    OPEN = "open"
    LOST = "lost"

    @property
    def is_landed(self) -> bool:
        """True for a commit on the default branch that nobody took back."""
        return self in {Fate.LANDED, Fate.REWRITTEN}


class Evidence(StrEnum):
    """Kinds of evidence that a commit is of a session, the strongest first."""

    HASH = "hash"
    TITLE = "title"
    FILES = "files"


class Known(StrEnum):
    """Kinds of knowledge of what a session shipped."""

    COMMITS = "commits"  #: some of its commits are here
    NOTHING = "no change"  #: it changed no file
    UNKNOWN = "unknown"  #: it changed files, and no commit of them is here


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommit:
    """One commit of a run.

    Args:
        fate: What became of it.
        evidence: What joins it to the run.
        counts_here: Whether it counts for this run: a commit counts for one, though several worked on it.
        lines_added: Lines that it adds, but for generated files.
        lines_surviving: How many of them the default branch has now; None where that is not known.
        reverted_by: The commit that took it back.
    """

    commit: str
    title: str
    fate: Fate
    evidence: Evidence
    counts_here: bool
    lines_added: int
    lines_surviving: int | None = None
    reverted_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunShipped:
    """The commits of a run and of the runs that it started. Sums count the commits that count here.

    Args:
        known: Whether what it shipped is known. Of an unknown run every number below is None.
        commits: All of them, the earliest first.
        landed: Changes that landed, and that nobody took back.
        reverted: Changes that were taken back.
        lines_added: Lines of those that landed.
        lines_surviving: How many of them remain; None where that is not known of one.
        missing_commits: Commits that git printed in it, and that are not in the clone.
        cost_usd: Dollars of the run and of those that it started, as far as prices are known; None where
            none is.
        unpriced: Model calls in them whose cost is not known.
    """

    known: Known
    commits: tuple[RunCommit, ...] | None = None
    landed: int | None = None
    reverted: int | None = None
    lines_added: int | None = None
    lines_surviving: int | None = None
    missing_commits: int = 0
    cost_usd: float | None = None
    unpriced: int = 0

    @property
    def own(self) -> tuple[RunCommit, ...]:
        """The commits that count for it."""
        return tuple(commit for commit in self.commits or () if commit.counts_here)

    @property
    def is_success(self) -> bool | None:
        """False where a change of it was taken back, else True where one landed; None where neither is."""
        if self.reverted:
            return False
        return True if self.landed else None
