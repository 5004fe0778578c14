"""Commits of sessions in a repository, each counted for one of them, and what is unknown."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ebbtide.budget.bill.tree import RunRole
from ebbtide.shipped.fates import Fates
from ebbtide.shipped.git import Repository
from ebbtide.shipped.joining import join
from ebbtide.shipped.session_work import SessionWork
from ebbtide.supervision.summary.run_shipped import Evidence, Fate, Known, RunCommit, RunShipped
from ebbtide.supervision.summary.run_summary import RunSummary

_DAY_S: Final = 86_400
_STRONGEST: Final = list(Evidence)
_OWN: Final = (RunRole.SESSION, RunRole.FORK)


def outcomes(repository: Repository, works: Sequence[SessionWork]) -> list[RunShipped]:
    """Returns what each session shipped, without what it cost."""
    times = [work.first_ts for work in works if work.first_ts is not None]
    since = min(times) - _DAY_S if times and len(times) == len(works) else None
    printed = {made.printed.hash for work in works for made in work.commits if made.printed.hash}
    fates = Fates(repository, since, sorted(printed))
    trees = repository.roots()
    links = [_links(work, fates, trees) for work in works]
    changes = fates.changes({name for found in links for name in found})
    owners: dict[str, tuple[int, float, int]] = {}
    for number, (work, found) in enumerate(zip(works, links, strict=True)):
        began = float("inf") if work.first_ts is None else work.first_ts
        for name, evidence in found.items():
            claim = (_STRONGEST.index(evidence), began, number)
            owners[name] = min(owners.get(name, claim), claim)
    return [
        _shipped(
            work,
            fates,
            tuple(
                RunCommit(
                    commit=change.hash,
                    title=change.title,
                    fate=change.fate,
                    evidence=found[change.hash],
                    counts_here=owners[change.hash][2] == number,
                    lines_added=change.added,
                    lines_surviving=change.surviving,
                    reverted_by=change.reverted_by,
                )
                for change in sorted(
                    map(changes.__getitem__, found), key=lambda change: (change.committed, change.hash)
                )
            ),
        )
        for number, (work, found) in enumerate(zip(works, links, strict=True))
    ]


def _shipped(work: SessionWork, fates: Fates, commits: tuple[RunCommit, ...]) -> RunShipped:
    missing = _missing(work, fates)
    if not commits and work.has_edits:
        return RunShipped(known=Known.UNKNOWN, missing_commits=missing)
    own = [commit for commit in commits if commit.counts_here]
    landed = [commit for commit in own if commit.fate.is_landed]
    surviving = [commit.lines_surviving for commit in landed]
    return RunShipped(
        known=Known.COMMITS if commits else Known.NOTHING,
        commits=commits,
        landed=len(landed),
        reverted=sum(commit.fate is Fate.REVERTED for commit in own),
        lines_added=sum(commit.lines_added for commit in landed),
        lines_surviving=None if None in surviving else sum(filter(None, surviving)),
        missing_commits=missing,
    )


def _links(work: SessionWork, fates: Fates, trees: Sequence[str]) -> dict[str, Evidence]:
    """The changes of a session by what stands for them now, each with its strongest evidence."""
    roots = [*trees, *([work.project.replace("\\", "/").rstrip("/")] if work.project else [])]
    found: dict[str, Evidence] = {}
    links = join(work, fates.index, roots)
    for name in sorted(links, key=lambda name: _STRONGEST.index(links[name])):
        found.setdefault(fates.change_of(name), links[name])
    return found


def _missing(work: SessionWork, fates: Fates) -> int:
    return sum(
        1
        for made in work.commits
        if (not made.printed.hash or fates.index.starting_with(made.printed.hash) is None)
        and not fates.index.same_title(made)
    )


def with_shipped(
    summaries: Iterable[RunSummary], sessions: Mapping[str, str], shipped: Mapping[str, RunShipped]
) -> list[RunSummary]:
    """Returns the summaries, each session's own one with what the session and its sub-agents shipped.

    Args:
        sessions: The session that each file is of, by its path.
        shipped: What each session shipped, by its id.
    """
    left = dict(shipped)
    results = []
    for summary in summaries:
        session = sessions.get(summary.source, "")
        found = left.pop(session, None) if summary.role in _OWN else None
        results.append(summary if found is None else dataclasses.replace(summary, shipped=found))
    return results
