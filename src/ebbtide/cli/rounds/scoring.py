"""`ebbtide score` and `ebbtide stop`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rich.progress import track
from rich.table import Table
from rich.text import Text

from ebbtide.cli.rounds.report import class_style, print_report
from ebbtide.cli.terminal import SIGNAL_STYLES, console, plain, print_json, styled, warn
from ebbtide.convergence.meter import ConvergenceMeter, RoundReading
from ebbtide.convergence.recommendation import Recommendation, Signal
from ebbtide.convergence.score import ConvergenceScore
from ebbtide.errors import ConfigError, SemanticError, TranscriptError
from ebbtide.profile import Profile
from ebbtide.report.plurals import count
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.traces.input.source import STDIN
from ebbtide.traces.live import Growth, RoundStream, follow
from ebbtide.traces.reading import load
from ebbtide.traces.transcripts.turns import RoundUnit

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".gz", ".traj", ".eval")


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticLevel:
    """What meanings are compared with, and why they are not, where that was not asked for.

    Args:
        embedder: None where the level is off.
        problem: What is missing; None where nothing is.
    """

    embedder: Embedder | None = None
    problem: str | None = None


def semantic_level(use: str, model: str | None, cache: str | None) -> SemanticLevel:
    """The level as asked for on the command line; naming a model asks for it.

    Raises:
        SemanticError: It was asked for, and cannot run.
    """
    if use == "off" and model is None:
        return SemanticLevel()
    try:
        return SemanticLevel(embedder=open_embedder(model, cache=Path(cache) if cache else None))
    except SemanticError as error:
        if use != "auto":
            raise
        return SemanticLevel(problem=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What every scoring command takes."""

    profile: Profile
    unit: RoundUnit
    as_json: bool
    explain: bool = False
    level: SemanticLevel = SemanticLevel()

    @classmethod
    def of(
        cls,
        *,
        profile: str,
        unit: RoundUnit,
        as_json: bool,
        level: SemanticLevel,
        explain: bool = False,
    ) -> Self:
        """The options as typed on the command line.

        Raises:
            ConfigError: There is no such profile.
        """
        return cls(profile=Profile.load(profile), unit=unit, as_json=as_json, explain=explain, level=level)

    def meter(self) -> ConvergenceMeter:
        """A meter as these options want it."""
        return ConvergenceMeter(self.profile, explain=self.explain, embedder=self.level.embedder)

    def noted(self, wire: dict[str, Any]) -> dict[str, Any]:
        """A result for machines, with the reason why the semantic level is not in it."""
        return {**wire, "semantic_problem": self.level.problem} if self.level.problem else wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A conversation that was scored, with the readings of its rounds, and how many calls had no say."""

    name: str
    score: ConvergenceScore
    readings: tuple[RoundReading, ...]
    tool_calls: int = 0

    def to_dict(self, *, explain: bool) -> dict[str, Any]:
        """The output object; with the claims of each round where they were asked for."""
        wire = self.score.to_dict()
        if explain:
            wire["claims_by_round"] = [
                {"round": reading.number, "claims": [claim.to_dict() for claim in reading.novelty.readings]}
                for reading in self.readings
            ]
        return wire


def score(names: Sequence[str], options: Options) -> bool:
    """Score every conversation named.

    Returns:
        Whether all of them could be read.

    Raises:
        TranscriptError: There is one, and it cannot be read.
    """
    paths = list(_expanded(names))
    if len(paths) == 1 and not _is_folder(names[0]):
        scored = _scored(paths[0], options)
        if options.as_json:
            print_json(options.noted(scored.to_dict(explain=options.explain)))
        else:
            explained = scored.readings if options.explain else ()
            print_report(console(), scored.name, scored.score, options.profile.novelty, explained)
            _print_problem(options)
        _print_left_out(scored)
        return True
    return _score_many(paths, options)


def stop(name: str, options: Options) -> Signal:
    """Print the verdict on one conversation in three lines."""
    scored = _scored(name, options)
    _print_verdict(scored.score.recommendation, options)
    _print_problem(options)
    _print_left_out(scored)
    return scored.score.recommendation.signal


def score_following(names: Sequence[str], options: Options) -> None:
    """Print a line for each round as it is written, until interrupted."""
    for reading in _following(_only(names), options):
        _print_round(reading, options)


def stop_following(name: str, options: Options) -> Signal:
    """Print the verdict as soon as it is SHIP or ESCALATE."""
    for reading in _following(name, options):
        if reading.recommendation.signal is not Signal.CONTINUE:
            _print_verdict(reading.recommendation, options)
            return reading.recommendation.signal
    return Signal.CONTINUE


def _expanded(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if not _is_folder(name):
            yield name
            continue
        inside = sorted(
            path for path in Path(name).rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file()
        )
        if not inside:
            raise TranscriptError(
                "there is no conversation in this folder",
                source=name,
                hint=f"It looks for {', '.join(_SUFFIXES)}.",
            )
        yield from map(str, inside)


def _is_folder(name: str) -> bool:
    return name != STDIN and Path(name).is_dir()


def _only(names: Sequence[str]) -> str:
    if len(names) != 1 or _is_folder(names[0]):
        raise ConfigError("--follow takes one file, or - for standard input")
    return names[0]


def _scored(name: str, options: Options) -> Scored:
    transcript = load(name, unit=options.unit)
    meter = options.meter()
    readings = tuple(reading for item in transcript.rounds if (reading := meter.update(item)))
    shown = transcript.conversation_id if name == STDIN else name
    calls = transcript.extra.get("tool_calls", 0)
    return Scored(name=shown, score=meter.score(), readings=readings, tool_calls=calls)


def _score_many(paths: Sequence[str], options: Options) -> bool:
    scored: list[Scored] = []
    failed: list[str] = []
    progress = console(stderr=True)
    for path in track(paths, "Scoring", console=progress, transient=True, disable=not progress.is_terminal):
        try:
            found = _scored(path, options)
        except TranscriptError as error:
            failed.append(str(error.located(source=path)))
            continue
        if options.as_json:
            print_json(options.noted({"file": path, **found.to_dict(explain=options.explain)}), indent=None)
        scored.append(found)
    if scored and not options.as_json:
        console().print(_overview(scored))
    if failed:
        print(f"\n{len(failed)} of {len(paths)} could not be read:", file=sys.stderr)
        for message in failed:
            print(f"  {plain(message)}", file=sys.stderr)
    return not failed


def _overview(scored: Sequence[Scored]) -> Table:
    folder = os.path.commonpath([Path(item.name).parent for item in scored])
    table = Table(box=None, pad_edge=False, header_style="dim", title=styled(folder), title_justify="left")
    table.add_column("signal", no_wrap=True)
    table.add_column("conversation", overflow="fold")
    for header in ("rounds", "novelty", "ready", "flags", "stop"):
        table.add_column(header, justify="right", no_wrap=True)
    urgency = list(Signal)
    for item in sorted(scored, key=lambda entry: -urgency.index(entry.score.recommendation.signal)):
        latest = item.score.latest
        signal = item.score.recommendation.signal
        stops = (entry.round for entry in item.score.rounds if entry.signal != Signal.CONTINUE)
        first_stop = next(stops, None)
        table.add_row(
            Text(signal.value, style=SIGNAL_STYLES[signal]),
            styled(os.path.relpath(item.name, folder)),
            str(len(item.score.rounds)),
            Text(f"{latest.novelty_rate:.2f}", style=class_style(latest.novelty_classification)),
            Text(f"{latest.action_readiness:.2f}", style=class_style(latest.readiness_classification)),
            str(len(item.score.flags)),
            "" if first_stop is None else f"at {first_stop}",
        )
    return table


def _following(name: str, options: Options) -> Iterator[RoundReading]:
    meter = options.meter()
    for growth in _piped(options.unit) if name == STDIN else follow(name, unit=options.unit):
        if growth.restarted:
            warn(f"{name}: begins anew")
            meter = options.meter()
        for error in growth.errors:
            warn(str(error))
        for item in growth.rounds:
            if reading := meter.update(item):
                yield reading


def _piped(unit: RoundUnit) -> Iterator[Growth]:
    """What comes through standard input, line by line, until it ends."""
    stream = RoundStream(unit=unit, source="<stdin>")
    for line in sys.stdin.buffer:
        try:
            yield Growth(rounds=stream.feed(line))
        except TranscriptError as error:
            yield Growth(errors=(error,))
    yield Growth(rounds=stream.finish())


def _print_round(reading: RoundReading, options: Options) -> None:
    recommendation = reading.recommendation
    if options.as_json:
        print_json(
            {
                "round": reading.number,
                "agent": reading.agent,
                **reading.novelty.to_dict(),
                "action_readiness": reading.readiness.readiness,
                "stop_recommendation": recommendation.to_dict(),
                "flags": [flag.to_dict() for flag in reading.flags],
            },
            indent=None,
        )
        sys.stdout.flush()
        return
    line = Text(f"{reading.number:>5}  {plain(reading.agent or '', 16):<16}  ")
    line.append(f"{reading.novelty.new_claims:>3} of {reading.novelty.claims:>3} new  ")
    line.append(
        f"novelty {reading.novelty.rate:.2f} {recommendation.novelty:<6}  ",
        class_style(recommendation.novelty),
    )
    line.append(f"readiness {reading.readiness.readiness:.2f}  ", class_style(recommendation.readiness))
    line.append(recommendation.signal.value, SIGNAL_STYLES[recommendation.signal])
    console().print(line)


def _print_problem(options: Options) -> None:
    if options.level.problem and not options.as_json:
        warn(f"without the semantic level: {options.level.problem}")


def _print_left_out(scored: Scored) -> None:
    if scored.tool_calls:
        warn(
            f"{count(scored.tool_calls, 'tool call')} not judged here: `ebbtide check` judges the whole run."
        )


def _print_verdict(recommendation: Recommendation, options: Options) -> None:
    if options.as_json:
        print_json(options.noted({**recommendation.to_dict(), "hint": recommendation.hint}))
        return
    terminal = console()
    terminal.print(Text(recommendation.signal.value, style=SIGNAL_STYLES[recommendation.signal]))
    terminal.print(styled(recommendation.rationale), soft_wrap=True)
    terminal.print(styled(recommendation.hint), soft_wrap=True)
