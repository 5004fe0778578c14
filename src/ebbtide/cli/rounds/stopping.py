"""`ebbtide stop`: whether to go on, in three lines and in the exit code."""

from __future__ import annotations

from ebbtide.cli.rounds.conversation import (
    follow_conversation,
    score_conversation,
    warn_of_missing_level,
    warn_of_tool_calls,
)
from ebbtide.cli.rounds.scoring_options import ScoringOptions
from ebbtide.cli.terminal import SIGNAL_STYLES, print_json, print_line
from ebbtide.convergence.recommendation import Recommendation
from ebbtide.convergence.signal import Signal


def stop(name: str, options: ScoringOptions) -> Signal:
    """Print the verdict on one conversation in three lines."""
    conversation = score_conversation(name, options)
    recommendation = conversation.score.recommendation
    _print_verdict(recommendation, options)
    warn_of_missing_level(options)
    warn_of_tool_calls(conversation)
    return recommendation.signal


def stop_following(name: str, options: ScoringOptions) -> Signal:
    """Print the verdict as soon as it is SHIP or ESCALATE."""
    for reading in follow_conversation(name, options):
        if reading.recommendation.signal is not Signal.CONTINUE:
            _print_verdict(reading.recommendation, options)
            return reading.recommendation.signal
    return Signal.CONTINUE


def _print_verdict(recommendation: Recommendation, options: ScoringOptions) -> None:
    if options.as_json:
        print_json(options.add_problem({**recommendation.to_dict(), "hint": recommendation.hint}))
        return
    print_line(recommendation.signal.value, SIGNAL_STYLES[recommendation.signal])
    print_line(recommendation.rationale)
    print_line(recommendation.hint)
