"""A database on a PostgreSQL server, and one connection to it, through psycopg (extra ``postgres``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from types import ModuleType
from typing import Any, Final

from ebbtide.database.session import Question, Values, Write
from ebbtide.errors import ConfigError, StoreError

_MISSING: Final = (
    "a postgresql:// URL needs psycopg, which is not installed; install the extra: "
    "pip install 'ebbtide[postgres]'"
)
_FORM: Final = (
    "the URL of PostgreSQL cannot be read: expected postgresql://user:password@host:port/database, where "
    "a password has %40 for @, %2F for /, %3A for : and %25 for %"
)
# A server that has vanished without a word is given up after some 30 seconds, on either side.
_WATCH: Final[dict[str, Any]] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_SETTINGS: Final = (
    "SET client_encoding = 'UTF8'; SET lock_timeout = {lock_ms}; "
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4"
)
_UNREACHED: Final = (
    "the server cannot be reached, or lets nobody in: see that it runs, and that host, port, database, user "
    "and password of the URL are right. Nothing was recorded, and the next call connects anew"
)
_BATCH: Final = 500  # rows of a stream that are asked for at once


class PostgresServer:
    """A database on a PostgreSQL server, 13 or later, with encoding UTF8.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        timeout_s: How long a connection, and a writer that waits for another one, may take.
        namespace: The schema of PostgreSQL with the tables, which may still be to make; None leaves it to the
            server.

    Attributes:
        name: What messages call it; it never has a password in it.

    Raises:
        ConfigError: The URL cannot be read. No part of it is shown.
        StoreError: psycopg is missing.
    """

    def __init__(
        self, url: str, *, timeout_s: float, read_only: bool = False, namespace: str | None = None
    ) -> None:
        self._psycopg = _psycopg()
        self._parameters = _parameters(self._psycopg, url)
        self.name = _name(self._parameters)
        self._timeout_s = timeout_s
        self._read_only = read_only
        self._namespace = namespace

    def connect(self) -> PostgresSession:
        """Open one more connection.

        Raises:
            StoreError: The server cannot be reached, or lets nobody in.
        """
        return PostgresSession(self._open(), self.name, self._psycopg)

    @contextmanager
    def plain_connection(self) -> Iterator[Any]:
        """A connection of psycopg for work on the schema; what the server says is a `StoreError`.

        Raises:
            StoreError: Likewise, or its encoding is not UTF8.
        """
        connection = self._open()
        try:
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StoreError(
                    f"{self.name}: its encoding is {encoding}; make a database with ENCODING 'UTF8'"
                )
            with PostgresErrors(self.name, self._psycopg):
                yield connection
        finally:
            connection.close()

    def _open(self) -> Any:
        with PostgresErrors(self.name, self._psycopg):
            connection = self._psycopg.connect(
                autocommit=True,
                prepare_threshold=2,
                **{
                    "connect_timeout": max(int(self._timeout_s), 2),
                    "application_name": "ebbtide",
                    **_WATCH,
                    **self._parameters,
                },
            )
            connection.execute(_SETTINGS.format(lock_ms=max(int(self._timeout_s * 1000), 1)))
            if self._namespace is not None:
                connection.execute(f"SET search_path = {self._namespace}")
            if self._read_only:
                connection.execute("SET default_transaction_read_only = on")
        return connection


class PostgresSession:
    """One connection to a PostgreSQL server."""

    def __init__(self, connection: Any, name: str, psycopg: ModuleType) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._guard = PostgresErrors(name, psycopg, self)
        self._committing = PostgresErrors(name, psycopg, self, committing=True)
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
        with suppress(Exception):
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
        with suppress(Exception):
            self._connection.close()

    def _open(self) -> None:
        if self._opening:
            self._opening = False
            self._cursor.execute("BEGIN")


class PostgresErrors:
    """Turns errors of psycopg into `StoreError`; a connection that is gone is marked."""

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
        hint = _UNREACHED if session is None and _is_operational(error) else _hint(error, is_gone=is_gone)
        raise StoreError(f"{self._name}: {message}; {hint}") from error


def _parameters(psycopg: ModuleType, url: str) -> dict[str, Any]:
    """Parses a URL into the parameters of a connection.

    Raises:
        ConfigError: It cannot be read, or a part of a password was taken for a host or a port.
    """
    try:
        parameters: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(
            url.replace("postgresql+psycopg://", "postgresql://", 1)
        )
    except psycopg.ProgrammingError:
        raise ConfigError(_FORM) from None
    ports = str(parameters.get("port", "")).split(",")
    names = (str(parameters.get(key, "")) for key in ("host", "dbname"))
    if any(port and not port.isdigit() for port in ports) or any("@" in name for name in names):
        raise ConfigError(_FORM)
    return parameters


def _name(parameters: dict[str, Any]) -> str:
    host = parameters.get("host") or parameters.get("hostaddr") or "the default server"
    where = "this machine" if host.startswith("/") else host
    return f"PostgreSQL {parameters.get('dbname') or 'default database'} on {where}"


def _psycopg() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(_MISSING) from error
    return psycopg


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
