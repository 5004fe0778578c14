"""Is every detector wired: a known loop of each kind, run through a configuration.

A detector can be inactive without anybody noticing: switched off by a threshold, exempted by a pattern, or
fed with nothing. A run that has to raise a signal shows it before the first real loop goes by.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ebbtide.codec import Record
from ebbtide.divergence.detector_table import LOOPS, LoopRow
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

_LONG = 400  # events: more than any default needs


class Wiring(StrEnum):
    """Result of a test with a known loop."""

    FIRES = "fires"
    OFF = "off"  #: it is ignored, or needs a budget or stated actions, and the configuration has none
    SILENT = "silent"  #: the configuration does not see this kind of loop
    BROKEN = "broken"  #: the monitor failed on it


@dataclass(frozen=True, slots=True, kw_only=True)
class WiringCheck(Record):
    """One detector.

    Args:
        kind: What it finds.
        wiring: Whether it did.
        event: The event at which it spoke first; None where it did not.
        problem: The fault, where the monitor failed.
    """

    kind: LoopKind
    wiring: Wiring
    event: int | None
    problem: str | None = None


def self_test(
    profile: Profile = Profile.DEFAULT, *, tools: ToolPolicies | None = None
) -> tuple[WiringCheck, ...]:
    """Run a known loop of each kind through a monitor of this configuration.

    The calls are of a tool named ``ebbtide_probe``, so a declaration whose pattern takes it in is tested too.
    """
    return tuple(_check(row, profile, tools) for row in LOOPS.values())


def _check(row: LoopRow, profile: Profile, tools: ToolPolicies | None) -> WiringCheck:
    kind, rules = row.kind, profile.divergence
    is_off = bool(row.needs) and not any(getattr(rules, name) for name in row.needs)
    if is_off or profile.ignore.covers(kind.value):
        return WiringCheck(kind=kind, wiring=Wiring.OFF, event=None)
    monitor = LoopMonitor(profile, tools=tools)
    for number in range(_LONG):
        if any(signal.kind is kind for signal in monitor.update(row.known_loop(number))):
            return WiringCheck(kind=kind, wiring=Wiring.FIRES, event=number + 1)
    state = monitor.snapshot()
    wiring = Wiring.BROKEN if state.degraded else Wiring.SILENT
    return WiringCheck(kind=kind, wiring=wiring, event=None, problem=state.last_fault)
