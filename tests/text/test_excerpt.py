"""Texts that are too long are cut at one place."""

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.events.transcript import Round
from ebbtide.text.excerpt import LONGEST_TEXT, excerpt
from ebbtide.text.extraction.turn import extract


@given(st.text(alphabet="ab \n", max_size=300), st.integers(min_value=10, max_value=200))
def test_both_ends_are_kept_and_the_rest_is_counted(text: str, most: int) -> None:
    """The two ends come from the text, what lies between is counted, and a short text stays whole."""
    part = excerpt(text, most)
    assert text.startswith(part.head)
    assert text.endswith(part.tail)
    assert len(part.head) + part.left_out + len(part.tail) == len(text)
    assert len(part.head) + len(part.tail) <= most
    assert (part.left_out == 0) == (len(text) <= most)


def test_the_last_line_of_a_very_long_text_is_read_and_the_cut_is_reported() -> None:
    """Places are those in the whole text, and round, reading and wire form say how much was left out."""
    middle = "x" * (LONGEST_TEXT + 5_000)
    text = f"We will use Redis.\n\n{middle}\n\nThe migration is done."
    extraction = extract(text)
    assert (extraction.claims[0], extraction.claims[-1]) == ("We will use Redis.", "The migration is done.")
    last = extraction.items[-1]
    assert text[last.start : last.end] == "The migration is done."
    item = Round.from_text(text, number=1)
    assert item.left_out == extraction.left_out > 5_000
    assert Round.from_dict(item.to_dict()) == item
    meter = ConvergenceMeter()
    meter.update(item)
    assert meter.score().rounds[0].novelty()["characters_left_out"] == item.left_out
