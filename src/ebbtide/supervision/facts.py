"""Facts that a verdict is about: sentences are made of them last, in `wording`, and never read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from ebbtide.budget.limit_alerts import LimitAlert
from ebbtide.budget.shared.budget_refusal import BudgetRefusal
from ebbtide.codec import As, Codec, WireForm
from ebbtide.divergence.signals import LoopSignal, Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFacts:
    """A loop, or spending.

    Args:
        signal: What the loop monitor reported.
        answers_known: Whether the answers of its calls are known: what is not known is not the same.
        goes_on: Whether it went on, or came back, after the model could have heard of it.
    """

    signal: LoopSignal
    answers_known: bool = True
    goes_on: bool = False

    @property
    def kind(self) -> str:
        """Kind of what was found: a `LoopKind`."""
        return self.signal.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitFacts:
    """A hard limit that has come nearer, or cannot be counted.

    Args:
        alert: Which one, and how near it is.
    """

    alert: LimitAlert

    @property
    def kind(self) -> str:
        """``limit``, or ``limit_unknown`` where it cannot be counted."""
        return "limit" if self.alert.missing is None else "limit_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFacts:
    """A budget that other runs draw on too does not allow the next call, or wants a person asked.

    Args:
        refusal: Which one, and why.
    """

    kind: ClassVar = "budget"

    refusal: BudgetRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRoundFacts:
    """Rounds in a row that brought nothing new.

    Args:
        ready: Whether there is a result to act on.
    """

    rounds: int
    ready: bool

    @property
    def kind(self) -> str:
        """``ready_rounds`` or ``stuck_rounds``."""
        return "ready_rounds" if self.ready else "stuck_rounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnFacts:
    """Spending that goes on while nothing new comes.

    Args:
        calls: Calls since anything new.
        rounds: Rounds since anything new.
        measure: The measure of spending that has come furthest.
        remaining: What is left of the budget, in dollars or tokens; None where it is no matter of a budget.
    """

    kind: ClassVar = "burn_without_progress"

    calls: int
    rounds: int
    measure: Measurement
    remaining: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonFacts:
    """A person has ended the run.

    Args:
        reason: Why, in their words; empty where they gave none.
    """

    kind: ClassVar = "person"

    reason: str = ""


Facts = LoopFacts | LimitFacts | BudgetFacts | DryRoundFacts | BurnFacts | PersonFacts
_CLASSES: dict[str, type[Facts]] = {
    "loop": LoopFacts,
    "limit": LimitFacts,
    "budget": BudgetFacts,
    "rounds": DryRoundFacts,
    "burn": BurnFacts,
    "person": PersonFacts,
}
_NAMES = {kind: name for name, kind in _CLASSES.items()}
_CODEC = Codec({LimitFacts: WireForm(inline=("alert",)), BudgetFacts: WireForm(inline=("refusal",))})


def facts_to_dict(facts: Facts) -> dict[str, Any]:
    """The wire form: the fields, and under ``about`` what they are about."""
    return {"about": _NAMES[type(facts)], **_CODEC.to_wire(facts)}


def facts_from_dict(wire: Mapping[str, Any]) -> Facts:
    """Read the wire form back.

    Raises:
        KeyError, TypeError, ValueError: It is none.
    """
    kind = _CLASSES.get(wire["about"])
    if kind is None:
        raise ValueError(wire["about"])
    return _CODEC.from_wire(kind, wire)


#: Facts that a record of the wire holds.
WireFacts = Annotated[Facts, As(facts_to_dict, facts_from_dict)]
