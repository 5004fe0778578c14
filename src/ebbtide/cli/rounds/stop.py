"""`ebbtide stop`: whether to go on, in three lines and in the exit code."""

from __future__ import annotations

import dataclasses
import shlex
from typing import Annotated

import click

from ebbtide.cli.declaration import FILE, Argument, AsJson, Command
from ebbtide.cli.exits import Exit
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
from ebbtide.cli.terminal import SIGNAL_STYLES, print_json, print_line
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
    as_json: AsJson = False,
) -> None:
    """Report in three lines, and in the exit code, whether to go on.

    A run with calls of tools is judged as `ebbtide check` judges it, by its calls and its words.

    With --follow it ends at the first SHIP or ESCALATE.
    """
    options = dataclasses.replace(options, as_json=as_json)
    name = single_file(file, f"`ebbtide score {shlex.quote(file)}` scores all of them.")
    if follow:
        for reading in follow_conversation(name, options):
            if reading.recommendation.signal is not Signal.CONTINUE:
                _print_verdict(reading.recommendation, options)
                raise SystemExit(_EXITS[reading.recommendation.signal])
        return
    source = rounds_in(name, options)
    if source.run is not None and source.run.spent.tool_calls:
        signal = _print_run(source.run, options)
    else:
        recommendation = score_rounds(name, source, options).score.recommendation
        signal = recommendation.signal
        _print_verdict(recommendation, options)
        warn_of_missing_level(options)
    raise SystemExit(_EXITS[signal])


def _print_run(run: RunSummary, options: ScoringOptions) -> Signal:
    """Print what `ebbtide check` says of a run, as an answer to whether to go on."""
    signal = _OF_ACTION[run.latest.action]
    lines = [f"{run.words}: {run.reason}", at_end(run)]
    rationale = " ".join(line for line in lines if line)
    hint = (over_hint(run) if signal is Signal.CONTINUE else None) or HINTS[signal]
    if options.as_json:
        print_json({"signal": signal, "rationale": rationale, "hint": hint, **run_fields(run)})
    else:
        print_line(signal.value, SIGNAL_STYLES[signal])
        print_line(rationale)
        print_line(hint)
    return signal


def _print_verdict(recommendation: Recommendation, options: ScoringOptions) -> None:
    if options.as_json:
        print_json(options.add_problem({**recommendation.to_dict(), "hint": recommendation.hint}))
        return
    print_line(recommendation.signal.value, SIGNAL_STYLES[recommendation.signal])
    print_line(recommendation.rationale)
    print_line(recommendation.hint)
