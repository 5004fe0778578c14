"""Exports that were acknowledged, and whose events are not on disk yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ebbtide.database.session import Session
from ebbtide.service.otlp.export import SignalKind
from ebbtide.service.runs.run_database import RunDatabase

_NEW: Final = "INSERT INTO exports (kind, media, encoding, body) VALUES (?, ?, ?, ?) RETURNING number"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One export, as it came.

    Args:
        kind: What was exported.
        media: The form of its body.
        encoding: How the body is packed.
    """

    kind: SignalKind
    media: str
    encoding: str
    body: bytes


class SpanJournal:
    """Keeps exports in the database of the service."""

    def __init__(self, database: RunDatabase) -> None:
        self._database = database
        self._removed = 0

    def add(self, entry: JournalEntry) -> int:
        """Keep an export; its number, when it is on disk.

        Raises:
            StoreError: It cannot be written.
        """
        values = (entry.kind.value, entry.media, entry.encoding, entry.body)

        def write(session: Session) -> int:
            number: int = session.rows(_NEW, values)[0][0]
            return number

        return self._database.write(write)

    def entries(self) -> Iterator[tuple[int, JournalEntry]]:
        """All that are kept, with their numbers.

        Raises:
            StoreError: They cannot be read.
        """
        query = "SELECT number, kind, media, encoding, body FROM exports ORDER BY number"
        for number, kind, media, encoding, body in self._database.read(query):
            yield number, JournalEntry(kind=SignalKind(kind), media=media, encoding=encoding, body=body)

    def remove(self, number: int) -> None:
        """Forget the exports up to a number, whose events are on disk.

        Raises:
            StoreError: It cannot be written.
        """
        if number > self._removed:
            self._database.write(
                lambda session: session.run("DELETE FROM exports WHERE number <= ?", (number,))
            )
            self._removed = number
