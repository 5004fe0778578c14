"""A row of named values, and which of its names means what."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

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
from ebbtide.decision_log.record.entry import Entry
from ebbtide.decision_log.record.record import DecisionOutcome, Review
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source, Stakes
from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.text.field_names import field_names

_MOST_KEYS = 200  # keys of rows that are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFields:
    """The keys, or columns, under which a row says what it says. All but the description may be missing.

    Args:
        description: What was decided.
        id: What the other log calls it.
        options: What was weighed.
        reasons: Why.
        assumptions: What has to hold.
        stakes: low, medium, high or critical.
        category: Any name.
        confidence: 0 to 1.
        confidence_source: stated, default or derived.
        frame: What the agent was doing.
        agent: Whose decision it is.
        session: In which session.
        time: When: seconds, milliseconds or ISO 8601.
        outcome: How it turned out.
        prediction: What was expected.
        review_by: When to look how it turned out.
        stated_keys: The keys that somebody wrote down; what is not among them is a guess.
    """

    description: str = "description"
    id: str = "id"
    options: str = "options"
    reasons: str = "reasons"
    assumptions: str = "assumptions"
    stakes: str = "stakes"
    category: str = "category"
    confidence: str = "confidence"
    confidence_source: str = "confidence_source"
    frame: str = "frame"
    agent: str = "agent"
    session: str = "session"
    time: str = "time"
    outcome: str = "outcome"
    prediction: str = "prediction"
    review_by: str = "review_by"
    stated_keys: frozenset[str] = frozenset()
    _row_keys: dict[str, None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The keys as written on a command line.

        Args:
            text: Such as ``description=chosen,time=ts_ms``; what is not named keeps its name.

        Raises:
            ConfigError: It is written in another way.
        """
        names = [part.name for part in fields(cls) if part.type == "str"]
        keys = field_names(text, names, example="description=chosen,time=ts_ms")
        return cls(**keys, stated_keys=frozenset(keys.values()))

    def note(self, row: Mapping[str, Any]) -> None:
        """Remember which keys a row has."""
        self._row_keys.update(
            dict.fromkeys(key for key in row if len(self._row_keys) < _MOST_KEYS or key in self.stated_keys)
        )

    def check(self) -> None:
        """Refuse keys that no row had: a typing error would leave every decision without its time, say.

        Raises:
            ConfigError: A named key was in no row.
        """
        absent = sorted(self.stated_keys.difference(self._row_keys))
        if absent:
            there = ", ".join(map(repr, self._row_keys)) or "none"
            raise ConfigError(
                f"--fields: no row has {', '.join(map(repr, absent))}; the keys are {there:.300}; "
                "nothing was imported"
            )


def entry_of(row: Mapping[str, Any], keys: RowFields, origins: Origins) -> Entry:
    """What a row says, as an entry of a log.

    Args:
        row: The values by their names.
        keys: Which name means what.
        origins: Names it, so that the same row is known when it comes again.

    Raises:
        TranscriptError: There is no description, or a value is of another kind.
        ConfigError: The confidence is no number from 0 to 1.
    """
    keys.note(row)
    description = text(row, keys.description)
    if description is None:
        there = ", ".join(map(repr, row)) or "none"
        raise TranscriptError(
            "there is no description",
            path=keys.description,
            hint=f"The keys are {there:.300}; --fields description=KEY says which one it is.",
        )
    identifier = _name(row, keys.id)
    at = moment(row, keys.time)
    return Entry(
        candidate=Candidate(
            description=description,
            options=texts(row, keys.options),
            reasons=tuple(Reason(text=reason) for reason in texts(row, keys.reasons)),
            assumptions=texts(row, keys.assumptions),
            stakes=label(row, keys.stakes, Stakes),
            category=text(row, keys.category),
            confidence=number(row, keys.confidence),
            confidence_source=label(row, keys.confidence_source, ConfidenceSource),
            frame=text(row, keys.frame) or "decision",
            source=Source.IMPORT,
        ),
        agent=text(row, keys.agent),
        session=_name(row, keys.session),
        opened_at=at,
        settled_at=at,
        prediction=text(row, keys.prediction),
        review_by=moment(row, keys.review_by),
        reviews=_reviews(row, keys, at),
        origin=origins.of(row) if identifier is None else origins.known_as(identifier, description),
    )


def _name(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(row, key)


def _reviews(row: Mapping[str, Any], keys: RowFields, at: float | None) -> tuple[Review, ...]:
    outcome = label(row, keys.outcome, DecisionOutcome)
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
            yield entry_of(_row(columns, cells), names, origins)
        except (TranscriptError, ConfigError) as error:
            yield Broken.of(error, source, line)


def _row(columns: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(columns):
        raise TranscriptError(f"{len(cells)} cells, where the first line names {len(columns)}")
    return {name: cell for name, cell in zip(columns, cells, strict=True) if cell.strip()}


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def _check(columns: list[str], names: RowFields, source: str) -> None:
    if names.description not in columns:
        raise TranscriptError(
            f"there is no column {names.description!r}",
            source=source,
            line=1,
            hint=f"The columns are {', '.join(map(repr, columns)):.300}; "
            "--fields description=COLUMN says which one it is.",
        )
