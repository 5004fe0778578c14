"""Tables, of which rich is the oracle, and the two forms of a result."""

import io

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ebbtide.cli.app import root
from ebbtide.cli.declaration import CommandGroup
from ebbtide.cli.result import Exit, Result
from ebbtide.cli.table import Table, more_rows
from ebbtide.cli.terminal import Line, cell_width

WIDTHS = (60, 80, 200)
WORDS = st.lists(st.text("abc\u65e5", min_size=1, max_size=9), max_size=30).map(" ".join)


@pytest.mark.parametrize("width", WIDTHS)
@given(rows=st.lists(st.tuples(st.integers(0, 99_999), WORDS, st.sampled_from(["ok", "not ok"])), max_size=4))
def test_a_table_is_as_rich_draws_it(width: int, rows: list[tuple[int, str, str]]) -> None:
    """Numbers stand on the right, and the one column that may be broken takes the room that is left."""
    table = Table("number", "what", "how", right=(0,), broken=(1,))
    like = RichTable(box=None, pad_edge=False)
    like.add_column("number", justify="right", no_wrap=True)
    like.add_column("what", overflow="fold")
    like.add_column("how", no_wrap=True)
    for number, what, how in rows:
        table.add(str(number), what, how)
        like.add_row(str(number), Text(what), how)
    file = io.StringIO()
    Console(file=file, width=width).print(like)
    drawn = [line.text.rstrip() for line in table.lines(width)]
    assert drawn == [line.rstrip() for line in file.getvalue().splitlines()]
    assert all(cell_width(line) <= width for line in drawn)


def test_the_widest_cells_are_broken_first() -> None:
    """A narrow column keeps its words whole, and no column gets narrower than its least width."""
    table = Table("a", "b", broken=(0, 1), least=5)
    table.add("short", "one two three four")
    assert [line.text.rstrip() for line in table.lines(16)] == [
        "a      b",
        "short  one two",
        "       three",
        "       four",
    ]
    assert max(cell_width(line.text.rstrip()) for line in table.lines(1)) == 12


def test_a_cell_may_have_several_lines() -> None:
    """The cells beside it stay empty."""
    table = Table("a", "b", "c", broken=())
    table.add("1", [Line("x"), Line("y")], "2")
    assert [line.text for line in table.lines(80, header=False)] == ["1  x  2", "   y  "]


def test_rows_that_are_left_out_are_counted() -> None:
    """Where all are shown there is no such line."""
    assert [line.text for line in more_rows(1_200)] == ["and 1,200 more: --all"]
    assert not list(more_rows(0))


def test_a_result_makes_the_form_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """The other one is not made; a code other than 0 ends the process."""
    result = Result(lambda: {"width": 1}, lambda width: [Line(f"{1 / width:.0f}")], Exit.LOOP)
    broken = Result(lambda: 1 / 0, lambda _: [Line("text")])
    broken.print(as_json=False)
    with pytest.raises(SystemExit) as end:
        result.print(as_json=True)
    assert end.value.code == Exit.LOOP
    assert capsys.readouterr().out == 'text\n{\n  "width": 1\n}\n'


def commands(group: CommandGroup, path: str = "") -> dict[str, click.Command]:
    context = click.Context(group)
    found: dict[str, click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, CommandGroup):
            found |= commands(command, f"{path}{name} ")
        else:
            found[f"{path}{name}"] = command
    return found


def test_json_is_the_last_option_of_every_command_that_has_it() -> None:
    """Only what prints a document of its own has none, and what passes on the output of an agent."""
    without = set()
    for name, command in commands(root).items():
        names = [option.name for option in command.params if isinstance(option, click.Option)]
        if "as_json" not in names:
            without.add(name)
        else:
            assert names[-1] == "as_json", name
    assert without == {"acp", "run", "schema"}
