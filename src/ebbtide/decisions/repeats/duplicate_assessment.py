"""The assessment of a text that was decided already."""

from __future__ import annotations

from dataclasses import replace

from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict
from ebbtide.profile import Profile


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
