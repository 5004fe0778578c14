"""Tells from the first half of a run if it will be solved, and compares that with simpler forecasts.

    python -m benchmarks.quality.forecast [--data DIR]

Runs with an outcome, at two moments (`benchmarks.quality.forecast_runs`). A logistic regression over the
facts that the engines keep is held against three baselines: the base rate, the number of turns so far, and
the verdict that holds. Three ways to leave out: one agent (a model in an environment), one collection with
all its agents, and one fifth of the tasks of the agent, by whose other tasks the forecast is then fitted.
In the first two each agent counts the same, and the AUC of a baseline is that of its better direction,
which only the outcomes tell. A base rate of others is not that of the agent at hand: the Brier score shows
it, the AUC does not. Between tasks, an AUC compares runs of one fold. Intervals are 95 % of draws of whole
tasks. `bins` are the calibration of the facts.

A forecast is worth something where the interval of its gain over a baseline is above 0. Agents with fewer
than 10 runs of either outcome are fitted on, and not counted; so are the `ledgers`, which all failed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.forecast_runs import MOMENTS, Point, read_points
from benchmarks.quality.forecast_scores import Asked, Forecaster, Numbers, gains, reliability, scored

FOLDS = 5
FEWEST = 10  # runs of either outcome, for an AUC
_SEED = 20_261
_VERDICTS = 5
#: Facts of each forecast; None stands for all.
FORECASTS: dict[str, tuple[str, ...] | None] = {
    "base rate": (),
    "turns": ("turns",),
    "verdict": ("verdict",),
    "facts": None,
}
_BASELINES = ("base rate", "turns", "verdict")


def rows_of(points: Sequence[Point], names: tuple[str, ...] | None) -> Numbers:
    """The features of points: facts, and for a verdict one column a rung."""
    if not points:
        return np.zeros((0, 0))
    facts = sorted(points[0].facts) if names is None else list(names)
    columns = [[point.facts[name] for point in points] for name in facts if name != "verdict"]
    if "verdict" in facts:
        columns += [
            [float(point.facts["verdict"] == rung) for point in points] for rung in range(1, _VERDICTS)
        ]
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(points)).T


def forecast(
    known: Sequence[Point], asked: Sequence[Point], names: tuple[str, ...] | None, *, by_agent: bool
) -> Numbers:
    """The chances of points by what is known of others.

    Args:
        known: Points whose outcome is known.
        asked: The others.
        names: Facts that count; None for all.
        by_agent: Each agent counts the same.
    """
    outcomes = np.array([point.solved for point in known], dtype=np.float64)
    importance = np.ones(len(known))
    if by_agent:
        agents = [point.agent for point in known]
        sizes = {agent: agents.count(agent) for agent in set(agents)}
        importance = np.array([len(known) / len(sizes) / sizes[agent] for agent in agents])
    return Forecaster(rows_of(known, names), outcomes, importance).chances(rows_of(asked, names))


def held_out(points: Sequence[Point], agent: str, by: str) -> tuple[list[Point], Numbers, dict[str, Numbers]]:
    """The points of one agent, their folds, and their chances by each forecast, from what was left in."""
    own = [point for point in points if point.agent == agent]
    if by != "task":
        key = getattr(own[0], by)
        known = [point for point in points if getattr(point, by) != key]
        chances = {name: forecast(known, own, facts, by_agent=True) for name, facts in FORECASTS.items()}
        return own, np.zeros(len(own)), chances
    tasks = sorted({point.task for point in own})
    random.Random(_SEED).shuffle(tasks)
    fold = {task: number % FOLDS for number, task in enumerate(tasks)}
    own.sort(key=lambda point: fold[point.task])
    parts = [[point for point in own if fold[point.task] == number] for number in range(FOLDS)]
    chances = {
        name: np.concatenate(
            [
                forecast([point for point in own if fold[point.task] != number], part, facts, by_agent=False)
                for number, part in enumerate(parts)
                if part
            ]
        )
        for name, facts in FORECASTS.items()
    }
    return own, np.array([fold[point.task] for point in own], dtype=np.float64), chances


def measured(points: Sequence[Point], agent: str, by: str) -> dict[str, Any]:
    """What each forecast is worth for one agent."""
    own, folds, chances = held_out(points, agent, by)
    outcomes = np.array([point.solved for point in own], dtype=np.float64)
    tasks = [point.task for point in own]
    asked = Asked(outcomes, tasks, folds)
    row: dict[str, Any] = {
        "agent": agent,
        "left_out_by": by,
        "n": len(own),
        "solved": int(outcomes.sum()),
        "tasks": len(set(tasks)),
        "forecasts": {name: scored(values, asked) for name, values in chances.items()},
        "bins": reliability(chances["facts"], outcomes),
        "gains": {},
    }
    for name in _BASELINES:
        other = chances[name]
        is_turned = by != "task" and asked.auc(other) < 0.5
        row["gains"][name] = gains(chances["facts"], other, asked, -other if is_turned else None)
    return row


def counted(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many sets have a gain whose interval is above 0, and below it."""
    found: dict[str, Any] = {"sets": len(rows)}
    for baseline in _BASELINES:
        for score in ("auc", "brier"):
            spans = [row["gains"][baseline][f"{score}_interval"] for row in rows]
            found[f"{score} over {baseline}"] = {
                "above": sum(span is not None and span[0] > 0 for span in spans),
                "below": sum(span is not None and span[1] < 0 for span in spans),
            }
    return found


def measure(points: Sequence[Point]) -> list[dict[str, Any]]:
    """All agents at all moments with each way to leave out, and the counts over them."""
    results = []
    for moment in MOMENTS:
        there = [point for point in points if point.moment == moment]
        for by in ("agent", "collection", "task"):
            rows = []
            for agent in sorted({point.agent for point in there}):
                solved = [point.solved for point in there if point.agent == agent]
                if min(sum(solved), len(solved) - sum(solved)) >= FEWEST:
                    rows.append(measured(there, agent, by))
                    _show(moment, rows[-1])
            results.append({"moment": moment, "left_out_by": by, "counts": counted(rows), "rows": rows})
            print(results[-1]["counts"])
    return results


def _show(moment: str, row: dict[str, Any]) -> None:
    areas = ", ".join(f"{name} {value['auc']} / {value['brier']}" for name, value in row["forecasts"].items())
    print(
        f"{moment}, without its {row['left_out_by']}: {row['agent']} ({row['solved']} of {row['n']}): "
        f"AUC / Brier {areas}; AUC over turns {row['gains']['turns']['auc_interval']}, over the verdict "
        f"{row['gains']['verdict']['auc_interval']}, Brier over base rate "
        f"{row['gains']['base rate']['brier_interval']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    points = read_points(data_folder(parser.parse_args().data))
    write_result("quality-forecast", {"setup": setup("numpy"), "results": measure(points)})


if __name__ == "__main__":
    main()
