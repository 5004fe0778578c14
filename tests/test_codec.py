"""Dataclasses as plain data and back."""

import json
import re
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.codec import (
    As,
    Codec,
    Record,
    Rounded,
    State,
    WireError,
    WireForm,
    from_whole_wire,
    from_wire,
    to_wire,
)


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
        ({"title": "t", "owner": {}, "colour": "green"}, "colour: 'green' is not one of red, blue"),
        ({"title": "t", "owner": {}, "points": {"x": 1}}, "points: expected a list, found"),
        ({"title": "t", "owner": {}, "points": [{"x": 1}, {"y": 1}]}, r"points\[1\]: the key 'x' is missing"),
        (
            {"title": "t", "owner": {}, "points": [{"x": "1"}]},
            r"points\[0\]\.x: expected a number, found '1'",
        ),
        ({"title": "t", "owner": {}, "tags": []}, r"tags: expected an object, found \[\]"),
        ({"title": "t", "owner": {}, "tags": {"a": 3}}, "tags.a: 3 is not one of red, blue"),
        ({"title": "t", "owner": {}, "notes": [1]}, r"notes\[0\]: expected a text, found 1"),
    ],
)
def test_an_error_names_the_place(table, message):
    """What cannot be read is named with its place."""
    with pytest.raises(WireError, match=f"^{message}"):
        PLAIN.from_wire(Shape, table)


@pytest.mark.parametrize("hint", [complex, int | Point, list, object])
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lap(Record):
    _WIRE: ClassVar = "x=start.x length is_long colour"
    _SCHEMA: ClassVar = 2

    start: Point
    length: Rounded
    colour: Colour = Colour.RED

    @property
    def is_long(self) -> bool:
        return self.length > 5


def test_a_record_writes_itself():
    """Keys stand in their order: of fields, of properties, and of parts; a rounded number is rounded."""
    lap = Lap(start=Point(x=1), length=2 / 3)
    assert json.dumps(lap.to_dict()) == (
        '{"schema": 2, "x": 1, "length": 0.666667, "is_long": false, "colour": "red"}'
    )
    assert from_wire(Lap, to_wire(lap)) == Lap(start=Point(x=1), length=0.666667)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish(Record):
    _WIRE: ClassVar = "event * from=lap.start.x"

    event: ClassVar = "FINISH"
    lap: Lap | None
    place: int = 1


def test_a_record_names_all_fields_with_a_star():
    """Beside them stand constants of its class and attributes of parts, which are None where the part is."""
    lap = Lap(start=Point(x=1), length=6)
    assert Finish(lap=lap).to_dict() == {"event": "FINISH", "lap": lap.to_dict(), "place": 1, "from": 1}
    assert Finish(lap=None).to_dict() == {"event": "FINISH", "lap": None, "place": 1, "from": None}


def test_nothing_may_be_missing_of_a_whole_record():
    """A default takes the place of no key that was lost."""
    assert from_whole_wire(Owner, {"name": "ann", "team": None}) == Owner(name="ann")
    with pytest.raises(WireError, match="the key 'team' is missing"):
        from_whole_wire(Owner, {"name": "ann"})


class Place(NamedTuple):
    row: int
    colour: Colour | None = None


class Counter(State):
    __slots__ = ("count", "step")

    count: int

    def __init__(self, step: int = 1) -> None:
        self.count = 0
        self.step = step


class Watch(State):
    """A state of every kind of attribute; what only `__init__` knows is no part of it."""

    _keys: dict[bytes, None]
    _by_place: dict[int, tuple[str, float]]
    _by_name: dict[str, Owner]
    _latest: deque[Place]
    seen: set[str]
    name: str | int | None
    backwards: Annotated[str, As(lambda text: text[::-1], lambda text: text[::-1])]
    counter: Counter
    spare: Counter | None

    def __init__(self, most: int = 2) -> None:
        self._keys, self._by_place, self._by_name, self.seen = {}, {}, {}, set()
        self._latest = deque(maxlen=most)
        self.name, self.backwards = None, ""
        self.counter = Counter(step=most)
        self.spare = None


@given(
    keys=st.lists(st.binary(max_size=9), unique=True),
    tables=st.tuples(
        st.dictionaries(st.integers(), st.tuples(st.text(), NUMBERS)), st.dictionaries(st.text(), OWNERS)
    ),
    latest=st.lists(st.builds(Place, st.integers(), st.none() | st.sampled_from(Colour))),
    seen=st.sets(st.text()),
    name=st.none() | st.text() | st.integers(),
)
def test_a_state_is_what_the_class_declares(keys, tables, latest, seen, name):
    """An object that takes up a state, in whatever order of keys, has all of it, and keeps its bounds."""
    (places, names), watch = tables, Watch()
    watch._keys, watch._by_place, watch._by_name, watch.seen = dict.fromkeys(keys), places, names, seen
    watch._latest.extend(latest)
    watch.name, watch.backwards, watch.counter.count = name, "abc", 7
    state = json.loads(json.dumps(watch.to_state(), sort_keys=True))
    again = Watch()
    again.restore(state)
    assert again.to_state() == watch.to_state()
    assert list(again._keys) == keys
    assert list(again._by_name.items()) == list(names.items())
    assert (again._by_place, again._latest, again.seen) == (places, watch._latest, seen)
    assert (again._latest.maxlen, again.counter.count, again.counter.step) == (2, 7, 2)
    assert (again.name, again.backwards, state["backwards"], again.spare) == (name, "abc", "cba", None)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"count": "two"}, "counter.count: expected a whole number, found 'two'"),
        ({}, "counter: the key 'count' is missing"),
        (3, "counter: expected an object, found 3"),
    ],
    ids=str,
)
def test_a_state_that_does_not_fit_is_refused(change, problem):
    """What is wrong is named with its place."""
    with pytest.raises(WireError, match=re.escape(problem)):
        Watch().restore({**Watch().to_state(), "counter": change})
