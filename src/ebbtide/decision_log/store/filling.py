"""The index of subjects, filled for the decisions that were recorded before there was one.

A batch is a transaction, so that other writers wait for one batch at most, and a program that is killed
leaves the rest to the next one.
"""

from __future__ import annotations

import json

from ebbtide.decision_log.store import statements
from ebbtide.decision_log.store.rows import DamagedRow
from ebbtide.decision_log.store.subjects import subject_hashes
from ebbtide.decision_log.store.transaction import Transaction

_BATCH = 500


def fill_subjects(tx: Transaction) -> bool:
    """Take some of them into the index; whether there were any."""
    session = tx.session
    # Locked, so that nobody takes out a text whose keys are about to be put in.
    numbers = session.rows(statements.UNKEYED + tx.database.lock_row, (_BATCH,))
    with DamagedRow():
        keys = [
            (key, identifier)
            for rows in session.rows_of_each([(statements.TO_KEY, number) for number in numbers])
            for tenant, agent, identifier, description in rows
            for key in subject_hashes(tenant, agent, json.loads(description))
        ]
    session.run_many(statements.insert_subject(1), keys)
    session.run_many(statements.DELETE_UNKEYED, numbers)
    return bool(numbers)
