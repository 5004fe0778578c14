"""The thread of a Codex rollout, and the counts that it replays of the thread that it is a fork of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_AT_ONCE_S: Final = 1.0  # in which a fork writes down what came before; no model answers so soon


@dataclass(slots=True)
class CodexThread:
    """The threads that the metadata of a rollout name.

    The metadata of the threads that a fork comes from follow its own, before any count of tokens: the oldest
    is the last one. Metadata of another thread after a count begin another rollout in the same file.

    Args:
        own: The thread of the rollout.
        origin: The oldest thread that it names so far: its own, or the one that it is a fork of.
        began: The time of its first line, in seconds.
        has_counts: Whether a count of tokens was there.
    """

    own: str | None = None
    origin: str | None = None
    began: float | None = None
    has_counts: bool = False

    def enter(self, name: str | None, source: str | None, ts: float | None) -> bool:
        """Take metadata of a thread; returns True if they begin another rollout.

        Args:
            name: The thread.
            source: The thread that it is a fork of.
            ts: The time of the line.
        """
        is_other = self.has_counts and name is not None and name != self.own
        if is_other:
            self.own, self.began, self.has_counts = name, ts, False
        self.own = self.own or name
        self.origin = source or name or self.origin
        return is_other

    def replays(self, ts: float | None) -> bool:
        """Returns True if a count is one of the thread that the rollout comes from.

        Args:
            ts: The time of the count: that of the fork, or the one at which the call was made.
        """
        if self.own is None or self.own == self.origin or self.began is None or ts is None:
            return False
        return ts <= self.began + _AT_ONCE_S

    def of_count(self, ts: float | None) -> str:
        """The thread whose call a count is; empty where none is named.

        Args:
            ts: The time of the count.
        """
        is_own = self.began is not None and ts is not None and not self.replays(ts)
        return (self.own if is_own and self.own else self.origin) or ""
