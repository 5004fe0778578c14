"""The decisions on one subject that stand, of every session: those that a new one could take back.

The window of duplicates ends after minutes, and with the session. What was decided last week holds all the
same.
"""

from __future__ import annotations

import json
from itertools import combinations

from ebbtide.decision_log.record import DecisionScope, Status
from ebbtide.decision_log.search_words import search_words
from ebbtide.decision_log.store.connection import Store
from ebbtide.decisions.repeats.subject import read_subject
from ebbtide.text.normal_form import normal_form

_WORDS = 4  # words of a subject that are looked for, the first ones
_STANDING = (
    "SELECT id, description, settled_at FROM decisions{search_from} WHERE tenant = ? AND agent = ?"
    " AND status = ?{search_where} ORDER BY {search_age} DESC LIMIT ?"
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
    values = (scope.tenant, scope.agent, Status.KEPT.value, value, most)
    rows = store.read(lambda session: session.rows(sql, values))
    return [(row[0], json.loads(row[1])) for row in rows if row[2] is None or row[2] <= at]
