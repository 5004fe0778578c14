"""The settings that a sweep tries: the profile as it is, and what differs from it in some values."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Final

from ebbtide.budget.limits import LimitKind, Limits
from ebbtide.checks import number
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.settings_file import meant, offer
from ebbtide.supervision.run_options import RunOptions

MOST_SETTINGS: Final = 64  #: a run is judged under each of them

#: A factor on every threshold that counts calls or rounds: below 1 everything is reported earlier.
PATIENCE: Final = "patience"

LIMITS: Final = "limits"  #: the section of what a run may take, which is no part of a profile

#: What is swept where nothing is named: the counts together, by `PATIENCE`, and one at a time the thresholds
#: of equal calls, failures, answers and rounds without news.
DEFAULT_FACTORS: Final = (0.7, 1.5)
DEFAULT_NAMES: Final = (
    "divergence.copies",
    "divergence.interleaved_with_news",
    "divergence.failing",
    "divergence.same_error",
    "divergence.failing_tool",
    "divergence.outcome_again",
    "divergence.same_answer",
    "divergence.nothing_new",
    "supervision.dry_rounds",
)
_DEFAULT_PATIENCE: Final = (0.7, 1.5, 2.0)
_MOST_PATIENCE: Final = 1_000

_NO_PART: Final = ("decisions", "duplicates")  # of a profile, in verdicts
_NO_COUNTS: Final = frozenset(
    ("max_period", "entropy_window", "chant_words", "chant_period", "budget_tokens", "tokens_without_news")
)
_LEAST: Final = {"copies": 3, "chant_copies": 3, "dry_rounds": 1}  # else 2: once is no loop


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptSetting:
    """The options by which runs are judged in one trial.

    Args:
        values: What it has of its own, by name; empty for the options as they are.
    """

    options: RunOptions
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The values in words.

        >>> default_settings(RunOptions())[4].words
        'divergence.copies = 4'
        """
        return ", ".join(f"{name} = {value}" for name, value in self.values.items()) or "the profile as it is"


def default_settings(options: RunOptions) -> list[SweptSetting]:
    """Returns the settings of a sweep by default: one change at a time around the profile, the profile first.

    Args:
        options: By what runs are judged as it is.
    """
    table = options.profile.to_dict()
    trials: list[dict[str, Any]] = [{PATIENCE: factor} for factor in _DEFAULT_PATIENCE]
    for name in DEFAULT_NAMES:
        section, key = name.split(".")
        value = table[section][key]
        if value is not None:
            trials += [{name: _scaled(key, value, factor)} for factor in DEFAULT_FACTORS]
    return _distinct(options, trials)


def named_settings(options: RunOptions, sweeps: Sequence[str]) -> list[SweptSetting]:
    """All combinations of the values that somebody names, the options as they are first.

    Args:
        options: What they differ from.
        sweeps: ``divergence.copies=3,4,5`` each, or ``limits.cost_usd=1,2``, or ``patience=0.7,1.5``.

    Raises:
        ConfigError: There is no such setting, a value is not one of it, or there are too many combinations.
    """
    values: dict[str, list[Any]] = {}
    for text in sweeps:
        name, values_of = _parsed(options, text)
        if name in values:
            raise ConfigError(f"--sweep {name}: named twice: write all values behind one another")
        values[name] = values_of
    total = prod(map(len, values.values()))
    if total > MOST_SETTINGS:
        sizes = " x ".join(str(len(items)) for items in values.values())
        raise ConfigError(
            f"--sweep: {sizes} = {total:,} combinations: at most {MOST_SETTINGS} are tried at once. "
            "Name fewer values, or one setting after the other"
        )
    combinations = product(*values.values())
    return _distinct(options, [dict(zip(values, items, strict=True)) for items in combinations])


def _parsed(options: RunOptions, text: str) -> tuple[str, list[Any]]:
    name, equals, rest = (part.strip() for part in text.partition("="))
    _refuse_unknown(name)
    if not equals or not rest:
        raise ConfigError(f"--sweep {text!r:.80}: expected NAME=VALUE,..., such as {name}=3,4,5")
    try:
        items: list[Any] = tomllib.loads(f"items = [{rest}]")["items"]
    except (tomllib.TOMLDecodeError, RecursionError):
        items = [word.strip() for word in rest.split(",")]  # words such as own, peak
    for item in items:
        try:
            _changed(options, {name: item})
        except ConfigError as error:
            raise ConfigError(f"--sweep: {error}") from error
        except TypeError as error:
            raise ConfigError(f"--sweep {name}: {item!r:.60} is not a value of this setting") from error
    return name, items


def _refuse_unknown(name: str) -> None:
    sections = {key: value for key, value in Profile.DEFAULT.to_dict().items() if key != "name"}
    sections[LIMITS] = {kind.value: None for kind in LimitKind}
    section, _, key = name.partition(".")
    if section in _NO_PART:
        raise ConfigError(f"--sweep {name}: [{section}] has no part in verdicts: there is nothing to compare")
    names = [f"{section}.{key}" for section, values in sections.items() for key in values]
    if name == PATIENCE or name in names:
        return
    if section in sections:
        raise ConfigError(f"--sweep {name}: no such setting; {offer(key, sections[section])}")
    full = next((full for full in names if full.endswith(f".{name}")), None)
    like = f"; did you mean {full}?" if full else meant(name, [*names, PATIENCE])
    raise ConfigError(
        f"--sweep {name}: expected SECTION.NAME as in a profile, such as divergence.copies, "
        f"{LIMITS}.NAME, or {PATIENCE}{like}"
    )


def _distinct(options: RunOptions, trials: Sequence[Mapping[str, Any]]) -> list[SweptSetting]:
    settings = [SweptSetting(options=options)]
    for values in trials:
        other = _changed(options, values)
        if all(other != setting.options for setting in settings):
            settings.append(SweptSetting(options=other, values=values))
    return settings


def _changed(options: RunOptions, values: Mapping[str, Any]) -> RunOptions:
    factor = values.get(PATIENCE, 1)
    expected = "a factor above 0, such as 0.7 or 1.5"
    number(PATIENCE, factor, above=0, most=_MOST_PATIENCE, expected=expected)
    profile, limits = options.profile, options.limits
    tables: dict[str, dict[str, Any]] = {}
    if factor != 1:
        rounds = profile.supervision.dry_rounds
        tables = {
            "divergence": {
                name: _scaled(name, value, factor) for name, value in _counts(profile.divergence).items()
            },
            "supervision": {"dry_rounds": _scaled("dry_rounds", rounds, factor)},
        }
    for name, value in values.items():
        section, _, key = name.partition(".")
        if key:
            tables.setdefault(section, {})[key] = value
    of_limits = tables.pop(LIMITS, None)
    if of_limits:
        limits = Limits.from_dict({**(dataclasses.asdict(limits) if limits else {}), **of_limits})
    return dataclasses.replace(options, profile=profile.changed(tables), limits=limits)


def _counts(rules: LoopRules) -> dict[str, int]:
    """The thresholds that count calls."""
    values = {part.name: getattr(rules, part.name) for part in dataclasses.fields(rules)}
    return {name: value for name, value in values.items() if type(value) is int and name not in _NO_COUNTS}


def _scaled(name: str, value: int, factor: float) -> int:
    """A count by a factor: at least another one, where that is possible."""
    least = min(value, _LEAST.get(name, 2))
    return max(least, round(value * factor))
