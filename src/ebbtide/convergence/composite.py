"""Composite stopping rule: novelty low, meaning stable, not blocked, all of them for k rounds in a row.

It stands beside the decision matrix as a second opinion and never changes the signal.

Source: rubric, "Composite stopping rule" (clause B05).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ebbtide.codec import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite(Record):
    """Counts of consecutive rounds up to now for which each condition held; the names are those of the wire.

    Args:
        novelty_low_rounds: Rounds that brought next to nothing.
        stability_high_rounds: Rounds that meant the same as those before; None without the semantic level.
        not_blocked_rounds: Rounds that named no blocker.
        all_held_rounds: Rounds in which all three held.
        rounds_needed: Rounds that it takes (k).
    """

    _WIRE: ClassVar = "* met"

    novelty_low_rounds: int = 0
    stability_high_rounds: int | None = None
    not_blocked_rounds: int = 0
    all_held_rounds: int = 0
    rounds_needed: int

    @property
    def met(self) -> bool:
        """True if all three held for long enough; never without the semantic level."""
        return self.stability_high_rounds is not None and self.all_held_rounds >= self.rounds_needed

    def after(self, *, low: bool, stable: bool | None, blocked: bool) -> Composite:
        """Returns the counts one round later.

        Args:
            low: True if the round brought next to nothing.
            stable: True if it means the same as the one before; None if that is not known.
            blocked: True if it names a blocker.
        """
        high = self.stability_high_rounds or 0
        return Composite(
            novelty_low_rounds=self.novelty_low_rounds + 1 if low else 0,
            stability_high_rounds=None if stable is None else high + 1 if stable else 0,
            not_blocked_rounds=0 if blocked else self.not_blocked_rounds + 1,
            all_held_rounds=self.all_held_rounds + 1 if low and stable and not blocked else 0,
            rounds_needed=self.rounds_needed,
        )
