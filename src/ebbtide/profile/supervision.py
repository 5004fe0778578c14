"""Thresholds of the joint verdict, what the engines say together, and what of it is ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ebbtide.checks import flag, share, whole
from ebbtide.errors import ConfigError
from ebbtide.profile.loop_kinds import RULES
from ebbtide.settings_file import offer


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
