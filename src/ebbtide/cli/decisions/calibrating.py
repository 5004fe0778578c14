"""`ebbtide decisions calibration`: how right the stated confidence was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.table import Table

from ebbtide.cli.decisions.browsing import Place
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.decision_log.calibration.calibrate import Calibration, GroupScores, calibrate_decisions
from ebbtide.decision_log.calibration.diagram import (
    reliability_html,
    reliability_lines,
    reliability_png,
    reliability_svg,
)
from ebbtide.errors import ConfigError

_PLOTS: dict[str, Callable[[Calibration], str | bytes]] = {
    ".svg": reliability_svg,
    ".html": reliability_html,
    ".png": reliability_png,
}


def calibration(place: Place, *, plot: Path | None, as_json: bool) -> None:
    """Print how well confidence foretold outcomes, and draw it.

    Raises:
        ConfigError: The diagram cannot be written.
    """
    with place.open() as log:
        result = calibrate_decisions(log.iterate())
    if plot is not None:
        _draw(plot, result)
    if as_json:
        print_json(result.to_dict())
        return
    terminal = console()
    for line in reliability_lines(result):
        terminal.print(styled_line(line), soft_wrap=True)
    for title, groups in (("category", result.by_category), ("agent", result.by_agent)):
        if groups:
            terminal.print()
            terminal.print(_groups(title, groups, result.least))
    left_out = ", ".join(f"{count} {reason.value.replace('_', ' ')}" for reason, count in result.excluded)
    if left_out:
        terminal.print(styled(f"\nLeft out of {result.decisions}: {left_out}", "dim"), soft_wrap=True)


def styled_line(line: str) -> str:
    """A line of a diagram as it is: its spaces are its layout."""
    return line


def _draw(path: Path, result: Calibration) -> None:
    draw = _PLOTS.get(path.suffix.lower())
    if draw is None:
        raise ConfigError(f"--plot {path}: expected a name that ends in {', '.join(_PLOTS)}")
    picture = draw(result)
    try:
        path.write_bytes(picture if isinstance(picture, bytes) else picture.encode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def _groups(title: str, groups: tuple[GroupScores, ...], least: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(title, overflow="fold")
    table.add_column("n", justify="right")
    table.add_column("Brier", justify="right")
    for group in groups:
        score = f"under {least}" if group.scores is None else f"{group.scores.brier.score:.3f}"
        table.add_row(plain(group.name or "-", 60), str(group.n), score)
    return table
