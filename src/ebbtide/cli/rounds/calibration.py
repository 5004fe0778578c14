"""`ebbtide calibrate`: thresholds against labels."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.progress import track
from rich.table import Table
from rich.text import Text

from ebbtide.cli.rounds.labels import load_labels
from ebbtide.cli.rounds.pr_plot import precision_recall_svg
from ebbtide.cli.rounds.scoring_options import SemanticLevel
from ebbtide.cli.terminal import console, plain, print_json, styled
from ebbtide.cli.written_file import write_file
from ebbtide.convergence.calibration.labelled import LabelledPair, LabelledTranscript, PairFields
from ebbtide.convergence.calibration.pairs import MeasureReport, PairCalibration, calibrate_pairs
from ebbtide.convergence.calibration.profile_file import profile_toml
from ebbtide.convergence.calibration.stops import StopCalibration, calibrate_stops
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.rate import Rate

_SHOWN = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_CAUTION = "This holds for texts like these. Other texts need labels of their own."


def calibrate(
    names: Sequence[str],
    *,
    profile: str,
    fields: str | None,
    level: SemanticLevel,
    precision_at_least: float,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> bool:
    """Print how right the thresholds of a profile are on labels, and write what would be better.

    Args:
        names: Files of labelled pairs, or of labelled conversations.
        profile: What is measured, as `Profile.load` takes it.
        fields: How the keys of a pair are called, as `PairFields.parse` takes it; None: as in `PairFields`.
        level: What meanings are compared with.
        precision_at_least: What a fitted similarity threshold must reach.
        output: TOML file for the fitted profile.
        plot: SVG file for precision over recall.
        as_json: Print JSON for machines.

    Returns:
        False where a fitted profile was asked for and there is nothing to write.

    Raises:
        EbbtideError: Something cannot be read, used or written.
    """
    current = Profile.load(profile)
    labels = load_labels(names, None if fields is None else PairFields.parse(fields))
    pairs = [item for item in labels if isinstance(item, LabelledPair)]
    transcripts = [item for item in labels if isinstance(item, LabelledTranscript)]
    if plot and not pairs:
        raise ConfigError("--plot needs labelled pairs")
    if plot and plot.suffix.lower() != ".svg":
        raise ConfigError(f"--plot {plot}: expected a name that ends in .svg")
    result = (
        calibrate_pairs(pairs, current, embedder=level.embedder, precision_at_least=precision_at_least)
        if pairs
        else calibrate_stops(transcripts, current, embedder=level.embedder, track=_progress)
    )
    if as_json:
        print_json(result.to_dict() | ({"semantic_problem": level.problem} if level.problem else {}))
    else:
        _print_report(result, level.problem)
        if result.fitted is not None and output is None:
            console().print("--output NAME.toml writes it, and --profile NAME.toml uses it.", style="dim")
    if plot and isinstance(result, PairCalibration):
        write_file(plot, precision_recall_svg(_headline(result), result.measures))
    if output is None:
        return True
    if result.fitted is None:
        print(f"{plain(str(output))} not written: no better thresholds were found", file=sys.stderr)
        return False
    write_file(output, profile_toml(result.fitted, _remarks(result)))
    return True


def _print_report(result: PairCalibration | StopCalibration, problem: str | None) -> None:
    terminal = console()
    for part in _pair_report(result) if isinstance(result, PairCalibration) else _stop_report(result):
        terminal.print(part)
    if problem:
        terminal.print(styled(f"L2 is left out: {problem}"), soft_wrap=True)


def _progress(profiles: Sequence[Profile]) -> Iterator[Profile]:
    progress = console(stderr=True)
    yield from track(profiles, "Trying", console=progress, transient=True, disable=not progress.is_terminal)


def _headline(result: PairCalibration | StopCalibration) -> str:
    if isinstance(result, StopCalibration):
        what = f"conversations: {result.transcripts}, {result.stops} labels say stop, {result.goes} go on"
    else:
        what = f"pairs: {result.pairs}, {result.same} the same, groups: {result.groups}"
    return f"Labelled {what}; profile: {plain(result.profile.name)}"


def _remarks(result: PairCalibration | StopCalibration) -> Iterator[str]:
    yield f"Fitted by ebbtide calibrate. {_headline(result)}."
    if isinstance(result, StopCalibration):
        yield f"{result.verdict}."
        if result.fit:
            before, after = result.current, result.fit.held_out
            yield f"Labels agreed with: {before.agreed} before, {after.agreed} held out, of {before.labels}."
        return
    for report in result.measures:
        if report.proposed and report.fit:
            held_out = report.fit.held_out
            yield f"{report.name}: {report.verdict}."
            yield f"F1 {report.current.f1:.3f} before, {held_out.f1:.3f} held out;"
            yield f"precision {_cell(held_out.precision)} held out."
            if report.name == "L2":
                yield f"It holds for {result.semantic}; another model needs a threshold of its own."
    yield _CAUTION


def _pair_report(result: PairCalibration) -> Iterator[RenderableType]:
    reports = result.measures
    yield Text(_headline(result), style="bold")
    yield ""
    yield _table(("", *(report.name for report in reports)), _rows(reports))
    yield ""
    yield "Precision / recall by threshold:"
    yield _table(("", *(report.name for report in reports)), _by_threshold(reports))
    yield ""
    if any(report.fit for report in reports):
        yield f"Fitted is the best F1 with a precision of at least {result.precision_at_least:g}."
    for report in reports:
        yield Text(f"{report.name}: {report.verdict}.", style="green" if report.proposed else "")
    yield Text(_CAUTION, style="dim")


def _rows(reports: Sequence[MeasureReport]) -> Iterator[tuple[str, ...]]:
    now = [report.current for report in reports]
    yield ("average precision", *(_number(report.average_precision) for report in reports))
    yield ("area under ROC", *(_number(report.area_under_roc) for report in reports))
    yield ("threshold now", *(f"{report.threshold:g}" for report in reports))
    yield ("  agreement", *(_cell(part.agreement) for part in now))
    yield ("  precision", *(_cell(part.precision) for part in now))
    weakest = [report.weakest for report in reports]
    if any(weakest):
        yield ("  precision, weakest group", *(_cell(part.precision if part else None) for part in weakest))
    yield ("  recall", *(_cell(part.recall) for part in now))
    yield ("  F1", *(_number(part.f1) for part in now))
    fits = [report.fit for report in reports]
    if any(fits):
        yield ("threshold fitted", *(_number(fit.threshold if fit else None) for fit in fits))
        yield ("  F1 fitted on", *(_number(fit.fitted_on.f1 if fit else None) for fit in fits))
        held_out = [fit.held_out if fit else None for fit in fits]
        yield ("  F1 held out", *(_number(part.f1 if part else None) for part in held_out))
        yield ("  precision held out", *(_cell(part.precision if part else None) for part in held_out))
        yield ("  recall held out", *(_cell(part.recall if part else None) for part in held_out))


def _by_threshold(reports: Sequence[MeasureReport]) -> Iterator[tuple[str, ...]]:
    for step in _SHOWN:
        here = [report.at(step) for report in reports]
        cells = (f"{_number(part.precision.value, 2)} / {_number(part.recall.value, 2)}" for part in here)
        yield (f"{step:g}", *cells)


def _stop_report(result: StopCalibration) -> Iterator[RenderableType]:
    rules, fit = result.profile.novelty, result.fit
    columns = [("now", f"{rules.low_below:g}", str(rules.low_rounds), result.current)]
    if fit:
        columns.append(("fitted on", f"{fit.low_below:g}", str(fit.low_rounds), fit.fitted_on))
        columns.append(("held out", "", "", fit.held_out))
    headers, low_below, low_rounds, agreements = zip(*columns, strict=True)
    rows = [
        ("low_below", *low_below),
        ("low_rounds", *low_rounds),
        ("signal", *(_cell(part.signal) for part in agreements)),
        ("stop round", *(_cell(part.stop_round) for part in agreements)),
        ("  within one round", *(_cell(part.near) for part in agreements)),
        ("  too early", *(_cell(part.early) for part in agreements)),
        ("  too late or never", *(_cell(part.late) for part in agreements)),
    ]
    yield Text(_headline(result), style="bold")
    yield ""
    yield _table(("", *headers), rows)
    yield ""
    yield Text(f"{result.verdict}.", style="green" if result.fitted else "")
    yield Text(_CAUTION, style="dim")


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, header in enumerate(headers):
        table.add_column(header, justify="right" if at else "left", no_wrap=not at)
    for row in rows:
        table.add_row(*row)
    return table


def _cell(rate: Rate | None) -> str:
    if rate is None or rate.value is None:
        return "-"
    low, high = rate.interval
    return f"{rate.value:.2f} ({low:.2f}\u2013{high:.2f}) of {rate.total}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
