"""How many small faults the tests notice.

    python -m benchmarks.mutations --seed 1 --count 200 [--room text] [--workers 1] [--seconds 60]
        [--again | --report]

Point mutations are drawn with a seed from the syntax trees of `src/ebbtide`, from each room in proportion to
its points. One run of all tests shows which tests reach which point, also through the processes that they
start. Each point is then tried, in a copy of the working tree, against the tests that reach it: those of its
room and the quickest first, so many as take --seconds together, with fifteen examples a property. What takes
five times as long, and twenty seconds, is noticed too. A point that no test reaches has survived. So the
share is a lower bound.
Results are kept, so that a run that was ended goes on where it stopped; a change of the module makes its
results void, `--again` tries once more what survived, `--report` tries nothing. Labelled data is used where
EBBTIDE_DATA names it. The table over all rooms is written to `benchmarks/results`.

Not mutmut (3.8), which tries all mutants of a pattern, of functions only, deletes no statements and picks
tests from one coverage run of the whole suite in one process; nor cosmic-ray (8.7), which takes one test
command a session, changes the working tree in place, and wants one served clone of the repository a worker.
Neither draws a sample over the rooms.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from benchmarks.measure import ROOT, setup, wilson, write_result
from benchmarks.mutations.reach import Reach, instrument
from benchmarks.mutations.rooms import Point, draw, points
from benchmarks.mutations.trial import UNREACHED, Outcome, Trial, Workbench

_KEPT = ROOT / "build" / "mutations.jsonl"


class Trials:
    """The trials of this and earlier runs, a line each.

    Args:
        path: The file; made where it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._path.parent.mkdir(exist_ok=True)
        self._trials: dict[str, Trial] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                trial = Trial(outcome=Outcome(row["outcome"]), seconds=row["seconds"], test=row["test"])
                self._trials[row["id"]] = trial

    def get(self, point: Point) -> Trial | None:
        """The last trial of this change of this source."""
        return self._trials.get(_identity(point))

    def add(self, point: Point, trial: Trial) -> None:
        """Keep a trial."""
        self._trials[_identity(point)] = trial
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"id": _identity(point), "point": str(point), **asdict(trial)}) + "\n")


def _identity(point: Point) -> str:
    return hashlib.sha256(f"{point.module}\n{point.mutated}".encode()).hexdigest()[:16]


def try_all(sample: Sequence[Point], trials: Trials, workers: int, seconds: float, *, again: bool) -> None:
    """Tries each point, several at a time, and prints what became of it.

    Args:
        sample: The points.
        trials: Where the outcomes are kept.
        workers: How many trials at a time.
        seconds: Seconds that the tests of a trial take at most, without any change.
        again: True to try once more what survived.
    """
    outdated = {None, Outcome.SURVIVED} if again else {None}
    earlier = {point: trials.get(point) for point in sample}
    due = [
        (number, point)
        for number, point in enumerate(sample)
        if (trial.outcome if (trial := earlier[point]) else None) in outdated
    ]
    if not due:
        return
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        reach = _reach(sample, Path(folder, "reach"), workers)
        benches: SimpleQueue[Workbench] = SimpleQueue()
        for number in range(workers):
            benches.put(Workbench(Path(folder, str(number))))

        def try_one(numbered: tuple[int, Point]) -> None:
            number, point = numbered
            tests, taken = reach.tests_of(number, point, seconds)
            bench = benches.get()
            try:
                trial = bench.run_mutated(point, tests, 20 + 5 * taken) if tests else UNREACHED
            finally:
                benches.put(bench)
            trials.add(point, trial)
            print(f"{trial.outcome:9}  {trial.seconds:6.1f} s  {len(tests):3} tests  {point}", flush=True)

        with ThreadPoolExecutor(workers) as pool:
            try:
                list(pool.map(try_one, due))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _reach(sample: Sequence[Point], folder: Path, workers: int) -> Reach:
    """Returns the tests that reach each point; those of an unchanged sample are known from the last run."""
    key = hashlib.sha256("\n".join(map(_identity, sample)).encode()).hexdigest()[:16]
    rows = _KEPT.with_name(f"mutations-reach-{key}.jsonl")
    if not rows.exists():
        bench, part = Workbench(folder), rows.with_suffix(".part")
        part.unlink(missing_ok=True)
        plugin = instrument(bench.folder, sample, part)
        bench.run_all(plugin, workers)
        part.rename(rows)
    reach = Reach.read(rows)
    print(f"{len(reach.seconds)} tests, {len(reach.tests)} of {len(sample)} points reached", flush=True)
    return reach


def report(population: dict[str, list[Point]], sample: Iterable[Point], trials: Trials) -> dict[str, Any]:
    """Print a table by room, and what survived; the same as a result, with a row `all` among the rooms."""
    outcomes: dict[str, dict[Point, Outcome]] = {room: {} for room in population}
    for point in sample:
        if trial := trials.get(point):
            outcomes[point.room][point] = trial.outcome
    sizes = {room: len(room_points) for room, room_points in population.items()}
    outcomes["all"] = {point: outcome for room in list(outcomes.values()) for point, outcome in room.items()}
    sizes["all"] = sum(sizes.values())
    rows: dict[str, dict[str, Any]] = {}
    print(f"\n{'room':16}  points  tried  noticed  by time  survived  noticed, 95 %")
    for room, tried in outcomes.items():
        counts = Counter(tried.values())
        survived, by_time = counts[Outcome.SURVIVED], counts[Outcome.TIMED_OUT]
        noticed = len(tried) - survived
        low, high = wilson(noticed, len(tried))
        share = f"{noticed / len(tried):.0%} ({low:.0%} to {high:.0%})" if tried else "-"
        print(f"{room:16} {sizes[room]:7} {len(tried):6} {noticed:8} {by_time:8} {survived:9}  {share}")
        rows[room] = {
            "points": sizes[room],
            "tried": len(tried),
            "noticed": noticed,
            "by_time": by_time,
            "survived": survived,
            "interval": [low, high],
        }
    survivors = [str(point) for point, outcome in outcomes["all"].items() if outcome is Outcome.SURVIVED]
    print(f"\nSurvived: {len(survivors)}")
    for survivor in survivors:
        print(f"  {survivor}")
    return {"rooms": rows, "survived": survivors}


def run() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200, help="mutations, over all rooms in proportion")
    parser.add_argument("--room", nargs="+", default=(), help="rooms or parts of them: text, events/identity")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="trials at a time")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long the tests of a trial take at most, unchanged"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--again", action="store_true", help="try once more what survived an earlier run")
    which.add_argument("--report", action="store_true", help="try nothing: what earlier runs have shown")
    options = parser.parse_args()
    population = points(*options.room)
    sample = draw(population, options.count, options.seed)
    trials = Trials(_KEPT)
    if not options.report:
        try_all(sample, trials, options.workers, options.seconds, again=options.again)
    result = report(population, sample, trials)
    if not options.room:
        run_of = {
            "seed": options.seed,
            "count": options.count,
            "seconds": options.seconds,
            "setup": setup(),
        }
        write_result("mutations", run_of | result)


if __name__ == "__main__":
    run()
