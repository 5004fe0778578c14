"""The counts of a Codex rollout: their names and tier, their thread, and those that a fork replays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ebbtide.events.provider_usage import tier_of

#: The names of the counts; all of one record together name the call.
TOTALS: Final = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
_TIER_NAMES: Final = {"fast": "priority"}
_AT_ONCE_S: Final = 1.0  # in which a fork writes down what came before; no model answers so soon


def codex_tier(name: object) -> str | None:
    """Returns the tier of the service that a record names; None for the standard one.

    >>> codex_tier("fast"), codex_tier("auto"), codex_tier(None)
    ('priority', None, None)
    """
    return tier_of(_TIER_NAMES.get(name, name)) if isinstance(name, str) else None


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
