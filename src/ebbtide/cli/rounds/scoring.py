"""`ebbtide score`: whether conversations have converged, why, and how they went."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.progress import track
from rich.table import Table
from rich.text import Text

from ebbtide.cli.lines import Line, print_lines, terminal_width
from ebbtide.cli.rounds.conversation import (
    ScoredConversation,
    follow_conversation,
    score_conversation,
    warn_of_missing_level,
    warn_of_tool_calls,
)
from ebbtide.cli.rounds.report import class_style, print_report
from ebbtide.cli.rounds.scoring_options import ScoringOptions
from ebbtide.cli.terminal import SIGNAL_STYLES, console, plain, print_json, styled, warn
from ebbtide.convergence.meter import RoundReading
from ebbtide.convergence.signal import Signal
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.text.redaction import redact
from ebbtide.traces.input.folder import entries_in
from ebbtide.traces.input.source import STDIN

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".gz", ".traj", ".eval")


def score(names: Sequence[str], options: ScoringOptions) -> bool:
    """Score every conversation named.

    Returns:
        Whether all of them could be read.

    Raises:
        TranscriptError: There is one, and it cannot be read.
    """
    paths = list(_paths_in(names))
    if len(paths) == 1 and not _is_folder(names[0]):
        conversation = score_conversation(paths[0], options)
        if options.as_json:
            print_json(options.add_problem(conversation.to_dict(explain=options.explain)))
        else:
            readings = conversation.readings if options.explain else ()
            print_report(
                console(),
                conversation.name,
                conversation.score,
                options.profile.novelty,
                readings,
                cut=conversation.cut,
            )
            if conversation.judge is not None:
                print_lines([Line(), *conversation.judge.lines(terminal_width())])
            warn_of_missing_level(options)
        warn_of_tool_calls(conversation)
        return True
    return _score_many(paths, options)


def score_following(names: Sequence[str], options: ScoringOptions) -> None:
    """Print a line for each round as it is written, until interrupted.

    Raises:
        ConfigError: The options do not fit.
        TranscriptError: The file cannot be read.
    """
    if options.judge is not None:
        raise ConfigError("--judge reads whole conversations; leave out --follow")
    for reading in follow_conversation(_only(names), options):
        _print_round(reading, options)


def _paths_in(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if not _is_folder(name):
            yield name
            continue
        entries = [entry for entry in entries_in(name) if Path(entry.path).suffix.lower() in _SUFFIXES]
        for entry in entries:
            if entry.refusal is not None:
                warn(f"skipped: {entry.refusal}")
        inside = sorted(entry.path for entry in entries if entry.refusal is None)
        if not inside:
            raise TranscriptError(
                "there is no conversation in this folder",
                source=name,
                hint=f"It looks for {', '.join(_SUFFIXES)}.",
            )
        yield from inside


def _is_folder(name: str) -> bool:
    return name != STDIN and Path(name).is_dir()


def _only(names: Sequence[str]) -> str:
    if len(names) != 1 or _is_folder(names[0]):
        raise ConfigError("--follow takes one file, or - for standard input")
    return names[0]


def _score_many(paths: Sequence[str], options: ScoringOptions) -> bool:
    conversations: list[ScoredConversation] = []
    problems: list[str] = []
    progress = console(stderr=True)
    for path in track(paths, "Scoring", console=progress, transient=True, disable=not progress.is_terminal):
        try:
            conversation = score_conversation(path, options, quiet=True)
        except TranscriptError as error:
            problems.append(str(error.located(source=path)))
            continue
        if options.as_json:
            wire = {"file": conversation.name, **conversation.to_dict(explain=options.explain)}
            print_json(options.add_problem(wire), indent=None)
        conversations.append(conversation)
    if conversations and not options.as_json:
        console().print(_overview(conversations))
        if options.judge is not None:
            print_lines([Line(), *_judged_overview(conversations, options.judge.model)])
    if problems:
        print(f"\n{len(problems)} of {len(paths)} could not be read:", file=sys.stderr)
        for problem in problems:
            print(f"  {plain(redact(problem))}", file=sys.stderr)
    return not problems


def _overview(conversations: Sequence[ScoredConversation]) -> Table:
    folder = os.path.commonpath([Path(item.name).parent for item in conversations])
    table = Table(box=None, pad_edge=False, header_style="dim", title=styled(folder), title_justify="left")
    table.add_column("signal", no_wrap=True)
    table.add_column("conversation", overflow="fold")
    for header in ("rounds", "novelty", "ready", "flags", "stop"):
        table.add_column(header, justify="right", no_wrap=True)
    urgency = list(Signal)
    for item in sorted(conversations, key=lambda entry: -urgency.index(entry.score.recommendation.signal)):
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


def _judged_overview(conversations: Sequence[ScoredConversation], model: str) -> list[Line]:
    from ebbtide.cli.judging import JudgeBill, disagreement_line

    reports = [item.judge for item in conversations if item.judge is not None]
    rounds = [item for report in reports for item in report.rounds]
    head = disagreement_line(sum(report.differ for report in reports), len(rounds))
    outcomes = [outcome for report in reports for outcome in report.outcomes]
    return [head, *JudgeBill.of(model, rounds, outcomes).lines(terminal_width())]


def _print_round(reading: RoundReading, options: ScoringOptions) -> None:
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
