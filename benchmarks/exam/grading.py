"""Worth of the first words of an entrant on a set: told, told in time, accused, and which were wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.exam.cases import Case, Truth
from benchmarks.exam.entrants import Entrant, first_word
from benchmarks.measure import wilson
from ebbtide.events.event import Event, Phase, ToolCall


@dataclass(frozen=True, slots=True)
class Mark:
    """What an entrant made of a case.

    Args:
        case: The id of the case.
        group: Its label.
        truth: What was right to say.
        spoke: The entrant spoke.
        in_time: It spoke at or before the deadline of the case.
        calls: Calls of tools in the case.
        calls_after: Those after its first word; 0 where it stayed silent.
        error: What it raised, if it did; it counts as silent then.
    """

    case: str
    group: str
    truth: Truth
    spoke: bool = False
    in_time: bool = False
    calls: int = 0
    calls_after: int = 0
    error: str = ""


def mark(entrant: Entrant, case: Case) -> Mark:
    """Returns what an entrant makes of a case; each record of it is told to watchers of its own."""
    spoke = in_time = False
    calls = calls_after = 0
    try:
        for record in case.records:
            place = first_word(entrant, record.events)
            calls += _calls(record.events)
            if place is not None:
                spoke = True
                in_time |= record.deadline is None or place <= record.deadline
                calls_after += _calls(record.events[place:])
    except Exception as error:  # noqa: BLE001 - an entrant that breaks must not end the exam
        return Mark(case.id, case.group, case.truth, error=f"{type(error).__name__}: {error}"[:200])
    return Mark(case.id, case.group, case.truth, spoke, in_time, calls, calls_after)


def _calls(events: Sequence[Event]) -> int:
    return sum(isinstance(event, ToolCall) and event.phase is not Phase.STARTED for event in events)


def grade(marks: Sequence[Mark]) -> dict[str, Any]:
    """Returns the numbers of an entrant on a set, and the ids of the cases that it got wrong."""
    bad = [item for item in marks if item.truth is not Truth.HEALTHY]
    healthy = [item for item in marks if item.truth is Truth.HEALTHY]
    stuck = [item for item in bad if item.truth is Truth.STUCK]
    calls = sum(item.calls for item in bad)
    groups: dict[str, list[Mark]] = {}
    for item in marks:
        groups.setdefault(item.group, []).append(item)
    return {
        "told": _rate(sum(item.spoke for item in bad), len(bad)),
        "in_time": _rate(sum(item.in_time for item in bad), len(bad)),
        "accused": _rate(sum(item.spoke for item in healthy), len(healthy)),
        "calls_after": round(sum(item.calls_after for item in bad) / calls, 4) if calls else None,
        "groups": {
            name: [sum(item.spoke for item in items), len(items)] for name, items in sorted(groups.items())
        },
        "wrong": {
            "missed": [item.case for item in stuck if not item.spoke],
            "late": [item.case for item in stuck if item.spoke and not item.in_time],
            "accused": [item.case for item in healthy if item.spoke],
        },
        "errors": {item.case: item.error for item in marks if item.error},
    }


def _rate(count: int, total: int) -> dict[str, Any]:
    return {"count": count, "of": total, "interval": wilson(count, total)}
