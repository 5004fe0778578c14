"""Fates of commits: where they are now, who took them back, and how many of their lines remain."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from ebbtide.shipped.git import Commit, Repository
from ebbtide.shipped.joining import CommitIndex
from ebbtide.supervision.summary.run_shipped import Fate

_CONTAINED: Final = 0.8  # of the lines of a commit that the one that took its place has to add
_CANDIDATES: Final = 50  # later commits of the same files that are read for that
_GONE: Final = 0.3  # share of the lines below which a change no longer stands
_REVERTS: Final = re.compile(
    r"This reverts commit ([0-9a-f]{7,64})(?:, reversing\s{1,4}changes made to ([0-9a-f]{7,64}))?"
)
_REVERTED_TITLE: Final = re.compile(r'Revert "(.{1,400})"(?: \(#\d{1,9}\))?')
_GENERATED: Final = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|dist|build)/"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]{1,100}\.lock)$"
    r"|\.min\.(?:js|css)$|\.(?:svg|map)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedChange:
    """One commit as it counts: a rebase or a squash of it is the same change.

    Args:
        hash: The commit that stands for it now.
        committed: Seconds since 1970.
        fate: What became of it. A rewritten change is on the default branch, fewer than 30 % of its lines
            remain, and commits of no known session touched its files after it. A lost one is on no branch.
        added: Lines that it adds; those of lock files, of generated and of vendored ones do not count.
        surviving: How many of them the default branch has now; None where it is on another branch, or git
            took too long.
        reverted_by: The commit that took it back.
    """

    hash: str
    title: str
    committed: float
    fate: Fate
    added: int
    surviving: int | None = None
    reverted_by: str | None = None


class Fates:
    """The fates of commits in a repository.

    Args:
        since: Seconds since 1970; no commit in question was made before.
        printed: Beginnings of hashes that sessions recorded: their commits count though no branch has them.

    Attributes:
        index: The commits of all branches since then, and those.
        has_default: True if a branch is the default one.
    """

    def __init__(self, repository: Repository, since: float | None, printed: Iterable[str] = ()) -> None:
        self._repository = repository
        self._tips = repository.default_tips()
        self.has_default = bool(self._tips)
        self._landed = repository.reachable(self._tips, since) if self._tips else set()
        self._reachable = self._landed | repository.everywhere(since)
        wanted = self._reachable | set(repository.whole_hashes(printed).values())
        self.index = CommitIndex(repository.commits(wanted))
        self._lines: dict[str, set[str]] = {}
        self._reverted = self._reverts()

    def change_of(self, name: str) -> str:
        """Returns the commit that stands for one now: itself, or the one that took its place."""
        if name in self._landed:
            return name
        commit = self.index.commits[name]
        later = self._later(commit)
        return next((item.hash for item in later if self._replaces(item, commit)), name)

    def changes(self, names: Collection[str]) -> dict[str, ShippedChange]:
        """Returns commits with their fates.

        Args:
            names: Those that stand for a change; commits that are not among them are not of a session.
        """
        landed = [self.index.commits[name] for name in names if name in self._landed]
        surviving = self._surviving([commit for commit in landed if commit.hash not in self._reverted])
        return {name: self._change(self.index.commits[name], surviving, names) for name in names}

    def _change(
        self, commit: Commit, surviving: Mapping[str, int | None], names: Collection[str]
    ) -> ShippedChange:
        added = sum(_counted(commit).values())
        left = surviving.get(commit.hash)
        by = self._reverted.get(commit.hash)
        if commit.hash not in self._reachable:
            fate = Fate.LOST
        elif commit.hash not in self._landed:
            fate = Fate.OPEN
        elif by is not None:
            fate, left = Fate.REVERTED, None
        elif left is not None and left < _GONE * added and self._touched_by_others(commit, names):
            fate = Fate.REWRITTEN
        else:
            fate = Fate.LANDED
        return ShippedChange(
            hash=commit.hash,
            title=commit.title,
            committed=commit.committed,
            fate=fate,
            added=added,
            surviving=left,
            reverted_by=by,
        )

    def _later(self, commit: Commit) -> list[Commit]:
        """Commits that may have taken the place of one, those of the default branch first."""
        is_open = commit.hash in self._reachable
        found = []
        for other in self.index.touching(commit.added):
            if other.hash == commit.hash or other.committed < commit.committed:
                continue
            is_there = other.hash in self._landed or (not is_open and other.hash in self._reachable)
            if is_there and (_is_same(other, commit) or other.added.keys() >= commit.added.keys()):
                found.append(other)
        found.sort(key=lambda item: (item.hash not in self._landed, item.committed))
        return found[:_CANDIDATES]

    def _replaces(self, other: Commit, commit: Commit) -> bool:
        """Returns True if a commit is a later form of another: as a rebase makes it, or with its lines."""
        if _is_same(other, commit):
            return True
        lines = self._lines_of(commit)
        return bool(lines) and len(lines & self._lines_of(other)) >= _CONTAINED * len(lines)

    def _lines_of(self, commit: Commit) -> set[str]:
        lines = self._lines.get(commit.hash)
        if lines is None:
            lines = self._lines[commit.hash] = self._repository.added_lines(commit.hash)
        return lines

    def _reverts(self) -> dict[str, str]:
        """The commits that the default branch took back, by which; a revert of that brings them back."""
        commits = self.index.commits
        landed = sorted(
            (commits[name] for name in self._landed if name in commits), key=attrgetter("committed")
        )
        by: dict[str, str] = {}
        titles: dict[str, str] = {}
        for commit in landed:
            gone = [name for match in _REVERTS.finditer(commit.body) for name in self._named(match)]
            title = _REVERTED_TITLE.fullmatch(commit.title)
            if not gone and title is not None and title[1] in titles:
                gone = [titles[title[1]]]
            for name in gone:
                back = [other for other, revert in by.items() if revert == name]
                for other in back:
                    del by[other]
                by[name] = commit.hash
            titles[commit.title] = commit.hash
        return by

    def _named(self, match: re.Match[str]) -> Iterable[str]:
        if match[2] is not None:
            return self._repository.between(match[2], match[1])
        commit = self.index.starting_with(match[1])
        return () if commit is None else (self.change_of(commit.hash),)

    def _touched_by_others(self, commit: Commit, names: Collection[str]) -> bool:
        return any(
            other.hash not in names and other.hash in self._landed and other.committed > commit.committed
            for other in self.index.touching(commit.added)
        )

    def _surviving(self, landed: Iterable[Commit]) -> dict[str, int | None]:
        """The lines of commits that the default branch has now; None where git took too long for a file."""
        wanted = list(landed)
        if not wanted:
            return {}
        tip = self._repository.newest(self._tips)
        here = self._repository.files(tip)
        counts: dict[str, int | None] = {commit.hash: 0 for commit in wanted}
        since = min(commit.committed for commit in wanted) - 1
        commits_by_path: dict[str, set[str]] = {}
        for commit in wanted:
            paths = [path for path, added in _counted(commit).items() if added]
            renamed = {} if here.issuperset(paths) else self._repository.renamed(commit.hash, tip)
            for path in paths:
                now = path if path in here else renamed.get(path)
                if now is not None:
                    commits_by_path.setdefault(now, set()).add(commit.hash)
        for path, names in commits_by_path.items():
            lines = self._repository.lines_by_commit(tip, path, since)
            for name in names:
                count = counts[name]
                counts[name] = None if lines is None or count is None else count + lines.get(name, 0)
        return counts


def _counted(commit: Commit) -> dict[str, int]:
    return {path: added for path, added in commit.added.items() if _GENERATED.search(path) is None}


def _is_same(other: Commit, commit: Commit) -> bool:
    return other.authored == commit.authored and other.title == commit.title
