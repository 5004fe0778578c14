"""Runs in a database of a PostgreSQL server."""

from __future__ import annotations

import logging
import time
from typing import Final

from ebbtide.database.migrating import POSTGRESQL, bring_up
from ebbtide.database.postgres_server import PostgresServer
from ebbtide.database.postgres_session import PostgresSession
from ebbtide.database.session import Session
from ebbtide.errors import StoreError
from ebbtide.service.runs.run_schema import RUN_SCHEMA

_log = logging.getLogger(__name__)
_NAMESPACE: Final = "ebbtide_service"  # its tables have plain names, and the database may have others
_OWNER: Final = 5_207_961_465  # the lock of the one service, any number
_CONNECT_S: Final = 5.0
_HANDOVER_S: Final = 3.0  # in which the server notices that the service before has died
_REST_S: Final = 1.0  # after a failure, in which nobody tries again: a time-out takes as long
_DURABLE: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)


class RunServer:
    """A `RunPlace` on a server. One service has it, which a lock of its writing session says.

    Args:
        url: ``postgresql://...``, as libpq reads it.

    Raises:
        ConfigError: The URL cannot be read.
        StoreError: psycopg is missing.
    """

    def __init__(self, url: str) -> None:
        self._server = PostgresServer(url, timeout_s=_CONNECT_S, namespace=_NAMESPACE)
        self.name = self._server.name
        self._failure = ""
        self._away_until = 0.0

    def writer(self) -> Session:
        """As in `RunPlace`."""
        session = self._connected()
        try:
            self._own(session)
            with self._server.plain_connection() as connection:
                if not connection.execute(
                    "SELECT 1 FROM pg_namespace WHERE nspname = %s", (_NAMESPACE,)
                ).fetchone():
                    connection.execute(f"CREATE SCHEMA {_NAMESPACE}")
                bring_up(connection.execute, RUN_SCHEMA, POSTGRESQL, self.name, read_only=False, create=True)
            session.rows(_DURABLE)
            if session.rows("SHOW fsync") != [("on",)]:
                _log.warning(
                    "%s: fsync is off there: a loss of power may take what was acknowledged", self.name
                )
        except BaseException:
            session.close()
            raise
        return session

    def reader(self) -> Session:
        """As in `RunPlace`."""
        return self._connected()

    def require(self) -> None:
        """As in `RunPlace`: a session notices by itself."""

    def erase(self) -> None:
        """As in `RunPlace`: left to the server, where others may still see what was deleted."""

    def close(self) -> None:
        """As in `RunPlace`: the lock goes with the session."""

    def _connected(self) -> PostgresSession:
        if time.monotonic() < self._away_until:
            raise StoreError(self._failure)
        try:
            return self._server.connect()
        except StoreError as error:
            self._failure, self._away_until = str(error), time.monotonic() + _REST_S
            raise

    def _own(self, session: PostgresSession) -> None:
        deadline = time.monotonic() + _HANDOVER_S
        while not session.rows("SELECT pg_try_advisory_lock(?)", (_OWNER,))[0][0]:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{self.name}: another service has this database. End it, or name another --db"
                )
            time.sleep(0.05)
