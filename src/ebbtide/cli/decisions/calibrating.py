"""`ebbtide decisions calibration`: how right the stated confidence was."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click

from ebbtide.cli.decisions.place import Place, with_log
from ebbtide.cli.declaration import Command
from ebbtide.cli.result import Result
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, plain
from ebbtide.decision_log.calibration.calibrate import Calibration, GroupScores, calibrate_decisions
from ebbtide.decision_log.calibration.scores import Scores


@click.command(cls=Command)
@with_log("agent")
def calibration(place: Place) -> Result:
    """Measure how accurate the stated confidence was.

    The screen shows the Brier score, and the reliability by bin, category and agent.
    """
    with place.open() as log:
        result = calibrate_decisions(log.iterate())
    return Result(result.to_dict, partial(_lines, result))


def _lines(result: Calibration, width: int) -> Iterator[Line]:
    if result.scores is None:
        yield Line(f"no forecasts among {result.decisions} decisions")
    else:
        yield from _reliability(result.scores).lines(width)
        yield Line()
        yield from map(Line, _summary(result, result.scores))
    for title, groups in (("category", result.by_category), ("agent", result.by_agent)):
        if groups:
            yield Line()
            yield from _groups(title, groups, result.least).lines(width)
    left_out = ", ".join(f"{count} {reason.value.replace('_', ' ')}" for reason, count in result.excluded)
    if left_out:
        yield Line(f"Left out of {result.decisions}: {left_out}", "dim")


def _reliability(scores: Scores) -> Table:
    """Each bin: what was said, and what turned out right with its 95 % interval."""
    table = _table("confidence", "n", "said", "right", "95% interval")
    for row in scores.bins:
        span, interval = (f"{low:.2f} to {high:.2f}" for low, high in ((row.low, row.high), row.interval))
        table.add(span, str(row.n), f"{row.mean_confidence:.2f}", f"{row.rate:.2f}", interval)
    return table


def _summary(result: Calibration, scores: Scores) -> Iterator[str]:
    brier, error = scores.brier, scores.error
    skill = "unknown" if brier.skill is None else f"{brier.skill:.3f}"
    yield f"{result.n} of {result.decisions} decisions"
    yield f"Brier score {brier.score:.4f}, skill {skill}"
    yield f"base rate {brier.base_rate:.3f}, scores {brier.uncertainty:.4f}"
    yield f"reliability {brier.reliability:.4f}, resolution {brier.resolution:.4f}"
    yield f"calibration error {error.value:.3f}"
    yield f"a perfect forecaster: {error.expected:.3f} on average, usually below {error.usual_below:.3f}"


def _groups(title: str, groups: tuple[GroupScores, ...], least: int) -> Table:
    table = _table(title, "n", "Brier")
    for group in groups:
        score = f"under {least}" if group.scores is None else f"{group.scores.brier.score:.3f}"
        table.add(plain(group.name or "-", 60), str(group.n), score)
    return table


def _table(first: str, *others: str) -> Table:
    return Table(first, *others, right=range(1, len(others) + 1), broken=(0,))
