"""The numbers of the exam as text: a row for each set and entrant, or a row an entrant for the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NAMES = {
    "incidents": "incidents",
    "scenarios": "call sequences",
    "texts": "words alone",
    "episodes": "shell, SQL",
    "runs": "other runs",
    "sessions": "sessions",
}


def rate(value: Mapping[str, Any]) -> str:
    """A count of so many, with its interval in percent.

    >>> rate({"count": 18, "of": 22, "interval": (0.6148, 0.9269)})
    '18 of 22 [61, 93]'
    """
    return f"{value['count']:,} of {value['of']:,} {_interval(value)}" if value["of"] else "none"


def _interval(value: Mapping[str, Any]) -> str:
    return f"[{', '.join(_percent(100 * end) for end in value['interval'])}]"


def _percent(value: float) -> str:
    return f"{value:.1g}" if 0 < value < 0.95 else f"{value:.0f}"


def lines(sets: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of the table: what each entrant told, told in time and accused, set by set."""
    heads = "".join(f"{head:>26}" for head in ("told", "in time", "healthy, accused"))
    yield f"{'set':<10} {'entrant':<22}{heads}{'calls after':>13}"
    for name, result in sets.items():
        for entrant, row in result["entrants"].items():
            after = "" if row["calls_after"] is None else f"{row['calls_after']:.1%}"
            told, in_time, accused = (rate(row[key]) for key in ("told", "in_time", "accused"))
            errors = f"  {len(row['errors'])} errors" if row["errors"] else ""
            yield f"{name:<10} {entrant:<22} {told:>25} {in_time:>25} {accused:>25} {after:>12}{errors}"


def markdown(result: Mapping[str, Any]) -> str:
    """Returns the table of the documents: a row an entrant, and in each cell what was told and accused."""
    sets = result["sets"]
    heads = []
    for name, values in sets.items():
        row = next(iter(values["entrants"].values()))
        heads.append(
            f"{_NAMES[name]}: {values['bad']} {row['told']['of']:,}, healthy {row['accused']['of']:,}"
        )
    out = [f"| told in time, accused | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for entrant in next(iter(sets.values()))["entrants"]:
        cells = []
        for values in sets.values():
            row = values["entrants"][entrant]
            cells.append(", ".join(_cell(row[key]) for key in ("in_time", "accused")))
        version = result["entrants"][entrant]
        title = f"{entrant} {version}" if version else entrant
        title = f"**{title}**" if entrant.startswith("Ebbtide") else title
        out.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(out)


def _cell(value: Mapping[str, Any]) -> str:
    return f"{value['count']:,} {_interval(value)}"
