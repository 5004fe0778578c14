"""Thresholds of the joint verdict, what the engines say together, and what of it is ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from ebbtide.checks import flag, share, whole
from ebbtide.errors import ConfigError
from ebbtide.settings_file import offer

#: Every rule by the kind of its finding, with what it reports; limits are not among them: whoever wants none
#: sets none.
RULES: Final[Mapping[str, str]] = {
    "repeat": "One call returns the same result again and again.",
    "cycle": "Several calls return the same results in turn.",
    "no_progress": "One call returns the same result again and again, with other calls in between.",
    "failing_call": "One call fails again and again, with any error.",
    "same_error": "One tool fails with errors that it gave before, for any arguments.",
    "failing_tool": "One tool fails again and again, with any arguments and any error.",
    "same_answer": "One tool returns the same result for any arguments.",
    "near_duplicate": "Calls barely differ, and their results are the same.",
    "growing_call": "Each call repeats the previous call and adds to it.",
    "sweep": "Pages are read to the end, and again from the start.",
    "covered_range": "Ranges are read that were already read in other pieces.",
    "recurrence": "New attempts keep ending in the same way: the same failure, or nothing found.",
    "stagnation": "Results contain nothing new, whatever is asked.",
    "unseen_changes": "A thing is changed again and again, and looks the same.",
    "rewritten": "One file is rewritten again and again, and nothing else is done.",
    "thoughts": "The model notes one thought after another, and does nothing.",
    "undone_changes": "A change is made, undone and made again.",
    "waiting": "The same check again and again of something that takes its time.",
    "vain_wait": "The run waits for something that nothing has started.",
    "monotony": "Almost every call is a known call with a known result.",
    "handoff_cycle": "Agents pass the work around in a circle.",
    "across_chains": "Several conversations of a session repeat the same call.",
    "monologue": "The model writes the same message again.",
    "chanting": "A text ends in copies of itself.",
    "known_ground": "Actions that an agent reports lead nowhere new.",
    "repeated_order": "An agent gets nearly the same order again, without a new result.",
    "injection": "The harness inserts the same text again and again, and nothing is done in between.",
    "complaint": "A hook repeats the same complaint after each change.",
    "idle_agents": "Agents report that they changed nothing, and the next agents get the same order.",
    "failed_agents": "Agents report, one after the other, that they failed.",
    "relay": "Agent results go from one agent to the next, and nothing is done.",
    "unread_agents": "Agents are started or ended, and nobody reads their results.",
    "refusals": "An overloaded service is called again at once.",
    "no_answers": "The model service returns errors instead of responses.",
    "idle_answers": "A person asks the model to continue, and it only says that it begins.",
    "handed_down": "An agent starts others with its own order.",
    "deep_tree": "Agents start agents, many levels deep.",
    "spawned_again": "Agents are started with orders that earlier agents already had.",
    "missed_wake_up": "A wake-up that an agent asked for did not come.",
    "condensation": "The context is condensed again and again, and nothing is done in between.",
    "forgotten": "A call fails again in each context, because the summary omits that it was tried.",
    "reread": "Each context re-reads what the previous context had read, and nothing is changed.",
    "spend_rate": "Money or tokens are spent too fast.",
    "budget_end": "At this rate the budget ends soon.",
    "spend_without_news": "Spending continues without new results.",
    "stuck_rounds": "Rounds of a conversation bring nothing new, and no result.",
    "idle_sessions": "A program starts one session after another, and none of them does anything.",
    "burn_without_progress": "Money is spent while little is new; neither alone would be reported.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisionRules:
    """Rules by which the engines' findings become one verdict.

    Args:
        turns_are_rounds: A model's words that no call follows are a round of the conversation.
        check_claims: Hold what the last words of a run assert against its record.
        turn_words: Words that such a turn needs to be one; a round that the caller hands over needs none.
        person_is_news: New words of a person are news: a verdict about what was before it
            falls, and rounds before and after it do not make one dry stretch. In a conversation with hardly
            any calls, what a person says is also a round, and counts by its novelty at the end.
        dry_rounds: Rounds in a row that bring nothing new, with no new answer of a tool and no new word of a
            person between them, before the convergence engine is followed.
        flat_turns: Turns of a chain since anything new, from a tool, a round or a person, below which
            spending without news is not followed: one call of a model with a long context takes more tokens
            than that threshold.
        joint_from: Share of the way to what each engine takes to speak alone, that spending and flatness both
            have to reach before the model is nudged; None switches the joint rule off.
        joint_escalates_from: The same for asking a person, once the model was nudged.
        remembered_claims: Claims after which the memory of a conversation begins afresh, so that a run of any
            length fits in memory; the round after it counts as new.

    Raises:
        ConfigError: A value is out of range.
    """

    turns_are_rounds: bool = True
    check_claims: bool = True
    turn_words: int = 4
    person_is_news: bool = True
    dry_rounds: int = 2
    flat_turns: int = 6
    joint_from: float | None = 0.5
    joint_escalates_from: float = 0.75
    remembered_claims: int = 5_000

    def __post_init__(self) -> None:
        flag("turns_are_rounds", self.turns_are_rounds)
        flag("check_claims", self.check_claims)
        flag("person_is_news", self.person_is_news)
        whole("turn_words", self.turn_words, 0)
        whole("dry_rounds", self.dry_rounds, 1)
        whole("flat_turns", self.flat_turns, 0)
        whole("remembered_claims", self.remembered_claims, 100)
        share("joint_escalates_from", self.joint_escalates_from)
        if self.joint_from is None:
            return
        share("joint_from", self.joint_from)
        if not 0 < self.joint_from <= self.joint_escalates_from:
            raise ConfigError(
                f"joint_from = {self.joint_from}: expected more than 0, and at most joint_escalates_from = "
                f"{self.joint_escalates_from}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRules:
    """Findings that are not to be reported, and have no part in any verdict.

    Everything is measured as always, so that no other rule speaks about the same events in its place.

    Args:
        rules: Kinds of findings, out of `RULES`.
        tools: Names of tools, or patterns with ``*`` and ``?``: a finding all of whose tools are among them.

    Raises:
        ConfigError: There is no such rule.

    >>> IgnoreRules(tools=("wait_*",)).covers("repeat", ["wait_for"])
    True
    """

    rules: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rules", "tools"):
            values = getattr(self, name)
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ConfigError(f"{name} = {values!r:.60}: expected a list of names")
            for value in values:
                if not isinstance(value, str) or not value:
                    raise ConfigError(f"{name}: {value!r:.60}: expected a name")
            object.__setattr__(self, name, tuple(dict.fromkeys(map(str, values))))
        for rule in self.rules:
            if rule not in RULES:
                raise ConfigError(f"rules: no rule {rule!r:.60}; {offer(rule, RULES)}")

    def __bool__(self) -> bool:
        return bool(self.rules or self.tools)

    def covers(self, rule: str, tools: Collection[str] = ()) -> bool:
        """Returns True if a finding is not to be reported.

        Args:
            rule: Its kind.
            tools: Names of its calls; empty where it is about none.
        """
        if rule in self.rules:
            return True
        return bool(
            self.tools
            and tools
            and all(any(fnmatchcase(tool, pattern) for pattern in self.tools) for tool in tools)
        )

    def and_also(self, rules: Iterable[str], tools: Iterable[str]) -> IgnoreRules:
        """Returns these rules and tools with others added.

        Raises:
            ConfigError: There is no such rule.
        """
        return IgnoreRules(rules=(*self.rules, *rules), tools=(*self.tools, *tools))
