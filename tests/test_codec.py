"""Dataclasses as plain data and back."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.codec import Codec, WireError, WireForm, from_wire, to_wire


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: float
    y: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    name: str = "nobody"
    team: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    title: str
    owner: Owner
    colour: Colour = Colour.RED
    points: tuple[Point, ...] = ()
    centre: Point | None = None
    tags: dict[str, Colour | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    extra: Any = None
    sides: int = 3
    closed: bool = True
    parent: "Shape | None" = None


PLAIN = Codec()
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)
POINTS = st.builds(Point, x=NUMBERS, y=NUMBERS)
OWNERS = st.builds(Owner, name=st.text(), team=st.none() | st.text())


def shapes(parents: st.SearchStrategy[Shape | None]) -> st.SearchStrategy[Shape]:
    return st.builds(
        Shape,
        title=st.text(),
        owner=OWNERS,
        colour=st.sampled_from(Colour),
        points=st.lists(POINTS).map(tuple),
        centre=st.none() | POINTS,
        tags=st.dictionaries(st.text(), st.none() | st.sampled_from(Colour)),
        notes=st.lists(st.text()),
        extra=st.none() | st.integers(),
        sides=st.integers(),
        closed=st.booleans(),
        parent=parents,
    )


@given(shapes(st.none() | shapes(st.none())))
def test_what_is_written_is_read(shape):
    """A dataclass survives JSON, with every kind of field."""
    table = PLAIN.to_wire(shape)
    assert PLAIN.from_wire(Shape, json.loads(json.dumps(table))) == shape
    assert list(table) == list(Shape.__dataclass_fields__)
    assert type(table["colour"]) is str


def test_a_form_changes_the_keys():
    """Names, order, what is left out, and what stands beside: as the form says."""
    codec = Codec(
        {Shape: WireForm(names={"sides": "n_sides"}, always=("sides", "title", "owner"), inline=("owner",))}
    )
    shape = Shape(title="t", owner=Owner(name="ann"), points=(Point(x=1, y=2.5),))
    table = codec.to_wire(shape)
    assert json.dumps(table) == (
        '{"n_sides": 3, "title": "t", "name": "ann", "team": null, "points": [{"x": 1, "y": 2.5}]}'
    )
    assert codec.from_wire(Shape, table) == shape
    assert codec.from_wire(Shape, {"title": "t", "unknown": 1}) == Shape(title="t", owner=Owner())


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    at: Point

    def to_dict(self) -> dict[str, Any]:
        return {"schema": 1, **to_wire(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    pins: tuple[Pin, ...] = ()
    last: Pin | None = None


def test_a_class_may_write_itself():
    """A field whose class has a `to_dict` is written by it, wherever it stands; None stays None."""
    pin = Pin(at=Point(x=1, y=2))
    wire = {"schema": 1, "at": {"x": 1, "y": 2}}
    assert pin.to_dict() == wire
    assert to_wire(Board(pins=(pin,), last=pin)) == {"pins": [wire], "last": wire}
    assert to_wire(Board()) == {"pins": [], "last": None}
    assert from_wire(Board, {"pins": [wire]}) == Board(pins=(pin,))


def test_a_form_may_read_all_by_itself():
    """A class with a function of its own is read by it, wherever it stands."""
    codec = Codec({Point: WireForm(read=lambda table: table["at"])})
    assert codec.from_wire(Shape, {"title": "t", "owner": {}, "points": [{"at": "1,2"}]}).points == ("1,2",)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"owner": {}}, "the key 'title' is missing"),
        ({"title": 3, "owner": {}}, "title: expected a text, found 3"),
        ({"title": "t", "owner": []}, r"owner: expected an object, found \[\]"),
        ({"title": "t", "owner": None}, "owner: expected an object, found None"),
        ({"title": "t", "owner": {}, "sides": True}, "sides: expected a whole number, found True"),
        ({"title": "t", "owner": {}, "sides": 1.0}, "sides: expected a whole number, found 1.0"),
        ({"title": "t", "owner": {}, "closed": 1}, "closed: expected true or false, found 1"),
        ({"title": "t", "owner": {}, "colour": "green"}, "colour: 'green' is none of red, blue"),
        ({"title": "t", "owner": {}, "points": {"x": 1}}, "points: expected a list, found"),
        ({"title": "t", "owner": {}, "points": [{"x": 1}, {"y": 1}]}, r"points\[1\]: the key 'x' is missing"),
        (
            {"title": "t", "owner": {}, "points": [{"x": "1"}]},
            r"points\[0\]\.x: expected a number, found '1'",
        ),
        ({"title": "t", "owner": {}, "tags": []}, r"tags: expected an object, found \[\]"),
        ({"title": "t", "owner": {}, "tags": {"a": 3}}, "tags.a: 3 is none of red, blue"),
        ({"title": "t", "owner": {}, "notes": [1]}, r"notes\[0\]: expected a text, found 1"),
    ],
)
def test_an_error_names_the_place(table, message):
    """What cannot be read is named with its place."""
    with pytest.raises(WireError, match=f"^{message}"):
        PLAIN.from_wire(Shape, table)


@pytest.mark.parametrize("hint", [set[str], int | str, tuple[int, str], object])
def test_types_without_a_wire_form(hint):
    """A type that JSON has no place for is refused when the class is first seen."""
    kind = dataclass(type("Odd", (), {"__annotations__": {"value": hint}}))
    with pytest.raises(TypeError, match="has no wire form"):
        PLAIN.to_wire(kind(1))
    with pytest.raises(TypeError, match="has no wire form"):
        PLAIN.from_wire(kind, {"value": 1})


def test_only_dataclasses():
    """Anything else than a dataclass is misuse."""
    with pytest.raises(TypeError):
        PLAIN.to_wire({"a": 1})
    with pytest.raises(TypeError):
        PLAIN.from_wire(dict, {"a": 1})
