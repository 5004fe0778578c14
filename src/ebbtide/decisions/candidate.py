"""Candidates for decisions: the words, what stands behind them, and the confidence of the agent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ebbtide.errors import ConfigError, shown


class Stakes(StrEnum):
    """The cost of being wrong."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Source(StrEnum):
    """The source of a candidate."""

    AUTO = "auto"  #: taken from a turn by the caller's pipeline
    EXPLICIT = "explicit"  #: recorded on purpose, by the agent or a person
    IMPORT = "import"  #: read from another log


class ConfidenceSource(StrEnum):
    """The source of a confidence."""

    STATED = "stated"  #: deliberated, by the agent or a person
    DEFAULT = "default"  #: nobody said anything
    DERIVED = "derived"  #: computed from something else, such as an error


class ReasonKind(StrEnum):
    """The kind of a reason."""

    ANALYSIS = "analysis"
    PATTERN = "pattern"
    EMPIRICAL = "empirical"
    AUTHORITY = "authority"
    ANALOGY = "analogy"
    ELIMINATION = "elimination"
    CONSTRAINT = "constraint"
    INTUITION = "intuition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason in the agent's words."""

    text: str
    kind: ReasonKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that may be a decision.

    Args:
        description: What is decided, in the agent's words.
        options: What was weighed, the one that was chosen among them.
        reasons: Why.
        assumptions: What has to hold for it to be right.
        stakes: What it costs to be wrong; None where nobody said.
        category: Any name; ``architecture``, ``process``, ``tooling``, ``security`` and ``integration`` are
            usual.
        confidence: How sure the agent is that it will turn out right, 0 to 1; None where nobody said.
        confidence_source: Where that number came from. None reads exactly 0.5 as the default and everything
            else as stated.
        frame: What the agent was doing: ``decision``, ``debug``, ``task`` or any other name.
        source: How it came up.

    Raises:
        ConfigError: The description is no text, or the confidence no number from 0 to 1.
    """

    description: str
    options: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    assumptions: tuple[str, ...] = ()
    stakes: Stakes | None = None
    category: str | None = None
    confidence: float | None = None
    confidence_source: ConfidenceSource | None = None
    frame: str = "decision"
    source: Source = Source.AUTO

    def __post_init__(self) -> None:
        if not isinstance(self.description, str):
            raise ConfigError(f"description = {shown(self.description, 40)}: expected a text")
        value = self.confidence
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"confidence = {shown(value, 40)}: expected a number from 0 to 1")
        if not 0 <= value <= 1:
            raise ConfigError(f"confidence = {shown(value)}: expected a number from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """The turn that a candidate came from, as far as it is known.

    Args:
        text: What the agent said.
        tool_results: What the tools that it used in the turn answered; only whether there are any counts.

    Raises:
        ConfigError: What the agent said is no text.
    """

    text: str = ""
    tool_results: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ConfigError(f"text = {shown(self.text, 40)}: expected a text")
