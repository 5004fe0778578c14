"""`ebbtide decisions calibration`: how right the stated confidence was."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.table import Table

from ebbtide.cli.decisions.place import Place, with_log
from ebbtide.cli.declaration import AsJson, Command
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.decision_log.calibration.calibrate import Calibration, GroupScores, Scores, calibrate_decisions


@click.command(cls=Command)
@with_log(session=False)
def calibration(
    place: Place,
    as_json: AsJson = False,
) -> None:
    """Say how right the stated confidence was: Brier score, and reliability by bin, category and agent."""
    with place.open() as log:
        result = calibrate_decisions(log.iterate())
    if as_json:
        print_json(result.to_dict())
        return
    terminal = console()
    if result.scores is None:
        terminal.print(f"no forecasts among {result.decisions} decisions")
    else:
        terminal.print(_reliability(result.scores))
        terminal.print()
        for line in _summary(result, result.scores):
            terminal.print(line, soft_wrap=True)
    for title, groups in (("category", result.by_category), ("agent", result.by_agent)):
        if groups:
            terminal.print()
            terminal.print(_groups(title, groups, result.least))
    left_out = ", ".join(f"{count} {reason.value.replace('_', ' ')}" for reason, count in result.excluded)
    if left_out:
        terminal.print(styled(f"\nLeft out of {result.decisions}: {left_out}", "dim"), soft_wrap=True)


def _reliability(scores: Scores) -> Table:
    """Each bin: what was said, and what turned out right with its 95 % interval."""
    table = _table("confidence", "n", "said", "right", "95 % interval")
    for row in scores.bins:
        span = f"{row.low:.2f}" if row.low == row.high else f"{row.low:.2f} to {row.high:.2f}"
        low, high = row.interval
        interval = f"{low:.2f} to {high:.2f}"
        table.add_row(span, str(row.n), f"{row.mean_confidence:.2f}", f"{row.rate:.2f}", interval)
    return table


def _summary(result: Calibration, scores: Scores) -> Iterator[str]:
    brier, error, drift = scores.brier, scores.error, result.drift
    skill = "unknown" if brier.skill is None else f"{brier.skill:.3f}"
    yield f"{result.n} of {result.decisions} decisions"
    yield f"Brier score {brier.score:.4f}, skill {skill}"
    yield f"base rate {brier.base_rate:.3f}, scores {brier.uncertainty:.4f}"
    yield f"reliability {brier.reliability:.4f}, resolution {brier.resolution:.4f}"
    yield f"calibration error {error.value:.3f}"
    yield f"a perfect forecaster: {error.expected:.3f} on average, usually below {error.usual_below:.3f}"
    if drift is not None and drift.changed:
        yield f"errors changed: {drift.before:.3f} to {drift.after:.3f} (p = {drift.p_value:.2g})"


def _groups(title: str, groups: tuple[GroupScores, ...], least: int) -> Table:
    table = _table(title, "n", "Brier")
    for group in groups:
        score = f"under {least}" if group.scores is None else f"{group.scores.brier.score:.3f}"
        table.add_row(plain(group.name or "-", 60), str(group.n), score)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right")
    return table
