"""The decisions on one subject that stand, of every session: those that a new one could take back.

The window of duplicates ends after minutes, and with the session. What was decided last week holds all the
same.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from ebbtide.decision_log.record import DecisionScope, Status
from ebbtide.decision_log.search_words import search_words
from ebbtide.decision_log.store.connection import Store
from ebbtide.decision_log.store.database import Session
from ebbtide.decision_log.store.questions import HAS_WORD
from ebbtide.decisions.repeats.subject import read_subject
from ebbtide.text.normal_form import normal_form

_WORDS = 4  # words of a subject that are looked for, the first ones
_STANDING = (
    "SELECT id, description, settled_at FROM decisions{search_from} WHERE tenant = ? AND agent = ?"
    " AND status = ?{search_where} ORDER BY {search_age} DESC LIMIT ?"
)
_STANDING_REST = (
    "SELECT id, description, settled_at FROM {search_rest} WHERE tenant = ? AND agent = ?"
    " AND status = ? AND {shared} >= ? ORDER BY n DESC LIMIT ?"
)


def rivals(store: Store, scope: DecisionScope, text: str, at: float, *, most: int) -> list[tuple[str, str]]:
    """Ids and texts of the kept decisions that have two words of the subject of a text, the newest first.

    Args:
        store: The store.
        scope: Tenant and agent; those of all sessions are found.
        text: What is to be decided.
        at: When; what was taken later is no rival.
        most: How many are read.
    """
    topic = read_subject(normal_form(text)).topic
    words = search_words(topic)[:_WORDS]
    if not words or most < 1:
        return []
    database = store.database
    pairs = combinations(words, 2) if len(words) > 1 else [tuple(words)]
    value = database.search_or.join(database.search_value(pair, every=True) for pair in pairs)
    sql = _STANDING.format(
        search_from=database.search_from, search_where=database.search_where, search_age=database.search_age
    )
    standing = (scope.tenant, scope.agent, Status.KEPT.value)

    def ask(session: Session) -> list[tuple[Any, ...]]:
        latest: list[tuple[Any, ...]] = []
        if database.search_rest is not None:
            shared = " + ".join(f"({HAS_WORD})" for _ in words)
            rest = _STANDING_REST.format(search_rest=database.search_rest, shared=shared)
            marks = (f" {word} " for word in words)
            latest = session.rows(rest, (*standing, *marks, min(len(words), 2), most))
        return latest + session.rows(sql, (*standing, value, most))

    rows = store.read(ask)[:most]
    return [(row[0], json.loads(row[1])) for row in rows if row[2] is None or row[2] <= at]
