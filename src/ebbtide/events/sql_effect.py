"""Effect of an SQL statement, by the words that begin it."""

from __future__ import annotations

import re

from ebbtide.events.effect import Effect

_READ_LENGTH = 4_000  # characters that are read
_IGNORED = re.compile(
    r"--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|'(?:[^']++|'')*+'?|\"[^\"]*+\"?|`[^`]*+`?", re.DOTALL
)
_WORD = re.compile(r"[A-Za-z]++")
_WRITES = re.compile(
    r"\b(?:INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\S+\s+SET|MERGE\s+INTO|INTO\s+OUTFILE)\b", re.IGNORECASE
)
_LOOKS = frozenset("SELECT SHOW DESCRIBE DESC EXPLAIN WITH VALUES TABLE PRAGMA LIST".split())
_CHANGES = frozenset(
    "INSERT UPDATE DELETE MERGE REPLACE UPSERT CREATE ALTER DROP TRUNCATE RENAME GRANT REVOKE COPY LOAD "
    "ATTACH DETACH VACUUM REINDEX REFRESH COMMENT LOCK ANALYZE IMPORT OPTIMIZE".split()
)
_NEITHER = frozenset("BEGIN COMMIT ROLLBACK START SET USE END SAVEPOINT RELEASE".split())
_META = ("\\d", "\\l", "\\z", ".tables", ".schema", ".indexes", ".databases", ".headers", ".mode", ".dump")


def sql_effect(text: str) -> Effect | None:
    """Returns the effect of a text of SQL; None if it is not known.

    >>> sql_effect("WITH a AS (SELECT 1) SELECT * FROM a").value, sql_effect("select 1; drop table t").value
    ('read', 'change')
    >>> sql_effect("CALL something()")
    """
    effect: Effect | None = None
    for statement in _IGNORED.sub(_blank, text[:_READ_LENGTH]).split(";"):
        part = statement.strip(" \t\r\n(")
        word = _WORD.match(part)
        head = word[0].upper() if word else ""
        if (
            head in _CHANGES
            or (head in _LOOKS and _WRITES.search(part))
            or (head == "PRAGMA" and "=" in part)
        ):
            return Effect.CHANGE
        if head in _LOOKS or part.startswith(_META):
            effect = Effect.READ
        elif part and head not in _NEITHER:
            return None
    return effect if len(text) <= _READ_LENGTH else None


def _blank(match: re.Match[str]) -> str:
    """Returns the stand-in for a comment, or for a text in quotes."""
    return " " if match[0][0] in "-/" else " '' "
