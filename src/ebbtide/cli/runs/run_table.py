"""Many runs: a row each, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.cli.lines import Line, cell_width, columns
from ebbtide.cli.runs.run_screen import word_style
from ebbtide.cli.terminal import plain
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.summary.headline import Course, Headline
from ebbtide.supervision.summary.run_summary import RunSummary

UNREADABLE = "UNREADABLE"  #: what a trace is called of which nothing could be read
_SKIPPED = 8
_REASON = 120
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
) -> list[Line]:
    """The totals, a row a run, and what was skipped.

    Args:
        summaries: The runs.
        skipped_files: Files that could not be read.
        width: Columns.
        everything: List every file that was skipped.
    """
    runs = sorted(summaries, key=wording.badness)
    lines: list[Line] = []
    if runs:
        folder = wording.folder_of([run.source for run in runs])
        lines += totals(runs).wrap(width)
        if folder:
            lines += Line.safe(f"in {folder}", "dim").wrap(width)
        lines += [Line(), *_table(runs, folder, width)]
    return lines + skipped_lines(skipped_files, width, everything=everything)


def totals(runs: Sequence[RunSummary]) -> Line:
    """How many runs there are of each headline, and what they cost."""
    words = Counter(run.headline for run in runs)
    styles = {run.headline: word_style(run) for run in runs}
    line = Line(f"{count(len(runs), 'run')}: ", "bold")
    present = [word for word in reversed(Headline) if word in words]
    for number, word in enumerate(present):
        line.append(", " if number else "").append(f"{words[word]:,} {word.value}", styles[word])
    costs = [run.spent.cost_usd for run in runs if run.spent.cost_usd is not None]
    if costs:
        part = any(run.spent.unpriced for run in runs if run.spent.cost_usd is not None)
        unknown = len(runs) - len(costs)
        rest = f", and {count(unknown, 'run')} of unknown cost" if unknown else ""
        line.append(f"; {wording.money(sum(costs))}{'+' * part}{rest}")
    return line


def _table(runs: Sequence[RunSummary], folder: str, width: int) -> list[Line]:
    """A row a run, and under its name why, or where its money went."""
    cells = [
        (
            Line(run.title, word_style(run)),
            Line(f"{run.spent.events:,}"),
            Line("?" if run.spent.cost_usd is None else wording.cost(run.spent)),
        )
        for run in runs
    ]
    head = [Line(name, "dim") for name in _HEADERS]
    widths = [max(cell_width(line.text) for line in column) for column in zip(head, *cells, strict=False)]
    widths.append(width - sum(widths) - 2 * len(widths))
    rows: list[tuple[Line, ...]] = [tuple(head)]
    for run, row in zip(runs, cells, strict=True):
        rows.append((*row, Line.safe(run.source.removeprefix(folder))))
        if run.course is not Course.HEALTHY or run.verdict.ends:
            rows.append((Line(), Line(), Line(), Line.safe(run.reason, "dim")))
        elif run.bill.sentence:
            rows.append((Line(), Line(), Line(), Line.safe(run.bill.sentence, "dim")))
    return columns(rows, widths, right=(1, 2))


def skipped_lines(skipped_files: Sequence[SkippedFile], width: int, *, everything: bool) -> list[Line]:
    """What was not read, and why."""
    broken = [item for item in skipped_files if item.is_unreadable]
    others = [item for item in skipped_files if not item.is_unreadable]
    return [
        *_file_lines(broken, UNREADABLE, "red", width, everything=everything),
        *_file_lines(others, "skipped", "yellow", width, everything=everything),
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
    if len(visible) < len(skipped_files):
        lines.append(Line(f"  and {len(skipped_files) - len(visible):,} more: --all", "dim"))
    return lines
