"""Numbers in a text, compared by value: "three" is 3, "1,000" is "1k", "60 s" is "1 min"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ebbtide.text.contrast.words import FUNCTION_WORDS

_VALUE = r"-?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
_NUMERAL = re.compile(rf"[#~<>=$\u20ac\u00a3\u2248+]*({_VALUE})-?([a-z%\u00b5]*)")
# Clock times, dates and versions: several numbers that mean something only together.
_COMPOUND = re.compile(r"v?(\d+(?:[.:/-]\d+){2,}|\d+:\d\d)")
_LABELLED = re.compile(r"([a-z]+)[-/]?(\d+(?:\.\d+)*)")

_SCALES = {"hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "dozen": 12}
_UNIT_TABLE = (
    ("time", "ns nanosecond", 1e-9),
    ("time", "us \u00b5s microsecond", 1e-6),
    ("time", "ms msec millisecond", 1e-3),
    ("time", "s sec second", 1),
    ("time", "min minute", 60),
    ("time", "h hr hour", 3_600),
    ("time", "d day", 86_400),
    ("time", "week", 604_800),
    ("calendar", "month", 1),
    ("calendar", "quarter", 3),
    ("calendar", "yr year", 12),
    ("data", "byte", 1),
    ("data", "kb kilobyte", 1e3),
    ("data", "mb megabyte", 1e6),
    ("data", "gb gigabyte", 1e9),
    ("data", "tb terabyte", 1e12),
    ("share", "% percent pct", 0.01),
)
_UNITS = {
    form: (dimension, factor)
    for dimension, names, factor in _UNIT_TABLE
    for name in names.split()
    for form in (name, f"{name}s")
}
_MEASURES = frozenset(dimension for dimension, _, _ in _UNIT_TABLE)
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_CARDINALS = {word: float(value) for value, word in enumerate(_ONES.split())}
_CARDINALS |= {word: 10.0 * tens for tens, word in enumerate(_TENS.split(), start=2)}
_CARDINALS["twice"] = 2.0
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINALS = {word: float(place) for place, word in enumerate(_PLACES.split(), start=1)}
_SPELLED = frozenset(_ORDINALS) | frozenset(_SCALES) | frozenset(_CARDINALS)
_ORDINAL_ENDINGS = ("st", "nd", "rd", "th")
_DETERMINERS = ("the", "this", "that", "our", "your", "their", "its", "his", "her", "my")
_NOT_BEFORE_ONE = ("this", "that", "the", "which", "another", "each", "any", "no", "some", "only")


class Quantity(NamedTuple):
    """A number as it stands in a text.

    Args:
        text: Its words.
        value: The number alone; the whole of a date, clock time or version.
        dimension: "time", "data", "ordinal", ... or the letters of a label such as "utf"; None if bare.
        amount: The value in the base unit of its dimension.
    """

    text: str
    value: float | str
    dimension: str | None
    amount: float | str


def quantity_at(words: Sequence[str], at: int) -> tuple[Quantity | None, int]:
    """Returns the number that begins with ``words[at]``, if one does, and how many words it takes.

    "First" takes none: it is a number and stays a word, the opposite of "last".

    Args:
        words: Lower-case words without punctuation at their edges.
        at: Index of the first word.
    """
    word = words[at]
    if word.isalpha():
        return _spelled(words, at)
    if (compound := _COMPOUND.fullmatch(word)) is not None:
        return Quantity(word, compound[1], None, compound[1]), 1
    if (numeral := _NUMERAL.fullmatch(word)) is not None:
        return _measured(words, at, 1, float(numeral[1].replace(",", "")), numeral[2])
    if (labelled := _LABELLED.fullmatch(word)) is not None:
        label = None if labelled[1] == "v" else labelled[1]
        value = float(labelled[2]) if labelled[2].count(".") < 2 else labelled[2]
        return Quantity(word, value, label, value), 1
    return None, 0


def lacking(here: Sequence[Quantity], there: Sequence[Quantity]) -> list[Quantity]:
    """Returns the numbers of `here` that `there` does not have in any way of writing."""
    amounts = {(item.dimension, item.amount) for item in there}
    bare = {item.value for item in there if item.dimension is None}
    measured = [item for item in there if item.dimension in _MEASURES]
    readings = {item.value for item in measured} | {item.amount for item in measured}
    return [
        item
        for item in here
        if (item.dimension, item.amount) not in amounts
        and not (item.dimension is None and item.value in readings)
        and not (item.dimension in _MEASURES and (item.value in bare or item.amount in bare))
    ]


def comparable(left: Quantity, right: Quantity) -> bool:
    """Returns True if two numbers can mean the same thing: 5 s and 1 min, 3 and 5 s, but not 5 s and 5 GB."""
    kinds = {left.dimension, right.dimension}
    return len(kinds) == 1 or (None in kinds and kinds - {None} <= _MEASURES)


def _spelled(words: Sequence[str], at: int) -> tuple[Quantity | None, int]:
    word = words[at]
    if word not in _SPELLED:
        return None, 0
    before = words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in _ORDINALS and before in _DETERMINERS:
        return Quantity(word, _ORDINALS[word], "ordinal", _ORDINALS[word]), 0
    if word in _SCALES and before == "a":
        return _measured(words, at, 1, _SCALES[word], "")
    value = _CARDINALS.get(word)
    is_pronoun = word == "one" and (before in _NOT_BEFORE_ONE or not after or after in FUNCTION_WORDS)
    if value is None or is_pronoun:
        return None, 0
    if value >= 20 and after in _CARDINALS:
        return _measured(words, at, 2, value + _CARDINALS[after], "")
    return _measured(words, at, 1, value, "")


def _measured(words: Sequence[str], at: int, length: int, value: float, unit: str) -> tuple[Quantity, int]:
    if unit in _ORDINAL_ENDINGS:
        return Quantity(words[at], value, "ordinal", value), length
    if unit in _SCALES:
        value, unit = value * _SCALES[unit], ""
    while not unit and at + length < len(words):
        following = words[at + length]
        if following in _SCALES:
            value *= _SCALES[following]
        elif following in _UNITS:
            unit = following
        else:
            break
        length += 1
    dimension, factor = _UNITS.get(unit, (None, 1.0))
    # Nine digits: 7 % is 0.07, whatever the multiplication makes of it.
    amount = float(f"{value * factor:.9g}")
    return Quantity(" ".join(words[at : at + length]), value, dimension, amount), length
