"""Holds what advice expects from the first half of a project's sessions against a replay of the second.

    python -m benchmarks.quality.advice [--data DIR]

The sessions of each project are split in two by the time of their begin, as many on each side. Advice is
asked for on the first half alone, by the rules of the product; the same change is replayed on the second.

- a month: dollars a month that were expected, and those that the second half would have saved;
- share: the same as shares of what each half cost: how much a project works is not its advice's;
- inside: advices whose second half fell into the interval that was printed with them;
- measured: the realised saving that the product would print, in every project with enough sessions, where
  nothing was changed (the truth is zero), and where the change is made in the second half by its replay.

The interval of a ratio draws the sessions of both halves again.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.advice.estimate import PaidSession, bootstrap, estimate, paid_sessions
from ebbtide.advice.kinds import KINDS
from ebbtide.advice.measuring import measure
from ebbtide.advice.priced_advice import PricedAdvice, advices
from ebbtide.advice.session_record import SessionRecord
from ebbtide.budget.prices import Prices
from ebbtide.errors import TranscriptError
from ebbtide.traces.money.shared_calls import SharedCalls
from ebbtide.traces.reading import open_trace
from ebbtide.traces.sessions.session_origin import AGENT_OF_FORMAT


def records(data: Path) -> list[SessionRecord]:
    """Returns the sessions, each with its repository as its project: each call once."""
    paths = sorted((data / "sessions").rglob("*.jsonl.gz"))
    inherited, prices = SharedCalls.of(paths).inherited, Prices()
    found = []
    for path in paths:
        try:
            trace = open_trace(path)
        except TranscriptError:
            continue
        agent = AGENT_OF_FORMAT.get(trace.format.name)
        record = SessionRecord(
            session=path.stem, project=path.parent.name, agent=agent.value if agent else ""
        )
        record.read(trace, prices, inherited=inherited.get(str(path)))
        found.append(record)
    return found


def halves(found: Sequence[SessionRecord]) -> tuple[list[SessionRecord], list[SessionRecord]]:
    """Returns the sessions of each project and agent, the earlier half and the later one."""
    groups: dict[tuple[str, str | None], list[SessionRecord]] = defaultdict(list)
    for record in found:
        if record.began is not None and record.calls:
            groups[record.agent, record.project].append(record)
    first: list[SessionRecord] = []
    second: list[SessionRecord] = []
    for group in groups.values():
        group.sort(key=lambda record: record.began or 0.0)
        first += group[: len(group) // 2]
        second += group[len(group) // 2 :]
    return first, second


def share(sessions: Sequence[PaidSession]) -> float:
    """Returns the share of the cost that a change saves."""
    return sum(item.saving for item in sessions) / max(sum(item.cost for item in sessions), 1)


def row(advice: PricedAdvice, second: Sequence[SessionRecord]) -> dict[str, Any]:
    """Returns an advice beside the second half of its project."""
    kind = advice.kind
    later = of_project(second, kind.change.agent.value, advice.project)
    realised = estimate([kind.replay(item) for item in later], later)
    after = paid_sessions(kind, later)
    expected = advice.expected
    assert realised is not None
    assert expected.interval is not None
    assert realised.usd is not None
    assert realised.interval is not None
    low, high = bootstrap(advice.before, after, of=lambda a, b: share(b) / max(share(a), 1e-9))
    return {
        "kind": kind.name,
        "agent": kind.change.agent.value,
        "project": advice.project or "all",
        "sessions": [len(advice.before), len(after)],
        "expected_usd": round(expected.usd or 0.0, 2),
        "expected_95": [round(edge, 2) for edge in expected.interval],
        "realised_usd": round(realised.usd, 2),
        "realised_95": [round(edge, 2) for edge in realised.interval],
        "inside": expected.interval.low <= realised.usd <= expected.interval.high,
        "share": [round(share(advice.before), 4), round(share(after), 4)],
        "ratio_at_equal_spending": round(share(after) / share(advice.before), 3),
        "ratio_95": [round(low, 3), round(high, 3)],
    }


def of_project(found: Sequence[SessionRecord], agent: str, project: str | None) -> list[SessionRecord]:
    """Returns the sessions of an agent in a project; None: in all of them."""
    return [item for item in found if item.agent == agent and project in (None, item.project)]


def measured(first: Sequence[SessionRecord], second: Sequence[SessionRecord]) -> Iterator[dict[str, Any]]:
    """Yields what the product would say was realised, of kinds that compare sessions, beside the truth."""
    for kind in KINDS.values():
        if kind.realised is not None:
            continue
        agent = kind.change.agent.value
        projects = {item.project for item in first if item.agent == agent}
        for project in sorted(filter(None, projects)):
            before = paid_sessions(kind, of_project(first, agent, project))
            after = of_project(second, agent, project)
            savings = [kind.replay(item) for item in after]
            truth = estimate(savings, after)
            cut = [
                replace(item, cost=(item.cost or 0) - (saving.cost or 0), answers=[])
                for item, saving in zip(after, savings, strict=True)
                if item.cost is not None
            ]
            for sessions, usd in ((after, 0.0), (cut, None if truth is None else truth.usd)):
                realised = measure(kind, before, sessions)
                if usd is None or realised.usd is None or realised.interval is None:
                    continue
                yield {
                    "kind": kind.name,
                    "agent": agent,
                    "project": project,
                    "change": "none" if sessions is after else "made",
                    "sessions": [len(before), realised.sessions],
                    "truth_usd": round(usd, 2),
                    "realised_usd": round(realised.usd, 2),
                    "realised_95": [round(edge, 2) for edge in realised.interval],
                    "has_truth": realised.interval.low <= usd <= realised.interval.high,
                }


def by_kind(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the advices of each kind together."""
    lines = []
    for name in sorted({row["kind"] for row in rows}):
        of_kind = [row for row in rows if row["kind"] == name]
        expected, realised = (sum(row[f"{word}_usd"] for row in of_kind) for word in ("expected", "realised"))
        positive = sum(row["realised_usd"] > 0 for row in of_kind)
        lines.append(
            {
                "kind": name,
                "n": len(of_kind),
                "expected_usd": round(expected, 2),
                "realised_usd": round(realised, 2),
                "ratio": round(realised / expected, 3),
                "saved_at_all": positive,
                "saved_at_all_95": wilson(positive, len(of_kind)),
                "inside": sum(row["inside"] for row in of_kind),
            }
        )
    return lines


def main() -> None:
    """Prints the advices and their second halves, and writes them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    arguments = parser.parse_args()
    found = records(data_folder(arguments.data))
    first, second = halves(found)
    rows = [row(advice, second) for advice in advices(first) if advice.expected.usd is not None]
    kinds, checks = by_kind(rows), list(measured(first, second))
    for line in (*rows, *kinds, *checks):
        print("  ".join(f"{key} {value}" for key, value in line.items()))
    write_result(
        "quality-advice",
        {
            "setup": setup(),
            "sessions": len(found),
            "by_kind": kinds,
            "advices": rows,
            "measured": checks,
        },
    )


if __name__ == "__main__":
    main()
