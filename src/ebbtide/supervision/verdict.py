"""Verdicts: what to do with a run now, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ebbtide.codec import Record, from_whole_wire
from ebbtide.divergence.detector_table import is_for_person
from ebbtide.supervision import wording
from ebbtide.supervision.facts import LoopFacts, WireFacts
from ebbtide.supervision.ladder import Action, Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Record):
    """Verdict on a run: what to do now, and why.

    Args:
        action: What to do, from allow to stop.
        cause: Which engine speaks.
        facts: What it is about; None where there is nothing to say.
        more: Further matters of which its nudge warns.
        last_call_made: Whether a result was asked for, and the one call that was left for it was made.
        event: Number of the event, in the order of the run from 1, at which it came; None before the first.
        chain_id: The chain that it is about; None where it is about the whole run.
        shadow: Whether nothing is to be done about it.
        dropped_chains: Chains of the run that were forgotten since there were too many: no verdict knows of
            what they did.
    """

    _WIRE: ClassVar = """
        action cause kind reason nudge for_person remedy event chain_id loop_id last_call_made shadow
        dropped_chains facts more
    """
    _SCHEMA: ClassVar = 1

    action: Action = Action.ALLOW
    cause: Cause = Cause.NONE
    facts: WireFacts | None = None
    more: tuple[WireFacts, ...] = ()
    last_call_made: bool = False
    event: int | None = None
    chain_id: str | None = None
    shadow: bool = False
    dropped_chains: int = 0

    @property
    def rank(self) -> int:
        """Strictness of its action, 0 to 4."""
        return self.action.rank

    @property
    def ends(self) -> bool:
        """True if the run is not to go on as before: finalize, escalate or stop."""
        return self.action.rank >= Action.FINALIZE.rank

    @property
    def kind(self) -> str | None:
        """Kind of what was found, as in `RunFinding.kind`; None where nothing was."""
        return None if self.facts is None else self.facts.kind

    @property
    def loop_id(self) -> str | None:
        """The loop behind it; None where there is none."""
        return self.facts.signal.id if isinstance(self.facts, LoopFacts) else None

    @property
    def reason(self) -> str:
        """Why, in one sentence for a person."""
        if self.last_call_made:
            return "The last call was made."
        return "No reason to stop." if self.facts is None else f"{wording.reason(self.facts)}."

    @property
    def for_person(self) -> bool:
        """True if the model cannot mend what it is about, so that a person has to hear of it."""
        return isinstance(self.facts, LoopFacts) and is_for_person(self.facts.signal.kind)

    @property
    def remedy(self) -> str | None:
        """The change for a person to make where the model can mend nothing; None elsewhere."""
        return wording.nudge(self.facts) if self.facts is not None and self.for_person else None

    @property
    def explanation(self) -> str:
        """Why, and what a person is to change where the model can mend nothing."""
        return f"{self.reason} {self.remedy}" if self.remedy else self.reason

    @property
    def nudge(self) -> str | None:
        """The note for the model; None where there is none, or nothing that the model can mend."""
        if self.facts is None or self.for_person or self.action not in (Action.NUDGE, Action.FINALIZE):
            return None
        texts = dict.fromkeys(wording.nudge(facts) for facts in (*self.more, self.facts))
        return " ".join(texts)

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> Verdict:
        """Read the wire form back; its sentences are made anew.

        Raises:
            KeyError, TypeError, ValueError: A field is missing, or cannot be.
        """
        return from_whole_wire(cls, wire)
