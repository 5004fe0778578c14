"""What the page's script draws: columns instead of objects, each text once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbtide.report.markup import plain
from ebbtide.report.projection import Projection
from ebbtide.supervision.summary.run_summary import Cell, RunFinding, RunSummary

_SHOWN = 400  # characters of a call
_SHORTEST = 40
_ALL_SHOWN = 8_000_000  # characters of all calls, so that a page stays one that a browser likes to open
_NAME = 120  # characters of a name
_WHOLE_RUN = frozenset({"limit", "across_chains"})  # findings that are about all chains
_KINDS = ("tool", "llm", "user", "system")


def payload(
    summary: RunSummary, limits: Sequence[Projection] = (), *, characters: int = _ALL_SHOWN
) -> dict[str, Any]:
    """A run as the script wants it.

    Args:
        summary: The run.
        limits: How far it is from its limits.
        characters: How many all calls together may take; long runs show less of each.
    """
    return {
        "timeline": _timeline(summary.timeline, characters),
        "rounds": [
            [item.number, item.event, round(item.novelty_rate, 4), round(item.readiness, 4), item.signal]
            for item in summary.rounds
        ],
        "findings": [_finding(item) for item in summary.findings],
        "limits": [item.to_dict() for item in limits],
        "timed": summary.timed,
    }


def _finding(finding: RunFinding) -> list[Any]:
    chain = None if finding.kind in _WHOLE_RUN else plain(finding.chain_id, _NAME)
    return [finding.first_event, finding.last_event, finding.action.value, chain]


def _timeline(cells: Sequence[Cell], most: int) -> dict[str, Any]:
    length = min(_SHOWN, max(_SHORTEST, most // max(1, len(cells))))
    names, name = _table(cells, lambda cell: plain(cell.name, _NAME))
    chains, chain = _table(cells, lambda cell: plain(cell.chain_id, _NAME))
    texts, text = _table(cells, lambda cell: plain(cell.excerpt, length))
    start = next((cell.ts for cell in cells if cell.ts is not None), None)
    return {
        "number": [cell.number for cell in cells],
        "kind": [_KINDS.index(cell.kind) if cell.kind in _KINDS else 0 for cell in cells],
        "identity": [cell.identity for cell in cells],
        "error": [index for index, cell in enumerate(cells) if cell.error],
        "names": names,
        "name": name,
        "chains": chains,
        "chain": chain,
        "texts": texts,
        "text": text,
        "cost": [None if cell.cost_usd is None else round(cell.cost_usd, 6) for cell in cells],
        "tokens": [cell.tokens for cell in cells],
        "time": [None if cell.ts is None or start is None else round(cell.ts - start, 3) for cell in cells],
    }


def _table(cells: Sequence[Cell], value: Callable[[Cell], str]) -> tuple[list[str], list[int]]:
    """Each text once, and for each cell which one it has."""
    index: dict[str, int] = {}
    column = [index.setdefault(value(cell), len(index)) for cell in cells]
    return list(index), column
