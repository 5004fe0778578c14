"""Dataclasses as plain data that JSON can carry, and back.

A dataclass becomes a dict with one key a field: a `StrEnum` becomes its value, a tuple a list, a nested
dataclass a dict of its own. Reading checks every value against its annotation, and an error names the place.
The way to write and read a class is worked out once.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_Convert = Callable[[Any], Any]
_Table = Mapping[str, Any]
_Fields = Mapping[str, tuple[dataclasses.Field[Any], Any]]
_MISSING = dataclasses.MISSING
_ORIGINS = {tuple: tuple, list: list, dict: dict, Mapping: dict}
_SHOWN = 60  # characters of a value in a message
_SCALARS: Mapping[object, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
}


class WireError(ValueError):
    """Error of a value on the wire that is not what its field expects; the message begins with the place."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(f"{place}: {problem}" if place else problem)
        self.problem = problem
        self.place = place

    def under(self, place: str) -> WireError:
        """Returns the same error, seen from one level further out."""
        joint = "." if self.place and not self.place.startswith("[") else ""
        return WireError(self.problem, f"{place}{joint}{self.place}")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WireForm:
    """Form of a class on the wire, if it is not simply all its fields by their names.

    Args:
        names: Keys of fields that have another name than the field.
        always: Fields that come first and are always written; the others follow where they differ from
            their default. None writes all fields.
        inline: Fields of a dataclass whose own keys stand beside those of this one.
        read: Reads the whole value, in place of everything above.
    """

    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    always: tuple[str, ...] | None = None
    inline: tuple[str, ...] = ()
    read: Callable[[Mapping[str, Any]], Any] | None = None


class Codec:
    """Writer and reader of dataclasses. A field whose class has a `to_dict` is written by that.

    Args:
        forms: The classes that have a form of their own.

    >>> @dataclasses.dataclass(frozen=True, kw_only=True)
    ... class Call:
    ...     tool: str
    ...     arguments: tuple[str, ...] = ()
    >>> codec = Codec({Call: WireForm(names={"tool": "tool_name"})})
    >>> codec.to_wire(Call(tool="ls", arguments=("-l",)))
    {'tool_name': 'ls', 'arguments': ['-l']}
    >>> codec.from_wire(Call, {"tool_name": 3})
    Traceback (most recent call last):
    ebbtide.codec.WireError: tool_name: expected a text, found 3
    """

    def __init__(self, forms: Mapping[type, WireForm] | None = None) -> None:
        self._forms = dict(forms or {})
        self._writers: dict[type, _Convert] = {}
        self._readers: dict[type, _Convert] = {}

    def to_wire(self, value: object) -> dict[str, Any]:
        """Returns a dataclass as plain data.

        Raises:
            TypeError: It is no dataclass, or a field has a type that has no wire form.
        """
        kind = type(value)
        write = self._writers.get(kind)
        if write is None:
            write = self._writers[kind] = self._writer(kind)
        table: dict[str, Any] = write(value)
        return table

    def from_wire(self, kind: type[_T], table: _Table) -> _T:
        """Returns the dataclass that `to_wire` described. Keys that it does not know are passed over.

        Raises:
            WireError: A key is missing, or a value is not what the field expects.
            TypeError: It is no dataclass, or a field has a type that has no wire form.
        """
        reader = self._readers.get(kind)
        if reader is None:
            reader = self._readers[kind] = self._form(kind).read or self._reader(kind)
        if not isinstance(table, Mapping):
            raise WireError(f"expected an object, found {table!r:.{_SHOWN}}")
        value: _T = reader(table)
        return value

    def _form(self, kind: type) -> WireForm:
        return self._forms.get(kind, WireForm())

    def _writer(self, kind: type) -> _Convert:
        form, fields = self._form(kind), _fields(kind)
        if form.always is not None or form.inline:
            return self._writer_in_parts(form, fields)
        keys = [form.names.get(name, name) for name in fields]
        converts = [self._writing(hint) for _, hint in fields.values()]
        changes = [(key, convert) for key, convert in zip(keys, converts, strict=True) if convert is not None]
        items_of = _items_of(fields)

        def write(value: Any) -> dict[str, Any]:
            table = dict(zip(keys, items_of(value), strict=False))
            for key, convert in changes:
                table[key] = convert(table[key])
            return table

        return write

    def _writer_in_parts(self, form: WireForm, fields: _Fields) -> _Convert:
        first = tuple(fields) if form.always is None else form.always
        names = tuple(dict.fromkeys((*first, *fields)))
        plan = [
            (
                None if name in form.inline else form.names.get(name, name),
                self._writing(fields[name][1]),
                _MISSING if name in first else _default(fields[name][0]),
            )
            for name in names
        ]
        items_of = _items_of(names)

        def write(value: Any) -> dict[str, Any]:
            table: dict[str, Any] = {}
            for item, (key, convert, default) in zip(items_of(value), plan, strict=False):
                if item is default or (default is not _MISSING and item == default):
                    continue
                wire = item if convert is None else convert(item)
                if key is None:
                    table.update(wire)
                else:
                    table[key] = wire
            return table

        return write

    def _reader(self, kind: type) -> _Convert:
        form = self._form(kind)
        plan = [
            (
                name,
                None if name in form.inline else form.names.get(name, name),
                self._reading(hint),
                _default(field) is _MISSING,
            )
            for name, (field, hint) in _fields(kind).items()
        ]

        def read(table: _Table) -> Any:
            values: dict[str, Any] = {}
            for name, key, convert, required in plan:
                if key is None:
                    values[name] = convert(table)
                elif key in table:
                    try:
                        values[name] = convert(table[key])
                    except WireError as error:
                        raise error.under(key) from None
                elif required:
                    raise WireError(f"the key {key!r} is missing")
            return kind(**values)

        return read

    def _writing(self, hint: Any) -> _Convert | None:
        """Returns the converter for a value of a type; None if it stays as it is."""
        kind, item, optional = _type_parts(hint)
        convert: _Convert
        if kind in _SCALARS or kind is Any:
            return None
        if kind in (tuple, list, dict):
            convert = partial(_listed if kind is not dict else _mapped, self._writing(item) or _as_it_is)
        elif issubclass(kind, StrEnum):
            convert = attrgetter("value")
        else:
            convert = getattr(kind, "to_dict", self.to_wire)
        return partial(_unless_none, convert) if optional else convert

    def _reading(self, hint: Any) -> _Convert:
        """Returns the converter that makes a value of a type, or raises `WireError`."""
        kind, item, optional = _type_parts(hint)
        if kind is Any:
            return _as_it_is
        if kind in _SCALARS:
            convert = partial(_scalar, *_SCALARS[kind])
        elif kind in (tuple, list):
            convert = partial(_row, kind, self._reading(item))
        elif kind is dict:
            convert = partial(_table, self._reading(item))
        elif issubclass(kind, StrEnum):
            convert = partial(_label, kind)
        else:
            convert = partial(self.from_wire, kind)
        return partial(_unless_none, convert) if optional else convert


def _fields(kind: type) -> _Fields:
    """Returns the fields of a dataclass, each with its type, by name."""
    hints = get_type_hints(kind)
    return {field.name: (field, hints[field.name]) for field in dataclasses.fields(kind) if field.init}


def _items_of(names: Iterable[str]) -> Callable[[object], tuple[Any, ...]]:
    # The class is there because attrgetter makes no tuple of one name.
    return attrgetter(*names, "__class__")


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is _MISSING else field.default_factory()


def _type_parts(hint: Any) -> tuple[Any, Any, bool]:
    """Returns the class of a type, the type of its items, and whether None is a value as well.

    Raises:
        TypeError: It has no wire form.
    """
    parts = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        members = [part for part in parts if part is not types.NoneType]
        if len(members) == 1:
            return *_type_parts(members[0])[:2], True
    origin = _ORIGINS.get(get_origin(hint))
    if origin is not None and (origin is not tuple or parts[-1] is Ellipsis):
        return origin, parts[1] if origin is dict else parts[0], False
    plain = hint is Any or hint in _SCALARS or dataclasses.is_dataclass(hint)
    if plain or (isinstance(hint, type) and issubclass(hint, StrEnum)):
        return hint, None, False
    raise TypeError(f"{hint!r} has no wire form")


def _as_it_is(value: Any) -> Any:
    return value


def _unless_none(convert: _Convert, value: Any) -> Any:
    return None if value is None else convert(value)


def _listed(convert: _Convert, row: Any) -> list[Any]:
    return [convert(item) for item in row]


def _mapped(convert: _Convert, table: _Table) -> dict[str, Any]:
    return {key: convert(item) for key, item in table.items()}


def _scalar(allowed: tuple[type, ...], expected: str, value: Any) -> Any:
    if type(value) not in allowed:  # the type itself: true is an int as well
        raise WireError(f"expected {expected}, found {value!r:.{_SHOWN}}")
    return value


def _label(kind: type[StrEnum], value: Any) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        raise WireError(f"{value!r:.{_SHOWN}} is none of {', '.join(kind)}") from None


def _row(kind: type, convert: _Convert, row: Any) -> Any:
    if not isinstance(row, list | tuple):
        raise WireError(f"expected a list, found {row!r:.{_SHOWN}}")
    return kind(_at(f"[{place}]", convert, item) for place, item in enumerate(row))


def _table(convert: _Convert, table: Any) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise WireError(f"expected an object, found {table!r:.{_SHOWN}}")
    return {key: _at(key, convert, item) for key, item in table.items()}


def _at(place: str, convert: _Convert, value: Any) -> Any:
    try:
        return convert(value)
    except WireError as error:
        raise error.under(place) from None


_PLAIN = Codec()

#: `Codec.to_wire` and `Codec.from_wire` for classes without a form of their own.
to_wire = _PLAIN.to_wire
from_wire = _PLAIN.from_wire
