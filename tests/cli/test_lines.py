"""Lines of styled text: rich, which breaks the same texts, is the oracle."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ebbtide.cli.terminal import Line, cell_width, columns

PARTS = st.lists(
    st.tuples(st.text("ab,- \u65e5\u00e9", max_size=12), st.sampled_from(["", "bold", "dim red"])), max_size=6
)


def line_of(parts: list[tuple[str, str]]) -> Line:
    line = Line()
    for text, style in parts:
        line.append(text, style)
    return line


@given(parts=PARTS, width=st.integers(2, 20))
def test_lines_break_as_rich_breaks_them(parts: list[tuple[str, str]], width: int) -> None:
    """None is too wide, each part keeps its style, and where no word is cut the lines are the same."""
    line = line_of(parts)
    lines = list(line.wrap(width))
    assert all(cell_width(item.text) <= width for item in lines)
    if not line.text.startswith(" ") and all(cell_width(word) <= width for word in line.text.split()):
        rich_lines = line.to_rich().wrap(Console(file=io.StringIO()), width, overflow="fold")
        assert [item.text for item in lines] == [item.plain.rstrip() for item in rich_lines]
    styled = [(character, style) for item in lines for text, style in item.parts for character in text]
    whole = [(character, style) for text, style in line.parts for character in text]
    assert [item for item in styled if item[0] != " "] == [item for item in whole if item[0] != " "]


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("\u65e5\u672c", 4), ("e\u0301", 1), ("", 0), ("\u200b", 0)]
)
def test_widths_are_those_of_a_terminal(text: str, width: int) -> None:
    """Wide characters take two columns, marks that combine take none."""
    assert cell_width(text) == width


def test_cells_stand_side_by_side() -> None:
    """The last cell is broken and stays in its column; numbers are set to the right."""
    rows = [(Line("a"), Line("7"), Line("one two")), (Line("bb"), Line("12"), Line("three"))]
    printed = [line.text for line in columns(rows, (2, 3, 5), right=(1,))]
    assert printed == ["a     7  one", "         two", "bb   12  three"]
