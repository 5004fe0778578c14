"""What the store needs of a database, whichever it is."""

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


class Database(Protocol):
    """A database, and how it differs from the other one."""

    #: What messages call it; it never has a password in it.
    name: str
    #: Whether all sessions have to be the same one.
    single: bool

    def connect(self, *, write: bool) -> Session:
        """Open one more connection."""

    def prepare(self, *, create: bool) -> None:
        """Bring the schema to this version, or say why not."""

    #: Appended to a question whose row is to be locked.
    lock_row: str
    #: How decisions with the words of a text are found, and how well they fit: higher is better.
    search_from: str
    search_where: str
    search_rank: str
    #: Appended where only the newest of all that match are ranked, with their number; "" where all are.
    search_newest: str

    #: A condition that looks for one more word, ``" word "``, in a row that was found; None where the index
    #: is asked for all words.
    search_row: str | None
    #: The tables with the decisions whose words are not in the index yet; None where there are none.
    search_rest: str | None
    #: Whether nothing can, or may, be written.
    read_only: bool

    def search_value(self, words: Sequence[str], *, every: bool, begins: bool = False) -> str:
        """The value for `search_where`: every word or any, as it is or as what a word begins with."""

    def index_words(self, session: Session) -> None:
        """Take the words of the latest decisions into the index, unless somebody else is writing."""

    def erase(self, session: Session) -> None:
        """Take what was erased out of the files as well, as far as that can be asked for."""
