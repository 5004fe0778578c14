"""Profiles: every threshold of Ebbtide, as one value.

`Profile.SPEC` does what the specs say, word for word. `Profile.DEFAULT` differs from it only where a
measurement on real data says that the spec's rule hurts; docs/deviations.md has each difference, with its
number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar

from ebbtide.errors import ConfigError
from ebbtide.profile.convergence import (
    ConsensusRules,
    GamingRules,
    LowBy,
    NoveltyRules,
    ReadinessRules,
    StopRules,
    TokenForm,
)
from ebbtide.profile.decisions import GateRules
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.duplicates import DuplicateRules
from ebbtide.profile.supervision import IgnoreRules, SupervisionRules
from ebbtide.settings_file import meant, offer, read_settings, refuse_unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A name and one section of thresholds a concern.

    `Profile.load("spec")`, `Profile.load("default")` or `Profile.load("my.toml")`; a file needs only
    the values that differ from the profile named by its ``base`` key (default ``"default"``).

    >>> Profile.from_dict({"name": "patient", "novelty": {"low_rounds": 3}}).novelty.low_rounds
    3
    >>> Profile.load("default")
    Profile.DEFAULT
    """

    SPEC: ClassVar[Profile]
    DEFAULT: ClassVar[Profile]

    name: str
    novelty: NoveltyRules = field(default_factory=NoveltyRules)
    readiness: ReadinessRules = field(default_factory=ReadinessRules)
    stop: StopRules = field(default_factory=StopRules)
    consensus: ConsensusRules = field(default_factory=ConsensusRules)
    gaming: GamingRules = field(default_factory=GamingRules)
    divergence: LoopRules = field(default_factory=LoopRules)
    decisions: GateRules = field(default_factory=GateRules)
    duplicates: DuplicateRules = field(default_factory=DuplicateRules)
    supervision: SupervisionRules = field(default_factory=SupervisionRules)
    ignore: IgnoreRules = field(default_factory=IgnoreRules)

    @classmethod
    def load(cls, name: str | PathLike[str]) -> Profile:
        """Returns the built-in profile of that name, or the one in that TOML file.

        Raises:
            ConfigError: No such profile or file, not TOML, an unknown key or a value out of range.
        """
        name = fspath(name)
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        if not name.lower().endswith(".toml"):
            expected = f"expected {' or '.join(_BUILT_IN)}, or a .toml file"
            raise ConfigError(f"no profile {name!r}: {expected}{meant(name, _BUILT_IN)}")
        file = Path(name)
        profile = read_settings(name, lambda table: cls.from_dict({"name": file.stem, **table}))
        if profile.decisions.model is None:
            return profile
        model = str(file.parent / profile.decisions.model)
        return dataclasses.replace(profile, decisions=dataclasses.replace(profile.decisions, model=model))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Profile:
        """Returns the profile that `table` describes, the rest taken from its ``base``.

        Raises:
            ConfigError: An unknown key or a value out of range.
        """
        rest = dict(table)
        base = rest.pop("base", "default")
        if not isinstance(base, str) or base not in _BUILT_IN:
            raise ConfigError(
                f"base = {base!r}: expected {' or '.join(_BUILT_IN)}{meant(str(base), _BUILT_IN)}"
            )
        profile = _BUILT_IN[base]
        name = rest.pop("name", profile.name)
        if not isinstance(name, str):
            raise ConfigError(f"name = {name!r}: expected a text")
        return dataclasses.replace(profile, name=name).changed(rest)

    def changed(self, table: Mapping[str, Any]) -> Profile:
        """Returns this profile with other values of some settings.

        Args:
            table: The settings by section, as in a file.

        Raises:
            ConfigError: An unknown key or a value out of range.

        >>> Profile.DEFAULT.changed({"divergence": {"copies": 4}}).divergence.copies
        4
        """
        sections: dict[str, Any] = {}
        names = [part.name for part in dataclasses.fields(self) if part.name != "name"]
        for section, values in table.items():
            if section not in names:
                raise ConfigError(f"[{section}]: no such table; {offer(section, names)}")
            if not isinstance(values, Mapping):
                raise ConfigError(f"{section} = {values!r:.60}: expected a table")
            current = getattr(self, section)
            refuse_unknown(values, [part.name for part in dataclasses.fields(current)], of=f"{section}.")
            try:
                sections[section] = dataclasses.replace(current, **values)
            except ConfigError as error:
                raise ConfigError(f"{section}.{error}") from error
        return dataclasses.replace(self, **sections)

    def to_dict(self) -> dict[str, Any]:
        """Returns every value, as plain data; `from_dict` reads it back."""
        return dataclasses.asdict(self)

    def __repr__(self) -> str:
        # Every engine has a profile as a default: all of its values would fill the signature.
        if self == _BUILT_IN.get(self.name):
            return f"Profile.{self.name.upper()}"
        sections = [part.name for part in dataclasses.fields(self) if part.name != "name"]
        changes = [
            f"{section}={getattr(self, section)!r}"
            for section in sections
            if getattr(self, section) != getattr(Profile.DEFAULT, section)
        ]
        return f"Profile({', '.join([f'name={self.name!r}', *changes])})"


Profile.SPEC = Profile(name="spec")
Profile.DEFAULT = Profile(
    name="default",
    novelty=NoveltyRules(
        tokens=TokenForm.STEMS,
        contrast_guard=True,
        low_by=LowBy.OWN,
        low_below=0.25,
        questions_count=True,
        thin_below=2,
    ),
    consensus=ConsensusRules(counts=True),
    stop=StopRules(needs_witness=True),
    decisions=GateRules(weighs=True, refuse_at=0.75, short_words=2),
    duplicates=DuplicateRules.DEFAULT,
    divergence=LoopRules(shipped_tools=True, stated_actions=True),
)
_BUILT_IN = {profile.name: profile for profile in (Profile.SPEC, Profile.DEFAULT)}
