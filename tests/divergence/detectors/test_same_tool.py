"""One tool in a row with one answer: from which share of words its calls are nearly the same."""

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules


@pytest.mark.clause("D11")
@pytest.mark.parametrize(("shared_words", "is_near"), [(0.49, True), (0.5, True), (0.51, False)])
def test_half_of_the_words_is_enough_where_half_is_asked_for(shared_words: float, is_near: bool) -> None:
    """Two words stay and one changes, so that consecutive calls share two of four: the bound is included."""
    run = [
        ToolCall(name="sh", args={"command": f"poll queue {sign * 3}"}, result="ok")
        for sign in "abcdefghijkl"
    ]
    profile = Profile(name="near", divergence=LoopRules(shared_words=shared_words))
    expected = [(LoopKind.NEAR_DUPLICATE, len(run))] if is_near else []
    assert [(signal.kind, signal.last_event) for signal in find_loops(run, profile)] == expected
