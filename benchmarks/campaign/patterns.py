"""Patterns over text that others write: one that grows faster than its text can freeze a run."""

from __future__ import annotations

from benchmarks.campaign.attack import Attack
from benchmarks.quality.pattern_growth import LONGEST, offenders, package_patterns


def attack(one: Attack) -> None:
    """Look at every pattern of the package; an order of its own for each seed, until the time is over."""
    patterns = list(package_patterns(""))
    one.chance.shuffle(patterns)
    for pattern in patterns:
        if not one.goes_on:
            break
        one.counts["patterns"] += 1
        for offender in offenders([pattern], LONGEST):
            one.find("a pattern grows faster than its text", **offender._asdict())
