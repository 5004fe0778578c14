"""A bill in words, on the screen and on the page: names of its parts, and its tree."""

from __future__ import annotations

from collections.abc import Mapping

from ebbtide.budget.bill.bill import Amount, BillTree, ChildBill, ContextPart, TokenClass, WasteKind
from ebbtide.report.plurals import count
from ebbtide.report.wording import money

LEAST = 0.005  #: a share that is worth a part of a bar of its own
_SHOWN = 6  # parts of a tree in a line

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


def tree_sentence(tree: BillTree) -> str:
    """Returns what the whole tree took.

    >>> tree_sentence(BillTree(total=Amount(cost_usd=4.33), own=Amount(cost_usd=4.02), runs=2))
    '$4.33 with what comes from it, in 2 files'
    """
    return f"{amount(tree.total)}{tree_mark(tree)} with what comes from it, in {count(tree.runs, 'file')}"


def tree_mark(tree: BillTree) -> str:
    """Returns the mark behind a sum that is known in part alone."""
    return "+" if tree.is_least and tree.total.cost_usd is not None else ""


def tree_parts(tree: BillTree) -> list[tuple[str, Amount]]:
    """Returns the parts of a tree, which add up to it: its own, those that matter, and the others."""
    parts = [("its own", tree.own)]
    parts += [(_child(child), child.amount) for child in tree.children]
    if tree.children_left_out:
        parts.append((count(tree.children_left_out, "other"), tree.rest))
    return parts


def _child(child: ChildBill) -> str:
    lacking = f", its {count(child.unrecorded, 'call')} not recorded" if child.unrecorded else ""
    return f"{child.name or child.run} ({child.kind}{lacking})"


def tree_line(tree: BillTree) -> str:
    """Returns the parts of a tree in one line, those of one name together.

    >>> tree_line(BillTree(total=Amount(cost_usd=4.33), own=Amount(cost_usd=4.02), runs=2))
    'Of that $4.02 its own.'
    """
    groups: dict[str, list[Amount]] = {}
    for name, part in tree_parts(tree):
        groups.setdefault(name, []).append(part)
    words = []
    for name, parts in groups.items():
        costs = [part.cost_usd for part in parts if part.cost_usd is not None]
        whole = Amount(cost_usd=sum(costs) if costs else None, tokens=sum(part.tokens for part in parts))
        words.append(f"{amount(whole)} {f'{len(parts):,} times ' if len(parts) > 1 else ''}{name}")
    return f"Of that {', '.join(words[:_SHOWN])}{', ...' if len(words) > _SHOWN else ''}."
