"""The decisions of a run as it comes in: its turns through the turn_filter, numbered by event."""

from __future__ import annotations

from dataclasses import replace

from ebbtide.decisions.turns.turn_filter import (
    Disposition,
    FilteredCandidate,
    SpokenTurn,
    TurnFilter,
    turn_of,
)
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.profile import Profile
from ebbtide.supervision.summary.run_summary import RunDecision

_LISTED = 2_000  # decisions that are listed; the others are counted
_NOBODY = "agent"


class RunDecisions:
    """The decisions of one run. Memory is bounded.

    Where a trained model cannot be used, the rules judge alone: watching never breaks the run.

    Args:
        profile: Thresholds of the gate.

    Attributes:
        fault: Why the model that the profile names is not used; None as long as all is well.
    """

    def __init__(self, profile: Profile) -> None:
        self.fault: str | None = None
        self._profile = profile
        self._filter = TurnFilter(profile)
        self._decisions: list[RunDecision] = []
        self._unlisted = 0

    @property
    def left_out(self) -> int:
        """Sentences that state a choice and are not listed: there are too many of them."""
        return self._unlisted + self._filter.left_out

    def turn(self, text: str, *, agent: str | None, event: int, ts: float | None = None) -> None:
        """Take what an agent said.

        Args:
            text: Its words.
            agent: Who spoke, where that is known.
            event: Number of the event in the run.
            ts: When, in seconds since the epoch. None compares with all that was kept before it, a time with
                what was kept in the window of the profile.
        """
        words = SpokenTurn(number=event, speaker=agent or _NOBODY, text=text, ts=ts)
        for each in self._take(words):
            if len(self._decisions) < _LISTED:
                self._decisions.append(_decision(each, agent))
            else:
                self._unlisted += 1

    def _take(self, words: SpokenTurn) -> tuple[FilteredCandidate, ...]:
        try:
            return self._filter.take(words)
        except (ConfigError, SemanticError) as error:
            if self._profile.decisions.model is None:
                raise
            self.fault = f"decisions were judged by the rules alone: {error}"
            rules = replace(self._profile.decisions, model=None)
            self._profile = replace(self._profile, decisions=rules)
            self._filter = TurnFilter(self._profile)
            return self._filter.take(words)

    def listed(self) -> tuple[RunDecision, ...]:
        """All so far, in the order of the run."""
        return tuple(self._decisions)


def _decision(each: FilteredCandidate, agent: str | None) -> RunDecision:
    is_kept = each.disposition is Disposition.KEPT
    of = (
        each.duplicate.of
        if each.disposition is Disposition.DUPLICATE and each.duplicate is not None
        else None
    )
    earlier = None if of is None else turn_of(of)
    reason = each.assessment.reason if earlier is None else f"It was decided at event {earlier}."
    return RunDecision(
        event=each.turn.number,
        agent=agent,
        text=each.sentence.text,
        kept=is_kept,
        reason=None if is_kept else reason,
        duplicate_of=earlier,
        supersedes=None if each.reverses is None else turn_of(each.reverses),
    )
