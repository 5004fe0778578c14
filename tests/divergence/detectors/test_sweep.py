"""Ranges that are read again in other portions."""

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import ToolCall
from ebbtide.profile.loop_kinds import LoopKind


def read(offset: int, limit: int) -> ToolCall:
    args = {"path": "log", "offset": offset, "limit": limit}
    return ToolCall(name="read", args=args, result=f"lines {offset} to {offset + limit}")


@pytest.mark.parametrize(("second", "is_covered"), [(100, True), (99, True), (101, False)])
def test_ranges_that_touch_are_one_range(second: int, is_covered: bool) -> None:
    """What lies across their border was read before; where one line is missing between them, it was not."""
    across = [read(90 - number, 20) for number in range(1, 9)]
    kinds = [signal.kind for signal in find_loops([read(0, 100), read(second, 100), *across])]
    assert kinds == ([LoopKind.COVERED_RANGE] if is_covered else [])
