"""The state of an engine object: sealed, as few bytes, and as the way to copy and to pickle it.

A state is plain data that JSON can carry. It bears a seal, a hash of everything in it, so that a state that
was cut, damaged or edited is refused when it is read, and not noticed events later. The seal finds damage; it
is no signature.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from hashlib import blake2b
from marshal import dumps
from math import isfinite
from typing import Any, Self

from ebbtide.errors import ConfigError, error_text, shown

_MOST = 256_000_000  # bytes that a state may unfold to
_MOST_FOLDED = 30  # of them to one byte; real states fold to a tenth
_LEAST = 4_000_000  # bytes that any may unfold to: many chains that are alike fold to a hundredth
_MOST_ITEMS = 1_000_000  # of a state
_DEEPEST = 100  # levels
_WIDEST = 1 << 4096  # wider numbers have no text form
_HASH = 8  # bytes
_VERSION = 2  # of `marshal`: values alone, without references, so that equal ones give equal bytes
_FLAT = frozenset({int, float, bool, type(None)})


class EngineState:
    """An engine object that can be stored, copied and pickled at any point, and goes on from there.

    A subclass names itself and has `to_state`, `from_state` and `_settings`, the other arguments of
    `from_state`. Copies share those: prices, policies and an embedder are not copied.
    """

    _MAGIC: bytes  # what the bytes are, and the version of their form
    _OWNER: str  # whose state it is, in messages

    def to_state(self) -> dict[str, Any]:
        """All that the object depends on, as plain data that JSON can carry."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, *args: Any, **settings: Any) -> Self:
        """The object that `to_state` described: the state, and how the object was made."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """`to_state`, small."""
        return pack_state(self.to_state(), self._MAGIC)

    @classmethod
    def from_bytes(cls, data: bytes, *args: Any, **settings: Any) -> Self:
        """The object that `to_bytes` described.

        Args:
            data: The bytes.
            args: The other arguments of `from_state`.
            settings: Likewise.

        Raises:
            ConfigError: The bytes are of another version, or damaged.
        """
        return cls.from_state(unpack_state(data, cls._MAGIC, cls._OWNER), *args, **settings)

    def _settings(self) -> dict[str, Any]:
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), self.to_bytes(), self._settings())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = memo[id(self)] = copy(self)
        return twin


def _revived(kind: type[EngineState], data: bytes, settings: Mapping[str, Any]) -> EngineState:
    return kind.from_bytes(data, **settings)


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


def sealed(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state with its seal, which takes the place of an earlier one."""
    content = _without_seal(state)
    return {**content, "seal": _seal(content)}


def _without_seal(state: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in state.items() if key != "seal"}


@contextmanager
def restoring(state: object, schema: int, owner: str) -> Iterator[None]:
    """Restore a state: whatever goes wrong in the block is a `ConfigError`.

    Args:
        state: What `sealed` gave.
        schema: The version that is read.
        owner: Whose state it is, for the error message.

    Raises:
        ConfigError: It is no state, of another version, damaged, or does not fit.
    """
    try:
        if not isinstance(state, Mapping) or state.get("schema") != schema:
            value = state.get("schema") if isinstance(state, Mapping) else state
            raise ConfigError(f"state schema {shown(value, 40)}: this version reads {schema}")  # noqa: TRY301
        if state.get("seal") != _seal(_without_seal(state), finite=True):
            raise ConfigError(f"the state of {owner} is damaged: it does not match its seal")  # noqa: TRY301
        yield
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"not the state of {owner}: {error_text(error)}") from error


def pack_state(state: Mapping[str, Any], magic: bytes) -> bytes:
    """A state as bytes: what it is and its version, a hash, and the data compressed."""
    data = zlib.compress(json.dumps(state, separators=(",", ":")).encode(), 6)
    return magic + blake2b(data, digest_size=_HASH).digest() + data


def unpack_state(data: bytes, magic: bytes, owner: str) -> dict[str, Any]:
    """The state that `pack_state` made bytes of.

    Args:
        data: The bytes.
        magic: What they have to begin with.
        owner: Whose state it is, for the error message.

    Raises:
        ConfigError: The bytes are of another version, or damaged.
    """
    if not isinstance(data, bytes | bytearray | memoryview) or bytes(data[: len(magic)]) != magic:
        raise ConfigError(f"{shown(data)}: not the state of {owner}, or of another version")
    start = len(magic) + _HASH
    body = bytes(data[start:])
    if blake2b(body, digest_size=_HASH).digest() != data[len(magic) : start]:
        raise ConfigError(f"the state of {owner} is damaged: it does not match its hash")
    try:
        unfolding = zlib.decompressobj()
        text = unfolding.decompress(body, min(_MOST, max(_LEAST, _MOST_FOLDED * len(body))))
        if not unfolding.eof:
            raise ConfigError(f"the state of {owner} is damaged: it unfolds without an end")
        state = json.loads(text)
    except (zlib.error, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"the state of {owner} is damaged: {error_text(error)}") from error
    if not isinstance(state, dict):
        raise ConfigError(f"the state of {owner} is damaged: expected an object")
    return state


def _seal(state: object, *, finite: bool = False) -> str:
    """A hash of plain data, level by level, the same before JSON and after it, in any order of keys.

    Args:
        state: The data.
        finite: Refuse what no JSON has: NaN and infinity.
    """
    hashing = blake2b(digest_size=_HASH)
    level: list[Any] = [state]
    items = 0
    for _ in range(_DEEPEST):
        row: list[Any] = []
        nested: list[Any] = []
        for item in level:
            kind = type(item)
            if kind in _FLAT:
                if kind is int and not -_WIDEST < item < _WIDEST:
                    raise ValueError("a number too wide for a state")
                if finite and kind is float and not isfinite(item):
                    raise ValueError(f"{item}: not in a state")
                row.append(item)
            elif isinstance(item, str):
                row.append(item if kind is str and item.isascii() else _as_read(item))
            elif kind is dict:
                keys = sorted(item)
                row.append(keys if "".join(keys).isascii() else [_as_read(key) for key in keys])
                nested += [item[key] for key in keys]
            elif kind is list or kind is tuple:
                row.append((len(item),))
                nested += item
            else:
                raise TypeError(f"{shown(item)}: not in a state")
            if len(nested) > _MOST_ITEMS:
                raise ValueError("too large for a state")
        hashing.update(dumps(row, _VERSION))
        if not nested:
            return hashing.hexdigest()
        items += len(nested)
        if items > _MOST_ITEMS:
            raise ValueError("too large for a state")
        level = nested
    raise ValueError("nested too deeply for a state")


def _as_read(text: str) -> str:
    """A text as JSON gives it back: two halves of a surrogate pair are one sign then."""
    return str.__str__(text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
