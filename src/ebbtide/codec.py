"""Dataclasses and states as plain data that JSON can carry, and back.

A dataclass becomes a dict with one key a field: a `StrEnum` becomes its value, a tuple a list, a nested
dataclass a dict of its own. Reading checks every value against its annotation, and an error names the place.
A `Record` writes itself under the names of its wire form; a `State` is what an object declares in its class.
The way to write and read a class is worked out once.
"""

from __future__ import annotations

import dataclasses
import types
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from enum import StrEnum
from functools import cache, partial
from operator import attrgetter
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_Convert = Callable[[Any], Any]
_Table = Mapping[str, Any]
_Fields = Mapping[str, tuple[dataclasses.Field[Any], Any]]
_MISSING = dataclasses.MISSING
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


@dataclasses.dataclass(frozen=True, slots=True)
class As:
    """Form of a type that has one of its own on the wire: `Annotated[bytes, As(bytes.hex, bytes.fromhex)]`.

    Args:
        write: Makes plain data of a value; None leaves it as it is.
        read: Makes the value of plain data.
    """

    write: _Convert | None
    read: _Convert


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
        is_whole: A field is written by its own fields, whatever `to_dict` leaves out; none may be missing.

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

    def __init__(self, forms: Mapping[type, WireForm] | None = None, *, is_whole: bool = False) -> None:
        self._is_whole = is_whole
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
        converts = [self.form_of(hint).write for _, hint in fields.values()]
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
                self.form_of(fields[name][1]).write,
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
                self.form_of(hint).read,
                self._is_whole or _default(field) is _MISSING,
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

    def form_of(self, hint: Any) -> As:
        """Returns the form of a type on the wire.

        Raises:
            TypeError: It has none.
        """
        members, is_optional = _members(hint)
        form = self._single(members[0]) if len(members) == 1 else _choice(members)
        if not is_optional:
            return form
        return As(form.write and partial(_unless_none, form.write), partial(_unless_none, form.read))

    def _single(self, hint: Any) -> As:
        for note in getattr(hint, "__metadata__", ()):
            if isinstance(note, As):
                return note
        kind, parts = get_origin(hint) or hint, get_args(hint)
        if kind is Any or kind in _SCALARS:
            return _ANY if kind is Any else _choice([kind])
        if not isinstance(kind, type):
            raise TypeError(f"{hint!r} has no wire form")
        if issubclass(kind, bytes):
            return As(bytes.hex, _bytes)
        if issubclass(kind, StrEnum):
            return As(attrgetter("value"), partial(_label, kind))
        if issubclass(kind, Mapping) and parts:
            return self._mapping(*parts)
        names, make = getattr(kind, "_fields", None), getattr(kind, "_make", None)
        if names and make:
            hints = get_type_hints(kind, include_extras=True)
            return self._fixed(make, [hints[name] for name in names])
        if issubclass(kind, tuple) and parts and parts[-1] is not Ellipsis:
            return self._fixed(tuple, parts)
        if issubclass(kind, tuple | list | set | frozenset | deque) and parts:
            item = self.form_of(parts[0])
            write = partial(_listed, item.write) if item.write else list
            is_set = issubclass(kind, set | frozenset)
            return As(partial(_sorted, write) if is_set else write, partial(_row, kind, item.read))
        if issubclass(kind, State):
            return As(kind.to_state, partial(_restored, kind))
        if dataclasses.is_dataclass(kind):
            own = None if self._is_whole else getattr(kind, "to_dict", None)
            return As(own or self.to_wire, partial(self.from_wire, kind))
        raise TypeError(f"{hint!r} has no wire form")

    def _fixed(self, make: _Convert, parts: Iterable[Any]) -> As:
        forms = [self.form_of(part) for part in parts]
        writes = [form.write or _as_it_is for form in forms]
        write = partial(_each, writes) if any(form.write for form in forms) else list
        return As(write, partial(_values, make, [form.read for form in forms]))

    def _mapping(self, key_hint: Any, hint: Any) -> As:
        """Returns the form of a dict: an object, a list of keys that have no values, or pairs.

        States have pairs for texts as well, since the order of an object is not kept everywhere.
        """
        key = self.form_of(key_hint)
        if hint in (None, types.NoneType):
            write = partial(_listed, key.write) if key.write else list
            return As(write, lambda row: dict.fromkeys(_row(list, key.read, row)))
        if key_hint is str and not self._is_whole:
            item = self.form_of(hint)
            return As(partial(_mapped, item.write) if item.write else dict, partial(_table, item.read))
        pairs = self._fixed(tuple, (key_hint, hint))
        to_pair = pairs.write or list
        return As(
            lambda table: [to_pair(pair) for pair in table.items()],
            lambda row: dict(_row(list, pairs.read, row)),
        )


class Record:
    """A dataclass that writes itself in its wire form.

    `_WIRE` names the keys in their order, if they are not simply the fields: ``key`` or ``key=attribute``,
    where an attribute is a field, a property, a constant of the class, or one of a part (``turn.number``,
    which is None where the turn is None). ``*`` stands for all fields.
    """

    __slots__ = ()
    _WIRE: ClassVar[str] = ""
    _SCHEMA: ClassVar[int | None] = None  # the version of the wire form, if it bears one

    def to_dict(self) -> dict[str, Any]:
        """Returns the wire form."""
        kind: Any = type(self)
        table: dict[str, Any] = _record_writer(kind, self._WIRE, self._SCHEMA)(self)
        return table


class State:
    """An object whose state can be stored: the attributes that its class declares, each by its type.

    An attribute that is declared with a value begins with that, and a container with one of its own. One that
    only `__init__` knows is no part of the state. An object that stands in a container is made without
    arguments, and then restored. `_LASTING` names what a reset leaves as it is.
    """

    __slots__ = ()
    _LASTING: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        kind: Any = type(self)
        for name, container in _containers(kind):
            setattr(self, name, copy(container))

    def reset(self) -> None:
        """Begins afresh: with the values that are declared, and with empty containers."""
        kind: Any = type(self)
        values, containers = _reset_plan(kind)
        for name, value in values:
            setattr(self, name, value)
        for name in containers:
            getattr(self, name).clear()

    def to_state(self) -> Any:
        """Returns all that later answers depend on, as plain data."""
        return state_of(self)

    def restore(self, state: Any) -> None:
        """Takes up what `to_state` gave; for an object that was made alike and has seen nothing yet."""
        restore_state(self, state)


def _beginnings(kind: type) -> dict[str, Any]:
    """Returns what a class declares with a value; a slot has none."""
    names = (name for base in kind.__mro__[::-1] for name in vars(base).get("__annotations__", ()))
    declared = {name: getattr(kind, name) for name in names if hasattr(kind, name)}
    del declared["_LASTING"]
    return {
        name: value for name, value in declared.items() if not isinstance(value, types.MemberDescriptorType)
    }


def _is_container(value: object) -> bool:
    return hasattr(value, "clear")


@cache
def _containers(kind: type) -> list[tuple[str, Any]]:
    """Returns the empty containers that a class declares."""
    return [(name, value) for name, value in _beginnings(kind).items() if _is_container(value)]


@cache
def _reset_plan(kind: type[State]) -> tuple[list[tuple[str, Any]], list[str]]:
    """Returns the values that a reset brings back, and the containers that it empties."""
    begin = {name: value for name, value in _beginnings(kind).items() if name not in kind._LASTING}  # noqa: SLF001
    values = [(name, value) for name, value in begin.items() if not _is_container(value)]
    return values, [name for name, value in begin.items() if _is_container(value)]


def state_of(owner: object) -> dict[str, Any]:
    """Returns what an object holds in the attributes that its class declares, by their names."""
    kind: Any = type(owner)
    keys, items_of, changes, _ = _state_plan(kind)
    state = dict(zip(keys, items_of(owner), strict=False))
    for key, write in changes:
        state[key] = write(state[key])
    return state


def restore_state(owner: object, state: Any) -> None:
    """Sets the attributes that a class declares to what `state_of` gave.

    A part that is a `State` restores itself, and a container with a bound keeps that.

    Raises:
        WireError: The state does not fit the class.
    """
    kind: Any = type(owner)
    if not isinstance(state, Mapping):
        raise WireError(f"expected an object, found {state!r:.{_SHOWN}}")
    for key, take in _state_plan(kind)[3]:
        if key not in state:
            raise WireError(f"the key {key!r} is missing")
        try:
            take(owner, state[key])
        except WireError as error:
            raise error.under(key) from None


def _fields(kind: type) -> _Fields:
    """Returns the fields of a dataclass, each with its type, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: (field, hints[field.name]) for field in dataclasses.fields(kind) if field.init}


def _members(hint: Any) -> tuple[list[Any], bool]:
    """Returns the types that a type is a choice of, and True if None is one of them."""
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    others = [member for member in members if member is not types.NoneType]
    return others, len(others) < len(members)


def _items_of(names: Iterable[str]) -> Callable[[object], tuple[Any, ...]]:
    # The class stands there twice because attrgetter makes no tuple of one name.
    return attrgetter(*names, "__class__", "__class__")


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is _MISSING else field.default_factory()


def _as_it_is(value: Any) -> Any:
    return value


def _unless_none(convert: _Convert, value: Any) -> Any:
    return None if value is None else convert(value)


def _listed(convert: _Convert, row: Any) -> list[Any]:
    return [convert(item) for item in row]


def _mapped(convert: _Convert, table: _Table) -> dict[str, Any]:
    return {key: convert(item) for key, item in table.items()}


def _each(writes: list[_Convert], row: Iterable[Any]) -> list[Any]:
    return [write(item) for write, item in zip(writes, row, strict=True)]


def _sorted(write: _Convert, items: Iterable[Any]) -> list[Any]:
    return sorted(write(items))


def _choice(kinds: Iterable[Any]) -> As:
    """Returns the form of a value of one of several plain types."""
    try:
        choices = [_SCALARS[kind] for kind in kinds]
    except KeyError as error:
        raise TypeError(f"{error.args[0]!r} has no wire form") from None
    allowed = tuple(kind for kinds_of, _ in choices for kind in kinds_of)
    return As(None, partial(_scalar, allowed, " or ".join(expected for _, expected in choices)))


def _scalar(allowed: tuple[type, ...], expected: str, value: Any) -> Any:
    if type(value) not in allowed:  # the type itself: true is an int as well
        raise WireError(f"expected {expected}, found {value!r:.{_SHOWN}}")
    return value


def _bytes(value: Any) -> bytes:
    return bytes.fromhex(_scalar((str,), "a text", value))


def _label(kind: type[StrEnum], value: Any) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        raise WireError(f"{value!r:.{_SHOWN}} is not one of {', '.join(kind)}") from None


def _row(kind: _Convert, convert: _Convert, row: Any) -> Any:
    return kind(_read_each([convert] * len(_items(row)), row))


def _values(make: _Convert, converts: list[_Convert], row: Any) -> Any:
    if len(_items(row)) != len(converts):
        raise WireError(f"expected {len(converts)} values, found {len(row)}")
    return make(_read_each(converts, row))


def _read_each(converts: list[_Convert], row: Any) -> list[Any]:
    items: list[Any] = []
    try:
        for convert, item in zip(converts, row, strict=True):
            items.append(convert(item))
    except WireError as error:
        raise error.under(f"[{len(items)}]") from None
    return items


def _items(row: Any) -> Any:
    if not isinstance(row, list | tuple):
        raise WireError(f"expected a list, found {row!r:.{_SHOWN}}")
    return row


def _table(convert: _Convert, table: Any) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise WireError(f"expected an object, found {table!r:.{_SHOWN}}")
    return {key: _at(key, convert, item) for key, item in table.items()}


def _at(place: str, convert: _Convert, value: Any) -> Any:
    try:
        return convert(value)
    except WireError as error:
        raise error.under(place) from None


_ANY = As(None, _as_it_is)
_PLAIN = Codec()
_WHOLE = Codec(is_whole=True)


@cache
def _record_writer(kind: type, wire: str, schema: int | None) -> _Convert:
    """Returns what writes a record under the keys of its wire form."""
    fields = _fields(kind)
    words = [name for word in wire.split() or "*" for name in (fields if word == "*" else (word,))]
    pairs = [word.partition("=") for word in words]
    keys, names = [key for key, _, _ in pairs], [name or key for key, _, name in pairs]
    forms = [
        _PLAIN.form_of(fields[name][1]) if name in fields else _property_form(kind, name) for name in names
    ]
    writes = [form.write or _as_it_is for form in forms]
    items_of = _items_of(names)
    if any("." in name for name in names):
        items_of = partial(at_paths, [name.split(".") for name in names])

    def write(record: Record) -> dict[str, Any]:
        table: dict[str, Any] = {} if schema is None else {"schema": schema}
        for key, convert, item in zip(keys, writes, items_of(record), strict=False):
            table[key] = convert(item)
        return table

    return write


def _property_form(kind: type, name: str) -> As:
    """Returns the form of what a property gives; of a constant or a part of a part, by what it is."""
    attribute = getattr(kind, name, None)
    if not isinstance(attribute, property):
        return As(_plain, _as_it_is)
    return _PLAIN.form_of(get_type_hints(attribute.fget, include_extras=True)["return"])


def at_paths(paths: Iterable[list[str]], record: object) -> tuple[Any, ...]:
    """Returns the parts of a record at some paths of attributes; None where a part of a way is None."""
    items = []
    for path in paths:
        item: Any = record
        for name in path:
            item = None if item is None else getattr(item, name)
        items.append(item)
    return tuple(items)


def _plain(value: Any) -> Any:
    """Returns a value as plain data, by what it is."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return getattr(value, "to_dict", partial(to_wire, value))()
    return value


_Take = Callable[[Any, Any], None]
_StatePlan = tuple[list[str], _Convert, list[tuple[str, _Convert]], list[tuple[str, _Take]]]


@cache
def _state_plan(kind: type) -> _StatePlan:
    """Returns the keys of a state, what reads them all, what writes some, and what takes each up again."""
    hints = {
        name: hint
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if get_origin(hint) is not ClassVar
    }
    changes: list[tuple[str, _Convert]] = []
    takes: list[tuple[str, _Take]] = []
    for name, hint in hints.items():
        key = name.lstrip("_")
        member = _members(hint)[0][0]
        member = get_origin(member) or member
        if isinstance(member, type) and issubclass(member, State):
            changes.append((key, _state_of_part))
            takes.append((key, partial(_restore_part, name)))
            continue
        form = _WHOLE.form_of(hint)
        if form.write:
            changes.append((key, form.write))
        takes.append((key, partial(_fill if _has_bound(hint) else _put, name, form.read)))
    return [name.lstrip("_") for name in hints], _items_of(hints), changes, takes


def _state_of_part(part: State | None) -> Any:
    return None if part is None else part.to_state()


def _restore_part(name: str, owner: Any, item: Any) -> None:
    part = getattr(owner, name)
    if part is not None:
        part.restore(item)


def _restored(kind: type[State], item: Any) -> State:
    state = kind()
    state.restore(item)
    return state


def _put(name: str, read: _Convert, owner: Any, item: Any) -> None:
    setattr(owner, name, read(item))


def _fill(name: str, read: _Convert, owner: Any, item: Any) -> None:
    # It keeps its bound, which the state does not know.
    container, items = getattr(owner, name), read(item)
    container.clear()
    if isinstance(container, dict):
        container.update(items)
    else:
        container.extend(items)


def _has_bound(hint: Any) -> bool:
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and (kind is deque or (issubclass(kind, dict) and kind is not dict))


#: `Codec.to_wire` and `Codec.from_wire` for classes without a form of their own.
to_wire = _PLAIN.to_wire
from_wire = _PLAIN.from_wire
#: `from_wire` that takes no default for a key that is missing.
from_whole_wire = _WHOLE.from_wire
#: A number that is written with six digits behind the point.
Rounded = Annotated[float, As(lambda number: round(number, 6), partial(_scalar, *_SCALARS[float]))]
