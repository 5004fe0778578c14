"""The bill of a run as a part of its page: what it cost, for what, and what could have been saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ebbtide.budget.bill.bill import (
    Amount,
    Bill,
    BillLine,
    BillTree,
    CacheMisses,
    CarriedEvent,
)
from ebbtide.report.bill_words import (
    CLASS_NAMES,
    CONTENT_NAMES,
    LEAST,
    WASTE_NAMES,
    amount,
    share,
    tree_parts,
    tree_sentence,
)
from ebbtide.report.markup import Markup, element, joined, table
from ebbtide.report.plurals import count
from ebbtide.report.wording import cost, missing_cost
from ebbtide.supervision.summary.run_summary import RunSummary

_UNATTRIBUTED = "unattributed"
_NO_NAMES: Mapping[str, str] = {}
_ROWS = 25
_BAR = 1_000  # units of its width


def bill_part(summary: RunSummary) -> Markup:
    """Returns the cost of a run, with a bar of the classes, and what follows from it."""
    bill = summary.bill
    missing = missing_cost(summary.spent)
    return element(
        "section",
        element("h2", "Cost"),
        element("p", cost(summary.spent), class_="total"),
        element("p", missing, class_="note") if missing else None,
        element("p", bill.sentence, class_="lead", dir="auto") if bill.sentence else None,
        _bar(bill),
        _tree(bill.tree),
        _savings(bill),
        _suggestions(bill),
        class_="bill",
    )


def _tree(tree: BillTree | None) -> Markup | None:
    """Returns what the run took with all that come from it, a row each."""
    if tree is None:
        return None
    rows = [(name, amount(part), share(part)) for name, part in tree_parts(tree)]
    return table(tree_sentence(tree), ("", "cost", "share"), rows, words=("",))


def bill_details(bill: Bill) -> Markup | None:
    """Returns the most expensive events, and the bill broken down; None if nothing is known of either."""
    parts = [_events(bill.events), _waste(bill), *_breakdowns(bill)]
    return joined(*parts) if any(parts) else None


def _bar(bill: Bill) -> Markup | None:
    items = [
        (_words(CLASS_NAMES, line.name), line.name, line.amount) for line in bill.classes if line.amount.share
    ]
    if not items and not bill.total.share:
        return None
    rest = 1 - sum(item.share for _, _, item in items)
    if rest >= LEAST:
        items.append((_UNATTRIBUTED, _UNATTRIBUTED, _rest(bill, rest)))
    boxes, signs, start = [], [], 0.0
    for label, name, item in items:
        tone = f"class-{name.replace('_', '-')}"
        width = item.share * _BAR
        boxes.append(element("rect", x=f"{start:.1f}", y=0, width=f"{width:.1f}", height=10, class_=tone))
        start += width
        signs.append(
            element(
                "li",
                element("span", class_=f"swatch {tone}"),
                label,
                element("b", amount(item)),
                element("span", share(item), class_="quiet"),
            )
        )
    bar = element(
        "svg",
        *boxes,
        viewBox=f"0 0 {_BAR} 10",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )
    return joined(bar, element("ul", *signs, class_="classes"))


def _rest(bill: Bill, part: float) -> Amount:
    amounts = [line.amount for line in bill.classes]
    tokens = max(0, bill.total.tokens - sum(item.tokens for item in amounts))
    if bill.total.cost_usd is None:
        return Amount(tokens=tokens, share=part)
    dollars = bill.total.cost_usd - sum(item.cost_usd or 0.0 for item in amounts)
    return Amount(cost_usd=dollars, tokens=tokens, share=part)


def _savings(bill: Bill) -> Markup | None:
    parts = [
        element("li", element("b", amount(item)), f" {words} ", element("span", share(item), class_="quiet"))
        for item, words in ((bill.wasted, "wasted"), (bill.avoidable, "avoidable"))
        if item.share
    ]
    return element("ul", *parts, class_="savings") if parts else None


def _suggestions(bill: Bill) -> Markup | None:
    items = [
        element("li", element("span", item.text, dir="auto"), _jump(item.event))
        for item in bill.suggestions[:3]
    ]
    return (
        joined(element("h3", "Cheaper next time"), element("ol", *items, class_="suggestions"))
        if items
        else None
    )


def _jump(event: int | None) -> Markup | None:
    """Returns a link to an event on the timeline."""
    if event is None:
        return None
    return element("button", f"event {event:,}", type="button", class_="jump", data_event=event)


def _events(events: Sequence[CarriedEvent]) -> Markup | None:
    if not events:
        return None
    rows = [
        element(
            "li",
            element("b", amount(item.amount), class_="price"),
            element(
                "span",
                element(
                    "span",
                    item.title or _words(CONTENT_NAMES, item.content),
                    dir="auto",
                    class_="title",
                ),
                element("span", _carried_line(item), class_="note"),
            ),
            _jump(item.event),
        )
        for item in events
    ]
    return joined(element("h3", "The most expensive events"), element("ol", *rows, class_="dearest"))


def _carried_line(item: CarriedEvent) -> str:
    size = f"{'about ' * item.is_estimated}{count(item.size, 'token')}"
    parts = [
        size if item.size else "",
        f"read by {count(item.reads, 'call')}" if item.reads else "",
        share(item.amount),
    ]
    return " \N{MIDDLE DOT} ".join(filter(None, parts))


def _waste(bill: Bill) -> Markup | None:
    if not bill.waste:
        return None
    rows = [
        (
            _words(WASTE_NAMES, line.kind),
            f"{line.count:,}",
            amount(line.amount),
            share(line.amount),
            line.example,
            joined(*map(_jump, line.events[:3])),
        )
        for line in bill.waste
    ]
    headers = ("kind", "calls", "cost", "share", "for example", "where")
    return table("Waste by kind", headers, rows, words=("kind", "for example", "where"))


def _breakdowns(bill: Bill) -> list[Markup | None]:
    return [
        _lines("By content", bill.contents, names=CONTENT_NAMES),
        _lines("By tool", bill.tools, counted="results"),
        _lines("By file", bill.files, counted="results"),
        _lines("By request", bill.requests),
        _lines("By phase", bill.phases),
        _lines("By model", bill.models, fewest=2),
        _lines("By agent", bill.agents, fewest=2),
        _lines("Why something is unattributed", bill.why_unattributed),
        _misses(bill.misses),
    ]


def _misses(misses: CacheMisses) -> Markup | None:
    if not misses.calls:
        return None
    row = (
        f"{misses.calls:,}",
        f"{misses.after_pauses:,}",
        f"{misses.tokens:,}",
        amount(misses.above_hit),
        share(misses.above_hit),
    )
    return table("Cache misses", ("calls", "after a pause", "tokens", "above a hit", "share"), [row])


def _lines(
    title: str,
    lines: Sequence[BillLine],
    *,
    names: Mapping[str, str] = _NO_NAMES,
    counted: str | None = None,
    fewest: int = 1,
) -> Markup | None:
    """Returns a breakdown; None if it has fewer lines than say anything."""
    if len(lines) < fewest:
        return None
    columns: list[tuple[str, Callable[[BillLine], str]]] = [
        ("", lambda line: _words(names, line.name) if names else line.title or line.name or "(no name)"),
        ("cost", lambda line: amount(line.amount)),
        ("share", lambda line: share(line.amount)),
    ]
    if counted:
        columns.append((counted, lambda line: f"{line.count:,}"))
    if any(line.failures for line in lines):
        columns.append(("failed", lambda line: f"{line.failures:,}"))
    if any(line.event is not None for line in lines):
        columns.append(("where", lambda line: _jump(line.event) or ""))
    rows = [[cell(line) for _, cell in columns] for line in lines]
    return table(title, [name for name, _ in columns], rows, words=("", "where"), most=_ROWS)


def _words(names: Mapping[str, str], name: str) -> str:
    """Returns the words for a label; the label itself if there are none."""
    return names.get(name) or name.replace("_", " ")
