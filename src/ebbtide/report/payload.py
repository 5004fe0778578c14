"""Data that the page's script draws: columns instead of objects, each text once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ebbtide.report.markup import plain
from ebbtide.report.projection import Projection
from ebbtide.supervision.summary.run_summary import Cell, RunFinding, RunSummary

_SHOWN = 400  # characters of a call
_SHORTEST = 40
_ALL_SHOWN = 6_000_000  # characters of all calls, so that a page stays one that a browser likes to open
_NAME = 120  # characters of a name
_FINDINGS = 200
_WHOLE_RUN = frozenset({"limit", "across_chains"})  # findings that are about all chains
_KINDS = ("tool", "llm", "user", "system")
_LONG = 400  # events from which a finding that is spread thinly over most of the run says nothing of a place
_SPARSE = 0.1
_MICRO, _MILLI = 1_000_000, 1_000  # of a dollar, and of a second


def payload(
    summary: RunSummary, limits: Sequence[Projection] = (), *, characters: int = _ALL_SHOWN
) -> dict[str, Any]:
    """Returns a run as the script wants it.

    Args:
        limits: Projections to its limits.
        characters: Characters that all calls together may take; long runs show less of each.
    """
    return {
        "timeline": _timeline(summary.timeline, characters),
        "rounds": [
            [item.number, item.event, round(item.novelty_rate, 4), round(item.readiness, 4), item.signal]
            for item in summary.rounds
        ],
        "findings": [
            row for item in summary.findings[:_FINDINGS] for row in _finding(item, summary.spent.events)
        ],
        "limits": [item.to_dict() for item in limits],
        "timed": summary.timed,
    }


def _finding(finding: RunFinding, events: int) -> list[list[Any]]:
    """Returns a row for each stretch of a finding."""
    chain = None if finding.kind in _WHOLE_RUN else plain(finding.chain_id, _NAME)
    length = sum(span.last - span.first + 1 for span in finding.spans)
    calls = finding.copies * max(1, len(finding.tools))
    has_place = events < _LONG or length < events / 2 or calls >= _SPARSE * length
    action = finding.action.value
    return [[span.first, span.last, action, chain, has_place] for span in finding.spans]


def _timeline(cells: Sequence[Cell], most: int) -> dict[str, Any]:
    length = min(_SHOWN, max(_SHORTEST, most // max(1, len(cells))))
    names, name = _table(cells, lambda cell: plain(cell.name, _NAME))
    chains, chain = _table(cells, lambda cell: plain(cell.chain_id, _NAME))
    texts, text = _table(cells, lambda cell: plain(cell.excerpt, length))
    numbers = [cell.number for cell in cells]
    start = next((cell.ts for cell in cells if cell.ts is not None), 0.0)
    return {
        "number": None if numbers == list(range(1, len(cells) + 1)) else numbers,
        "kind": "".join(str(_KINDS.index(cell.kind) if cell.kind in _KINDS else 0) for cell in cells),
        "identity": _steps([cell.identity for cell in cells], 1),
        "error": [index for index, cell in enumerate(cells) if cell.error],
        "names": names,
        "name": name,
        "chains": chains,
        "chain": chain if len(chains) > 1 else None,
        "texts": texts,
        "text": _steps(text, 1),
        "cost": _steps([cell.cost_usd for cell in cells], _MICRO),
        "tokens": _steps([cell.tokens for cell in cells], 1),
        "time": _steps([None if cell.ts is None else cell.ts - start for cell in cells], _MILLI),
    }


def _steps(values: Sequence[float | None], unit: int) -> list[int | None]:
    """Returns the steps from one known value to the next, in whole units.

    A third of what the values would take.
    """
    steps: list[int | None] = []
    before = 0
    for value in values:
        if value is None or not math.isfinite(value * unit):
            steps.append(None)
            continue
        now = round(value * unit)
        steps.append(now - before)
        before = now
    return steps


def _table(cells: Sequence[Cell], value: Callable[[Cell], str]) -> tuple[list[str], list[int]]:
    """Returns each text once, and for each cell which one it has."""
    index: dict[str, int] = {}
    column = [index.setdefault(value(cell), len(index)) for cell in cells]
    return list(index), column
