"""A row of named values, and which of its names means what."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Self, get_args, get_origin, get_type_hints

from ebbtide.decision_log.exchange.arrivals import (
    Arrival,
    Broken,
    Origins,
    label,
    moment,
    number,
    text,
    texts,
)
from ebbtide.decision_log.record.record import Decision, DecisionOutcome, DecisionScope, Review
from ebbtide.decisions.candidate import Candidate, Reason, Source
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.text.field_names import field_names

_MOST_KEYS = 200  # keys of rows that are remembered


#: Fields of a candidate that a row may state, with their types.
_OF_CANDIDATE = {name: hint for name, hint in get_type_hints(Candidate).items() if name != "source"}
_NAMES = (*_OF_CANDIDATE, "id", "agent", "session", "time", "outcome", "prediction", "review_by")


class RowFields:
    """The keys, or columns, under which a row states the fields of a decision.

    Args:
        **keys: Key of a field, where it differs from the name of the field.
    """

    def __init__(self, **keys: str) -> None:
        self._keys = {name: keys.get(name, name) for name in _NAMES}
        self._stated = frozenset(keys.values())
        self._row_keys: dict[str, None] = {}

    def __getitem__(self, name: str) -> str:
        return self._keys[name]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads the keys as written on a command line.

        Args:
            text: Such as ``description=chosen,time=ts_ms``; what is not named keeps its name.

        Raises:
            ConfigError: It is written in another way.
        """
        return cls(**field_names(text, _NAMES, example="description=chosen,time=ts_ms"))

    def note(self, row: Mapping[str, Any]) -> None:
        """Remembers which keys a row has."""
        self._row_keys.update(
            dict.fromkeys(key for key in row if len(self._row_keys) < _MOST_KEYS or key in self._stated)
        )

    def check(self) -> None:
        """Refuses keys that no row had: a typing error would leave every decision without its time, say.

        Raises:
            ConfigError: A named key was in no row.
        """
        absent = sorted(self._stated.difference(self._row_keys))
        if absent:
            there = ", ".join(map(repr, self._row_keys)) or "none"
            raise ConfigError(
                f"--fields: no row has {', '.join(map(repr, absent))}; the keys are {there:.300}; "
                "nothing was imported"
            )


def decision_of_row(row: Mapping[str, Any], keys: RowFields, origins: Origins) -> Decision:
    """Reads a row as a decision of another log.

    Args:
        row: The values by their names.
        keys: The name of each field.
        origins: Names it, so that the same row is known when it comes again.

    Raises:
        TranscriptError: There is no description, or a value is of another kind.
        ConfigError: The confidence is no number from 0 to 1.
    """
    keys.note(row)
    description = text(row, keys["description"])
    if description is None:
        there = ", ".join(map(repr, row)) or "none"
        raise TranscriptError(
            "there is no description",
            path=keys["description"],
            hint=f"The keys are {there:.300}; --fields description=KEY says which one it is.",
        )
    stated = {name: _value(row, keys[name], hint) for name, hint in _OF_CANDIDATE.items()}
    candidate = {name: value for name, value in stated.items() if value is not None}
    identifier, at = _name(row, keys["id"]), moment(row, keys["time"])
    return Decision(
        scope=DecisionScope(
            agent=text(row, keys["agent"]) or DecisionScope().agent, session=_name(row, keys["session"])
        ),
        candidate=Candidate(**candidate, source=Source.IMPORT),
        opened_at=at,
        settled_at=at,
        prediction=text(row, keys["prediction"]),
        review_by=moment(row, keys["review_by"]),
        reviews=_reviews(row, keys, at),
        origin=origins.of(row) if identifier is None else origins.known_as(identifier, description),
    )


def _value(row: Mapping[str, Any], key: str, hint: Any) -> Any:
    """The value of a field of this type."""
    kinds = get_args(hint) or (hint,)
    kind = kinds[0]
    if get_origin(hint) is tuple:
        found = texts(row, key)
        return tuple(Reason(text=each) for each in found) if kind is Reason else found
    if issubclass(kind, StrEnum):
        return label(row, key, kind)
    return number(row, key) if kind is float else text(row, key)


def _name(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(row, key)


def _reviews(row: Mapping[str, Any], keys: RowFields, at: float | None) -> tuple[Review, ...]:
    outcome = label(row, keys["outcome"], DecisionOutcome)
    if outcome is None:
        return ()
    # When it was reviewed is not known; it cannot have been before it was decided.
    return (Review(outcome=outcome, by="import", evidence="the log it was imported from", ts=at),)


_LONGEST_FIELD = 1 << 27  # characters


def read_csv(content: str, source: str, keys: RowFields | None = None) -> Iterator[Arrival]:
    """The decisions of a table, a row each.

    Args:
        content: The file; a quoted cell may hold line ends.
        source: What messages call the file.
        keys: Which column means what.

    Raises:
        TranscriptError: There is no column for the description.
    """
    names = keys or RowFields()
    csv.field_size_limit(_LONGEST_FIELD)
    lines = io.StringIO(content.removeprefix("\ufeff"), newline="")
    delimiter = _delimiter(lines.readline())
    lines.seek(0)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    origins = Origins("csv")
    columns: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Broken(what=f"not CSV: {error}", source=source, line=line)
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
            names.note(dict.fromkeys(columns))
            _check(columns, names, source)
            continue
        try:
            yield decision_of_row(_row(columns, cells), names, origins)
        except (TranscriptError, ConfigError) as error:
            yield Broken.of(error, source, line)


def _row(columns: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(columns):
        raise TranscriptError(f"{len(cells)} cells, where the first line names {len(columns)}")
    return {name: cell for name, cell in zip(columns, cells, strict=True) if cell.strip()}


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def _check(columns: list[str], names: RowFields, source: str) -> None:
    if names["description"] not in columns:
        raise TranscriptError(
            f"there is no column {names['description']!r}",
            source=source,
            line=1,
            hint=f"The columns are {', '.join(map(repr, columns)):.300}; "
            "--fields description=COLUMN says which one it is.",
        )
