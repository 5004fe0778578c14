"""Text that a person reads if a run was ended, in place of an answer."""

from __future__ import annotations

from ebbtide.budget.tally import dollars
from ebbtide.errors import expect
from ebbtide.events.identity import MARK
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict


def final_text(verdict: Verdict, standing: RunStanding | None = None) -> str:
    """Returns why a run ended, in words for a person.

    Args:
        verdict: Verdict that ended it.
        standing: Standing of the run at its end, if that is known.

    >>> from ebbtide import Runs, ToolCall
    >>> runs = Runs()
    >>> for _ in range(4):
    ...     turn = runs.before_model("invoice-7")
    ...     _ = runs.record("invoice-7", ToolCall(name="ls", args={"path": "."}, result="a.txt"))
    >>> final_text(runs.before_model("invoice-7").verdict)
    '[ebbtide] This run was ended: ls 4 times in a row, same arguments, same result; ...'
    """
    expect("verdict", verdict, Verdict)
    expect("standing", standing, RunStanding, optional=True)
    start = "A person should look at this run" if verdict.action is Action.ESCALATE else "This run was ended"
    text = f"{MARK}{start}: {verdict.explanation}"
    spent = [] if standing is None else _spent(standing)
    return f"{text} It took {', '.join(spent)}." if spent else text


def _spent(standing: RunStanding) -> list[str]:
    parts = []
    if standing.cost_usd is not None:
        parts.append(dollars(standing.cost_usd))
    if standing.tokens:
        parts.append(f"{standing.tokens:,} tokens")
    return parts
