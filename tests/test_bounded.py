"""A bounded dict holds the last of what was put into it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.bounded import Bounded

_SETTERS: dict[str, Callable[[Bounded[int, int], int, int], object]] = {
    "set": lambda table, key, value: table.__setitem__(key, value),
    "put": lambda table, key, value: table.put(key, value),
    "renew": lambda table, key, value: table.renew(key, value),
    "setdefault": lambda table, key, value: table.setdefault(key, value),
    "update": lambda table, key, value: table.update({key: value}),
}


@pytest.mark.parametrize("way", _SETTERS)
@given(most=st.integers(0, 5), keys=st.lists(st.integers(0, 7), max_size=40))
def test_any_way_of_setting_keeps_the_bound_and_drops_the_first(way: str, most: int, keys: list[int]) -> None:
    table: Bounded[int, int] = Bounded(most)
    model: dict[int, int] = {}
    for number, key in enumerate(keys):
        if way == "renew":
            model.pop(key, None)
        if way != "setdefault":
            model[key] = number
        model.setdefault(key, number)
        if len(model) > most:
            del model[next(iter(model))]
        _SETTERS[way](table, key, number)
        assert list(table.items()) == list(model.items())


def test_put_gives_what_made_room() -> None:
    table: Bounded[str, int] = Bounded(1)
    assert table.put("a", 1) is None
    assert table.put("a", 2) is None
    assert table.put("b", 3) == ("a", 2)
