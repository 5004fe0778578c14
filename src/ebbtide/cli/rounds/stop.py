"""`ebbtide stop`: whether to go on, in three lines and in the exit code."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Annotated

import click

from ebbtide.cli.declaration import FILE, Argument, Command
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.rounds.conversation import (
    follow_conversation,
    over_hint,
    rounds_in,
    run_fields,
    score_rounds,
    warn_of_missing_level,
)
from ebbtide.cli.rounds.scoring_options import Follow, ScoringOptions, with_scoring
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import SIGNAL_STYLES, Line
from ebbtide.convergence.recommendation import HINTS, Recommendation
from ebbtide.convergence.signal import Signal
from ebbtide.report.wording import at_end
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import RunSummary

_EXITS = {Signal.CONTINUE: Exit.DONE, Signal.SHIP: Exit.SHIP, Signal.ESCALATE: Exit.ESCALATE}
_OF_ACTION = {
    Action.ALLOW: Signal.CONTINUE,
    Action.NUDGE: Signal.CONTINUE,
    Action.FINALIZE: Signal.SHIP,
    Action.ESCALATE: Signal.ESCALATE,
    Action.STOP: Signal.ESCALATE,
}


@click.command(
    cls=Command,
    exits={Exit.DONE: "CONTINUE", Exit.SHIP: "SHIP", Exit.ESCALATE: "ESCALATE"},
)
@with_scoring
def stop(
    options: ScoringOptions,
    file: Annotated[
        str, Argument(metavar="FILE", type=FILE, help="A conversation, or - for standard input.")
    ],
    follow: Follow = False,
) -> Result | None:
    """Report whether a conversation should continue.

    The answer is three lines and the exit code. A run with tool calls is judged by its calls and its texts,
    as in `ebbtide check`.

    With --follow the command ends at the first SHIP or ESCALATE.
    """
    name = single_file(file, f"`ebbtide score {shlex.quote(file)}` scores all of them.")
    if follow:
        for reading in follow_conversation(name, options):
            if reading.recommendation.signal is not Signal.CONTINUE:
                return _verdict(reading.recommendation, options)
        return None
    source = rounds_in(name, options)
    if source.run is not None and source.run.spent.tool_calls:
        return _verdict_of_run(source.run)
    return _verdict(score_rounds(name, source, options).score.recommendation, options, is_whole=True)


def _verdict_of_run(run: RunSummary) -> Result:
    """Returns what `ebbtide check` says of a run, as an answer to whether to go on."""
    signal = _OF_ACTION[run.latest.action]
    lines = [f"{run.words}: {run.reason}", at_end(run)]
    rationale = " ".join(line for line in lines if line)
    hint = (over_hint(run) if signal is Signal.CONTINUE else None) or HINTS[signal]
    wire = {"signal": signal, "rationale": rationale, "hint": hint, **run_fields(run)}
    return Result(lambda: wire, lambda _: _lines(signal, rationale, hint), _EXITS[signal])


def _verdict(recommendation: Recommendation, options: ScoringOptions, *, is_whole: bool = False) -> Result:
    signal, hint = recommendation.signal, recommendation.hint

    def text(_width: int) -> Iterator[Line]:
        yield from _lines(signal, recommendation.rationale, hint)
        if is_whole:
            warn_of_missing_level(options)

    wire = options.add_problem({**recommendation.to_dict(), "hint": hint})
    return Result(lambda: wire, text, _EXITS[signal])


def _lines(signal: Signal, rationale: str, hint: str) -> list[Line]:
    return [Line(signal.value, SIGNAL_STYLES[signal]), Line.safe(rationale), Line.safe(hint)]
