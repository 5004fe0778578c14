"""Dataclasses as types of Arrow, by the rule by which `ebbtide.codec` makes plain data of them."""

from __future__ import annotations

import dataclasses
import types
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from ebbtide.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_library() -> Any:
    """The module ``pyarrow``.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ConfigError(
            "archives need the package pyarrow. Install it: pip install 'ebbtide[archive]'"
        ) from error
    return pa


def parquet_library() -> Any:
    """The module ``pyarrow.parquet``, as `arrow_library`."""
    arrow_library()
    import pyarrow.parquet

    return pyarrow.parquet


def arrow_type(hint: Any) -> pa.DataType:
    """The type that holds what `ebbtide.codec.to_wire` makes of a value.

    Args:
        hint: A `str`, `bool`, `int` or `float`, a `StrEnum`, a dataclass, a tuple of any of these, or one of
            them or None.

    Raises:
        TypeError: It is none of these.

    >>> arrow_type(tuple[str, ...])
    ListType(list<item: string>)
    """
    pa = arrow_library()
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not types.NoneType)
    if get_origin(hint) is tuple:
        return pa.list_(arrow_type(get_args(hint)[0]))
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        return pa.struct([(field.name, arrow_type(hints[field.name])) for field in dataclasses.fields(hint)])
    scalars = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    if hint in scalars:
        return scalars[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return pa.string()
    raise TypeError(f"{hint!r} has no type of Arrow")


def arrow_schema(kind: type, mark: str, version: int) -> pa.Schema:
    """The fields of a dataclass as columns, with the version of their meaning under a mark."""
    return arrow_library().schema(list(arrow_type(kind)), metadata={mark: str(version)})
