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
    score_conversation,
    warn_of_missing_level,
    warn_of_tool_calls,
)
from ebbtide.cli.rounds.scoring_options import Follow, ScoringOptions, with_scoring
from ebbtide.cli.single_file import single_file
from ebbtide.cli.terminal import SIGNAL_STYLES, print_json, print_line
from ebbtide.convergence.recommendation import Recommendation
from ebbtide.convergence.signal import Signal

_EXITS = {Signal.CONTINUE: Exit.DONE, Signal.SHIP: Exit.SHIP, Signal.ESCALATE: Exit.ESCALATE}


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
    conversation = score_conversation(name, options)
    recommendation = conversation.score.recommendation
    _print_verdict(recommendation, options)
    warn_of_missing_level(options)
    warn_of_tool_calls(conversation)
    raise SystemExit(_EXITS[recommendation.signal])


def _print_verdict(recommendation: Recommendation, options: ScoringOptions) -> None:
    if options.as_json:
        print_json(options.add_problem({**recommendation.to_dict(), "hint": recommendation.hint}))
        return
    print_line(recommendation.signal.value, SIGNAL_STYLES[recommendation.signal])
    print_line(recommendation.rationale)
    print_line(recommendation.hint)
