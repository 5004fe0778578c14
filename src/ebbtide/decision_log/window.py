"""The earlier decisions that a new one is compared with, inside the transaction that records it."""

from __future__ import annotations

from dataclasses import replace

from ebbtide.decision_log.record import DecisionScope
from ebbtide.decision_log.store.transaction import Transaction
from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict
from ebbtide.decisions.repeats.duplicates import find_duplicate
from ebbtide.profile.duplicates import DuplicateRules

_MOST = 1000  # rows of a window that are read, where the rules name no other number


def compare(
    tx: Transaction,
    scope: DecisionScope,
    text: str,
    at: float,
    rules: DuplicateRules,
    *,
    final: bool,
    not_id: str | None = None,
) -> DuplicateVerdict | None:
    """What a text is to the earlier decisions of its tenant, agent and session; None for one without words.

    What is about to be thought about is compared with what others were called when they were opened, and a
    final text with final texts. Nobody else can write to the stream in between.

    Args:
        tx: The transaction.
        scope: Whose it is.
        text: What it says.
        at: When, in seconds since the epoch. The window reaches both ways from there, since a clock can go
            back.
        rules: Window and thresholds.
        final: Whether it is final.
        not_id: The record of the text itself.
    """
    if not text.strip():
        return None
    most = _MOST if rules.compared_at_most is None else rules.compared_at_most
    rows, truncated = tx.earlier(
        scope,
        fingerprint(text),
        at=at,
        window_s=rules.window_s,
        final=final,
        most=most,
        not_id=not_id,
    )
    duplicate = find_duplicate(text, rows, rules, ts=at)
    return replace(duplicate, truncated=True) if truncated else duplicate
