"""How a URL of PostgreSQL is read: whatever is wrong with it, nobody sees the password."""

import pytest

from ebbtide.database.postgres import PostgresServer
from ebbtide.errors import ConfigError, StoreError

pytest.importorskip("psycopg")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://ann:marmalade@db.example:5433/runs", "PostgreSQL runs on db.example"),
        ("postgres://ann:marm%40lade@db.example/runs?sslmode=require", "PostgreSQL runs on db.example"),
        ("postgresql+psycopg:///runs?host=/run/pg&password=marmalade", "PostgreSQL runs on this machine"),
        ("postgresql://a.example:1,b.example:2/runs", "PostgreSQL runs on a.example,b.example"),
        ("postgresql://", "PostgreSQL default database on the default server"),
    ],
)
def test_what_messages_call_it(url: str, name: str) -> None:
    assert PostgresServer(url, timeout_s=1).name == name


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:marma/lade@db.example/runs",
        "postgresql://ann:marma@lade@db.example/runs",
        "postgresql://ann:%zzmarmalade@db.example/runs",
        "postgresql://ann:marmalade@db.example/runs?marmalade",
        "postgresql://ann:marmalade@[db.example/runs",
        "postgresql://ann:marmalade@db.example:lade/runs",
    ],
)
def test_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    """A password with a slash makes a host of the user, and a port of a part of the password."""
    with pytest.raises(ConfigError, match="%2F for /") as raised:
        PostgresServer(url, timeout_s=1)
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    assert "marma" not in str(raised.value)
    assert "lade" not in str(raised.value)


def test_a_server_that_is_not_there() -> None:
    """The message says which, and what is wrong, without the password."""
    server = PostgresServer("postgresql://ann:marmalade@127.0.0.1:1/runs", timeout_s=1)
    with pytest.raises(StoreError, match=r"PostgreSQL runs on 127\.0\.0\.1: .*cannot be reached") as raised:
        server.connect()
    assert "marmalade" not in f"{raised.value} {raised.value.__cause__}"
