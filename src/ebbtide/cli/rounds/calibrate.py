"""`ebbtide calibrate`: thresholds against labels."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import click

from ebbtide.cli.declaration import FILE, Argument, Command, Fields, Option, Output, ProfileName
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.rounds.scoring_options import (
    EmbedderName,
    EmbeddingCache,
    Semantic,
    SemanticUse,
    semantic_level,
)
from ebbtide.cli.single_file import single_file
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, plain, tracked, write_file
from ebbtide.convergence.calibration.labelled import EXPECTED, LabelledPair, LabelledTranscript, PairFields
from ebbtide.convergence.calibration.pairs import MeasureReport, PairCalibration, calibrate_pairs
from ebbtide.convergence.calibration.profile_file import profile_toml
from ebbtide.convergence.calibration.stops import StopCalibration, calibrate_stops
from ebbtide.errors import TranscriptError
from ebbtide.profile import Profile
from ebbtide.rate import Rate
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.source import read_bytes, source_name
from ebbtide.traces.reading import loads
from ebbtide.traces.transcripts.transcript_jsonl import is_round_line

_SHOWN = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_CAUTION = "This holds for texts like these. Other texts need labels of their own."


@click.command(
    cls=Command,
    exits={Exit.BAD_INPUT: "wrong usage, a file that cannot be used, or no better thresholds to write"},
)
def calibrate(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...", type=FILE, help="Labelled pairs or conversations, or - for standard input."
        ),
    ],
    profile: ProfileName = "default",
    fields: Fields = None,
    semantic: Semantic = SemanticUse.OFF,
    embedder: EmbedderName = None,
    cache: EmbeddingCache = None,
    precision: Annotated[
        float,
        Option(
            "--precision-at-least",
            metavar="P",
            at_least=0,
            at_most=1,
            help="Minimum precision of a fitted similarity threshold.",
        ),
    ] = 0.5,
    output: Output = None,
) -> Result:
    """Fit the thresholds to your own labels.

    The current thresholds are measured too. The result is a profile in TOML. If the keys of labelled pairs
    are not a, b, same and group, name them: --fields a=KEY,b=KEY,same=KEY,group=KEY
    """
    for file in files:
        single_file(file, "Name its files.")
    level = semantic_level(semantic, embedder, cache)
    current = Profile.load(profile)
    labels = load_labels(files, None if fields is None else PairFields.parse(fields))
    pairs = [item for item in labels if isinstance(item, LabelledPair)]
    transcripts = [item for item in labels if isinstance(item, LabelledTranscript)]
    result = (
        calibrate_pairs(pairs, current, embedder=level.embedder, precision_at_least=precision)
        if pairs
        else calibrate_stops(
            transcripts,
            current,
            embedder=level.embedder,
            track=_progress,
        )
    )
    end = Exit.DONE
    if output is not None:
        if result.fitted is None:
            end = Exit.BAD_INPUT
            print(f"{plain(str(output))} not written: no better thresholds were found", file=sys.stderr)
        else:
            write_file(output, profile_toml(result.fitted, _remarks(result)))

    def wire() -> dict[str, Any]:
        return result.to_dict() | ({"semantic_problem": level.problem} if level.problem else {})

    def text(width: int) -> Iterator[Line]:
        parts = _pair_report(result) if isinstance(result, PairCalibration) else _stop_report(result)
        for part in parts:
            yield from part.lines(width) if isinstance(part, Table) else part.wrap(width)
        if level.problem:
            yield Line.safe(f"L2 is left out: {level.problem}")
        if result.fitted is not None and output is None:
            yield Line("--output NAME.toml writes it, and --profile NAME.toml uses it.", "dim")

    return Result(wire, text, end)


def _progress(profiles: Sequence[Profile]) -> Iterator[Profile]:
    return tracked("Trying", profiles, len(profiles))


def _headline(result: PairCalibration | StopCalibration) -> str:
    if isinstance(result, StopCalibration):
        what = f"conversations: {result.transcripts}, {result.stops} labels say stop, {result.goes} continue"
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


def _pair_report(result: PairCalibration) -> Iterator[Line | Table]:
    reports = result.measures
    yield Line(_headline(result), "bold")
    yield Line()
    yield _table(("", *(report.name for report in reports)), _rows(reports))
    yield Line()
    yield Line("Precision / recall by threshold:")
    yield _table(("", *(report.name for report in reports)), _by_threshold(reports))
    yield Line()
    if any(report.fit for report in reports):
        yield Line(f"Fitted is the best F1 with a precision of at least {result.precision_at_least:g}.")
    for report in reports:
        yield Line(f"{report.name}: {report.verdict}.", "green" if report.proposed else "")
    yield Line(_CAUTION, "dim")


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


def _stop_report(result: StopCalibration) -> Iterator[Line | Table]:
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
    yield Line(_headline(result), "bold")
    yield Line()
    yield _table(("", *headers), rows)
    yield Line()
    yield Line(f"{result.verdict}.", "green" if result.fitted else "")
    yield Line(_CAUTION, "dim")


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(*headers, right=range(1, len(headers)), broken=range(1, len(headers)))
    for row in rows:
        table.add(*(Line(cell) for cell in row))
    return table


def _cell(rate: Rate | None) -> str:
    if rate is None or rate.value is None:
        return "-"
    low, high = rate.interval
    return f"{rate.value:.2f} ({low:.2f}\u2013{high:.2f}) of {rate.total}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


_LARGEST = 256 << 20  # bytes of a file of labels

Labelled = tuple[LabelledPair, ...] | tuple[LabelledTranscript, ...]


def load_labels(paths: Iterable[str | os.PathLike[str]], keys: PairFields | None = None) -> Labelled:
    """The labels in all the files, which are of one kind.

    Args:
        paths: Each is JSON lines of pairs, JSON lines of conversations, or one conversation in JSON or JSONL.
            A conversation has the key ``_expected``: in its object, or in its header line. Compressed with
            gzip or not; ``-`` is standard input.
        keys: How the keys of a pair are called; None: as in `PairFields`.

    Raises:
        TranscriptError: A file cannot be read, a line has no label, or the files are of different kinds.
    """
    pairs: list[LabelledPair] = []
    transcripts: list[LabelledTranscript] = []
    for path in paths:
        source = source_name(path)
        try:
            for item in _labels_in(read_bytes(path, _LARGEST), source, keys or PairFields()):
                if isinstance(item, LabelledPair):
                    pairs.append(item)
                else:
                    transcripts.append(item)
        except TranscriptError as error:
            raise error.located(source=source) from error
        if pairs and transcripts:
            raise TranscriptError(
                "labelled pairs and labelled conversations together",
                source=source,
                hint="Calibrate them one by one.",
            )
    return tuple(pairs) or tuple(transcripts)


def _labels_in(data: bytes, source: str, keys: PairFields) -> Iterator[LabelledPair | LabelledTranscript]:
    document = Document.of(data)
    if document.not_json:
        raise document.not_json
    if document.content is Content.JSON_LINES and any(map(is_round_line, document.head)):
        transcript = loads(data, source=source)
        yield LabelledTranscript.of(transcript, transcript.extra.get(EXPECTED))
        return
    for line, value in document.lines():
        try:
            yield _item(value, source, keys)
        except TranscriptError as error:
            raise error.located(line=line) if document.content is Content.JSON_LINES else error from None


def _item(value: Any, source: str, keys: PairFields) -> LabelledPair | LabelledTranscript:
    if isinstance(value, Mapping) and (EXPECTED in value or "rounds" in value):
        return LabelledTranscript.of(loads(json.dumps(value), source=source), value.get(EXPECTED))
    return LabelledPair.from_dict(value, keys)
