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
    TokenClass.CACHE_WRITE_1H: "cache writes for an hour",
    TokenClass.CACHE_READ: "cache reads",
    TokenClass.OUTPUT: "output",
    TokenClass.REASONING: "reasoning",
}
CONTENT_NAMES: Mapping[str, str] = {
    ContextPart.INSTRUCTIONS: "instructions and tool definitions",
    ContextPart.PERSON: "what people said",
    ContextPart.TOOL_OUTPUT: "answers of tools",
    ContextPart.TOOL_CALL: "calls of tools",
    ContextPart.OWN_WORDS: "the model's earlier words",
    ContextPart.NEW_OUTPUT: "what the model wrote",
    ContextPart.NOTES: "notes of the harness",
    ContextPart.SUMMARY: "summaries of compactions",
    ContextPart.SIDE: "short conversations beside it",
    ContextPart.UNRECORDED: "content that the trace does not show",
    ContextPart.UNATTRIBUTED: "unattributed",
}
WASTE_NAMES: Mapping[str, str] = {
    WasteKind.SAME_CALL: "same call, answer known",
    WasteKind.FAILED_AGAIN: "failed again in the same way",
    WasteKind.REFUSED_AGAIN: "asked again for what was refused",
    WasteKind.REFUSED_ANSWER: "answers that the harness did not take",
    WasteKind.FAILED_EDIT: "edits that did not apply",
    WasteKind.OWN_EDIT: "edits of its own lines",
    WasteKind.SLICES: "files read in small pieces",
    WasteKind.TODO_LIST: "turns that only rewrote the list of tasks",
    WasteKind.LARGE_OUTPUT: "large answers",
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
