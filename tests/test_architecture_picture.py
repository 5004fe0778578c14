"""The picture of the rooms shows what is there, on the floors that imports keep to."""

import importlib.util
import itertools
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    path = PROJECT / "docs" / "architecture_picture.py"
    spec = importlib.util.spec_from_file_location("architecture_picture", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_that_of_the_script(picture: ModuleType) -> None:
    """`python docs/architecture_picture.py` draws it anew."""
    assert picture.FILE.read_text(encoding="utf-8") == picture.drawing()


def test_the_picture_has_every_room(picture: ModuleType) -> None:
    """A folder or module of the package is in it, and nothing else."""
    source = PROJECT / "src" / "ebbtide"
    there = {path.name for path in source.iterdir() if (path / "__init__.py").exists()}
    there |= {path.stem for path in source.glob("*.py")}
    assert picture.rooms() == there - {"__init__", "__main__"}


def test_the_floors_are_those_of_the_contract(picture: ModuleType) -> None:
    """A room stands on no higher floor than one that may import it."""
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rank = {name.strip("() "): place for place, layer in enumerate(layers) for name in layer.split("|")}
    floors = [
        [rank[name] for room in floor for name in room.names.split(", ")] for floor in picture.FLOORS.values()
    ]
    assert all(max(above) < min(below) for above, below in itertools.pairwise(floors))


def test_no_box_reaches_into_another(picture: ModuleType) -> None:
    for floor in picture.FLOORS.values():
        edges = [edge for room in floor for edge in (room.left, room.right)]
        assert edges == sorted(edges)
