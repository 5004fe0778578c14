"""Facts about the calls of a run beside its loops, and about what was not recorded of them."""

from __future__ import annotations

from dataclasses import dataclass, field

_FEWEST = 3  # calls that make a loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Coverage of a run: how much of it was recorded. Loops are judged by arguments and answers.

    Args:
        tool_calls: Calls of tools.
        without_arguments: Those of them whose arguments were not recorded.
        without_answer: Those whose answer is not known, and whether they failed neither.
        opaque_answers: Those whose answer is the name of an object in memory.
        model_calls: Calls of models.
        without_text: Those of them whose words were not recorded.
        unrecorded: Chains of agents whose calls were not recorded, and how many those are.
        advice: What to switch on, so that it is recorded; empty where that is not known.
    """

    tool_calls: int = 0
    without_arguments: int = 0
    without_answer: int = 0
    opaque_answers: int = 0
    model_calls: int = 0
    without_text: int = 0
    unrecorded: tuple[NamedCount, ...] = ()
    advice: str = ""

    @property
    def lacks_arguments(self) -> bool:
        """True if the arguments of most calls are missing: then no loop can be proven."""
        return _are_most(self.without_arguments, self.tool_calls)

    @property
    def lacks_answers(self) -> bool:
        """True if the answers of most calls are missing, or cannot be read: then a loop is a guess."""
        return _are_most(self.without_answer + self.opaque_answers, self.tool_calls)

    @property
    def lacks_words(self) -> bool:
        """True if there are no calls of tools, and the words of most model calls are missing."""
        return not self.tool_calls and _are_most(self.without_text, self.model_calls)


def _are_most(part: int, whole: int) -> bool:
    return part >= _FEWEST and 2 * part > whole


@dataclass(frozen=True, slots=True)
class NamedCount:
    """A tool, or a call in short, and how often."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A tool and how long."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCalls:
    """Calls that failed.

    Args:
        calls: How many failed by their flag, or by what their answer says.
        by_tool: Each tool and how many of its calls failed, most first.
        message: What the most frequent failure says, in one line; None where no answer is known.
        message_count: How many calls failed with it.
        refused: Those that a person or a rule of the harness did not allow.
        cancelled: Calls beside them that the harness dropped, since another one of their batch failed.
        model_errors: Calls of a model that did not get through, as the harness reports them.
        model_error_seconds: Time that passed before those reports; None where they have no time.
    """

    calls: int = 0
    by_tool: tuple[NamedCount, ...] = ()
    message: str | None = None
    message_count: int = 0
    refused: int = 0
    cancelled: int = 0
    model_errors: int = 0
    model_error_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """Calls that looked up again what they had looked up before, with nothing changed in between.

    Only tools whose effect is known to be a look-up count, and only where every call in between is known to
    change nothing.

    Args:
        calls: How many there were; the first look is none of them.
        by_call: Each such call in short, and how often it was made again, most first; at most eight.
    """

    calls: int = 0
    by_call: tuple[NamedCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Time in which nothing happened in any chain of the run.

    Args:
        seconds: Before an answer of a tool came.
        by_tool: Each tool and its seconds, most first; at most eight.
        pauses: Times without an event that were longer than five minutes, and in no call that is known to
            wait: a person was away, or a call took that long.
        pause_seconds: How long they were together. They are not part of `seconds`.
    """

    seconds: float = 0.0
    by_tool: tuple[NamedTime, ...] = ()
    pauses: int = 0
    pause_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Facts about the calls of a run beside its loops.

    Args:
        coverage: How much of the run was recorded.
        lookups: Repeated look-ups of what had not changed.
        deeds: Calls that changed something, or may have: their effect is not known.
    """

    coverage: Coverage = field(default_factory=Coverage)
    failures: FailedCalls = field(default_factory=FailedCalls)
    lookups: Lookups = field(default_factory=Lookups)
    waiting: Waiting = field(default_factory=Waiting)
    deeds: int = 0
