"""`ebbtide score`: whether conversations have converged, why, and how they went."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from ebbtide.cli.declaration import (
    FILE,
    Argument,
    AsJson,
    Command,
    JudgeModel,
    Option,
    PricesFile,
    read_prices,
)
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.rounds.conversation import (
    ScoredConversation,
    follow_conversation,
    score_conversation,
    warn_of_missing_level,
    words_alone,
)
from ebbtide.cli.rounds.judging import JudgeBill, disagreement_line, open_judge
from ebbtide.cli.rounds.scoring_options import Follow, ScoringOptions, with_scoring
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import (
    CLASS_STYLES,
    SIGNAL_STYLES,
    Line,
    plain,
    print_json,
    print_lines,
    terminal_width,
    tracked,
    warn,
)
from ebbtide.convergence.consensus import ConsensusReading
from ebbtide.convergence.novelty import ClaimReading
from ebbtide.convergence.score import ConvergenceScore, RoundReading, RoundSummary
from ebbtide.convergence.signal import Signal
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.profile.convergence import NoveltyRules
from ebbtide.report.plurals import count
from ebbtide.text.redaction import redact
from ebbtide.traces.input.folder import entries_in
from ebbtide.traces.input.source import STDIN

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".md", ".gz", ".traj", ".eval")


@click.command(
    cls=Command,
    exits={
        Exit.BAD_INPUT: "wrong usage, or a file that cannot be used, including one of many or one in a folder"
    },
)
@with_scoring
def score(
    options: ScoringOptions,
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...", type=FILE, help="Conversations: files, folders, or - for standard input."
        ),
    ],
    judge: JudgeModel = None,
    prices: PricesFile = None,
    explain: Annotated[
        bool, Option("--explain", help="List each claim with the most similar earlier one.")
    ] = False,
    follow: Follow = False,
    as_json: AsJson = False,
) -> None:
    """Score a conversation round by round.

    The screen shows whether the conversation has converged, and why. Several files or a folder print a table;
    with --json, one object per line.
    """
    model = None if judge is None else open_judge(judge, read_prices(prices))
    options = dataclasses.replace(options, explain=explain, judge=model)
    if follow:
        if model is not None:
            raise ConfigError("--judge reads whole conversations; leave out --follow")
        for reading in follow_conversation(_only(files), options):
            _print_round(reading, as_json=as_json)
        return
    paths = list(_paths_in(files))
    if len(paths) > 1 or _is_folder(files[0]):
        _score_many(paths, options, as_json=as_json)
    else:
        _score_one(paths[0], options).print(as_json=as_json)


def _score_one(path: str, options: ScoringOptions) -> Result:
    conversation = score_conversation(path, options)

    def wire() -> dict[str, Any]:
        return options.add_problem(conversation.to_dict(explain=options.explain))

    def text(width: int) -> Iterator[Line]:
        yield from report_lines(
            conversation.name,
            conversation.score,
            options.profile.novelty,
            width,
            conversation.readings if options.explain else (),
            cut=conversation.cut,
            alone=words_alone(conversation.run),
        )
        if conversation.judge is not None:
            yield Line()
            yield from conversation.judge.lines(width)
        warn_of_missing_level(options)

    return Result(wire, text)


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


def _score_many(paths: Sequence[str], options: ScoringOptions, *, as_json: bool) -> None:
    conversations: list[ScoredConversation] = []
    problems: list[str] = []
    for path in tracked("Scoring", paths, len(paths)):
        try:
            conversation = score_conversation(path, options, quiet=True)
        except TranscriptError as error:
            problems.append(str(error.located(source=path)))
            continue
        if as_json:
            wire = {"file": conversation.name, **conversation.to_dict(explain=options.explain)}
            print_json(options.add_problem(wire), indent=None)
        conversations.append(conversation)
    if conversations and not as_json:
        print_lines(_overview(conversations, terminal_width()))
        if options.judge is not None:
            print_lines([Line(), *_judged_overview(conversations, options.judge.model)])
    if problems:
        print(f"\n{len(problems)} of {len(paths)} could not be read:", file=sys.stderr)
        for problem in problems:
            print(f"  {plain(redact(problem))}", file=sys.stderr)
        raise SystemExit(Exit.BAD_INPUT)


def _overview(conversations: Sequence[ScoredConversation], width: int) -> list[Line]:
    folder = os.path.commonpath([Path(item.name).parent for item in conversations])
    table = Table(
        "signal",
        "conversation",
        "rounds",
        "novelty",
        "ready",
        "flags",
        "stop",
        right=range(2, 7),
        broken=(1,),
    )
    urgency = list(Signal)
    for item in sorted(conversations, key=lambda entry: -urgency.index(entry.score.recommendation.signal)):
        latest = item.score.latest
        signal = item.score.recommendation.signal
        stops = (entry.round for entry in item.score.rounds if entry.signal != Signal.CONTINUE)
        first_stop = next(stops, None)
        table.add(
            Line(signal.value, SIGNAL_STYLES[signal]),
            os.path.relpath(item.name, folder),
            str(len(item.score.rounds)),
            Line(f"{latest.novelty_rate:.2f}", CLASS_STYLES[latest.novelty_classification]),
            Line(f"{latest.action_readiness:.2f}", CLASS_STYLES[latest.readiness_classification]),
            str(len(item.score.flags)),
            "" if first_stop is None else f"at {first_stop}",
        )
    return [Line.safe(folder), *table.lines(width)]


def _judged_overview(conversations: Sequence[ScoredConversation], model: str) -> list[Line]:
    reports = [item.judge for item in conversations if item.judge is not None]
    rounds = [item for report in reports for item in report.rounds]
    head = disagreement_line(sum(report.differ for report in reports), len(rounds))
    outcomes = [report.outcome for report in reports]
    return [head, *JudgeBill.of(model, rounds, outcomes).lines(terminal_width())]


def _print_round(reading: RoundReading, *, as_json: bool) -> None:
    recommendation = reading.recommendation
    if as_json:
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
    line = Line(f"{reading.number:>5}  {plain(reading.agent or '', 16):<16}  ")
    line.append(f"{reading.novelty.new_claims:>3} of {reading.novelty.claims:>3} new  ")
    line.append(
        f"novelty {reading.novelty.rate:.2f} {recommendation.novelty:<6}  ",
        CLASS_STYLES[recommendation.novelty],
    )
    line.append(f"readiness {reading.readiness.readiness:.2f}  ", CLASS_STYLES[recommendation.readiness])
    line.append(recommendation.signal.value, SIGNAL_STYLES[recommendation.signal])
    print_lines(line.wrap(terminal_width()))


_EIGHTHS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_CURVE_ROWS = 5
_TABLE_ROUNDS = 24
_MARGIN = 7
_AGENT = 20  # characters of a name
_QUOTE = 70  # characters
_QUOTES = 2


def report_lines(
    name: str,
    score: ConvergenceScore,
    rules: NoveltyRules,
    width: int,
    explained: Sequence[RoundReading] = (),
    *,
    cut: str = "",
    alone: str = "",
) -> Iterator[Line]:
    """Yields the whole report of one conversation.

    Args:
        name: File name or conversation id.
        score: What to report.
        rules: The thresholds drawn beside the curve.
        width: Columns of the terminal.
        explained: Readings whose claims are listed one by one.
        cut: How the rounds were cut.
        alone: A sentence about the run whose words these are; empty where there is none.
    """
    parts = [_headline(name, score), Line.safe(score.recommendation.rationale)]
    parts.append(Line.safe(score.recommendation.hint, "italic"))
    parts += [Line.safe(alone, "yellow")] if alone else []
    parts += [Line(cut, "dim")] if cut else []
    blocks: list[Iterable[Line]] = [
        parts,
        _curve(score.rounds, rules, width),
        _rounds(score.rounds, rules, width),
    ]
    blocks += [_positions(score.consensus)] if score.consensus else []
    blocks += [_flags(score)] if score.flags else []
    for number, block in enumerate([*blocks, *map(_claims, explained)]):
        yield from [Line()] * bool(number)
        for line in block:
            yield from line.wrap(width)


def _headline(name: str, score: ConvergenceScore) -> Line:
    signal = score.recommendation.signal
    line = Line(signal.value, SIGNAL_STYLES[signal]).append("  ").append(plain(name))
    rounds = len(score.rounds)
    line.append(f"  {count(rounds, 'round')}, profile {plain(score.profile)}", "dim")
    if score.semantic:
        line.append(f", meaning by {plain(score.semantic)}", "dim")
    return line


def _curve(rounds: Sequence[RoundSummary], rules: NoveltyRules, width: int) -> Iterator[Line]:
    """Yields novelty by round as columns, with the limits of the classes beside it."""
    room = max(width - _MARGIN - 12, 20)
    visible = rounds[-room:]
    column = max(1, min(4, room // len(visible)))
    yield Line("Novelty: new claims in each round, relative to the largest round")
    for row in range(_CURVE_ROWS, 0, -1):
        line = Line(_axis_label(row, rules), "dim")
        for item in visible:
            filled = round(item.novelty_rate * _CURVE_ROWS * 8) - (row - 1) * 8
            cell = _EIGHTHS[max(0, min(8, filled))] * max(1, column - 1)
            line.append(cell.ljust(column), f"dim {_rate_style(item.novelty_rate, rules)}")
        yield line
    first, last = visible[0].round, visible[-1].round
    span = len(visible) * column
    axis = f"{first}{str(last).rjust(max(span - len(str(first)), 1))}" if last != first else str(first)
    yield Line(f"{'':>{_MARGIN}}{axis}  round", "dim")


def _axis_label(row: int, rules: NoveltyRules) -> str:
    labels = {_CURVE_ROWS: "1.00", 1: f"{rules.low_below:.2f}", 3: f"{rules.high_above:.2f}"}
    return f"{labels.get(row, ''):>{_MARGIN - 2}} \u2502"


def _rate_style(rate: float, rules: NoveltyRules) -> str:
    return "red" if rate < rules.low_below else "green" if rate > rules.high_above else "yellow"


def _rounds(rounds: Sequence[RoundSummary], rules: NoveltyRules, width: int) -> Iterator[Line]:
    visible = rounds[-_TABLE_ROUNDS:]
    if len(visible) < len(rounds):
        yield Line(f"The last {len(visible)} of {len(rounds)} rounds:", "dim")
    columns: dict[str, list[str | Line]] = {
        "round": [str(item.round) for item in visible],
        "agent": [plain(item.agent or "", _AGENT) for item in visible],
        "claims": [str(item.claims) for item in visible],
        "new": [str(item.new_claims) for item in visible],
        "novelty": [_graded(item.novelty_rate, item.novelty_classification) for item in visible],
        "alike": [
            "" if item.semantic_similarity is None else f"{item.semantic_similarity:.2f}" for item in visible
        ],
        "does": [item.agreement or "" for item in visible],
        "readiness": [_graded(item.action_readiness, item.readiness_classification) for item in visible],
        "signal": [Line(item.signal, SIGNAL_STYLES[item.signal]) for item in visible],
    }
    table = Table.fitting(
        {name: cells for name, cells in columns.items() if name not in ("agent", "alike") or any(cells)},
        width,
        optional=("does", "claims"),
        last=len(Signal.CONTINUE),
        right=("round", "claims", "new"),
        broken=(),
    )
    yield from table.lines(width)
    if any(item.novelty_rate < rules.low_below and item.novelty_classification != "LOW" for item in visible):
        least = f"{rules.low_rounds:,} rounds in a row below {rules.low_below:g}"
        thin = f"; one more while fewer than {rules.thin_below:,} claims are known" * bool(rules.thin_below)
        yield Line(f"LOW takes {least}{thin}.", "dim")


def _graded(value: float, label: str) -> Line:
    return Line(f"{value:.2f} {label:<6}", CLASS_STYLES[label])


def _positions(reading: ConsensusReading) -> Iterator[Line]:
    share = "all agree" if reading.unanimous else f"the most hold {reading.majority:.0%}"
    changed = {None: "", True: ", nobody changed it", False: ", somebody changed it"}[reading.unchanged]
    yield Line(f"Who holds what, after circle {reading.circle}: {share}{changed}", "bold")
    for position in reading.positions:
        agents = plain(", ".join(position.agents), _QUOTE)
        yield Line("  ").append(plain(position.answer, _QUOTE), "bold").append(f"  {agents}")
        if position.claim:
            yield Line.safe(f"\u201c{plain(position.claim, _QUOTE)}\u201d", "dim", indent=6)
    if reading.silent:
        yield Line.safe(f"no answer: {', '.join(reading.silent)}", "dim", indent=2)


def _flags(score: ConvergenceScore) -> Iterator[Line]:
    yield Line("Flags", "bold")
    for flag in score.flags:
        line = Line(f"  round {flag.round}: ").append(flag.kind.replace("_", " ").lower(), "magenta")
        yield line.append(f", {plain(flag.evidence)}")
        for text in flag.texts[:_QUOTES]:
            yield Line.safe(f"\u201c{plain(text, _QUOTE)}\u201d", "dim", indent=6)
        if len(flag.texts) > _QUOTES:
            yield Line(f"      and {len(flag.texts) - _QUOTES} more", "dim")


def _claims(reading: RoundReading) -> Iterator[Line]:
    who = f" ({plain(reading.agent)})" if reading.agent else ""
    yield Line(f"Round {reading.number}{who}: {len(reading.novelty.readings)} claims", "bold")
    for claim in reading.novelty.readings:
        yield from _claim(claim)
    for action in reading.readiness.actions:
        yield Line.safe(f"action   {action.kind}: {action.text}  [{action.rule}]", indent=2)
    for blocker in reading.readiness.blockers:
        yield Line.safe(f"blocker  \u201c{blocker.phrase}\u201d in {blocker.text}", "yellow", indent=2)


def _claim(claim: ClaimReading) -> Iterator[Line]:
    kind, style = (
        ("new", "green") if claim.is_new else ("reword", "yellow") if claim.new_L0 else ("repeat", "red")
    )
    yield Line("  ").append(f"{kind:<8}", style).append(plain(claim.text))
    near, means = claim.nearest, claim.nearest_L2
    if near:
        yield Line.safe(f"{near.similarity:.2f} like round {near.round}: {near.text}", "dim", indent=10)
    if means and means.similarity < 1:
        yield Line.safe(f"{means.similarity:.2f} means round {means.round}: {means.text}", "dim", indent=10)
    if claim.reversed and claim.contrast:
        differ = f"{claim.contrast.kind}: {claim.contrast.left} / {claim.contrast.right}"
        there = f"reverses round {claim.reversed.round} ({differ}): {claim.reversed.text}"
        yield Line.safe(there, "magenta", indent=10)
