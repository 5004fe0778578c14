"""Composite stopping rule: novelty low, meaning stable, not blocked, all of them for k rounds in a row.

It stands beside the decision matrix as a second opinion and never changes the signal.

Source: rubric, "Composite stopping rule" (clause B05).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Count of consecutive rounds up to now for which each condition held.

    Args:
        novelty_low: The rounds brought next to nothing.
        stability_high: They meant the same as the rounds before them; None without the semantic level.
        not_blocked: No blocker was named.
        together: All that are known held at once.
        needed: Rounds that it takes (k).
    """

    novelty_low: int = 0
    stability_high: int | None = None
    not_blocked: int = 0
    together: int = 0
    needed: int

    @property
    def met(self) -> bool:
        """True if all three held for long enough; never without the semantic level."""
        return self.stability_high is not None and self.together >= self.needed

    def after(self, *, low: bool, stable: bool | None, blocked: bool) -> Composite:
        """Returns the counts one round later.

        Args:
            low: True if the round brought next to nothing.
            stable: True if it means the same as the one before; None if that is not known.
            blocked: True if it names a blocker.
        """
        return Composite(
            novelty_low=self.novelty_low + 1 if low else 0,
            stability_high=None if stable is None else (self.stability_high or 0) + 1 if stable else 0,
            not_blocked=0 if blocked else self.not_blocked + 1,
            together=self.together + 1 if low and stable and not blocked else 0,
            needed=self.needed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the counts in the wire form."""
        return {
            "novelty_low_rounds": self.novelty_low,
            "stability_high_rounds": self.stability_high,
            "not_blocked_rounds": self.not_blocked,
            "all_held_rounds": self.together,
            "rounds_needed": self.needed,
            "met": self.met,
        }
