"""`ebbtide archive calibrate`: what verdicts would have saved and cost, by how the runs came out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ebbtide.batch.verdict_outcomes import EndedRuns, ended_runs, load_outcomes
from ebbtide.cli.lines import Line, cell_width, columns, print_lines, terminal_width
from ebbtide.cli.terminal import print_json
from ebbtide.codec import to_wire
from ebbtide.report.wording import money

_HEADERS = ("runs", "failed", "right", "95%", "successes lost", "saved", "about")
_LEAST_WIDTH = 20  # of the last column


def calibrate_archive(
    results: Sequence[Path], outcomes: Path, *, run: str, outcome: str, as_json: bool
) -> None:
    """Print what the verdicts in files of results would have saved, and what they would have cost.

    Args:
        results: Files of results, one a setting.
        outcomes: A table of how the runs came out.
        run: Its column that names the run.
        outcome: Its column that says whether it succeeded.
        as_json: Print JSON.

    Raises:
        ConfigError: A file cannot be used.
    """
    known_outcomes = load_outcomes(outcomes, run, outcome)
    lines = [line for path in results for line in ended_runs(path, known_outcomes)]
    if as_json:
        print_json({"schema": 1, "outcomes": len(known_outcomes), "lines": [to_wire(line) for line in lines]})
        return
    for path in results:
        print_lines(
            [Line.safe(str(path), "bold"), *_table([line for line in lines if line.results == str(path)])]
        )


def _table(lines: Sequence[EndedRuns]) -> list[Line]:
    rows = [[Line(name, "dim") for name in _HEADERS], *map(_row, lines)]
    widths = [max(cell_width(row[place].text) for row in rows) for place in range(len(_HEADERS) - 1)]
    rest = max(_LEAST_WIDTH, terminal_width() - sum(widths) - 2 * len(widths))
    return columns(rows, [*widths, rest], right=range(len(_HEADERS) - 1))


def _row(line: EndedRuns) -> list[Line]:
    share = "" if line.lost_share is None else f" ({line.lost_low:.1%} to {line.lost_high:.1%})"
    level = "stop" if line.action == "stop" else "escalate or stop"
    return [
        Line(f"{line.runs:,}"),
        Line(f"{line.failed:,}"),
        Line("" if line.precision is None else f"{line.precision:.0%}"),
        Line(f"{line.precision_low:.0%} to {line.precision_high:.0%}" if line.runs else ""),
        Line(f"{line.lost_successes:,}{share}"),
        Line("" if line.saved_usd is None else money(line.saved_usd)),
        Line.safe(level if line.kind is None else f"{level}: {line.kind.replace('_', ' ')}"),
    ]
