"""Keys and numbers as short texts, for a state that JSON can carry, and such a state as few bytes."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ebbtide.errors import ConfigError

_MOST_RATIO = 300  # times its packed size that a large state may unpack to; many equal chains reach 120
_FREE = 4 << 20  # bytes that any state may unpack to
_DENSEST = 8  # bytes of text for each list or object, which takes 60 bytes of memory


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


def pack_state(state: Mapping[str, Any], magic: bytes) -> bytes:
    """A state as bytes: what it is and its version, and the data compressed."""
    return magic + zlib.compress(json.dumps(state, separators=(",", ":")).encode(), 6)


def unpack_state(data: bytes, magic: bytes, owner: str) -> dict[str, Any]:
    """The state that `pack_state` made bytes of.

    Args:
        data: The bytes.
        magic: What they have to begin with.
        owner: Whose state it is, for the error message.

    Raises:
        ConfigError: The bytes are of another version, or damaged.
    """
    if not isinstance(data, bytes | bytearray) or bytes(data[: len(magic)]) != magic:
        raise ConfigError(f"{data!r:.60}: not the state of {owner}, or of another version")
    try:
        text = _unpacked(bytes(data[len(magic) :]))
        dense = _DENSEST * (text.count(b"[") + text.count(b"{")) > max(len(text), 1 << 20)
        state = None if dense else json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise ConfigError(f"the state of {owner} is damaged: {error}") from error
    if not isinstance(state, dict):
        raise ConfigError(f"the state of {owner} is damaged: expected an object")
    return state


def _unpacked(data: bytes) -> bytes:
    """The content of compressed bytes.

    Raises:
        ValueError: It is cut off, or far larger than they are.
        zlib.error: They are damaged.
    """
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(data, _FREE)
    rest = unpacker.unconsumed_tail
    if rest and _MOST_RATIO * (len(data) - len(rest)) >= _FREE:
        text += unpacker.decompress(rest, _MOST_RATIO * len(data))
    if not unpacker.eof:
        raise ValueError("it is cut off, or unpacks to far more than its size")
    return text
