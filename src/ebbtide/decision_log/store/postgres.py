"""The store on a PostgreSQL server, through psycopg (extra ``postgres``)."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.database.migrating import POSTGRESQL, bring_up
from ebbtide.database.postgres import PostgresServer
from ebbtide.database.session import Session
from ebbtide.decision_log.store.sqlite import LOG_SCHEMA

# A writer looks up a few rows in the order of an index. A planner without statistics would sort all of them.
_LOOK_UPS = "SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan"


class PostgresDatabase:
    """A log in a database on a PostgreSQL server.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        timeout_s: How long a connection, and a writer that waits for another one, may take.
        read_only: Never write, not even the schema.
    """

    single = False
    lock_row = " FOR UPDATE"
    search_from = ""
    search_where = " AND search_vector @@ to_tsquery('simple', ?)"
    search_row: str | None = None
    search_rest: str | None = None
    search_newest = ""
    search_rank = "ts_rank_cd(search_vector, to_tsquery('simple', ?), 1)"

    def __init__(self, url: str, *, timeout_s: float, read_only: bool) -> None:
        self._server = PostgresServer(url, timeout_s=timeout_s, read_only=read_only)
        self.name = self._server.name
        self.read_only = read_only

    def connect(self, *, write: bool) -> Session:
        """Open one more connection."""
        session = self._server.connect()
        if write:
            session.run(_LOOK_UPS)
        return session

    def prepare(self, *, create: bool) -> None:
        """Bring the schema to this version, or say why not."""
        with self._server.plain_connection() as connection:
            bring_up(
                connection.execute,
                LOG_SCHEMA,
                POSTGRESQL,
                self.name,
                read_only=self.read_only,
                create=create,
            )

    def search_value(self, words: Sequence[str], *, every: bool, begins: bool = False) -> str:
        """The words, or what words begin with, as to_tsquery wants them."""
        mark = ":*" if begins else ""
        return (" & " if every else " | ").join(f"'{word}'{mark}" for word in words)

    def index_words(self, session: Session) -> None:
        """Nothing to do: PostgreSQL searches what waits for its index as well."""

    def erase(self, session: Session) -> None:
        """Leave it to autovacuum: a row version that others may still see cannot be asked away."""
