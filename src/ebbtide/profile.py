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
