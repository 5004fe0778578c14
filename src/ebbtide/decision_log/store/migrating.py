"""The schema of a store, brought to this version: in one transaction, by one process at a time.

Opening a store that is up to date asks for its version and no more; alembic and SQLAlchemy are imported only
where something is to be done.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ebbtide.decision_log.store.statements import VERSION, VERSION_TABLE
from ebbtide.errors import StoreError

#: The version of the schema that this code reads and writes.
NEWEST = "0002"

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 5_207_961_463  # any number, the same in all processes: PostgreSQL's advisory lock while migrating
_TABLES = ("decisions", "decision_events", "decision_streams", "decision_counts")


def known_versions() -> tuple[str, ...]:
    """Every version that this code can migrate from, oldest first."""
    names = sorted(path.name for path in (_FOLDER / "versions").glob("v*.py"))
    return tuple(name[1:5] for name in names)


def bring_sqlite_up(connection: sqlite3.Connection, name: str, *, read_only: bool, create: bool) -> None:
    """Bring a SQLite file to this version.

    Raises:
        StoreError: It is of a later version, no decision log, damaged, or half of a migration was done.
    """
    from ebbtide.decision_log.store.sqlite import translated

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    def tables() -> set[str]:
        return {row[0] for row in rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    with translated(name):
        if not _has_work(tables(), rows, name, read_only=read_only, create=create):
            return
        _migrate(
            "sqlite://",
            lambda: connection,
            "BEGIN IMMEDIATE",
            lambda: _has_work(tables(), rows, name, read_only=read_only, create=create),
        )


def bring_postgres_up(connection: Any, name: str, *, read_only: bool, create: bool) -> None:
    """Bring a PostgreSQL database to this version.

    Args:
        connection: A connection of psycopg in autocommit.
        name: What messages call it.
        read_only: Whether nothing may be written.
        create: Whether an empty one may be filled.

    Raises:
        StoreError: As for a file.
    """

    def rows(sql: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
        return found

    def tables() -> set[str]:
        names = "', '".join((VERSION_TABLE, *_TABLES))
        sql = f"SELECT n FROM unnest(ARRAY['{names}']) AS n WHERE to_regclass(n) IS NOT NULL"  # noqa: S608 - names of ours
        return {row[0] for row in rows(sql)}

    if not _has_work(tables(), rows, name, read_only=read_only, create=create):
        return
    encoding = rows("SHOW server_encoding")[0][0]
    if encoding != "UTF8":
        raise StoreError(f"{name}: its encoding is {encoding}; make a database with ENCODING 'UTF8'")
    connection.autocommit = False
    _migrate(
        "postgresql+psycopg://",
        lambda: connection,
        f"SELECT pg_advisory_xact_lock({_LOCK})",
        lambda: _has_work(tables(), rows, name, read_only=read_only, create=create),
    )


def _has_work(
    tables: set[str],
    rows: Callable[[str], list[tuple[Any, ...]]],
    name: str,
    *,
    read_only: bool,
    create: bool,
) -> bool:
    """Whether the store is not of this version yet.

    Raises:
        StoreError: It is nothing that this code may touch.
    """
    ours = tables & set(_TABLES)
    if VERSION_TABLE not in tables:
        if ours:
            raise StoreError(
                f"{name}: it has the table {min(ours)!r} and no {VERSION_TABLE!r}: a migration was left half "
                "done, or the table is of another program; restore a copy, or use another place"
            )
        if read_only or not create:
            raise StoreError(f"{name}: there is no decision log in it; open it without read_only to make one")
        return True
    versions = [row[0] for row in rows(VERSION)]
    if versions == [NEWEST]:
        if missing := set(_TABLES) - ours:
            raise StoreError(f"{name}: its table {min(missing)!r} is missing; restore a copy")
        return False
    if len(versions) != 1:
        raise StoreError(
            f"{name}: it says {len(versions)} versions: a migration was left half done; restore a copy"
        )
    if versions[0] not in known_versions():
        raise StoreError(
            f"{name}: it is of version {versions[0]!r}, and this ebbtide knows up to {NEWEST!r}; "
            "install a later ebbtide"
        )
    if read_only:
        raise StoreError(
            f"{name}: it is of version {versions[0]!r}; open it once without read_only to migrate it"
        )
    return True


def _migrate(url: str, connect: Callable[[], Any], lock: str, has_work: Callable[[], bool]) -> None:
    import sqlalchemy as sa
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    engine = sa.create_engine(url, creator=connect, poolclass=sa.StaticPool)

    def steps(revision: Any, _context: Any) -> Any:
        return script._upgrade_revs(NEWEST, revision)  # noqa: SLF001 - alembic.command.upgrade does the same

    with (
        EnvironmentContext(config, script, fn=steps, destination_rev=NEWEST) as environment,
        engine.connect() as connection,
        connection.begin(),  # around everything: alembic alone would commit its version table first
    ):
        # Connecting rolls back, so that the lock comes after it. Somebody may have done it all by then.
        connection.exec_driver_sql(lock)
        if not has_work():
            return
        environment.configure(
            connection=connection, fn=steps, version_table=VERSION_TABLE, transactional_ddl=True
        )
        with environment.begin_transaction():
            environment.run_migrations()
