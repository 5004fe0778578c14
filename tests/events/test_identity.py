"""When two calls are the same call."""

import os
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.events.identity import canonical, identify, identify_answer, settled, settled_answer

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
arguments = st.dictionaries(st.text(max_size=4), values, max_size=4)


def key(args: object, name: str = "tool") -> bytes | None:
    identity = identify(name, args)
    return identity and identity[0]


@given(arguments, st.randoms())
def test_the_order_of_keys_does_not_count(args: dict[str, Any], random: Any) -> None:
    """The same arguments in another order are the same call, flat or nested."""
    items = list(args.items())
    random.shuffle(items)
    assert key(dict(items)) == key(args)


@given(arguments, arguments)
def test_other_arguments_are_another_call(left: dict[str, Any], right: dict[str, Any]) -> None:
    """Two calls are the same only if their canonical arguments are."""
    assert (key(left) == key(right)) == (canonical(left) == canonical(right))


@given(arguments, st.text(max_size=80))
def test_what_is_stored_does_not_depend_on_how_it_was_known(args: dict[str, Any], answer: str) -> None:
    """A call or answer that stands for itself settles to the key that it would have had at once."""
    short, at_once = identify("tool", args, settle=False), identify("tool", args)
    assert short
    assert at_once
    assert settled(short[0]) == at_once[0]
    answer_key = identify_answer(answer, settle=False)
    assert answer_key is not None
    assert settled_answer(answer_key) == identify_answer(answer)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"n": 1}, {"n": True}),
        ({"n": 1}, {"n": 1.0}),
        ({"n": 1}, {"n": "1"}),
        ({"n": None}, {"n": "None"}),
        ({"n": None}, {}),
        ({"n": 0}, {"n": False}),
        ({"a": "b\0c"}, {"a\0b": "c"}),
        ({"a": {"n": 1}}, {"a": {"n": True}}),
        ({"a": b"x"}, {"a": b"y"}),
        ("text", {"text": None}),
        (None, {}),
    ],
)
def test_different_things_stay_apart(left: object, right: object) -> None:
    """What the wire tells apart is told apart."""
    assert key(left) != key(right)


@pytest.mark.parametrize(
    "args",
    [
        {"data": b"\x00\xff" * 9},
        {"of": {1, 2, 3}},
        {1: "number as key", "x": 2},
        {(1, 2): {"nested": {3: 4}}},
        {"lone": "\ud800"},
        ["a", ("b",)],
        {"big": 10**400},
        {"not a number": float("nan")},
    ],
)
def test_odd_arguments_are_known_again(args: object) -> None:
    """Bytes, sets, keys that are no texts and lone surrogates have an identity, and keep it."""
    assert key(args) is not None
    assert key(args) == key(args)


def test_objects_count_by_type_and_text_form() -> None:
    """An object without a text form of its own cannot be read, wherever it stands; any other can."""
    assert key({"of": Decimal("1.0")}) == key({"of": Decimal("1.0")}) != key({"of": Decimal("1.00")})
    for opaque in (object(), [object()], {"x": object()}):
        assert key({"of": opaque}) is None
        assert identify_answer(opaque) is None


@pytest.mark.parametrize(
    ("answer", "is_readable"),
    [
        ("<Response object at 0x7f3a2b1c>", False),
        ("[<Page at 0x7f3a2b1c>, <Page at 0x7f3a2b1d>]", False),
        ("result: <Page at 0x7f3a2b1c>", False),
        ("one of <Page at 0x7f3a2b1c> has the title News", True),
        ("a fault at 0x7f3a2b1c", True),
        (None, True),
    ],
)
def test_the_text_of_an_object_that_says_nothing_is_no_answer(answer: str | None, is_readable: bool) -> None:
    """A default form names an address and nothing else; an answer that is not known can be read as such."""
    assert (identify_answer(answer) is not None) is is_readable


def test_arguments_that_cannot_be_read_have_no_identity() -> None:
    """A list that contains itself, or is nested without end, gives None instead of an error."""
    endless: list[Any] = []
    endless.append(endless)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert identify("tool", endless) is None
    assert identify("tool", {"a": endless}) is None
    assert identify("tool", deep) is None
    assert identify_answer(endless) is None


def test_ten_megabytes_are_one_key() -> None:
    """Large arguments and answers take part like others, and nothing of their size is kept."""
    big = "x" * 10_000_000
    assert key({"content": big}) != key({"content": big + "y"})
    assert len(key({"content": big}) or b"") == len(identify_answer(big) or b"") == 8


def test_size_is_that_of_the_text() -> None:
    """The size of flat arguments is the bytes of their texts alone."""
    assert identify("tool", {"path": "abc", "pattern": "de", "line": 7})[1] == 5  # type: ignore[index]
    assert identify("tool", {"path": "abc"})[1] == 3  # type: ignore[index]


def test_keys_do_not_depend_on_the_process() -> None:
    """Another process, with another hash seed, gives the same keys."""
    program = (
        "from ebbtide.events.identity import identify, identify_answer;"
        "print(identify('t', {'b': 'x', 'a': 1}), identify('t', {'a': {'c': 1, 'b': {3, 4}}}));"
        "print(identify_answer('y'), identify_answer({'z': 1, 'y': [2]}))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(keys) == 1
