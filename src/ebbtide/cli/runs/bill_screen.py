"""The bill of a run, line by line: what `check --all` shows below its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ebbtide.budget.bill.bill import Bill, BillLine, CarriedEvent
from ebbtide.cli.lines import Line
from ebbtide.cli.terminal import plain
from ebbtide.report.bill_names import CLASS_NAMES, CONTENT_NAMES, WASTE_NAMES, amount, share
from ebbtide.report.plurals import count

_LISTED = 6
_NAME = 60
_MAIN = "main"  # what has no name
_NO_NAMES: Mapping[str, str] = {}


def bill_lines(bill: Bill) -> list[Line]:
    """Every view of a bill that says something, a line each; the most expensive events a line each."""
    if not bill.sentence:
        return []
    views: list[tuple[str, Iterable[str]]] = [
        ("classes", _amounts(bill.classes, CLASS_NAMES)),
        ("contents", _amounts(bill.contents, CONTENT_NAMES)),
        ("tools", _amounts(bill.tools)),
        ("files", _amounts(bill.files)),
        ("models", _amounts(bill.models) if len(bill.models) > 1 else ()),
        ("agents", _amounts(bill.agents) if len(bill.agents) > 1 else ()),
        ("requests", _amounts(_dearest(bill.requests)) if len(bill.requests) > 1 else ()),
        ("phases", _amounts(bill.phases)),
        ("waste", _waste(bill)),
        ("failed", _failures(bill)),
        ("unattributed", _amounts(bill.why_unattributed)),
        (
            "compactions",
            [f"event {item.event:,}: {item.before:,} to {item.after:,} tokens" for item in bill.compactions],
        ),
    ]
    lines = []
    for name, parts in views:
        words = ", ".join(parts)
        if words:
            lines.append(Line(f"{name}: ", "dim").append(words))
    return lines + [_event(item) for item in bill.events]


def _amounts(lines: Sequence[BillLine], names: Mapping[str, str] = _NO_NAMES) -> list[str]:
    visible = [line for line in lines if line.amount.share >= 0.0005][:_LISTED]
    words = [
        f"{plain(names.get(line.name) or line.name or _MAIN, _NAME)} {amount(line.amount)}"
        f" ({share(line.amount)})"
        for line in visible
    ]
    rest = len(lines) - len(visible)
    return [*words, f"{rest:,} more"] if rest and words else words


def _dearest(lines: Sequence[BillLine]) -> list[BillLine]:
    return sorted(lines, key=lambda line: line.amount.share, reverse=True)


def _waste(bill: Bill) -> list[str]:
    if not bill.waste:
        return []
    kinds = [
        f"{WASTE_NAMES[line.kind]} {amount(line.amount)} ({count(line.count, 'call')})" for line in bill.waste
    ]
    return [f"wasted {amount(bill.wasted)}", f"avoidable {amount(bill.avoidable)}", *kinds]


def _failures(bill: Bill) -> list[str]:
    line = bill.failures
    return [] if line is None else [f"{count(line.count, 'call')} {amount(line.amount)}"]


def _event(item: CarriedEvent) -> Line:
    size = f"{'about ' * item.is_estimated}{count(item.size, 'token')}"
    name = plain(item.title, _NAME) or CONTENT_NAMES[item.content]
    reading = f"{size}, read by {count(item.reads, 'call')}: " if item.size else ""
    line = Line(f"event {item.event:,}: ", "dim").append(f"{name}: {reading}")
    return line.append(amount(item.amount), "bold")
