"""State of an engine object: sealed, as few bytes, and as the way to copy and to pickle it.

A state is plain data that JSON can carry. It bears a seal, a hash of everything in it, or as bytes a hash of
those, so that a state that was cut, damaged or edited is refused when it is read, and not noticed events
later. Both find damage; neither is a signature.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from hashlib import blake2b
from marshal import dumps
from math import isfinite
from typing import Annotated, Any, ClassVar, Self

from ebbtide.codec import As
from ebbtide.errors import ConfigError, error_text, shown

_MOST = 256_000_000  # bytes that a state may unfold to
_MOST_FOLDED = 30  # of them to one byte; real states fold to a tenth
_LEAST = 4_000_000  # bytes that any may unfold to: many chains that are alike fold to a hundredth
_MOST_ITEMS = 1_000_000  # of a state
_DEEPEST = 100  # levels
_WIDEST = 1 << 4096  # wider numbers have no text form
_HASH = 8  # bytes
_LEVEL = 3  # of compression: half the time of the usual 6 for a twentieth more bytes
_ENCODE = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_VERSION = 2  # of `marshal`: values alone, without references, so that equal ones give equal bytes
_FLAT = frozenset({int, float, bool, type(None)})


class EngineState:
    """An engine object that can be stored, copied and pickled at any point, and goes on from there.

    A subclass names itself and has `content`, `restore` and `_settings`, what it was made with. Copies share
    that: prices, policies and an embedder are not copied.
    """

    _MAGIC: ClassVar[bytes]  # what the bytes are, and the version of their form
    _SCHEMA: ClassVar[int]  # the version of `content`
    _OWNER: ClassVar[str]  # whose state it is, in messages

    def content(self) -> dict[str, Any]:
        """Returns all that the object depends on, as plain data for JSON, without a version or a seal."""
        raise NotImplementedError

    def restore(self, content: Mapping[str, Any]) -> None:
        """Takes up what `content` gave; for an object that has seen nothing yet."""
        raise NotImplementedError

    def to_state(self) -> dict[str, Any]:
        """Returns all that the object depends on, as plain data for JSON, with a version and a seal."""
        return sealed({"schema": self._SCHEMA, **self.content()})

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *args: Any, **settings: Any) -> Self:
        """Returns the object that `to_state` described; made the same way, it goes on from there.

        Args:
            args: Arguments that the object was made with.
            settings: Options that the object was made with.

        Raises:
            ConfigError: The state is of another version, damaged, or no state.
        """
        return cls._restored(state, args, settings, is_sealed=True)

    def to_bytes(self) -> bytes:
        """Returns the state in few bytes: their hash takes the place of the seal."""
        return pack_state({"schema": self._SCHEMA, **self.content()}, self._MAGIC)

    @classmethod
    def from_bytes(cls, data: bytes, *args: Any, **settings: Any) -> Self:
        """Returns the object that `to_bytes` described.

        Args:
            args: Arguments that the object was made with.
            settings: Options that the object was made with.

        Raises:
            ConfigError: The bytes are of another version, or damaged.
        """
        state = unpack_state(data, cls._MAGIC, cls._OWNER)
        return cls._restored(state, args, settings, is_sealed=False)

    @classmethod
    def _restored(
        cls, state: Mapping[str, Any], args: tuple[Any, ...], settings: Mapping[str, Any], *, is_sealed: bool
    ) -> Self:
        with restoring(state, cls._SCHEMA, cls._OWNER, is_sealed=is_sealed):
            engine = cls._blank_for(state, *args, **settings)
            engine.restore(state)
        return engine

    @classmethod
    def _blank_for(cls, content: Mapping[str, Any], *args: Any, **settings: Any) -> Self:  # noqa: ARG003
        """Returns an object that has seen nothing, made as the one of the state was."""
        return cls(*args, **settings)

    def _settings(self) -> dict[str, Any]:
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), self.to_bytes(), self._settings())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = memo[id(self)] = copy(self)
        return twin


def pack_numbers(numbers: Iterable[int]) -> str:
    """Returns whole numbers of up to 63 bits as a text.

    >>> unpack_numbers(pack_numbers([1, -2, 3]))
    [1, -2, 3]
    """
    return _text(_little(array("q", numbers)).tobytes())


def unpack_numbers(text: str) -> list[int]:
    """Returns the numbers that `pack_numbers` made a text of."""
    items = array("q")
    items.frombytes(a2b_base64(text))
    return _little(items).tolist()


def pack_keys(keys: Sequence[bytes]) -> list[str]:
    """Returns keys of several lengths as two texts: the bytes one after the other, and the lengths.

    >>> unpack_keys(pack_keys([b"abc", b"", b"d"]))
    [b'abc', b'', b'd']
    """
    return [_text(b"".join(keys)), _text(bytes(map(len, keys)))] if keys else ["", ""]


def unpack_keys(texts: Sequence[str]) -> list[bytes]:
    """Returns the keys that `pack_keys` made texts of."""
    all_keys, lengths = texts
    if not lengths:
        return []
    data, keys, start = a2b_base64(all_keys), [], 0
    for length in a2b_base64(lengths):
        keys.append(data[start : start + length])
        start += length
    return keys


#: Keys in the order in which they came, as two texts in a state.
PackedKeys = Annotated[
    dict[bytes, None],
    As(lambda keys: pack_keys(list(keys)), lambda texts: dict.fromkeys(unpack_keys(texts))),
]


def sealed(state: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a state with its seal, which takes the place of an earlier one."""
    content = _without_seal(state)
    return {**content, "seal": _seal(content)}


@contextmanager
def restoring(state: object, schema: int, owner: str, *, is_sealed: bool) -> Iterator[None]:
    """Restores a state: whatever goes wrong in the block is a `ConfigError`.

    Args:
        state: A version, a seal and what is to be restored.
        schema: The version that is read.
        owner: The owner of the state, for the error message.
        is_sealed: True if it bears a seal; what came out of bytes has passed their hash.

    Raises:
        ConfigError: It is no state, of another version, damaged, or does not fit.
    """
    try:
        if not isinstance(state, Mapping) or state.get("schema") != schema:
            value = state.get("schema") if isinstance(state, Mapping) else state
            raise ConfigError(f"state schema {shown(value, 40)}: this version reads {schema}")  # noqa: TRY301
        if is_sealed and state.get("seal") != _seal(_without_seal(state), finite=True):
            raise ConfigError(f"the state of {owner} is damaged: it does not match its seal")  # noqa: TRY301
        yield
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"not the state of {owner}: {error_text(error)}") from error


def pack_state(state: Mapping[str, Any], magic: bytes) -> bytes:
    """Returns a state as bytes: what it is and its version, a hash, and the data compressed."""
    data = zlib.compress(_ENCODE(state).encode(), _LEVEL)
    return magic + blake2b(data, digest_size=_HASH).digest() + data


def unpack_state(data: bytes, magic: bytes, owner: str) -> dict[str, Any]:
    """Returns the state that `pack_state` made bytes of.

    Args:
        magic: The bytes' beginning, which names the owner and the version.
        owner: The owner of the state, for the error message.

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


def _revived(kind: type[EngineState], data: bytes, settings: Mapping[str, Any]) -> EngineState:
    return kind.from_bytes(data, **settings)


def _text(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def _little(items: array[int]) -> array[int]:
    if sys.byteorder == "big":
        items = array(items.typecode, items)
        items.byteswap()
    return items


def _without_seal(state: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in state.items() if key != "seal"}


def _seal(state: object, *, finite: bool = False) -> str:
    """Returns a hash of plain data, level by level, the same before JSON and after it, in any order of keys.

    Args:
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
    """Returns a text as JSON gives it back: two halves of a surrogate pair are one sign then."""
    return str.__str__(text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
