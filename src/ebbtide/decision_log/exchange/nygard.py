"""Decisions as the short records of Michael Nygard: status, context, decision, consequences.

Source: M. Nygard, "Documenting Architecture Decisions" (2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ebbtide.decision_log.exchange.madr import argument_items, day, status_line, title_of
from ebbtide.decision_log.exchange.markdown import block, inline, item
from ebbtide.decision_log.particulars import Particulars
from ebbtide.decision_log.record import Decision

_GAP = "\n"


def write_nygard(decision: Decision, number: int, names: Mapping[str, str]) -> str:
    """The page of a decision, for people; it leaves out what that style has no place for.

    Args:
        decision: The decision.
        number: Its number.
        names: The file of each decision, by id.
    """
    return "\n".join([*_page(decision, number, names), ""])


def _page(decision: Decision, number: int, names: Mapping[str, str]) -> Iterator[str]:
    candidate, beside = decision.candidate, decision.particulars or Particulars()
    yield f"# {number}. {inline(title_of(decision))}"
    yield f"\nDate: {day(decision.settled_at or decision.opened_at)}"
    if beside.deciders:
        yield f"\nDeciders: {', '.join(map(inline, beside.deciders))}"
    yield f"\n## Status\n\n{status_line(decision, names).capitalize()}"
    yield "\n## Context\n"
    context = [*decision.thoughts, *(f"Option: {option}" for option in candidate.options)]
    if beside.context:
        yield f"{block(beside.context)}{_GAP if context else ''}"
    elif not context:
        yield "Not recorded."
    yield from map(item, context)
    yield f"\n## Decision\n\n{block(beside.choice or candidate.description)}"
    if candidate.reasons:
        yield "\nBecause:\n"
        yield from (item(reason.text) for reason in candidate.reasons)
    for option in beside.options:
        yield f"\n{inline(option.title)}:\n"
        yield from argument_items(option)
    yield "\n## Consequences\n"
    expected = (decision.prediction,) if decision.prediction else ()
    consequences = [*beside.consequences, *expected]
    if len(consequences) > 1:
        yield from map(item, consequences)
    else:
        yield block(next(iter(consequences), "Not recorded."))
