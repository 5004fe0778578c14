"""One tool that fails, in one way or in any."""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbtide.bounded import Bounded
from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import argument_text
from ebbtide.divergence.number_series import is_progress, tallies_of
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.loop_kinds import LoopKind

_TOOLS = 16  # whose errors are followed at once
_ERRORS = 8  # of one tool that are distinguished
_ECHO = 3  # characters from which an argument is recognised inside an error
_READ = 2000  # characters of an error that are compared


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
    best: dict[str, int] = field(default_factory=dict)  # what they said at best of what is to do, and done


class FailingTools(Detector):
    """Counts, for each tool, failures whatever its arguments; a success of the tool ends them.

    Fewer of what is to do, or more of what is done, begins the count anew. Errors that come back although the
    arguments move are the surer sign, so that fewer of them are enough.
    Arguments that an error repeats are left out of it: "no document 7" is "no document 8".
    """

    tools: Bounded[str, Failures] = Bounded(_TOOLS)

    def see(self, moment: Moment) -> Finding | None:
        """Take a call.

        One that was sent before, and fails again after other work, is a check and not another attempt; and a
        service that is down says nothing about the attempts.
        """
        if not moment.has_failed:
            if self.tools:
                self.tools.pop(moment.name, None)
            return None
        if (moment.memory is not None and moment.memory.failures <= 1) or moment.is_outage:
            return None
        return self._failed(moment)

    def _failed(self, moment: Moment) -> Finding | None:
        name, event, now = moment.name, moment.number, moment.now
        latest_change = self._memory.repetition.answers.latest_change
        error = key_of(_without_arguments(moment.result, moment.args))
        failures = self.tools.pop(name, None)
        if failures is None:
            failures = Failures(event, now, {})
        self.tools[name] = failures
        if is_progress(failures.best, tallies_of(moment.beginning)):
            failures = self.tools[name] = Failures(event, now, {}, best=failures.best)
        if latest_change > failures.last:
            failures.steady = 0
            failures.is_steady = False
        failures.by_text = failures.by_text or not moment.is_flagged
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
        own = None if moment.policy is None else moment.policy.failures_at_least
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
            is_proof = certain and kind is LoopKind.SAME_ERROR
            finding = self._registry.streak(
                moment, kind, name, count=count, at=least, first=first, is_proof=is_proof
            )
            if finding is not None:
                return finding
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


def known_same_error(number: int) -> ToolCall:
    """An event of a run that is refused one document after the other."""
    return probe_call(number, "no such document", error=True, id=f"doc-{number}")


def known_failing_tool(number: int) -> ToolCall:
    """An event of a run in which a tool fails in ever other ways."""
    return probe_call(number, f"wrong way {number * number}", error=True, query=f"q {number * 7919 % 97}")
