"""Outcomes of sessions in a repository: their changes, each counted for one of them, and what is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ebbtide.shipped.fates import Fates, ShippedChange
from ebbtide.shipped.git import Repository
from ebbtide.shipped.joining import JoinedCommit, join
from ebbtide.shipped.session_work import SessionWork
from ebbtide.supervision.summary.run_shipped import Evidence, Fate, Known, RunCommit, RunShipped

_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """One change of a session.

    Args:
        change: What became of it.
        evidence: What joins it to the session.
        is_own: Whether it counts for this session: a change counts for one, though several worked on it.
    """

    change: ShippedChange
    evidence: Evidence
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutcome:
    """The changes of a session and its sub-agents.

    Args:
        work: What it changed.
        known: Whether what it shipped is known.
        changes: Its changes, the earliest first.
        missing: Commits that git printed in it, and that are not in this clone.
    """

    work: SessionWork
    known: Known
    changes: tuple[Shipped, ...]
    missing: int

    @property
    def own(self) -> list[ShippedChange]:
        """The changes that count for it."""
        return [item.change for item in self.changes if item.is_own]

    def shipped(self, cost_usd: float | None, unpriced: int = 0) -> RunShipped:
        """Returns what a summary, a page and an archive keep of it.

        Args:
            cost_usd: Dollars of the session with its sub-agents; None where unknown.
            unpriced: Their model calls without a known cost.
        """
        found = RunShipped(
            known=self.known, missing_commits=self.missing, cost_usd=cost_usd, unpriced=unpriced
        )
        if self.known is Known.UNKNOWN:
            return found
        landed = [change for change in self.own if change.is_landed]
        surviving = [change.surviving for change in landed]
        return replace(
            found,
            commits=tuple(
                RunCommit(
                    commit=item.change.hash,
                    title=item.change.title,
                    fate=item.change.fate,
                    evidence=item.evidence,
                    counts_here=item.is_own,
                    lines_added=item.change.added,
                    lines_surviving=item.change.surviving,
                    reverted_by=item.change.reverted_by,
                )
                for item in self.changes
            ),
            landed=len(landed),
            reverted=sum(change.fate is Fate.REVERTED for change in self.own),
            lines_added=sum(change.added for change in landed),
            lines_surviving=None if None in surviving else sum(filter(None, surviving)),
        )


def outcomes(repository: Repository, works: Sequence[SessionWork]) -> list[SessionOutcome]:
    """Returns what each session shipped."""
    times = [work.first_ts for work in works if work.first_ts is not None]
    since = min(times) - _DAY_S if times and len(times) == len(works) else None
    printed = {made.printed.hash for work in works for made in work.commits if made.printed.hash}
    fates = Fates(repository, since, sorted(printed))
    trees = repository.roots()
    links = [_links(work, fates, trees) for work in works]
    changes = fates.changes({link.commit for found in links for link in found})
    owners: dict[str, tuple[int, float, int]] = {}
    for number, (work, found) in enumerate(zip(works, links, strict=True)):
        began = float("inf") if work.first_ts is None else work.first_ts
        for link in found:
            claim = (list(Evidence).index(link.evidence), began, number)
            owners[link.commit] = min(owners.get(link.commit, claim), claim)
    return [
        SessionOutcome(
            work=work,
            known=Known.COMMITS if found else Known.UNKNOWN if work.has_edits else Known.NOTHING,
            changes=tuple(
                sorted(
                    (
                        Shipped(
                            change=changes[link.commit],
                            evidence=link.evidence,
                            is_own=owners[link.commit][2] == number,
                        )
                        for link in found
                    ),
                    key=lambda item: (item.change.committed, item.change.hash),
                )
            ),
            missing=_missing(work, fates),
        )
        for number, (work, found) in enumerate(zip(works, links, strict=True))
    ]


def _links(work: SessionWork, fates: Fates, trees: Sequence[str]) -> list[JoinedCommit]:
    """The changes of a session by what stands for them now, each with its strongest evidence."""
    roots = [*trees, *([work.project.replace("\\", "/").rstrip("/")] if work.project else [])]
    found: dict[str, Evidence] = {}
    for link in sorted(join(work, fates.index, roots), key=lambda item: list(Evidence).index(item.evidence)):
        found.setdefault(fates.change_of(link.commit), link.evidence)
    return [JoinedCommit(commit, evidence) for commit, evidence in found.items()]


def _missing(work: SessionWork, fates: Fates) -> int:
    return sum(
        1
        for made in work.commits
        if (not made.printed.hash or fates.index.starting_with(made.printed.hash) is None)
        and not fates.index.same_title(made)
    )
