"""What one call took."""

import math
from typing import Any

import pytest

from ebbtide.errors import ConfigError
from ebbtide.events.usage import Usage


@pytest.mark.parametrize(
    ("counts", "tokens"),
    [
        ({}, None),
        ({"cost_usd": 1.0}, None),
        ({"input_tokens": 0}, 0),
        ({"output_tokens": 5}, 5),
        ({"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 4, "cache_write_tokens": 8}, 15),
    ],
)
def test_tokens_of_all_classes(counts: dict[str, Any], tokens: int | None) -> None:
    """The classes add up; where none is known the sum is not known, rather than nothing."""
    assert Usage(**counts).tokens == tokens


@pytest.mark.parametrize(
    "name", ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd"]
)
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, -math.inf, 10**13, True, "1"])
def test_amounts_that_are_none(name: str, value: Any) -> None:
    """A negative, endless or wrong amount is refused by name and value."""
    with pytest.raises(ConfigError, match=f"{name} = {value!r}"):
        Usage(**{name: value}).checked()
    assert Usage(**{name: 1}).checked() == Usage(**{name: 1})
