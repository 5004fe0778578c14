"""Maps the rows of a table to the records of a format that is read: a table of TOML, no code.

format = "otlp"          # as `ebbtide formats` names it
run = "TraceId"          # the column that names the run
order = "Timestamp"      # the column by which its rows are ordered
json = ["Attributes"]    # columns that hold JSON as a text

[record]                 # a key of the record = a column; without this table, all columns
name = "SpanName"
kind = {value = "tool"}                                      # always the same
type = {column = "SpanType", values = {LLM = "llm"}}         # words in place of others
endTime = {column = "Timestamp", plus_ns = "Duration"}       # a time and a duration behind it
events = {rows = {name = "Events.Name", attributes = "Events.Attributes"}}   # lists side by side

[record.resource]        # an object in it
attributes = "ResourceAttributes"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any, Final

from ebbtide.errors import ConfigError
from ebbtide.settings_file import meant, read_text
from ebbtide.traces.record_trace import record_format
from ebbtide.traces.records.fields import from_json, seconds

_LARGEST: Final = 1 << 20  # bytes of a map
_KEYS: Final = ("description", "format", "run", "order", "json", "record")
_NUMBER: Final = re.compile(r"-?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?", re.ASCII)
_FORMS: Final = (
    frozenset(("value",)),
    frozenset(("column", "values")),
    frozenset(("column", "plus_ns")),
    frozenset(("rows",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMap:
    """The meaning of the columns of a table.

    Args:
        run: The column that names the run; empty where that is still to be said.
        order: The column by which its rows are ordered; likewise.
        format: The format of the records; None tells it by the first of each run.
        record: The record, by its keys; None takes all columns by their names.
        json: Columns that hold JSON as a text.
        numbers: Columns whose texts are numbers wherever they read as such.
    """

    run: str = ""
    order: str = ""
    format: str | None = None
    record: Mapping[str, Any] | None = None
    json: frozenset[str] = field(default_factory=frozenset)
    numbers: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def load(cls, name: str) -> RowMap:
        """A map that comes with Ebbtide, or one in a file.

        Args:
            name: Its name, or a path.

        Raises:
            ConfigError: There is none of the name, or the file is none.
        """
        shipped = map_names()
        if name in shipped:
            text = (resources.files("ebbtide.batch.tables") / "maps" / f"{name}.toml").read_text(
                encoding="utf-8"
            )
        else:
            try:
                text = read_text(name, _LARGEST)
            except OSError as error:
                raise ConfigError(
                    f"{name}: no map of this name{meant(name, shipped)}, and no file: "
                    f"{error.strerror or error}. There are: {', '.join(shipped)}"
                ) from error
            except UnicodeDecodeError as error:
                raise ConfigError(f"{name}: not UTF-8") from error
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{name}: not TOML: {error}") from error
        return cls.of(table, name)

    @classmethod
    def of(cls, table: Mapping[str, Any], source: str) -> RowMap:
        """The map in a table of TOML.

        Raises:
            ConfigError: It is none; the message says what is wrong.
        """
        for key in table:
            if key not in _KEYS:
                raise ConfigError(f"{source}: {key!r} is not a key of a map{meant(key, _KEYS)}")
        for key in ("run", "order", "format"):
            if not isinstance(table.get(key, ""), str):
                raise ConfigError(f"{source}: {key} = {table[key]!r:.60}: expected a text")
        columns = table.get("json", [])
        if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
            raise ConfigError(f"{source}: json = {columns!r:.60}: expected a list of columns")
        record = table.get("record")
        if record is not None:
            _refuse_odd(record, f"{source}: record")
        if "format" in table:
            record_format(table["format"])
        return cls(
            run=table.get("run", ""),
            order=table.get("order", ""),
            format=table.get("format"),
            record=record,
            json=frozenset(columns),
        )

    def by(self, run: str | None, order: str | None) -> RowMap:
        """The same with other columns for the run and the order, where they are given.

        Raises:
            ConfigError: One is not said at all.
        """
        named_map = replace(self, run=run or self.run, order=order or self.order)
        for name, value, what in (
            ("--run", named_map.run, "names the run"),
            ("--order", named_map.order, "orders its rows"),
        ):
            if not value:
                raise ConfigError(f"say which column {what}: {name} COLUMN")
        return named_map

    @property
    def columns(self) -> frozenset[str] | None:
        """The columns that are read; None for all."""
        if self.record is None:
            return None
        return frozenset((self.run, self.order, *_columns(self.record)))

    def nameless(self, rows: int) -> str:
        """Returns the message about this number of rows that name no run."""
        return f"rows without {self.run}: {rows:,}; nobody knows their runs"

    def record_of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The record that a row stands for.

        Args:
            row: Plain data by column, as JSON would give it.
        """
        if self.json:
            row = {key: from_json(value) if key in self.json else value for key, value in row.items()}
        if self.numbers:
            row = {key: _number(value) if key in self.numbers else value for key, value in row.items()}
        if self.record is None:
            return {key: value for key, value in row.items() if value is not None}
        return _record(self.record, row)


def map_names() -> tuple[str, ...]:
    """The maps that come with Ebbtide."""
    folder = resources.files("ebbtide.batch.tables") / "maps"
    return tuple(
        sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    )


def _number(value: Any) -> Any:
    if not isinstance(value, str) or _NUMBER.fullmatch(value) is None:
        return value
    return int(value) if value.lstrip("-").isdecimal() else float(value)


def _record(form: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    record = {}
    for key, part in form.items():
        value = row.get(part) if isinstance(part, str) else _value(part, row)
        if value is not None:
            record[key] = value
    return record


def _value(form: Mapping[str, Any], row: Mapping[str, Any]) -> Any:
    if "value" in form:
        return form["value"]
    if "rows" in form:
        return _side_by_side(form["rows"], row)
    if "column" not in form:
        return _record(form, row) or None
    value = row.get(form["column"])
    if "plus_ns" in form:
        start, duration_ns = seconds(value), row.get(form["plus_ns"])
        return None if start is None or duration_ns is None else start + float(duration_ns) / 1e9
    return form["values"].get(value, value)


def _side_by_side(form: Mapping[str, str], row: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = {key: value for key, name in form.items() if isinstance(value := row.get(name), list)}
    return [dict(zip(lists, items, strict=True)) for items in zip(*lists.values(), strict=False)]


def _columns(form: Mapping[str, Any]) -> Iterator[str]:
    for part in form.values():
        if isinstance(part, str):
            yield part
        elif "rows" in part:
            yield from part["rows"].values()
        elif "column" in part:
            yield part["column"]
            if "plus_ns" in part:
                yield part["plus_ns"]
        elif "value" not in part:
            yield from _columns(part)


def _refuse_odd(form: Any, place: str) -> None:
    if not isinstance(form, Mapping):
        raise ConfigError(f"{place}: expected a table of keys and columns, found {form!r:.60}")
    for key, part in form.items():
        here = f"{place}.{key}"
        if isinstance(part, str):
            continue
        if not isinstance(part, Mapping):
            raise ConfigError(f"{here} = {part!r:.60}: expected the name of a column, or a table")
        special = {"value", "column", "rows"} & part.keys()
        if not special:
            _refuse_odd(part, here)
        elif part.keys() not in _FORMS:
            raise ConfigError(
                f"{here}: expected value, column with values or plus_ns, or rows; found {', '.join(part)}"
            )
        elif "rows" in part and not (
            isinstance(part["rows"], Mapping) and all(isinstance(name, str) for name in part["rows"].values())
        ):
            raise ConfigError(f"{here}.rows: expected a table of keys and columns")
        elif "values" in part and not isinstance(part["values"], Mapping):
            raise ConfigError(f"{here}.values: expected a table of words")
