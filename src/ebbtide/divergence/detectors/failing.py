"""One tool that fails in one way, and what a service that is down looks like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ebbtide.divergence.detectors.near_duplicates import argument_text
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.events.outcome import CallOutcome
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules

_TOOLS = 16  # whose errors are followed at once
_ERRORS = 8  # of one tool that are distinguished
_ECHO = 3  # characters from which an argument is recognised inside an error
_READ = 2000  # characters of an error that are compared
_DOWN = re.compile(r"\b(?:429|500|502|503|504|529)\b")
_STORM_S = 1.0  # a service that is down is hammered when it is asked again sooner
_DOWN_READ = 200  # characters of an answer in which a status is looked for


def is_outage(status: int | None, answer: object) -> bool:
    """Whether an answer says that a service is down or asks to slow down: 429 or 5xx."""
    if status is not None:
        return status == 429 or 500 <= status <= 599
    return (
        isinstance(answer, str) and len(answer) <= 10 * _DOWN_READ and bool(_DOWN.search(answer[:_DOWN_READ]))
    )


@dataclass(slots=True)
class Failures:
    """Failures of one tool, with no success of it in between."""

    first_event: int
    last: int  # place of the latest
    errors: dict[Key, None]  # the errors so far, the latest last
    again: int = 0  # failures in a row whose error had come before
    again_event: int = 0
    steady: int = 0  # failures since anything may have been changed elsewhere
    steady_event: int = 0
    is_steady: bool = True  # whether nothing may have been changed elsewhere since the first
    by_text: bool = False  # whether a text and no flag says so of any of them


class FailingTools:
    """Counts, for each tool, failures whatever its arguments; a success of the tool ends them.

    Errors that come back although the arguments move are the surer sign, so that fewer of them are enough.
    Arguments that an error repeats are left out of it: "no document 7" is "no document 8".

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("_registry", "_rules", "tools")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self._rules = rules
        self._registry = registry
        self.tools: dict[str, Failures] = {}

    def patience(self, call: ToolCall | None, outcome: CallOutcome | None, gap_s: float | None) -> int:
        """Times that it takes at least: more where a service is down, unless it is asked without a pause.

        Args:
            call: The latest call.
            outcome: How it ended.
            gap_s: Seconds since the event before it.
        """
        if call is None or (gap_s is not None and gap_s < _STORM_S):
            return 0
        if (outcome is not None and outcome.is_down) or is_outage(call.status, call.result):
            return self._rules.outage
        return 0

    def succeeded(self, name: str) -> None:
        """A call of the tool succeeded."""
        self.tools.pop(name, None)

    def failed(  # noqa: PLR0917
        self,
        name: str,
        args: object,
        answer: object,
        policy: ToolPolicy | None,
        latest_change: int,
        now: int,
        event: int,
        *,
        by_text: bool,
    ) -> Finding | None:
        """A call of the tool failed.

        Args:
            name: The tool.
            args: Its arguments.
            answer: Its error.
            policy: What is declared about it.
            latest_change: Place of the last call that may have changed something.
            now: Place among the counted calls.
            event: Number of the event.
            by_text: Whether only the text of the answer says so.
        """
        error = key_of(_without_arguments(answer, args))
        failures = self.tools.pop(name, None)
        if failures is None:
            failures = Failures(event, now, {})
            if len(self.tools) >= _TOOLS:
                del self.tools[next(iter(self.tools))]
        self.tools[name] = failures
        if latest_change > failures.last:
            failures.steady = 0
            failures.is_steady = False
        failures.by_text = failures.by_text or by_text
        failures.steady += 1
        if failures.steady == 1:
            failures.steady_event = event
        if error in failures.errors:
            failures.again += 1
            if failures.again == 1:
                failures.again_event = failures.first_event
            del failures.errors[error]
        else:
            failures.again = 0
            failures.first_event = event
            if len(failures.errors) >= _ERRORS:
                del failures.errors[next(iter(failures.errors))]
        failures.errors[error] = None
        failures.last = now
        own = policy.failures_at_least if policy else None
        rules = self._rules
        certain = failures.is_steady and not failures.by_text
        for kind, count, least, first in (
            (
                LoopKind.SAME_ERROR,
                failures.again + 1,
                own or (rules.same_error if certain else rules.outcome_again),
                failures.again_event,
            ),
            (
                LoopKind.FAILING_TOOL,
                failures.steady,
                own or (rules.failing_tool if not failures.by_text else rules.outcome_varied),
                failures.steady_event,
            ),
        ):
            if least is not None and count >= least:
                return self._registry.streak(
                    kind,
                    key_of(kind, name),
                    name,
                    count=count,
                    at=least,
                    first=first,
                    now=now,
                    event=event,
                    is_proof=certain and kind is LoopKind.SAME_ERROR,
                )
        return None


def _without_arguments(answer: object, args: object) -> str:
    text = answer[:_READ] if isinstance(answer, str) else repr(answer)[:_READ]
    values = args.values() if isinstance(args, dict) else (args,)
    echoes = sorted(
        {value for item in values if len(value := argument_text(item)) >= _ECHO}, key=len, reverse=True
    )
    for echo in echoes[:8]:
        if len(echo) <= len(text):
            text = text.replace(echo, "\0")
    return text
