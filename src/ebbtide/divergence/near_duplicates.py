"""Calls that barely differ: arguments as words, and names that differ in a version alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from zlib import crc32

_WORD = re.compile(r"\w+")
_VERSION = re.compile(r"[_.-]?v\d+$", re.IGNORECASE)
_READ = 4000  # characters of the arguments that are compared
_MOST = 128  # words of them


@lru_cache(maxsize=128)
def stem_of(name: str) -> str:
    """A tool's name without its version: tools that differ in that alone do the same.

    >>> stem_of("call_api_v2"), stem_of("step_2")
    ('call_api', 'step_2')
    """
    return _VERSION.sub("", name) or name


_LONG_NUMBER = 10_000  # bits


def argument_text(args: object) -> str:
    """The values of the arguments, without the names of their fields.

    >>> argument_text({"query": "a b", "page": {"from": 3}})
    'a b 3'
    """
    if isinstance(args, str):
        return args
    if type(args) is dict or isinstance(args, Mapping):  # asking for an abstract class takes far longer
        values = args.values()
        try:
            return " ".join(values)  # most are texts alone
        except TypeError:
            return " ".join(map(argument_text, values))
    if isinstance(args, list | tuple):
        return " ".join(map(argument_text, args))
    if args is None:
        return ""
    if type(args) is int:
        # Python refuses to write thousands of digits in tens, and never in sixteens.
        return str(args) if args.bit_length() < _LONG_NUMBER else f"{args:x}"
    return json.dumps(args) if isinstance(args, bool | int | float) else str(args)


def argument_display(args: object) -> str:
    """The values of the arguments for people; a secret has its field before it, so that it is known for one.

    >>> argument_display({"user": "ann", "login": {"password": "swordfish"}})
    'ann password="swordfish"'
    """
    if isinstance(args, Mapping):
        return " ".join(_field(name, value) for name, value in args.items())
    return " ".join(map(argument_display, args)) if isinstance(args, list | tuple) else argument_text(args)


def _field(name: object, value: object) -> str:
    from ebbtide.text.redaction import is_secret_field  # what a run without a finding does not need

    text = argument_display(value)
    is_secret = isinstance(value, str) and isinstance(name, str) and is_secret_field(name)
    return f'{name}="{text}"' if is_secret else text


def words_of(args: object) -> frozenset[int]:
    """The words of the arguments as numbers, the same in every process; odd ones hold a digit."""
    words = _WORD.findall(argument_text(args)[:_READ].lower())[:_MOST]
    return frozenset(
        crc32(word.encode("utf-8", "surrogatepass")) << 1 | any(sign.isdigit() for sign in word)
        for word in words
    )


def share(left: frozenset[int], right: frozenset[int]) -> float:
    """Words in both over words in either, 0 to 1; two empty sets are equal."""
    union = len(left | right)
    return len(left & right) / union if union else 1.0


def differ_in_numbers_alone(left: frozenset[int], right: frozenset[int]) -> bool:
    """True if each word that only one side has holds a digit: item 3 is not item 4."""
    return left != right and all(word & 1 for word in left ^ right)
