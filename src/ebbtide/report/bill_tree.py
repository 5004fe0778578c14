"""The tree of a bill in words: what a run took with all that come from it, and a line for each of them."""

from __future__ import annotations

from ebbtide.budget.bill.bill import Amount, BillTree, ChildBill
from ebbtide.report.bill_names import amount
from ebbtide.report.plurals import count

_SHOWN = 6  # parts in a line


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
