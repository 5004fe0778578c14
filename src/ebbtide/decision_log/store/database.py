"""The protocol of the databases of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ebbtide.database.session import Session


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
