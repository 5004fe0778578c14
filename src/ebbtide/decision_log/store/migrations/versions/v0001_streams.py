"""Streams of events, the decisions that they add up to, their words, and counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "decision_streams",
        _text("tenant"),
        _text("agent"),
        sa.Column("seq", _NUMBER, nullable=False),
        _text("head"),
        sa.Column("ts", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent"),
    )
    op.create_table(
        "decision_events",
        _text("tenant"),
        _text("agent"),
        sa.Column("seq", _NUMBER, nullable=False),
        _text("kind"),
        _text("decision_id"),
        sa.Column("ts", sa.Double(), nullable=False),
        _text("body", nullable=True),
        _text("body_hash"),
        _text("hash"),
        sa.PrimaryKeyConstraint("tenant", "agent", "seq"),
    )
    op.create_index("decision_events_of", "decision_events", ["tenant", "decision_id", "seq"])
    op.create_table(
        "decisions",
        sa.Column("n", _NUMBER, primary_key=True, autoincrement=True),
        _text("tenant"),
        _text("agent"),
        _text("id"),
        _text("session"),
        _text("status"),
        _text("source"),
        _text("frame"),
        _text("category", nullable=True),
        sa.Column("opened_at", sa.Double(), nullable=False),
        sa.Column("settled_at", sa.Double(), nullable=True),
        sa.Column("review_by", sa.Double(), nullable=True),
        _text("start_print"),
        _text("final_print"),
        sa.Column("refused", sa.Integer(), nullable=False),
        _text("rule"),
        _text("outcome", nullable=True),
        sa.Column("sample_key", sa.BigInteger(), nullable=False),
        sa.Column("version", _NUMBER, nullable=False),
        _text("asked", nullable=True),
        _text("description"),
        _text("search_text"),
        _text("state"),
    )
    op.create_index("decisions_id", "decisions", ["tenant", "id"], unique=True)
    op.create_index("decisions_of_agent", "decisions", ["tenant", "agent", "id"])
    scope = ["tenant", "agent", "session"]
    _partial("decisions_started", [*scope, "opened_at", "start_print"], "start_print <> ''")
    _partial("decisions_settled", [*scope, "settled_at", "final_print"], "final_print <> ''")
    # One in 64: enough for a sample of a large log; a small one is read whole.
    _partial("decisions_sample", ["tenant", "refused", "sample_key"], "sample_key < 144115188075855872")
    _partial("decisions_open", ["tenant", "opened_at"], "status = 'opened'")
    _partial("decisions_quarantined", ["tenant", "id"], "status = 'quarantined'")
    _partial("decisions_review_by", ["tenant", "review_by"], "review_by IS NOT NULL")
    op.create_table(
        "decision_counts",
        _text("tenant"),
        _text("agent"),
        _text("source"),
        _text("frame"),
        _text("mode"),
        _text("layer"),
        _text("rule"),
        _text("verdict"),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent", "source", "frame", "mode", "layer", "rule", "verdict"),
    )
    if op.get_bind().dialect.name == "sqlite":
        _search_in_sqlite()
    else:
        _search_in_postgres()


def _partial(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, "decisions", columns, sqlite_where=condition, postgresql_where=condition)


def _search_in_sqlite() -> None:
    op.execute(
        "CREATE VIRTUAL TABLE decision_words USING fts5"
        "(search_text, content='decisions', content_rowid='n', tokenize='unicode61')"
    )
    words = "INSERT INTO decision_words"
    gone = f"{words}(decision_words, rowid, search_text) VALUES ('delete', old.n, old.search_text)"
    new = f"{words}(rowid, search_text) VALUES (new.n, new.search_text)"
    changed = "UPDATE OF search_text ON decisions WHEN new.search_text <> old.search_text AND"
    for name, when, what in (
        ("added", "INSERT ON decisions WHEN new.search_text <> ''", new),
        ("removed", "DELETE ON decisions WHEN old.search_text <> ''", gone),
        ("emptied", f"{changed} old.search_text <> ''", gone),
        ("filled", f"{changed} new.search_text <> ''", new),
    ):
        op.execute(f"CREATE TRIGGER decision_words_{name} AFTER {when} BEGIN {what}; END")


def _search_in_postgres() -> None:
    op.execute(
        "ALTER TABLE decisions ADD COLUMN search_vector tsvector "
        "GENERATED ALWAYS AS (to_tsvector('simple', search_text)) STORED"
    )
    op.execute("CREATE INDEX decisions_words ON decisions USING gin (search_vector)")


def downgrade() -> None:
    """There is nothing before this."""
    raise NotImplementedError("the first version of the store has none before it")
