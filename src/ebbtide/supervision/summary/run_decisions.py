"""The decisions of a run as it comes in: its turns through the turn_filter, numbered by event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ebbtide.decisions.turns.filtered_turns import PERSON, Disposition, FilteredCandidate, SpokenTurn, turn_of
from ebbtide.decisions.turns.turn_filter import TurnFilter
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.events.event import ToolCall
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.profile import Profile
from ebbtide.supervision.summary.run_summary import RunDecision
from ebbtide.text.extraction.turn import Speaker

_LISTED = 2_000  # decisions that are listed; the others are counted
_NOBODY = "agent"


class RunDecisions:
    """The decisions of one run. Memory is bounded.

    Where a trained model cannot be used, the rules judge alone: watching never breaks the run.

    Attributes:
        fault: Why the model that the profile names is not used; None as long as all is well.
    """

    def __init__(self, profile: Profile) -> None:
        self.fault: str | None = None
        self._profile = profile
        self._filter = TurnFilter(profile)
        self._decisions: dict[str, RunDecision] = {}
        self._unlisted = 0
        self._is_under_way = False

    @property
    def left_out(self) -> int:
        """Sentences that state a choice and are not listed: there are too many of them."""
        return self._unlisted + self._filter.left_out

    def turn(
        self, text: str, *, agent: str | None, event: int, ts: float | None = None, by_person: bool = False
    ) -> None:
        """Take what was said.

        Args:
            agent: Who spoke, where that is known.
            event: Number of the event in the run.
            ts: When, in seconds since the epoch. None compares with all that was kept before it, a time with
                what was kept in the window of the profile.
            by_person: A person said it. What comes before the first word of an agent is the task, and decides
                nothing in the run.
        """
        role = Speaker.PERSON if by_person else Speaker.MODEL
        speaker = agent or (PERSON if by_person else _NOBODY)
        self._is_under_way = self._is_under_way or not by_person
        if self._is_under_way:
            self._add(self._take(SpokenTurn(number=event, speaker=speaker, text=text, ts=ts, role=role)))

    def call(self, call: ToolCall, tools: ToolPolicies, event: int) -> None:
        """Take a call without a fault: it may have asked a person, or carry out a decision.

        Args:
            tools: What is declared of tools.
            event: Number of the event in the run.
        """
        self._add(self._filter.call(event, call, tools))

    def _add(self, candidates: Iterable[FilteredCandidate]) -> None:
        for each in candidates:
            if each.id not in self._decisions and not _is_shown(each):
                continue
            if each.id in self._decisions or len(self._decisions) < _LISTED:
                self._decisions[each.id] = _decision(each)
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
        return tuple(self._decisions.values())


def _is_shown(each: FilteredCandidate) -> bool:
    """Shows words of agents even where the gate refuses them, and of people only those that are kept."""
    return each.turn.role is not Speaker.PERSON or each.disposition is Disposition.KEPT


def _decision(each: FilteredCandidate) -> RunDecision:
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
        agent=None if each.turn.speaker in (_NOBODY, PERSON) else each.turn.speaker,
        text=each.sentence.text,
        kept=is_kept,
        by_person=each.turn.role is Speaker.PERSON,
        accepted=each.accepted,
        carried_out=each.carried_out,
        reason=None if is_kept else reason,
        duplicate_of=earlier,
        supersedes=None if each.reverses is None else turn_of(each.reverses),
    )
