"""Profiles: every threshold of Ebbtide, as one value.

`Profile.SPEC` does what the specs say to the letter. `Profile.DEFAULT` differs from it only where a
measurement on real data says that the letter hurts; docs/deviations.md has each difference with its number.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike, fspath
from typing import Any, ClassVar

from ebbtide.errors import ConfigError


class TokenForm(StrEnum):
    """What the similarity of two claims is computed on."""

    WORDS = "words"  #: white-space separated words of the normal form, as in the novelty spec, 2.1
    STEMS = "stems"  #: words without punctuation and endings: "running tests," is "run test"


def _unit(section: object, name: str) -> None:
    value = getattr(section, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{name} = {value!r}: expected a number from 0 to 1")


def _at_least(section: object, name: str, least: int) -> None:
    value = getattr(section, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} = {value!r}: expected a whole number, {least} or more")


def _flag(section: object, name: str) -> None:
    value = getattr(section, name)
    if not isinstance(value, bool):
        raise ConfigError(f"{name} = {value!r}: expected true or false")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyRules:
    """When a claim is new and when a round is low.

    Args:
        jaccard_at_least: Token Jaccard from which a claim is a paraphrase, over 0 to 1.
        tokens: What the Jaccard is computed on.
        cosine_at_least: Cosine of embeddings from which a claim is a paraphrase, where the semantic level is
            on; None takes the one that is known for the model.
        contrast_guard: A claim that reverses a seen one is new, whatever its similarity.
        high_above: Novelty rate above which a round is HIGH.
        low_below: Novelty rate below which a round is low.
        low_rounds: Consecutive low rounds (k) before novelty is LOW.
        mostly_new_above: Share of new claims in a round above which it is not low, however long the longest
            round was; 1 never.
        questions_count: A round that only asks, and asks something new, is not low.
        thin_below: Different claims said so far below which LOW takes one low round more.

    Source: novelty spec, 2.1 to 2.4; the last three are ours, and off in the SPEC profile.
    """

    jaccard_at_least: float = 0.6
    tokens: TokenForm = TokenForm.WORDS
    cosine_at_least: float | None = None
    contrast_guard: bool = False
    high_above: float = 0.5
    low_below: float = 0.15
    low_rounds: int = 2
    mostly_new_above: float = 1.0
    questions_count: bool = False
    thin_below: int = 0

    def __post_init__(self) -> None:
        for name in ("jaccard_at_least", "high_above", "low_below", "mostly_new_above"):
            _unit(self, name)
        if self.cosine_at_least is not None:
            _unit(self, "cosine_at_least")
        if self.jaccard_at_least == 0:
            raise ConfigError("jaccard_at_least = 0: every claim would repeat every other; expected more")
        if self.low_below > self.high_above:
            raise ConfigError(f"low_below = {self.low_below} is above high_above = {self.high_above}")
        if self.tokens not in tuple(TokenForm):
            raise ConfigError(f"tokens = {self.tokens!r}: expected one of {', '.join(TokenForm)}")
        object.__setattr__(self, "tokens", TokenForm(self.tokens))
        _flag(self, "contrast_guard")
        _flag(self, "questions_count")
        _at_least(self, "low_rounds", 1)
        _at_least(self, "thin_below", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessRules:
    """How ready a round is to be acted on.

    Args:
        next_actions_weight: Share of the next-actions score. The three shares add up to 1.
        open_questions_weight: Share of the open-questions score.
        blockers_weight: Share of the blocker score.
        high_at_least: Readiness from which a round is HIGH.
        medium_at_least: Readiness from which a round is MEDIUM.

    Source: novelty spec, 3.1 to 3.4.
    """

    next_actions_weight: float = 0.5
    open_questions_weight: float = 0.3
    blockers_weight: float = 0.2
    high_at_least: float = 0.7
    medium_at_least: float = 0.4

    def __post_init__(self) -> None:
        weights = ("next_actions_weight", "open_questions_weight", "blockers_weight")
        for name in (*weights, "high_at_least", "medium_at_least"):
            _unit(self, name)
        total = math.fsum(getattr(self, name) for name in weights)
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            raise ConfigError(f"the readiness weights add up to {total:g}: expected 1")
        if self.medium_at_least > self.high_at_least:
            raise ConfigError(
                f"medium_at_least = {self.medium_at_least} is above high_at_least = {self.high_at_least}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRules:
    """When low novelty means stop.

    Args:
        stuck_rounds: Low rounds in a row, none of them ready, after which a person is asked.
        stable_at_least: Cosine of consecutive rounds from which they say the same; used where the semantic
            level is on.

    Source: novelty spec, 4.2; rubric, composite stopping rule.
    """

    stuck_rounds: int = 3
    stable_at_least: float = 0.8

    def __post_init__(self) -> None:
        _at_least(self, "stuck_rounds", 1)
        _unit(self, "stable_at_least")


@dataclass(frozen=True, slots=True, kw_only=True)
class GamingRules:
    """When the shape of a round looks like an attempt to keep the meter running.

    Args:
        inflation_ratio_below: New claims / all claims of a round below which the rest is padding.
        inflation_claims: Claims in a round from which it is large enough for either rule to matter.
        spike_factor: A round this many times larger than the median of the rounds before is a spike.

    Source: novelty spec, 5.2. The spec gives the ratio; the other two are ours.
    """

    inflation_ratio_below: float = 0.1
    inflation_claims: int = 5
    spike_factor: float = 3.0

    def __post_init__(self) -> None:
        _unit(self, "inflation_ratio_below")
        _at_least(self, "inflation_claims", 1)
        factor = self.spike_factor
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 < factor < math.inf:
            raise ConfigError(f"spike_factor = {factor!r}: expected a number above 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRules:
    """When calls that come again are a loop. None switches a rule off; counts are of calls.

    Args:
        copies: Equal turns of a cycle, of any period: two are a coincidence, and every system that acts on
            three calls its users' loops by their name.
        max_period: Longest cycle, in calls; longer ones show as monotony.
        interleaved: The same call with the same answer, other calls between them, none of which brought
            anything new. One more than `copies`, so that a cycle is named as one.
        interleaved_with_news: The same where the others brought something new, but nothing that looks like a
            change: looking a thing up twice more is forgetful, six times is stuck.
        unchanged_by_changes: The same where something may have changed in between, by the look of it. A
            test stays red through a dozen honest edits; beyond that they miss the point.
        polls: The same answer of a tool declared as poll or clock: waiting is its work.
        failing: The same call fails, whatever the text.
        outage: The same failure that says 429 or 5xx, or a poll of it: a service that is down is not the
            agent's doing, and some retries with a pause are right.
        same_error: One tool fails in a row with errors that it gave before, whatever the arguments: a few
            tries at the right arguments are work.
        failing_tool: One tool fails in a row, whatever the arguments and the error.
        same_answer: One tool in a row, other arguments, one answer that is longer than what was asked: five
            are exploration, says the test suite that tried it.
        reworded: One tool in a row, one answer, arguments of the same words in another order or spacing.
        nearly_same: One tool in a row, one answer, arguments that share at least `shared_words`. It takes
            so many since a batch of commands that all answer "ok" looks the same for its first items.
        shared_words: Share of words, of those in either, from which arguments are nearly the same.
        growing: One tool in a row, each call the one before with something appended.
        sweep_pages: Pages read forward before going back to the start counts as a second sweep.
        covered: Reads of ranges in a row that lie inside what was read before.
        stale: Calls in a row that all were known, with their answers.
        entropy_window: Calls over which the variety of calls and answers is measured.
        entropy_below: Bits of variety under which a full window is monotonous; 2 bits is four equally
            frequent calls.
        handoffs: Equal turns of a cycle of hand-offs, nothing new between them; with something new, twice
            as many.
        chains: Chains of one session in which the same call came twice with the same answer.
        condensations: Condensations of the context in a row.
        messages: Equal messages or thoughts in a row.
        silent_messages: Model calls in a row of which nothing is known but their name.
        chant_copies: Copies of a block of words at the end of a text.
        chant_words: Words that those copies must have together while the text streams; half of it in a
            whole message.
        chant_period: Longest such block, in words.
        pause_s: Seconds without an event after which the same call is a new look at things: five minutes,
            from which on reports call polling a schedule.
        budget_usd: What the chain may cost; None where there is no budget.
        budget_tokens: Tokens of all classes that it may take.
        budget_ends_in_s: Seconds to the end of a budget, at the rate of the last ten minutes, under which
            it is said.
        usd_per_minute: Spending over one minute above which it is said.
        usd_per_hour: Spending over one hour above which it is said. Reported runaways spent 36 to 120 USD
            an hour.
        usd_without_news: Spending since the last new answer above which it is said.
        tokens_without_news: Tokens since the last new answer above which it is said.

    Source: divergence spec, section 5; the numbers are ours, see docs/divergence.md.
    """

    copies: int = 3
    max_period: int = 128
    interleaved: int | None = 4
    interleaved_with_news: int | None = 6
    unchanged_by_changes: int | None = 16
    polls: int | None = 8
    failing: int | None = 3
    outage: int = 6
    same_error: int | None = 5
    failing_tool: int | None = 8
    same_answer: int | None = 6
    reworded: int | None = 5
    nearly_same: int | None = 12
    shared_words: float = 0.5
    growing: int | None = 8
    sweep_pages: int | None = 8
    covered: int | None = 8
    stale: int | None = 32
    entropy_window: int = 64
    entropy_below: float | None = 2.0
    handoffs: int | None = 3
    chains: int | None = 3
    condensations: int | None = 10
    messages: int | None = 3
    silent_messages: int | None = 5
    chant_copies: int | None = 4
    chant_words: int = 24
    chant_period: int = 48
    pause_s: float | None = 300.0
    budget_usd: float | None = None
    budget_tokens: int | None = None
    budget_ends_in_s: float = 600.0
    usd_per_minute: float | None = None
    usd_per_hour: float | None = 30.0
    usd_without_news: float | None = 1.0
    tokens_without_news: int | None = 200_000

    def __post_init__(self) -> None:
        for part in dataclasses.fields(self):
            value = getattr(self, part.name)
            if value is None and "None" in str(part.type):
                continue
            if str(part.type).startswith("int"):
                _at_least(self, part.name, 3 if part.name in ("copies", "chant_copies") else 1)
            elif part.name == "shared_words":
                _unit(self, part.name)
            elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ConfigError(f"{part.name} = {value!r}: expected a number, 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A name and one section of thresholds a concern.

    `Profile.load("spec")`, `Profile.load("default")` or `Profile.load("my.toml")`; a file needs only
    the values that differ from the profile named by its ``base`` key (default ``"default"``).
    """

    SPEC: ClassVar[Profile]
    DEFAULT: ClassVar[Profile]

    name: str
    novelty: NoveltyRules = field(default_factory=NoveltyRules)
    readiness: ReadinessRules = field(default_factory=ReadinessRules)
    stop: StopRules = field(default_factory=StopRules)
    gaming: GamingRules = field(default_factory=GamingRules)
    divergence: LoopRules = field(default_factory=LoopRules)

    @classmethod
    def load(cls, name: str | PathLike[str]) -> Profile:
        """The built-in profile of that name, or the one in that TOML file.

        Raises:
            ConfigError: No such profile or file, not TOML, an unknown key or a value out of range.
        """
        name = fspath(name)
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        if not name.lower().endswith(".toml"):
            raise ConfigError(f"no profile {name!r}: expected {' or '.join(_BUILT_IN)}, or a .toml file")
        import tomllib
        from pathlib import Path

        path = Path(name)
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: not a TOML file: {error}") from error
        try:
            return cls.from_dict({"name": path.stem, **table})
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Profile:
        """The profile that `table` describes, the rest taken from its ``base``.

        Raises:
            ConfigError: An unknown key or a value out of range.
        """
        rest = dict(table)
        base = rest.pop("base", "default")
        if not isinstance(base, str) or base not in _BUILT_IN:
            raise ConfigError(f"base = {base!r}: expected {' or '.join(_BUILT_IN)}")
        profile = _BUILT_IN[base]
        name = rest.pop("name", profile.name)
        if not isinstance(name, str):
            raise ConfigError(f"name = {name!r}: expected a text")
        sections: dict[str, Any] = {}
        known = [part.name for part in dataclasses.fields(cls) if part.name != "name"]
        for section, values in rest.items():
            if section not in known or not isinstance(values, Mapping):
                raise ConfigError(f"[{section}]: expected one of the tables {', '.join(known)}")
            current = getattr(profile, section)
            fields = [part.name for part in dataclasses.fields(current)]
            for key in values:
                if key not in fields:
                    raise ConfigError(f"{section}.{key}: no such setting; there are {', '.join(fields)}")
            try:
                sections[section] = dataclasses.replace(current, **values)
            except ConfigError as error:
                raise ConfigError(f"{section}.{error}") from error
        return dataclasses.replace(profile, name=name, **sections)

    def to_dict(self) -> dict[str, Any]:
        """Every value, as plain data; `from_dict` reads it back."""
        return dataclasses.asdict(self)


Profile.SPEC = Profile(name="spec")
Profile.DEFAULT = Profile(
    name="default",
    novelty=NoveltyRules(
        tokens=TokenForm.STEMS,
        contrast_guard=True,
        mostly_new_above=0.5,
        questions_count=True,
        thin_below=2,
    ),
)
_BUILT_IN = {profile.name: profile for profile in (Profile.SPEC, Profile.DEFAULT)}
