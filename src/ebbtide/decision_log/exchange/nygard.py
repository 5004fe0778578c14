"""Decisions as the short records of Michael Nygard: status, context, decision, consequences.

Source: M. Nygard, "Documenting Architecture Decisions" (2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ebbtide.decision_log.exchange.madr import day, status_line, title_of
from ebbtide.decision_log.exchange.markdown import block, inline, item
from ebbtide.decision_log.record import Decision


def write_nygard(decision: Decision, number: int, names: Mapping[str, str]) -> str:
    """The page of a decision, for people; it leaves out what that style has no place for.

    Args:
        decision: The decision.
        number: Its number.
        names: The file of each decision, by id.
    """
    return "\n".join([*_page(decision, number, names), ""])


def _page(decision: Decision, number: int, names: Mapping[str, str]) -> Iterator[str]:
    candidate = decision.candidate
    yield f"# {number}. {inline(title_of(decision))}"
    yield f"\nDate: {day(decision.settled_at or decision.opened_at)}"
    yield f"\n## Status\n\n{status_line(decision, names).capitalize()}"
    yield "\n## Context\n"
    context = [*decision.thoughts, *(f"Option: {option}" for option in candidate.options)]
    yield from (map(item, context) if context else ["Not recorded."])
    yield f"\n## Decision\n\n{block(candidate.description)}"
    if candidate.reasons:
        yield "\nBecause:\n"
        yield from (item(reason.text) for reason in candidate.reasons)
    yield "\n## Consequences\n"
    yield block(decision.prediction) if decision.prediction else "Not recorded."
