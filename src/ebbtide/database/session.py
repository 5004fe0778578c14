"""One connection to a database, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

#: Values of a statement.
Values = Sequence[Any]
#: A question, and its values.
Question = tuple[str, Values]
#: A statement, and the values that it is run for.
Write = tuple[str, Sequence[Values]]


class Session(Protocol):
    """One connection. It is used by one thread at a time.

    Every method raises `ebbtide.errors.StoreError`, and nothing else, for what the database says.
    """

    #: Whether the connection is of no use any more.
    broken: bool
    #: Whether anything was done with it before, so that it may have gone stale in between.
    used: bool

    def begin(self, *, write: bool) -> None:
        """Begin a transaction: one that may write, or one that sees one state throughout."""

    def commit(self, writes: Sequence[Write] = ()) -> None:
        """Make the last changes and commit; what was written is acknowledged from here on."""

    def rollback(self) -> None:
        """Undo; never raises."""

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All rows of a question."""

    def rows_of_each(self, questions: Sequence[Question]) -> list[list[tuple[Any, ...]]]:
        """All rows of each question, asked in this order."""

    def stream(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question that may have many, in the order of the question."""

    def run(self, sql: str, values: Values = ()) -> None:
        """Change something."""

    def run_many(self, sql: str, many: Sequence[Values]) -> None:
        """Change something for each of the values."""

    def check(self) -> None:
        """Have the database look whether it is damaged, as far as it can."""

    def close(self) -> None:
        """Close it; never raises."""
