"""Measures the join of sessions and commits against the trailers that a tool wrote into the commits.

    python -m benchmarks.quality.shipped [--data DIR] [--misses]

- the truth: pairs of a session and a commit whose trailer names a checkpoint of the session. The join reads
  no trailer. All sessions of a checkpoint share its commits, also those that edited none of its files;
- the commits: those of the same repository that carry a trailer, with hash, time and title. The repositories
  are not in the data, so neither are the files of a commit: the evidence of files is not measured here;
- by evidence: how many of the pairs given are right, and how many of all pairs are found, with the interval
  of Wilson; then the same where git printed a commit in the session at all;
- times alone: every commit within two days after an edit of the session: what is left without files.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.run_sets import session_files
from ebbtide.events.event import Event
from ebbtide.shipped.git import Commit
from ebbtide.shipped.joining import CommitIndex, join
from ebbtide.shipped.session_work import SessionWork, WorkReader
from ebbtide.supervision.summary.run_shipped import Evidence
from ebbtide.traces.reading import open_trace

_LATER_S = 2 * 86_400


class Pair(NamedTuple):
    """A session and a commit."""

    session: str
    commit: str


def cards(data: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each session whose card names commits, with its card."""
    for path, card in session_files(data):
        if any(point["commits"] for point in card.get("checkpoints") or ()):
            yield path, card


def commits_of(card: dict[str, Any]) -> Iterator[Commit]:
    """The commits of a card, without their files."""
    for point in card["checkpoints"]:
        for item in point["commits"]:
            at = datetime.fromisoformat(item["date"]).timestamp()
            yield Commit(hash=item["commit"], authored=at, committed=at, title=item["subject"])


def work_of(path: Path, name: str) -> SessionWork:
    """The work of a session."""
    work = SessionWork(name)
    reader = WorkReader(work)
    for item in open_trace(path):
        if isinstance(item, Event):
            reader.see(item)
    return work


def score(given: Collection[Pair], truth: Collection[Pair]) -> dict[str, Any]:
    """Precision and recall of pairs, with n and intervals."""
    right = len(set(given) & set(truth))
    return {
        "given": len(given),
        "pairs": len(truth),
        "right": right,
        "precision": right / len(given) if given else None,
        "precision_95": wilson(right, len(given)),
        "recall": right / len(truth) if truth else None,
        "recall_95": wilson(right, len(truth)),
    }


def measure(data: Path, *, misses: bool) -> dict[str, Any]:
    """The scores by evidence, of all sessions and of those in which git printed a commit."""
    found = list(cards(data))
    pools: dict[str, dict[str, Commit]] = defaultdict(dict)
    truth: set[Pair] = set()
    for path, card in found:
        for commit in commits_of(card):
            pools[path.parent.name][commit.hash] = commit
            truth.add(Pair(card["id"], commit.hash))
    indexes = {name: CommitIndex(pool.values()) for name, pool in pools.items()}
    given: dict[Evidence, set[Pair]] = defaultdict(set)
    timed: set[Pair] = set()
    printing = set()
    for path, card in found:
        name, index = card["id"], indexes[path.parent.name]
        work = work_of(path, name)
        if work.commits:
            printing.add(name)
        for commit, evidence in join(work, index).items():
            pair = Pair(name, commit)
            given[evidence].add(pair)
            if misses and pair not in truth:
                print("  wrong:", path.parent.name, name[:8], evidence, commit[:8])
        times = [edit.ts for edit in work.edits]
        for other in index.commits.values():
            if any(0 <= other.authored - ts <= _LATER_S for ts in times):
                timed.add(Pair(name, other.hash))
    both = given[Evidence.HASH] | given[Evidence.TITLE]
    of_printing = {pair for pair in truth if pair.session in printing}
    return {
        "sessions": len(found),
        "sessions_in_which_git_printed_a_commit": len(printing),
        "commits": sum(map(len, pools.values())),
        "hash": score(given[Evidence.HASH], truth),
        "hash_or_title": score(both, truth),
        "hash_or_title_where_git_printed": score(both, of_printing),
        "times_alone": score(timed, truth),
    }


def main() -> None:
    """Prints the scores, and writes them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--misses", action="store_true", help="print the pairs that no trailer has")
    arguments = parser.parse_args()
    result = measure(data_folder(arguments.data), misses=arguments.misses)
    for name, value in result.items():
        if not isinstance(value, dict):
            print(f"{name}: {value}")
            continue
        for rate, of in (("precision", "given"), ("recall", "pairs")):
            low, high = value[f"{rate}_95"]
            print(f"{name}: {rate} {value['right']} of {value[of]} ({low:.2f} to {high:.2f})")
    write_result("quality-shipped", {"setup": setup(), **result})


if __name__ == "__main__":
    main()
