"""Many runs: a row each, the worst first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ebbtide.budget.bill.tree import RunRole
from ebbtide.cli.runs.run_screen import word_style
from ebbtide.cli.table import Table, more_rows
from ebbtide.cli.terminal import Line, plain
from ebbtide.report import wording
from ebbtide.report.bill_words import tree_line, tree_mark
from ebbtide.report.plurals import count
from ebbtide.supervision.summary.headline import Course, Headline
from ebbtide.supervision.summary.idle_sessions import SessionSpan, idle_sessions
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.spending import together
from ebbtide.text.excerpt import one_line

UNREADABLE = "UNREADABLE"  #: what a trace is called of which nothing could be read
_SKIPPED = 8
_REASON = 120
# Where in a run something was, as sentences say it: (calls 4-25, $1.54).
_NARROW = 34  # columns that words need beside the numbers
_NAME = 12  # characters of an id at least
_WHERE = re.compile(r" \((?:calls?|events?|rounds?) [^)]*\)")
_HEADERS = ("verdict", "events", "cost", "run, and why")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file that was not checked.

    Args:
        source: The file.
        reason: Why, in words.
        is_named: Whether the command line names it.
        is_unreadable: Whether it is a trace, as far as one can tell, or was named as one.
        line: The line that cannot be read; None where it is not about one.
    """

    source: str
    reason: str
    is_named: bool = False
    is_unreadable: bool = False
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The file as JSON, with the headline UNREADABLE where it is one."""
        wire = {"schema": 1, "source": self.source, "skipped": self.reason}
        return {**wire, "headline": UNREADABLE} if self.is_unreadable else wire


def run_table(
    summaries: Sequence[RunSummary],
    skipped_files: Sequence[SkippedFile],
    width: int,
    *,
    everything: bool = False,
    top: int | None = None,
) -> list[Line]:
    """The totals, a row a run, and what was skipped.

    Args:
        summaries: The runs.
        skipped_files: Files that could not be read.
        width: Columns.
        everything: List every file that was skipped.
        top: How many rows there are at most, with runs of one reason in one; None gives a row a run.
    """
    runs = sorted(summaries, key=wording.badness)
    rows = runs if everything else _unfolded(runs)
    groups = [[run] for run in rows] if top is None else alike_runs(rows)
    lines: list[Line] = []
    folder = ""
    if runs:
        folder = wording.folder_of([run.source for run in runs])
        lines += totals(runs).wrap(width)
        if folder:
            lines += Line.safe(f"in {folder}", "dim").wrap(width)
        for loop in idle_sessions(map(SessionSpan.of, runs)):
            lines += Line.safe(loop.sentence, "red").wrap(width)
        lines += [Line(), *_table(groups[:top], folder, width)]
        rest = sum(map(len, groups[top:])) if top is not None else 0
        if rest:
            lines.append(
                Line(f"and {count(rest, 'run')} in {count(len(groups) - (top or 0), 'more row')}", "dim")
            )
        if len(rows) < len(runs):
            folded = count(len(runs) - len(rows), "run")
            lines.append(Line(f"{folded} in the rows of the sessions that started them: --all", "dim"))
    return lines + skipped_lines(skipped_files, width, everything=everything, folder=folder)


def _unfolded(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """The runs but for those that come from another among them, and of which nothing is to be said."""
    ids = {run.id for run in runs if run.id is not None}
    return [
        run
        for run in runs
        if _reason(run) or not (run.role == RunRole.COPY or (run.parent in ids and run.parent != run.id))
    ]


def alike_runs(runs: Sequence[RunSummary]) -> list[list[RunSummary]]:
    """Runs of one headline and one reason together, wherever in the run that was; each in the order given."""
    groups: dict[tuple[str, str], list[RunSummary]] = {}
    for run in runs:
        groups.setdefault((run.words, _reason(run)), []).append(run)
    return list(groups.values())


def _reason(run: RunSummary) -> str:
    """Why a run is as it is, without where in it; empty where nothing speaks against it."""
    if run.course is Course.HEALTHY and not run.verdict.ends:
        return ""
    return _WHERE.sub("", run.reason)


def totals(runs: Sequence[RunSummary]) -> Line:
    """Returns the number of runs of each headline, and their cost."""
    words = Counter(run.headline for run in runs)
    styles = {run.headline: word_style(run) for run in runs}
    line = Line(f"{count(len(runs), 'run')}: ", "bold")
    present = [word for word in reversed(Headline) if word in words]
    for number, word in enumerate(present):
        line.append(", " if number else "").append(f"{words[word]:,} {word.value}", styles[word])
    priced = [run.spent for run in runs if run.spent.cost_usd is not None]
    if priced:
        unknown = len(runs) - len(priced)
        rest = f", and {count(unknown, 'run')} of unknown cost" if unknown else ""
        line.append(f"; {wording.cost(together(priced))}{rest}")
    return line


def _table(groups: Sequence[Sequence[RunSummary]], folder: str, width: int) -> list[Line]:
    """A row a group of runs, and under its name why, or where its money went."""
    cells = [
        (
            Line(group[0].words, word_style(group[0])),
            Line(f"{sum(run.spent.events for run in group):,}"),
            Line(_costs(group)),
        )
        for group in groups
    ]
    numbers, table = Table(*_HEADERS), Table(*_HEADERS, right=(1, 2))
    for row in cells:
        numbers.add(*row, "")
    rest = numbers.room(width)
    if rest < _NARROW:
        return _stacked(groups, cells, folder, width)
    for group, row in zip(groups, cells, strict=True):
        table.add(*row, _about(group, folder, rest))
    return table.lines(width)


def _about(group: Sequence[RunSummary], folder: str, width: int) -> list[Line]:
    """Titles of some runs, their names, and the reasons of their verdicts."""
    run, more = group[0], len(group) - 1
    name = run.source.removeprefix(folder) + (f" and {more:,} more" if more else "")
    about, why = wording.about(run), _reason(run)
    # An id says nothing to a reader: it stands second, and breaks no row.
    lines = (
        [Line.safe(about), Line.safe(one_line(name, max(width, _NAME)), "dim")]
        if about
        else [Line.safe(name)]
    )
    if more and why:
        lines.append(Line.safe(f"{why.rstrip('.')} ({len(group):,} runs).", "dim"))
    elif not more and (why or run.bill.sentence):
        lines.append(Line.safe(run.reason if why else run.bill.sentence, "dim"))
    if not more and run.bill.tree is not None:
        lines.append(Line.safe(tree_line(run.bill.tree), "dim"))
    return lines


def _stacked(
    groups: Sequence[Sequence[RunSummary]], cells: Sequence[tuple[Line, Line, Line]], folder: str, width: int
) -> list[Line]:
    """Rows for a screen that is too narrow for columns: the numbers first, the words below them."""
    lines: list[Line] = []
    for group, (word, events, cost) in zip(groups, cells, strict=True):
        head = Line().extend(word).append(f"  {events.text} events, {cost.text}")
        lines += head.wrap(width)
        for line in _about(group, folder, width - 2):
            lines += [Line("  ").extend(part) for part in line.wrap(width - 2)]
    return lines


def _costs(group: Sequence[RunSummary]) -> str:
    """Returns the cost of some runs together, with a mark where that is not all."""
    if len(group) == 1:
        tree = group[0].bill.tree
        if tree is not None and tree.total.cost_usd is not None:
            return f"{wording.money(tree.total.cost_usd)}{tree_mark(tree)}"
        return "?" if group[0].spent.cost_usd is None else wording.cost(group[0].spent)
    costs = [run.spent.cost_usd for run in group if run.spent.cost_usd is not None]
    part = len(costs) < len(group) or any(run.spent.is_least for run in group)
    return f"{wording.money(sum(costs))}{'+' * part}" if costs else "?"


def skipped_lines(
    skipped_files: Sequence[SkippedFile], width: int, *, everything: bool, folder: str = ""
) -> list[Line]:
    """Returns the lines on what was not read, and why; names leave out the folder that is shown already."""
    skipped_files = [replace(item, source=item.source.removeprefix(folder)) for item in skipped_files]
    broken = [item for item in skipped_files if item.is_unreadable]
    others = [item for item in skipped_files if not item.is_unreadable]
    return [
        *_file_lines(broken, UNREADABLE, "red", width, everything=everything),
        *_file_lines(
            others, "is no run" if len(others) == 1 else "are no runs", "yellow", width, everything=everything
        ),
    ]


def _file_lines(
    skipped_files: Sequence[SkippedFile], word: str, style: str, width: int, *, everything: bool
) -> list[Line]:
    if not skipped_files:
        return []
    lines = [Line(), Line(f"{count(len(skipped_files), 'file')} {word}:", style)]
    visible = skipped_files if everything else skipped_files[:_SKIPPED]
    for item in visible:
        line = Line(f"{plain(item.source)}: ").append(plain(item.reason, _REASON), "dim")
        lines += [Line("  ").extend(part) for part in line.wrap(width - 2)]
    more = more_rows(len(skipped_files) - len(visible))
    return [*lines, *(Line("  ").extend(line) for line in more)]
