"""Numbers of events, in order or not."""

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.divergence.numbering import Numbering


@given(st.lists(st.integers(0, 40)))
def test_each_number_is_taken_once(numbers: list[int]) -> None:
    """Within the window, a number is new the first time, in any order; before the first, it never is."""
    numbering, accepted = Numbering(), set()
    for number in numbers:
        expected = number not in accepted and (not accepted or number > numbers[0])
        assert numbering.take(number) == (expected or not accepted)
        if expected or not accepted:
            accepted.add(number)


def test_what_is_too_far_back_counts_as_told() -> None:
    """Sixty-four numbers back from the highest, late events are no longer told apart."""
    numbering = Numbering()
    assert [numbering.take(number) for number in (0, 100, 70, 30)] == [True, True, False, False]
    numbering = Numbering()
    assert [numbering.take(number) for number in (0, 60, 30, 30)] == [True, True, True, False]


@given(st.lists(st.integers(0, 90)), st.lists(st.integers(0, 90)))
def test_a_restart_changes_nothing(before: list[int], after: list[int]) -> None:
    """What was told stays told."""
    straight, restarted = Numbering(), Numbering()
    for number in before:
        straight.take(number)
    restarted.restore(straight.to_state())
    assert [straight.take(number) for number in after] == [restarted.take(number) for number in after]
    assert straight.in_order == restarted.in_order
