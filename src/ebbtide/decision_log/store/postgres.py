"""The store on a PostgreSQL server, through psycopg (extra ``postgres``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ebbtide.decision_log.store.database import Question, Session, Values, Write
from ebbtide.decision_log.store.migrating import POSTGRESQL, bring_up
from ebbtide.errors import StoreError

_MISSING = (
    "a postgresql:// URL needs psycopg, which is not installed; install the extra: "
    "pip install 'ebbtide[postgres]'"
)
_BATCH = 500
# A writer looks up a few rows in the order of an index. A planner without statistics would sort all of them.
_LOOK_UPS = "SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan"


class PostgresDatabase:
    """A database on a PostgreSQL server, 13 or later, with encoding UTF8.

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
        self._psycopg = _psycopg()
        self._url = url.replace("postgresql+psycopg://", "postgresql://", 1)
        parts = urlsplit(self._url)
        where = parts.hostname or ("this machine" if "host=" in parts.query else "the default server")
        self.name = f"PostgreSQL {parts.path.lstrip('/') or 'default database'} on {where}"
        self._timeout_s = timeout_s
        self.read_only = read_only

    def connect(self, *, write: bool) -> Session:
        """Open one more connection."""
        connection = self._open()
        if write:
            with _PostgresErrors(self.name, self._psycopg):
                connection.execute(_LOOK_UPS)
        return PostgresSession(connection, self.name, self._psycopg)

    def _open(self) -> Any:
        psycopg = self._psycopg
        wait_ms = max(int(self._timeout_s * 1000), 1)
        with _PostgresErrors(self.name, psycopg):
            connection = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=max(int(self._timeout_s), 2),
                application_name="ebbtide",
                prepare_threshold=2,
            )
            connection.execute(f"SET lock_timeout = {wait_ms}")
            connection.execute("SET client_encoding = 'UTF8'")
            if self.read_only:
                connection.execute("SET default_transaction_read_only = on")
        return connection

    def prepare(self, *, create: bool) -> None:
        """Bring the schema to this version, or say why not."""
        connection = self._open()
        try:
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StoreError(
                    f"{self.name}: its encoding is {encoding}; make a database with ENCODING 'UTF8'"
                )
            with _PostgresErrors(self.name, self._psycopg):
                bring_up(connection.execute, POSTGRESQL, self.name, read_only=self.read_only, create=create)
        finally:
            connection.close()

    def search_value(self, words: Sequence[str], *, every: bool, begins: bool = False) -> str:
        """The words, or what words begin with, as to_tsquery wants them."""
        mark = ":*" if begins else ""
        return (" & " if every else " | ").join(f"'{word}'{mark}" for word in words)

    def index_words(self, session: Session) -> None:
        """Nothing to do: PostgreSQL searches what waits for its index as well."""

    def erase(self, session: Session) -> None:
        """Leave it to autovacuum: a row version that others may still see cannot be asked away."""


class PostgresSession:
    """One connection to a PostgreSQL server."""

    def __init__(self, connection: Any, name: str, psycopg: ModuleType) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._guard = _PostgresErrors(name, psycopg, self)
        self._committing = _PostgresErrors(name, psycopg, self, committing=True)
        self._opening = False
        self.broken = False
        self.used = False

    def begin(self, *, write: bool) -> None:
        """Begin a transaction; one that may write is announced with its first question."""
        self._opening = write
        if not write:
            with self._guard:
                self._cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def commit(self, writes: Sequence[Write] = ()) -> None:
        """Make the last changes and commit, all in one message to the server."""
        with self._committing:
            with self._connection.pipeline():
                self._open()
                for sql, many in writes:
                    self._connection.cursor().executemany(_written(sql), many)
                self._cursor.execute("COMMIT")
            if self._cursor.statusmessage != "COMMIT":
                raise StoreError("the server rolled the transaction back; nothing was recorded")

    def rollback(self) -> None:
        """Undo; a broken connection has done so already."""
        self._opening = False
        with contextlib.suppress(Exception):
            if not self._connection.closed:
                self._cursor.execute("ROLLBACK")

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All rows of a question."""
        with self._guard:
            self._open()
            rows: list[tuple[Any, ...]] = self._cursor.execute(_written(sql), values).fetchall()
            return rows

    def rows_of_each(self, questions: Sequence[Question]) -> list[list[tuple[Any, ...]]]:
        """All rows of each question, asked in this order in one message to the server."""
        if not questions:
            return []
        with self._guard:
            with self._connection.pipeline():
                self._open()
                cursors = [self._connection.execute(_written(sql), values) for sql, values in questions]
            return [cursor.fetchall() for cursor in cursors]

    def stream(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question, some at a time; a transaction has to be open."""
        with self._guard, self._connection.cursor(name="ebbtide") as cursor:
            self._open()
            cursor.itersize = _BATCH
            yield from cursor.execute(_written(sql), values)

    def run(self, sql: str, values: Values = ()) -> None:
        """Change something."""
        with self._guard:
            self._open()
            self._cursor.execute(_written(sql), values)

    def run_many(self, sql: str, many: Sequence[Values]) -> None:
        """Change something for each of the values."""
        with self._guard:
            self._open()
            self._cursor.executemany(_written(sql), many)

    def check(self) -> None:
        """Nothing to ask: a server checks its pages as it reads them, where it has checksums."""

    def close(self) -> None:
        """Close it."""
        with contextlib.suppress(Exception):
            self._connection.close()

    def _open(self) -> None:
        if self._opening:
            self._opening = False
            self._cursor.execute("BEGIN")


class _PostgresErrors:
    """What psycopg says, as a `StoreError`; a connection that is gone is marked."""

    __slots__ = ("_committing", "_name", "_psycopg", "_session")

    def __init__(
        self,
        name: str,
        psycopg: ModuleType,
        session: PostgresSession | None = None,
        *,
        committing: bool = False,
    ) -> None:
        self._name = name
        self._psycopg = psycopg
        self._session = session
        self._committing = committing

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if not isinstance(error, self._psycopg.Error):
            return
        message = " ".join(str(error).split())[:300] or type(error).__name__
        session = self._session
        is_gone = session is not None and session._connection.closed  # noqa: SLF001 - of this module
        if session is not None and is_gone:
            session.broken = True
        if is_gone and self._committing:
            raise StoreError(
                f"{self._name}: the connection broke during a commit ({message}); "
                "look whether it was recorded",
                recorded=None,
            ) from error
        raise StoreError(f"{self._name}: {message}; {_hint(error, is_gone=is_gone)}") from error


def _hint(error: Any, *, is_gone: bool) -> str:
    state = getattr(error, "sqlstate", None) or ""
    if is_gone or state.startswith(("08", "57P")) or (not state and _is_operational(error)):
        return "the server cannot be reached; nothing was recorded, and the next call connects anew"
    if state in {"55P03", "40P01", "40001"}:
        return "another process is writing; nothing was recorded, try again"
    if state == "25006":
        return "it may not be written; open it with read_only=True, or connect to the primary"
    if state == "53100":
        return "the server has no room left; make some"
    return "nothing was recorded"


def _is_operational(error: Any) -> bool:
    return any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)


@lru_cache(maxsize=256)
def _written(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


def _psycopg() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(_MISSING) from error
    return psycopg
