"""A database on a PostgreSQL server, through psycopg (extra ``postgres``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

from ebbtide.database.postgres_session import PostgresErrors, PostgresSession
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


class PostgresServer:
    """A database on a PostgreSQL server, 13 or later, with encoding UTF8.

    Args:
        url: ``postgresql://...``, as libpq reads it.
        timeout_s: How long a connection, and a writer that waits for another one, may take.
        read_only: Never write.
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
