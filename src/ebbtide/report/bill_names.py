"""Names of the parts of a bill, on the screen and on the page."""

from __future__ import annotations

from collections.abc import Mapping

from ebbtide.budget.bill.bill import Amount, ContextPart, TokenClass, WasteKind
from ebbtide.report.plurals import count
from ebbtide.report.wording import money

LEAST = 0.005  #: a share that is worth a part of a bar of its own

CLASS_NAMES: Mapping[str, str] = {
    TokenClass.INPUT: "fresh input",
    TokenClass.CACHE_WRITE: "cache writes",
    TokenClass.CACHE_WRITE_1H: "one-hour cache writes",
    TokenClass.CACHE_READ: "cache reads",
    TokenClass.OUTPUT: "output",
    TokenClass.REASONING: "reasoning",
}
CONTENT_NAMES: Mapping[str, str] = {
    ContextPart.INSTRUCTIONS: "instructions and tool definitions",
    ContextPart.PERSON: "messages of people",
    ContextPart.TOOL_OUTPUT: "tool results",
    ContextPart.TOOL_CALL: "tool calls",
    ContextPart.OWN_WORDS: "earlier model output",
    ContextPart.NEW_OUTPUT: "model output",
    ContextPart.NOTES: "harness notes",
    ContextPart.SUMMARY: "compaction summaries",
    ContextPart.SIDE: "short side conversations",
    ContextPart.UNRECORDED: "content that the trace does not show",
    ContextPart.UNATTRIBUTED: "unattributed",
}
WASTE_NAMES: Mapping[str, str] = {
    WasteKind.SAME_CALL: "repeated calls, result known",
    WasteKind.FAILED_AGAIN: "failed again in the same way",
    WasteKind.REFUSED_AGAIN: "refused calls sent again",
    WasteKind.REFUSED_ANSWER: "results that the harness rejected",
    WasteKind.FAILED_EDIT: "edits that did not apply",
    WasteKind.OWN_EDIT: "edits of its own earlier lines",
    WasteKind.SLICES: "files read in small pieces",
    WasteKind.TODO_LIST: "turns that only updated the task list",
    WasteKind.LARGE_OUTPUT: "large results",
    WasteKind.CACHE_MISS: "cache misses",
}


def amount(item: Amount) -> str:
    """Returns money if it is known, else tokens.

    >>> amount(Amount(cost_usd=1.5, tokens=9)), amount(Amount(tokens=1200))
    ('$1.50', '1,200 tokens')
    """
    return count(item.tokens, "token") if item.cost_usd is None else money(item.cost_usd)


def share(item: Amount) -> str:
    """Returns its part of the whole.

    >>> share(Amount(share=0.254)), share(Amount(share=0.004)), share(Amount())
    ('25%', 'under 1%', '')
    """
    if not item.share:
        return ""
    return f"{item.share:.0%}" if item.share >= LEAST else "under 1%"
