"""A check lets values through that are within bounds, and says of all others what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from ebbtide.checks import flag, number, share, text, whole
from ebbtide.errors import ConfigError

CHECKS: dict[str, tuple[Callable[[object], None], tuple[object, ...], tuple[object, ...], str]] = {
    "whole": (
        lambda it: whole("n", it, 1),
        (1, 10**400),
        (0, True, 1.0, "1", None),
        "whole number, 1 or more",
    ),
    "between": (lambda it: whole("n", it, 0, 9), (0, 9), (-1, 10), "a whole number from 0 to 9"),
    "number": (
        lambda it: number("n", it, above=0, expected="seconds, more than 0"),
        (1, 0.1, 10**400),
        (0, -1, math.nan, math.inf, True, "1", None),
        "seconds, more than 0",
    ),
    "share": (lambda it: share("n", it), (0, 1, 0.5), (-0.1, 1.1, math.nan, False), "a number from 0 to 1"),
    "flag": (lambda it: flag("n", it), (True, False), (0, "true", None), "true or false"),
    "text": (lambda it: text("n", it), ("", "a"), (b"a", 1, None), "a text"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_names_the_value_and_what_was_expected(name: str) -> None:
    check, good, bad, expected = CHECKS[name]
    for value in good:
        check(value)
    for value in bad:
        with pytest.raises(ConfigError, match=f"n = .*: expected .*{expected}"):
            check(value)
