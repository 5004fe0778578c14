"""Kinds of databases of agents, known by their tables, and the way to a session that cannot be read."""

from __future__ import annotations

from typing import Final, NamedTuple


class OtherDatabase(NamedTuple):
    """A kind of database beside those of OpenCode.

    Args:
        marks: Texts that the statements which made its tables have, all of them.
        what: Its name, in words.
        advice: How to get at the sessions, as a sentence.
    """

    marks: tuple[str, ...]
    what: str
    advice: str


GOOSE: Final = OtherDatabase(
    marks=("messages", "content_json"),
    what="a database of Goose",
    advice="Write a session to a file: goose session export --session-id ID --format json > FILE",
)
HERMES: Final = OtherDatabase(
    marks=("sessions", "messages", "tool_calls"),
    what="a database of Hermes",
    advice="Write its sessions to a file: hermes sessions export FILE",
)
_DATABASES: Final = (
    GOOSE,
    HERMES,
    OtherDatabase(
        marks=("blobs", "meta"),
        what="a database of Cursor, whose messages are packed",
        advice="Name the transcript of the session: ~/.cursor/projects/*/agent-transcripts/*/*.jsonl",
    ),
    OtherDatabase(
        marks=("ItemTable",),
        what="a database of an editor such as Cursor",
        advice="Name the transcript of the session: ~/.cursor/projects/*/agent-transcripts/*/*.jsonl",
    ),
    OtherDatabase(
        marks=("conversations",),
        what="a database of Kiro CLI",
        advice="Write a conversation to a file, in its chat: /chat save FILE",
    ),
)
_UNKNOWN: Final = OtherDatabase(
    (), "a database, but not one of OpenCode", "Export the session from its agent."
)


def kind_of(statements: str) -> OtherDatabase:
    """Returns the kind of a database, by the statements that make its tables."""
    return next((row for row in _DATABASES if all(mark in statements for mark in row.marks)), _UNKNOWN)
