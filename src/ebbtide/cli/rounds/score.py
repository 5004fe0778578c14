"""`ebbtide score`: whether conversations have converged, why, and how they went."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import click
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.progress import track
from rich.table import Table
from rich.text import Text

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
from ebbtide.cli.exits import Exit
from ebbtide.cli.rounds.conversation import (
    ScoredConversation,
    follow_conversation,
    score_conversation,
    warn_of_missing_level,
    words_alone,
)
from ebbtide.cli.rounds.judging import JudgeBill, disagreement_line, open_judge
from ebbtide.cli.rounds.scoring_options import Follow, ScoringOptions, with_scoring
from ebbtide.cli.terminal import (
    CLASS_STYLES,
    SIGNAL_STYLES,
    Line,
    console,
    plain,
    print_json,
    print_lines,
    styled,
    terminal_width,
    warn,
)
from ebbtide.convergence.consensus import ConsensusReading
from ebbtide.convergence.meter import RoundReading
from ebbtide.convergence.novelty import ClaimReading
from ebbtide.convergence.score import ConvergenceScore, RoundSummary
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
    exits={Exit.BAD_INPUT: "wrong usage, or a file that cannot be used, also one of many or in a folder"},
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
    """Score a conversation round by round: has it converged, and why?

    Several files or a folder give a table; with --json, one object per line.
    """
    model = None if judge is None else open_judge(judge, read_prices(prices))
    options = dataclasses.replace(options, as_json=as_json, explain=explain, judge=model)
    if follow:
        if model is not None:
            raise ConfigError("--judge reads whole conversations; leave out --follow")
        for reading in follow_conversation(_only(files), options):
            _print_round(reading, options)
        return
    paths = list(_paths_in(files))
    if len(paths) > 1 or _is_folder(files[0]):
        _score_many(paths, options)
    else:
        _score_one(paths[0], options)


def _score_one(path: str, options: ScoringOptions) -> None:
    conversation = score_conversation(path, options)
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
            alone=words_alone(conversation.run),
        )
        if conversation.judge is not None:
            print_lines([Line(), *conversation.judge.lines(terminal_width())])
        warn_of_missing_level(options)


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


def _score_many(paths: Sequence[str], options: ScoringOptions) -> None:
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
        raise SystemExit(Exit.BAD_INPUT)


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


_EIGHTHS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_CURVE_ROWS = 5
_TABLE_ROUNDS = 24
_MARGIN = 7
_QUOTE = 70  # characters
_QUOTES = 2


def print_report(
    terminal: Console,
    name: str,
    score: ConvergenceScore,
    rules: NoveltyRules,
    explained: Sequence[RoundReading] = (),
    *,
    cut: str = "",
    alone: str = "",
) -> None:
    """Print the whole report of one conversation.

    Args:
        terminal: Where to.
        name: File name or conversation id.
        score: What to report.
        rules: The thresholds drawn beside the curve.
        explained: Readings whose claims are listed one by one.
        cut: How the rounds were cut.
        alone: A sentence about the run whose words these are; empty where there is none.
    """
    terminal.print(_headline(name, score))
    terminal.print(_why(score))
    if alone:
        terminal.print(styled(alone, "yellow"))
    if cut:
        terminal.print(Text(cut, style="dim"))
    terminal.print()
    terminal.print(_curve(score.rounds, rules, terminal.width))
    terminal.print()
    terminal.print(_rounds_table(score.rounds))
    if score.consensus:
        terminal.print()
        terminal.print(_positions(score.consensus))
    if score.flags:
        terminal.print()
        terminal.print(_flags(score))
    for reading in explained:
        terminal.print()
        terminal.print(_claims(reading))


def _headline(name: str, score: ConvergenceScore) -> Text:
    signal = score.recommendation.signal
    line = Text.assemble((signal.value, SIGNAL_STYLES[signal]), "  ")
    line.append(plain(name))
    rounds = len(score.rounds)
    line.append(f"  {count(rounds, 'round')}, profile {plain(score.profile)}", style="dim")
    if score.semantic:
        line.append(f", meaning by {plain(score.semantic)}", style="dim")
    return line


def _why(score: ConvergenceScore) -> Text:
    recommendation = score.recommendation
    return Text.assemble(plain(recommendation.rationale), "\n", (plain(recommendation.hint), "italic"))


def _curve(rounds: Sequence[RoundSummary], rules: NoveltyRules, width: int) -> RenderableType:
    """Novelty by round as columns, with the limits of the classes beside it."""
    room = max(width - _MARGIN - 12, 20)
    visible = rounds[-room:]
    column = max(1, min(4, room // len(visible)))
    lines = []
    for row in range(_CURVE_ROWS, 0, -1):
        line = Text(_axis_label(row, rules), style="dim")
        for item in visible:
            filled = round(item.novelty_rate * _CURVE_ROWS * 8) - (row - 1) * 8
            cell = _EIGHTHS[max(0, min(8, filled))] * max(1, column - 1)
            line.append(cell.ljust(column), style=_rate_style(item.novelty_rate, rules))
        lines.append(line)
    first, last = visible[0].round, visible[-1].round
    span = len(visible) * column
    axis = f"{first}{str(last).rjust(max(span - len(str(first)), 1))}" if last != first else str(first)
    lines.append(Text(f"{'':>{_MARGIN}}{axis}  round", style="dim"))
    return Group(Text("Novelty: new claims in each round, relative to the largest round"), *lines)


def _axis_label(row: int, rules: NoveltyRules) -> str:
    labels = {_CURVE_ROWS: "1.00", 1: f"{rules.low_below:.2f}", 3: f"{rules.high_above:.2f}"}
    return f"{labels.get(row, ''):>{_MARGIN - 2}} \u2502"


def _rate_style(rate: float, rules: NoveltyRules) -> str:
    return "red" if rate < rules.low_below else "green" if rate > rules.high_above else "yellow"


def _rounds_table(rounds: Sequence[RoundSummary]) -> RenderableType:
    visible = rounds[-_TABLE_ROUNDS:]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("round", justify="right")
    if any(item.agent for item in visible):
        table.add_column("agent", max_width=20, no_wrap=True)
    stable = any(item.semantic_similarity is not None for item in visible)
    for header in ("claims", "new", "novelty", *(["alike"] if stable else []), "does", "readiness", "signal"):
        justify: JustifyMethod = "right" if header in ("claims", "new") else "left"
        table.add_column(header, justify=justify, no_wrap=True)
    for item in visible:
        cells: list[RenderableType] = [str(item.round)]
        if any(other.agent for other in visible):
            cells.append(styled(item.agent or ""))
        cells += [str(item.claims), str(item.new_claims)]
        cells.append(_graded(item.novelty_rate, item.novelty_classification))
        if stable:
            alike = item.semantic_similarity
            cells.append("" if alike is None else f"{alike:.2f}")
        cells.append(item.agreement or "")
        cells.append(_graded(item.action_readiness, item.readiness_classification))
        cells.append(Text(item.signal, style=SIGNAL_STYLES[item.signal]))
        table.add_row(*cells)
    if len(visible) < len(rounds):
        return Group(Text(f"The last {len(visible)} of {len(rounds)} rounds:", style="dim"), table)
    return table


def _graded(value: float, label: str) -> Text:
    return Text(f"{value:.2f} {label:<6}", style=class_style(label))


def class_style(label: str) -> str:
    """The colour of HIGH, MEDIUM or LOW."""
    return CLASS_STYLES[label]


def _positions(reading: ConsensusReading) -> RenderableType:
    share = "all agree" if reading.unanimous else f"the most hold {reading.majority:.0%}"
    changed = {None: "", True: ", nobody changed it", False: ", somebody changed it"}[reading.unchanged]
    lines = [Text(f"Who holds what, after circle {reading.circle}: {share}{changed}", style="bold")]
    for position in reading.positions:
        agents = plain(", ".join(position.agents), _QUOTE)
        lines.append(Text.assemble("  ", (plain(position.answer, _QUOTE), "bold"), f"  {agents}"))
        if position.claim:
            lines.append(styled(f"\u201c{plain(position.claim, _QUOTE)}\u201d", "dim", indent=6))
    if reading.silent:
        lines.append(styled(f"no answer: {', '.join(reading.silent)}", "dim", indent=2))
    return Group(*lines)


def _flags(score: ConvergenceScore) -> RenderableType:
    lines = [Text("Flags", style="bold")]
    for flag in score.flags:
        kind = flag.kind.replace("_", " ").lower()
        lines.append(Text.assemble(f"  round {flag.round}: ", (kind, "magenta"), f", {plain(flag.evidence)}"))
        lines += [
            styled(f"\u201c{plain(text, _QUOTE)}\u201d", "dim", indent=6) for text in flag.texts[:_QUOTES]
        ]
        if len(flag.texts) > _QUOTES:
            lines.append(styled(f"and {len(flag.texts) - _QUOTES} more", "dim", indent=6))
    return Group(*lines)


def _claims(reading: RoundReading) -> RenderableType:
    who = f" ({plain(reading.agent)})" if reading.agent else ""
    lines = [Text(f"Round {reading.number}{who}: {len(reading.novelty.readings)} claims", style="bold")]
    lines += [line for claim in reading.novelty.readings for line in _claim(claim)]
    for action in reading.readiness.actions:
        lines.append(styled(f"action   {action.kind}: {action.text}  [{action.rule}]", indent=2))
    for blocker in reading.readiness.blockers:
        lines.append(styled(f"blocker  \u201c{blocker.phrase}\u201d in {blocker.text}", "yellow", indent=2))
    return Group(*lines)


def _claim(claim: ClaimReading) -> list[Text]:
    kind, style = (
        ("new", "green") if claim.is_new else ("reword", "yellow") if claim.new_L0 else ("repeat", "red")
    )
    lines = [Text.assemble("  ", (f"{kind:<8}", style), plain(claim.text))]
    if claim.nearest:
        near = f"{claim.nearest.similarity:.2f} like round {claim.nearest.round}: {claim.nearest.text}"
        lines.append(styled(near, "dim", indent=10))
    if claim.nearest_L2 and claim.nearest_L2.similarity < 1:
        near = (
            f"{claim.nearest_L2.similarity:.2f} means round {claim.nearest_L2.round}: {claim.nearest_L2.text}"
        )
        lines.append(styled(near, "dim", indent=10))
    if claim.reversed and claim.contrast:
        differ = f"{claim.contrast.kind}: {claim.contrast.left} / {claim.contrast.right}"
        there = f"reverses round {claim.reversed.round} ({differ}): {claim.reversed.text}"
        lines.append(styled(there, "magenta", indent=10))
    return lines
