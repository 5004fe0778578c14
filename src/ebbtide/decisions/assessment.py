"""The assessment of a candidate by the gate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ebbtide.codec import Record


class Layer(StrEnum):
    """The layer of the gate to which a rule belongs. Source: decision quality gate, layers 1 to 3."""

    INFORMATIONAL = "informational"  #: the turn says something, and decides nothing
    DUPLICATE = "duplicate"  #: it was decided already
    QUALITY = "quality"  #: the record is not fit to be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFired:
    """One rule and what it saw.

    Args:
        id: Stable name, such as ``chat.done`` or ``quality.too-short``.
        layer: Where it stands.
        reason: What it says, in one sentence; for the rules of the spec, the spec's words.
        phrase: The words that it matched, cut; empty where it does not match words.
        weight: How much noise (positive) or choice (negative) it is evidence of; the SPEC profile gives every
            rule 1.
        decides: Whether it alone refuses the candidate.
    """

    id: str
    layer: Layer
    reason: str
    phrase: str = ""
    weight: float = 1.0
    decides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment(Record):
    """The assessment of a candidate by the gate.

    Args:
        keep: Whether it is worth keeping.
        primary: The rule that refuses it, the first in the order of the spec; None where it is kept.
        rules: Every rule that fired, also those that speak for keeping it, in the order of the spec.
        noise: Evidence of noise, 0 or more.
        choice: Evidence of a choice, 0 or more.
        threshold: A candidate is refused where `noise` - `choice` reaches this, or a rule decides.
        profile: Name of the profile.
    """

    _SCHEMA: ClassVar = 1
    _WIRE: ClassVar = "keep reason primary=primary.id rules noise choice threshold profile"

    keep: bool
    primary: RuleFired | None
    rules: tuple[RuleFired, ...]
    noise: float
    choice: float
    threshold: float
    profile: str

    @property
    def reason(self) -> str | None:
        """The reason for a refusal, in one sentence; None if the candidate is kept."""
        return None if self.primary is None else self.primary.reason
