"""Text that repeats itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.checking import check_events
from ebbtide.divergence.detectors.speech import Chant
from ebbtide.events.event import ModelCall, Stop
from ebbtide.profile.divergence import LoopRules

BLOCK = "I have added the logs and verified the file, so the task is done. "
texts = st.lists(
    st.sampled_from(
        [BLOCK, "on and on ", "- item\n", "| a | b |\n", "```\n", "# title\n", "\n", "new words here ", "x"]
    ),
    max_size=14,
).map("".join)


def copies(pieces: list[str]) -> list[int | None]:
    chant = Chant(LoopRules())
    return [chant.feed(piece) for piece in pieces]


def test_copies_at_the_end_are_counted() -> None:
    """From the fourth copy on, each further one counts."""
    assert copies([BLOCK] * 6) == [None, None, None, 4, 5, 6]


@given(texts, st.integers(1, 9))
def test_it_does_not_matter_where_a_text_is_cut(text: str, size: int) -> None:
    """Fed letter by letter or in larger pieces, a finished line is read in the same way."""
    one, other = Chant(LoopRules()), Chant(LoopRules())
    for letter in text + "\n":
        one.feed(letter)
    for start in range(0, len(text) + 1, size):
        other.feed((text + "\n")[start : start + size])
    assert one.to_state() == other.to_state()


@given(texts, texts)
def test_a_restart_changes_nothing(before: str, after: str) -> None:
    """A text that is cut by a restart reads on."""
    straight, restarted = Chant(LoopRules()), Chant(LoopRules())
    straight.feed(before)
    restarted.restore(straight.to_state())
    for letter in after:
        assert straight.feed(letter) == restarted.feed(letter)


@pytest.mark.parametrize(
    "text",
    [
        BLOCK * 9 + "but then I found out why. ",
        "\n".join(["- " + BLOCK] * 9),
        "\n".join(["> " + BLOCK] * 9),
        "\n".join([f"{number}. {BLOCK}" for number in range(9)]),
        "~~~\n" + (BLOCK + "\n") * 9,
    ],
)
def test_what_repeats_by_nature_is_left_out(text: str) -> None:
    """A text that went on, lists, quotes and code do not chant."""
    assert copies([text])[-1] is None


def test_a_long_line_takes_no_room() -> None:
    """A line without an end is kept only as far as it is needed."""
    chant = Chant(LoopRules())
    for number in range(5_000):
        chant.feed(f"word{number} ")
    assert len(chant._line) <= 1_100


@pytest.mark.parametrize("sign", ["x", " ", "7", "_", "\u4e00", "`"])
def test_a_stream_without_a_boundary_takes_no_room(sign: str) -> None:
    """What streams on without an end of a word is data: it is not kept, and words after it count again."""
    chant = Chant(LoopRules())
    for _ in range(2_000):
        chant.feed(sign * 24)
        assert len(chant.to_state()[1]) <= 1_100
    if sign != "`":
        assert chant.feed("\n" + "on and on we go " * 60, end=True) is not None


@pytest.mark.parametrize("block", ["the item is here, ", "- the item is here\n", "| one | two |\n"])
def test_a_text_that_is_cut_while_it_repeats_is_a_loop(block: str) -> None:
    """Rows of markup too, where the limit of the output cut them; a list that is whole is none."""
    cut = check_events([ModelCall(text=f"Here it is.\n{block * 1_420}", stop=Stop.LENGTH)])
    assert [finding.kind for finding in cut.findings] == ["chanting"]
    whole = check_events([ModelCall(text=f"Here it is.\n{block * 30}", stop=Stop.END)])
    assert bool(whole.findings) is (block[0] == "t")
