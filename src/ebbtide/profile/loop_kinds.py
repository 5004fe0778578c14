"""Kinds of loops, and the rules by which they are named in settings and reports."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Self


class LoopKind(StrEnum):
    """Kinds of loops, each with the rule that finds it.

    Attributes:
        rule: The report of the rule, for people.
    """

    rule: str

    def __new__(cls, value: str, rule: str = "") -> Self:
        """Makes a member of its value and its rule."""
        kind = str.__new__(cls, value)
        kind._value_, kind.rule = value, rule
        return kind

    REPEAT = "repeat", "One call returns the same result again and again."
    CYCLE = "cycle", "Several calls return the same results in turn."
    NO_PROGRESS = (
        "no_progress",
        "One call returns the same result again and again, with other calls in between.",
    )
    FAILING_CALL = "failing_call", "One call fails again and again, with any error."
    SAME_ERROR = "same_error", "One tool fails with errors that it gave before, for any arguments."
    FAILING_TOOL = "failing_tool", "One tool fails again and again, with any arguments and any error."
    SAME_ANSWER = "same_answer", "One tool returns the same result for any arguments."
    NEAR_DUPLICATE = "near_duplicate", "Calls barely differ, and their results are the same."
    GROWING_CALL = "growing_call", "Each call repeats the previous call and adds to it."
    SWEEP = "sweep", "Pages are read to the end, and again from the start."
    COVERED_RANGE = "covered_range", "Ranges are read that were already read in other pieces."
    RECURRENCE = "recurrence", "New attempts keep ending in the same way: the same failure, or nothing found."
    STAGNATION = "stagnation", "Results contain nothing new, whatever is asked."
    UNSEEN_CHANGES = "unseen_changes", "A thing is changed again and again, and looks the same."
    REWRITTEN = "rewritten", "One file is rewritten again and again, and nothing else is done."
    THOUGHTS = "thoughts", "The model notes one thought after another, and does nothing."
    UNDONE_CHANGES = "undone_changes", "A change is made, undone and made again."
    WAITING = "waiting", "The same check again and again of something that takes its time."
    VAIN_WAIT = "vain_wait", "The run waits for something that nothing has started."
    MONOTONY = "monotony", "Almost every call is a known call with a known result."
    HANDOFF_CYCLE = "handoff_cycle", "Agents pass the work around in a circle."
    ACROSS_CHAINS = "across_chains", "Several conversations of a session repeat the same call."
    MONOLOGUE = "monologue", "The model writes the same message again."
    CHANTING = "chanting", "A text ends in copies of itself."
    KNOWN_GROUND = "known_ground", "Actions that an agent reports lead nowhere new."
    REPEATED_ORDER = "repeated_order", "An agent gets nearly the same order again, without a new result."
    INJECTION = (
        "injection",
        "The harness inserts the same text again and again, and nothing is done in between.",
    )
    COMPLAINT = "complaint", "A hook repeats the same complaint after each change."
    IDLE_AGENTS = (
        "idle_agents",
        "Agents report that they changed nothing, and the next agents get the same order.",
    )
    FAILED_AGENTS = "failed_agents", "Agents report, one after the other, that they failed."
    RELAY = "relay", "Agent results go from one agent to the next, and nothing is done."
    UNREAD_AGENTS = "unread_agents", "Agents are started or ended, and nobody reads their results."
    REFUSALS = "refusals", "An overloaded service is called again at once."
    NO_ANSWERS = "no_answers", "The model service returns errors instead of responses."
    IDLE_ANSWERS = "idle_answers", "A person asks the model to continue, and it only says that it begins."
    HANDED_DOWN = "handed_down", "An agent starts others with its own order."
    DEEP_TREE = "deep_tree", "Agents start agents, many levels deep."
    SPAWNED_AGAIN = "spawned_again", "Agents are started with orders that earlier agents already had."
    MISSED_WAKE_UP = "missed_wake_up", "A wake-up that an agent asked for did not come."
    CONDENSATION = "condensation", "The context is condensed again and again, and nothing is done in between."
    FORGOTTEN = (
        "forgotten",
        "A call fails again in each context, because the summary omits that it was tried.",
    )
    REREAD = "reread", "Each context re-reads what the previous context had read, and nothing is changed."
    SPEND_RATE = "spend_rate", "Money or tokens are spent too fast."
    BUDGET_END = "budget_end", "At this rate the budget ends soon."
    SPEND_WITHOUT_NEWS = "spend_without_news", "Spending continues without new results."


#: Every rule by the kind of its finding, with what it reports; limits are not among them: whoever wants none
#: sets none.
RULES: Final[Mapping[str, str]] = {
    **{kind.value: kind.rule for kind in LoopKind},
    "stuck_rounds": "Rounds of a conversation bring nothing new, and no result.",
    "idle_sessions": "A program starts one session after another, and none of them does anything.",
    "burn_without_progress": "Money is spent while little is new; neither alone would be reported.",
}
