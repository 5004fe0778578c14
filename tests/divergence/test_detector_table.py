"""The table of detectors: complete, and true of the profile."""

from __future__ import annotations

import dataclasses

from ebbtide.divergence.detector_table import DETECTORS, EVERYTHING, LOOPS
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind


def test_each_kind_has_one_row() -> None:
    """Whatever can be reported is found by one detector, which has words for it."""
    kinds = [loop.kind for row in DETECTORS for loop in row.loops]
    assert sorted(kinds) == sorted(LoopKind)
    assert all(loop.sentence and loop.nudge for loop in LOOPS.values())


def test_thresholds_stand_in_the_profile() -> None:
    """A row names fields of the profile, and each field that is a threshold has a row."""
    fields = {field.name for field in dataclasses.fields(LoopRules)}
    named = {name for loop in LOOPS.values() for name in (*loop.settings, *loop.needs)}
    assert named <= fields
    assert fields - named == {"pause_s", "shipped_tools"}


def test_only_detectors_further_down_are_excused() -> None:
    """An event is shown in the order of the table: whoever has seen it cannot be excused."""
    names = [row.name for row in DETECTORS]
    for place, row in enumerate(DETECTORS):
        assert row.excuses is EVERYTHING or row.excuses <= set(names[place + 1 :])
