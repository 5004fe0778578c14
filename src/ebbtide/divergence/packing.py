"""Keys and numbers as short texts, for a state that JSON can carry."""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Iterable, Sequence


def pack_numbers(numbers: Iterable[int]) -> str:
    """Whole numbers of up to 63 bits as a text.

    >>> unpack_numbers(pack_numbers([1, -2, 3]))
    [1, -2, 3]
    """
    return base64.b64encode(_little(array("q", numbers)).tobytes()).decode("ascii")


def unpack_numbers(text: str) -> list[int]:
    """The numbers that `pack_numbers` made a text of."""
    items = array("q")
    items.frombytes(base64.b64decode(text))
    return _little(items).tolist()


def pack_keys(keys: Sequence[bytes]) -> list[str]:
    """Keys of several lengths as two texts: the bytes one after the other, and the lengths.

    >>> unpack_keys(pack_keys([b"abc", b"", b"d"]))
    [b'abc', b'', b'd']
    """
    return [
        base64.b64encode(b"".join(keys)).decode("ascii"),
        base64.b64encode(bytes(map(len, keys))).decode("ascii"),
    ]


def unpack_keys(texts: Sequence[str]) -> list[bytes]:
    """The keys that `pack_keys` made texts of."""
    data, lengths = (base64.b64decode(text) for text in texts)
    keys, start = [], 0
    for length in lengths:
        keys.append(data[start : start + length])
        start += length
    return keys


def _little(items: array[int]) -> array[int]:
    if sys.byteorder == "big":
        items = array(items.typecode, items)
        items.byteswap()
    return items
