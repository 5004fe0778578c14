"""The part of a page about the commits of a run, and the words for them."""

from __future__ import annotations

from collections import Counter

from ebbtide.report.markup import Markup, element, joined, table
from ebbtide.report.plurals import count
from ebbtide.report.wording import UNKNOWN, money
from ebbtide.supervision.summary.run_shipped import Fate, Known, RunCommit, RunShipped

_SHORT = 10  # characters of a hash
_NO_COMMITS = {
    Known.NOTHING: "It changed no file.",
    Known.UNKNOWN: "Unknown: it changed files, and no commit in this clone has the changes.",
}


def shipped_words(shipped: RunShipped) -> str:
    """Returns the fates of a run's commits in a few words, such as ``2 landed, 1 reverted``."""
    if shipped.known is not Known.COMMITS:
        return shipped.known.value
    fates = Counter(commit.fate for commit in shipped.own)
    words = [f"{fates[fate]:,} {fate.value}" for fate in Fate if fates[fate]]
    return ", ".join(words) or "counted elsewhere"


def shipped_sentence(shipped: RunShipped) -> str:
    """Returns what a run shipped in a sentence or two, with the cost of a landed change."""
    missing = shipped.missing_commits
    absent = f" {count(missing, 'commit')} of it {'is' if missing == 1 else 'are'} not in this clone."
    if shipped.known is not Known.COMMITS:
        return _NO_COMMITS[shipped.known] + (absent if missing else "")
    own, others = len(shipped.own), len(shipped.commits or ()) - len(shipped.own)
    parts = [f"{count(own, 'change')}: {shipped_words(shipped)}." if own else ""]
    if shipped.landed:
        surviving = UNKNOWN if shipped.lines_surviving is None else f"{shipped.lines_surviving:,}"
        parts.append(f"{surviving} of {shipped.lines_added:,} lines that landed remain.")
        if shipped.cost_usd is not None:
            least = "at least " if shipped.unpriced else ""
            parts.append(f"A landed change cost {least}{money(shipped.cost_usd / shipped.landed)}.")
    if others:
        parts.append(
            f"{count(others, 'change')} of it {'counts' if others == 1 else 'count'} for another run."
        )
    return " ".join(filter(None, parts)) + (absent if missing else "")


def shipped_part(shipped: RunShipped) -> Markup:
    """Returns the sentence, and a row for each commit."""
    sentence = element("p", shipped_sentence(shipped), class_="statement", dir="auto")
    if not shipped.commits:
        return sentence
    headers = ("state", "lines", "commit", "title")
    rows = [
        (_state(commit), _lines(commit), commit.commit[:_SHORT], commit.title) for commit in shipped.commits
    ]
    return joined(sentence, table("Each commit", headers, rows, words=("state", "commit", "title")))


def _state(commit: RunCommit) -> str:
    by = f" by {commit.reverted_by[:_SHORT]}" if commit.reverted_by else ""
    elsewhere = "" if commit.counts_here else ", counts for another run"
    return f"{commit.fate.value}{by}{elsewhere}"


def _lines(commit: RunCommit) -> str:
    if not commit.fate.is_landed:
        return f"{commit.lines_added:,}"
    surviving = UNKNOWN if commit.lines_surviving is None else f"{commit.lines_surviving:,}"
    return f"{surviving} of {commit.lines_added:,}"
