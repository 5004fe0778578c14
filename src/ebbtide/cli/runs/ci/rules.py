"""The rules in words, by the kind of their findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: What each reports.
RULES: Final[Mapping[str, str]] = {
    "repeat": "One call with one answer, again and again.",
    "cycle": "Several calls with their answers, in turn.",
    "no_progress": "One call with one answer, again and again, with other calls in between.",
    "failing_call": "One call fails again and again, in whatever words.",
    "same_error": "One tool fails with errors that it gave before, whatever the arguments.",
    "failing_tool": "One tool fails again and again, whatever the arguments and the error.",
    "same_answer": "One tool gives one answer, whatever it is asked.",
    "near_duplicate": "Calls that barely differ, and one answer.",
    "growing_call": "Each call is the one before and something more.",
    "sweep": "Pages are read to the end, and again from the start.",
    "covered_range": "Ranges are read that were read already, cut in other ways.",
    "recurrence": "Ever new attempts end alike: in the same failure, or with nothing found.",
    "stagnation": "Answers hold nothing new, whatever is asked.",
    "unseen_changes": "A thing is changed again and again, and looks as before.",
    "undone_changes": "A change is made, undone and made again.",
    "waiting": "The same look again and again at something that takes its time.",
    "monotony": "Hardly anything but known calls with known answers.",
    "handoff_cycle": "Agents hand the work round in a circle.",
    "across_chains": "Several conversations of a session do the same.",
    "monologue": "The model writes the same message again.",
    "chanting": "A text ends in copies of itself.",
    "known_ground": "Actions that an agent tells of lead nowhere new.",
    "repeated_order": "Nearly the same order to an agent, and nothing new comes of it.",
    "condensation": "The context is condensed again and again, and nothing is done in between.",
    "spend_rate": "Money or tokens are spent too fast.",
    "budget_end": "At this rate the budget ends soon.",
    "spend_without_news": "Money is spent, and nothing new comes.",
    "stuck_rounds": "Rounds of a conversation bring nothing new, and no result.",
    "burn_without_progress": "Money is spent while little is new: neither alone would be reported.",
    "limit": "A limit was exceeded.",
    "limit_unknown": "A limit could not be counted.",
    "fail_on": "A run meets a condition of --fail-on that is about no single finding.",
}
