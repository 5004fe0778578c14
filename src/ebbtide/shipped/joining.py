"""Joins sessions to commits: by what git printed, and by edits of files before a commit of them.

Nothing here reads a trailer of a message: what tools write there is the truth that the join is measured by.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ebbtide.shipped.git import Commit
from ebbtide.shipped.session_work import MadeCommit, SessionWork
from ebbtide.supervision.summary.run_shipped import Evidence

_NEAR_S: Final = 600  # between the call that made a commit and the time that the commit states
_LATER_S: Final = 2 * 86_400  # from the last edit of a file to the commit of it
_SLACK_S: Final = 1  # times of commits are whole seconds
_SHARE: Final = 0.5  # of the files of a commit that the session has to have edited
_SHORTEST: Final = 2  # folders and name by which a file of an unknown place is known


class CommitIndex:
    """The commits of a repository, by what sessions record of them.

    Args:
        commits: Them, without merges.
    """

    def __init__(self, commits: Iterable[Commit]) -> None:
        self.commits = {commit.hash: commit for commit in commits}
        self._hashes = sorted(self.commits)
        self._by_title: dict[str, list[Commit]] = defaultdict(list)
        by_file: dict[str, list[Commit]] = defaultdict(list)
        for commit in self.commits.values():
            self._by_title[_title(commit.title)].append(commit)
            for path in commit.added:
                by_file[path].append(commit)
        self._by_file = {
            path: sorted(found, key=lambda commit: commit.authored) for path, found in by_file.items()
        }

    def starting_with(self, prefix: str) -> Commit | None:
        """Returns the commit whose hash begins so; None where there is none, or more than one."""
        at = bisect_left(self._hashes, prefix)
        found = [name for name in self._hashes[at : at + 2] if name.startswith(prefix)]
        return self.commits[found[0]] if len(found) == 1 else None

    def same_title(self, made: MadeCommit) -> list[Commit]:
        """Returns commits with the title of one that a session made, and no earlier than it.

        A rebase and an amendment keep the time at which a commit was written; a squash has the time of its
        merge. Where the record has no time, the title has to be that of one commit.
        """
        found = self._by_title.get(_title(made.printed.title), []) if made.printed.title else []
        if made.ts is None:
            return found if len(found) == 1 else []
        near = [commit for commit in found if abs(commit.authored - made.ts) <= _NEAR_S]
        return near or [commit for commit in found if 0 <= commit.committed - made.ts <= _LATER_S]

    def touching(self, paths: Iterable[str]) -> list[Commit]:
        """Returns the commits of any of some files, each once."""
        found = {commit.hash: commit for path in paths for commit in self._by_file.get(path, ())}
        return list(found.values())

    def file_of(self, path: str, roots: Sequence[str]) -> str | None:
        """Returns the file of the repository that a session means; None where no commit has it.

        Args:
            path: The file, as a call names it.
            roots: Folders that hold the work of the session, without a slash at the end.
        """
        for root in roots:
            if path.startswith(f"{root}/"):
                inside = path[len(root) + 1 :]
                if inside in self._by_file:
                    return inside
        parts = path.removeprefix("./").split("/")
        if not path.startswith("/") and ":" not in parts[0]:
            whole = "/".join(parts)
            return whole if whole in self._by_file else None
        tails = ("/".join(parts[at:]) for at in range(1, len(parts) - _SHORTEST + 1))
        return next((tail for tail in tails if tail in self._by_file), None)

    def after_edits(self, edits: Mapping[str, Sequence[float]]) -> dict[str, int]:
        """Returns how many edited files each commit has of which it is the first commit after an edit.

        Args:
            edits: The times of edits by file of the repository, in order.
        """
        counts: dict[str, int] = defaultdict(int)
        for path, times in edits.items():
            before = -1.0
            for commit in self._by_file[path]:
                at = bisect_left(times, commit.authored + _SLACK_S)
                last = times[at - 1] if at else None
                if last is not None and last > before and commit.authored - last <= _LATER_S:
                    counts[commit.hash] += 1
                # A copy of a commit on another branch has the same time, and is as near to the edit.
                before = max(before, commit.authored - 1)
        return counts


def join(work: SessionWork, index: CommitIndex, roots: Sequence[str] = ()) -> dict[str, Evidence]:
    """Returns the commits of a session by their hashes, each with what says so.

    - A commit whose hash git printed in a call that made it is of the session.
    - Where that hash is not in the repository, a rebase or a squash may have given it another one: a commit
      with the printed title is of the session, written at that time or made soon after it.
    - A commit of files of which the session edited half or more is of the session, where it is the first
      commit of them after the edit.

    Args:
        roots: Folders that hold its work.
    """
    links: dict[str, Evidence] = {}
    for made in work.commits:
        commit = index.starting_with(made.printed.hash) if made.printed.hash else None
        if commit is not None:
            links[commit.hash] = Evidence.HASH
        else:
            for other in index.same_title(made):
                links.setdefault(other.hash, Evidence.TITLE)
    edits: dict[str, list[float]] = defaultdict(list)
    known: dict[str, str | None] = {}
    for edit in work.edits:
        if edit.path not in known:
            known[edit.path] = index.file_of(edit.path, roots)
        path = known[edit.path]
        if path is not None:
            edits[path].append(edit.ts)
    counts = index.after_edits({path: sorted(times) for path, times in edits.items()})
    for name, count in counts.items():
        if count >= _SHARE * len(index.commits[name].added):
            links.setdefault(name, Evidence.FILES)
    return links


def _title(title: str) -> str:
    """Returns a title without the number of a pull request that a squash adds."""
    head, sign, rest = title.rstrip().rpartition(" (#")
    return head if sign and rest[:-1].isdigit() and rest.endswith(")") else title.strip()
