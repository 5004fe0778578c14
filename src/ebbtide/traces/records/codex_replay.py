"""The counts that a fork of Codex replays: they were made in the thread that it comes from."""

from __future__ import annotations

from typing import Final

_AT_ONCE_S: Final = 1.0  # in which a fork writes down what came before; no model answers so soon


def is_replayed(own: str | None, origin: str | None, began: float | None, ts: float | None) -> bool:
    """Returns True if a count of a fork is one of the thread that it comes from.

    Args:
        own: The thread of the file.
        origin: The oldest thread that the file names so far.
        began: The time of its first line, in seconds.
        ts: The time of the count: that of the fork, or the one at which the call was made.
    """
    if own is None or own == origin or began is None or ts is None:
        return False
    return ts <= began + _AT_ONCE_S
