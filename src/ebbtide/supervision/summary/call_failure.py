"""Ways in which a call of a tool came to nothing: it failed, it was refused, or its harness cancelled it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from ebbtide.divergence.loop_state import LoopState
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.outcome import Ending, begins_with_failure, is_cancelled
from ebbtide.events.shell_words import has_one_status
from ebbtide.events.tool_policy import ToolPolicy

_HEAD: Final = 300  # characters of an answer that may refuse
_REFUSED: Final = re.compile(
    r"doesn't want to (?:proceed|take this action)|haven't granted|requires? (?:your )?approval"
    r"|Permission to use .{1,80}denied|(?:rejected|denied|declined|cancell?ed) by (?:the )?user"
    r"|user (?:has )?(?:rejected|denied|declined)|(?:blocked|denied) by .{0,60}\b(?:hook|policy|sandbox)\b",
    re.IGNORECASE | re.DOTALL,
)
#: What a search that finds nothing comes to: a status of one, and not a word.
_NO_MATCH: Final = re.compile(
    r"\s*(?:<returncode>1</returncode>\s*<output>\s*</output>"
    r"|(?:Process )?exit(?:ed)?(?: with)? code:? 1)\s*",
    re.IGNORECASE,
)

_ZERO: Final = re.compile(r"<returncode>0<|\bexit(?:ed)?(?: with)?(?: code)?:? 0\b", re.IGNORECASE)
_STATUS_READ: Final = 200  # characters of an answer in which a status is looked for


class CallFailure(StrEnum):
    """Ways in which a call came to nothing."""

    FAILED = "failed"
    REFUSED = "refused"  #: a person or a rule of the harness did not allow it, and it was not made
    CANCELLED = "cancelled"  #: the harness did not make it, since another call of its batch failed


def call_failure(call: ToolCall, policy: ToolPolicy | None, loops: LoopState) -> CallFailure | None:
    """Returns the way in which a call came to nothing; None where it did not, or nothing shows it.

    A flag and a stated exit status come first. Words of failure count where no status contradicts them, and
    where they are no content: of a file that was read, of a log that was looked at.

    Args:
        call: The latest call of its chain.
        policy: What is declared about its tool.
        loops: The chain, which has taken it.
    """
    answer = call.result if isinstance(call.result, str) else ""
    if call.error:
        if is_cancelled(answer):
            return CallFailure.CANCELLED
        if _REFUSED.search(answer[:_HEAD]):
            return CallFailure.REFUSED
        found_nothing = loops.effect is Effect.READ and _NO_MATCH.fullmatch(answer)
        return None if found_nothing else CallFailure.FAILED
    outcome, moment = loops.outcome, loops.moment
    if outcome is None or outcome.ending is not Ending.FAILED or outcome.is_weak or moment is None:
        return None
    if moment.is_flagged:
        return CallFailure.REFUSED if _REFUSED.search(answer[:_HEAD]) else CallFailure.FAILED
    if policy is not None and _has_succeeded(call, policy, loops, answer):
        return None
    return CallFailure.FAILED


def _has_succeeded(call: ToolCall, policy: ToolPolicy, loops: LoopState, answer: str) -> bool:
    """Returns True if the record shows that a call without a flag got through, whatever words it brought."""
    if policy.outcome_of(call.args) is not None:
        return True  # the answer to the end of the work is the work
    if _has_status_zero(call.args, policy, answer):
        return True
    return loops.effect is Effect.READ and not begins_with_failure(answer)


def _has_status_zero(args: object, policy: ToolPolicy, answer: str) -> bool:
    """Returns True if a call of a shell that is not flagged ended with a status of 0, of all it ran.

    That is so where no command hides the status of another, and the answer states it, or the harness is
    known to flag calls that fail.
    """
    if policy.command is None or not policy.failure:
        return False
    if any("code" in pattern for pattern in policy.failure) and not _ZERO.search(answer[:_STATUS_READ]):
        return False
    command = args.get(policy.command) if isinstance(args, Mapping) else args
    return isinstance(command, str) and has_one_status(command)
