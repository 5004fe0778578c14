"""The mutations that the tests are measured with: what is changed, what is left alone, what is drawn."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.mutations.points import mutations
from benchmarks.mutations.reach import Reach, instrument
from benchmarks.mutations.rooms import Point, draw, points


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", {"x = (a <= b)", "x = (a >= b)"}),
        ("x = a is b", {"x = (a is not b)"}),
        ("x = a + b", {"x = (a - b)"}),
        ("x += y", {"x -= y"}),
        ("x = a and b", {"x = (a or b)"}),
        ("x = not a", {"x = (a)"}),
        ("x = 3", {"x = (4)", "x = (2)"}),
        ("x = 0.5", {"x = (0.55)"}),
        ("x = True", {"x = False"}),
        ("def f():\n    return x", {"def f():\n    return None"}),
        ("def f():\n    x.y = z", {"def f():\n    pass"}),
        ("def f():\n    x = x or z", {"def f():\n    pass", "def f():\n    x = (x and z)"}),
        ("é = a < b  # ü", {"é = (a <= b)  # ü", "é = (a >= b)  # ü"}),
    ],
)
def test_each_kind_of_change(source: str, changed: set[str]) -> None:
    """One place is another one afterwards, and all else stays as it is written."""
    assert {mutation.apply(source) for mutation in mutations(source)} == changed


@pytest.mark.parametrize(
    "source",
    [
        '"""Docstring."""',
        '__all__ = ["a" + "b"]',
        "x: Literal[1] | None",
        "Json = dict[str, int] | None",
        "@cache(3)\ndef f(x: Literal[1]) -> Literal[2]: ...",
        "if TYPE_CHECKING:\n    x = 1",
        "WEIGHTS = {'a': 1, 'b': 2}",
        "def f():\n    x = y()",
        "def f():\n    '''Docstring.'''",
        "x = cast(int | None, y)",
        "x = f'{1 + 1}'",
    ],
)
def test_what_no_test_or_every_test_would_notice_is_left_alone(source: str) -> None:
    """Words for readers and type checkers, tables, and the only assignment of a local variable."""
    assert mutations(source) == []


def test_tables_of_words_are_left_alone() -> None:
    """Files of rules have no points."""
    assert mutations("x = 1", "talk_rules.py") == mutations("x = 1", "words.py") == []


def test_a_sample_is_spread_over_the_rooms_and_grows_with_its_count() -> None:
    """Each room has its share within one point, the same seed draws the same, and more of it for more."""
    population = points("budget", "events")
    total = sum(map(len, population.values()))
    small, large = draw(population, 20, 1), draw(population, 60, 1)
    assert len(small) == 20
    assert set(small) < set(large)
    assert draw(population, 20, 1) == small != draw(population, 20, 2)
    for room, room_points in population.items():
        assert abs(sum(point.room == room for point in small) - 20 * len(room_points) / total) < 1


def test_the_tests_of_a_point_are_those_that_reach_it_the_nearest_first(tmp_path: Path) -> None:
    """A function writes down the test that calls it; one that fails without any change says nothing."""
    folder, rows = tmp_path / "copy", tmp_path / "rows"
    module = Path("src/ebbtide/calm.py")
    source = 'def half(number):\n    """Halves it."""\n    return number / 2\n'
    folder.joinpath(module).parent.mkdir(parents=True)
    folder.joinpath(module).write_text(source)
    point = Point(module=module, source=source, mutation=mutations(source)[0])
    plugin = instrument(folder, [point], rows)
    test = (
        "import sys; sys.path[:0] = ['src/ebbtide', '.']\nfrom calm import half\n"
        "def test_a(): assert half(2) == 1\ndef test_b(): assert half(2) == 3\ndef test_c(): pass\n"
    )
    for name in ("test_calm.py", "test_other.py"):
        folder.joinpath(name).write_text(test)
    options = ["-q", "-p", plugin, "-p", "no:cacheprovider", "--import-mode=importlib"]
    environment = {**os.environ, "PYTHONPATH": "src"}
    subprocess.run([sys.executable, "-m", "pytest", *options], cwd=folder, env=environment, check=False)
    tests, taken = Reach.read(rows).tests_of(0, point, 60)
    assert tests == ["test_calm.py::test_a", "test_other.py::test_a"]
    assert taken < 10
