"""The verdict on a text among the decisions before it: new, duplicate or reversal, and why.

Source: decision quality gate, layer 2 (clauses Q06, Q07).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from ebbtide.codec import Record, Rounded
from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.repeats.differences import Difference
from ebbtide.profile import Profile


class Repeat(StrEnum):
    """The relation of a text to the decisions before it."""

    NEW = "new"
    DUPLICATE = "duplicate"
    POSSIBLE_REVERSAL = "possible_reversal"  #: alike, but not the same: does it take the other's place?


class Measure(StrEnum):
    """Measures by which two texts were found to be alike."""

    FINGERPRINT = "fingerprint"  #: one normal form
    JACCARD = "jaccard"  #: tokens in both over tokens in either
    SUBJECT = "subject"  #: they are about one thing, and only one of them can hold


class Sureness(StrEnum):
    """The certainty of a verdict."""

    CERTAIN = "certain"  #: the texts are equal, up to case, white space and the last full stop
    LIKELY = "likely"  #: similar, and no word speaks against it; of a reversal: the words show it
    POSSIBLE = "possible"  #: alike, with words that may or may not matter


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateVerdict(Record):
    """The relation of a text to the decisions before it, and the reason.

    Args:
        repeat: New, a duplicate, or perhaps a reversal. Only a duplicate is a reason to refuse.
        of: The decision that it repeats or reverses; None for a new one.
        measure: By what they are alike; None for a new one.
        shared: Tokens in both texts; None unless they were counted.
        union: Tokens in either.
        sure: How sure that is; None for a new one.
        difference: Why it is no duplicate, where it is alike.
        window_s: Seconds that were looked back; None for ever.
        compared: Earlier decisions of the window that it was compared with.
        truncated: Whether some of these were compared by their normal form alone.
    """

    _WIRE: ClassVar = """
        repeat of measure score fraction=_fraction sure difference contradicts window_s
        compared truncated
    """
    _SCHEMA: ClassVar = 1

    repeat: Repeat
    of: str | None = None
    measure: Measure | None = None
    shared: int | None = None
    union: int | None = None
    sure: Sureness | None = None
    difference: Difference | None = None
    window_s: float | None = None
    compared: int = 0
    truncated: bool = False

    @property
    def is_duplicate(self) -> bool:
        """The spec's answer: true or false."""
        return self.repeat is Repeat.DUPLICATE

    @property
    def may_reverse(self) -> str | None:
        """The id of the decision that it may reverse: does it take the other's place?"""
        return self.of if self.repeat is Repeat.POSSIBLE_REVERSAL else None

    @property
    def contradicts(self) -> bool:
        """True if the words show that it cannot hold together with the decision that it is alike to.

        That one is to be proposed as superseded. Where only another word stands in the place of one, it may
        as well be another matter.
        """
        return self.difference is not None and self.difference.kind.is_contrast

    @property
    def _fraction(self) -> str | None:
        return None if self.shared is None or self.union is None else f"{self.shared}/{self.union}"

    @property
    def score(self) -> Rounded | None:
        """The similarity, 0 to 1: 1 for one normal form, else shared / union; None for a new one."""
        if self.measure is Measure.FINGERPRINT:
            return 1.0
        return None if self.shared is None or not self.union else self.shared / self.union


def duplicate_assessment(
    duplicate: DuplicateVerdict, assessment: Assessment | None, profile: Profile
) -> Assessment:
    """The assessment of a duplicate: what the gate said, and that it was decided already."""
    score = "" if duplicate.score is None else f" ({duplicate.score:.2f})"
    name = "similarity" if duplicate.measure is None else duplicate.measure.value
    window = "" if duplicate.window_s is None else f" in the last {duplicate.window_s:g} s"
    rule = RuleFired(
        id=f"duplicate.{name}",
        layer=Layer.DUPLICATE,
        reason=f"Decided already as {duplicate.of}{window}, by {name}{score}",
        decides=True,
    )
    if assessment is None:
        return Assessment(
            keep=False,
            primary=rule,
            rules=(rule,),
            noise=0.0,
            choice=0.0,
            threshold=0.0,
            profile=profile.name,
        )
    return replace(assessment, keep=False, primary=rule, rules=(rule, *assessment.rules))
