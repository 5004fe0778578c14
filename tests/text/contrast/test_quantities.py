"""Numbers in texts: what they amount to, which of them are the same, and which can be compared."""

import pytest

from ebbtide.text.contrast.quantities import Quantity, comparable, lacking, quantity_at


def quantities(text: str) -> list[Quantity]:
    words, at, result = text.split(), 0, []
    while at < len(words):
        quantity, taken = quantity_at(words, at)
        if quantity is not None:
            result.append(quantity)
        at += taken or 1
    return result


@pytest.mark.parametrize(
    ("here", "there", "missing"),
    [
        ("5 min", "300 s", []),
        ("5 min", "5", []),
        ("5 min", "300", []),
        ("5", "5 min", []),
        ("300", "5 min", []),
        ("5 min", "60", ["5 min"]),
        ("5 min", "5 gb", ["5 min"]),
        ("5", "6 min", ["5"]),
        ("2 and 3 retries", "3 retries", ["2"]),
        ("utf-8", "8", ["utf-8"]),
        ("8", "utf-8", ["8"]),
        ("1,000 rows", "a thousand rows", []),
    ],
)
def test_numbers_that_the_other_side_does_not_have(here: str, there: str, missing: list[str]) -> None:
    """In no unit, and with or without a unit: a label is none, and belongs to its number."""
    assert [item.text for item in lacking(quantities(here), quantities(there))] == missing


@pytest.mark.parametrize(
    ("left", "right", "can_be"),
    [
        ("5 s", "1 min", True),
        ("5 s", "3", True),
        ("3", "5 gb", True),
        ("3", "4", True),
        ("5 s", "5 gb", False),
        ("utf-8", "8", False),
        ("utf-8", "utf-16", True),
        ("utf-8", "5 s", False),
    ],
)
def test_numbers_that_can_stand_for_the_same_thing(left: str, right: str, can_be: bool) -> None:
    """Those of one dimension, or a bare one beside a measure, whichever comes first."""
    (one,), (other,) = quantities(left), quantities(right)
    assert comparable(one, other) is comparable(other, one) is can_be


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("twenty one", [21]),
        ("nineteen two", [19, 2]),
        ("twenty", [20]),
        ("ninety nine", [99]),
        ("two three", [2, 3]),
        ("a hundred", [100]),
        ("two hundred", [200]),
    ],
)
def test_spelled_numbers(text: str, amounts: list[float]) -> None:
    """From twenty on, what follows belongs to the number."""
    assert [item.amount for item in quantities(text)] == amounts
