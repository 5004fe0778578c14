"""Outcome of a run, or of a piece of work in it."""

from __future__ import annotations

from enum import StrEnum


class RunOutcome(StrEnum):
    """Outcome of work, as somebody in the run says, or as a tool that ends it shows."""

    FINISHED = "finished"  #: it is done, by whoever says so; not that it is right
    FAILED = "failed"  #: it was not done, and somebody says so
    BLOCKED = "blocked"  #: it waits for something that nobody in the run can do
    HANDED_BACK = "handed_back"  #: a person is asked, or takes over
    LIMIT = "limit"  #: a limit ended it
    GOING_ON = "going_on"  #: more is announced, or something is not done yet
    INTERRUPTED = "interrupted"  #: a person stopped it


#: Work that did not come to its end.
FAILURES = (RunOutcome.FAILED, RunOutcome.BLOCKED, RunOutcome.LIMIT)
#: What speaks against a result that is ready.
SETBACKS = (*FAILURES, RunOutcome.HANDED_BACK)
