"""All numbers of archives, Spark and streams, each beside what was asked; and what runs cost, on paper.

    python -m benchmarks.speed.fleet [--parts archive spark stream] [--sizes 1000 10000 100000]
        [--runs 2500] [--longest 20000] [--stream-runs 50000] [--core-hour 0.05]
        [--machine-cores 16] [--spark-cores 64] [--spark-start S]

- `archive` (`benchmarks.speed.archive`): short runs, the pool beside one core, rows beside files, memory.
- `spark` (`benchmarks.speed.spark`): the pool and Spark on the same files, growth, the same events as rows.
- `stream`: live runs on Spark, killed and begun again.

With the part `spark`, `--core-hour` prices runs on paper: on one machine, and on Spark with more cores, whose
start is paid for before the first run. Where machines are to be started first, say with `--spark-start` how
long that takes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import setup, write_result
from benchmarks.speed import archive, spark

_PARTS = ("archive", "spark", "stream")
_PAPER = (1_000_000, 100_000_000)  # runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Something that checks runs, on paper.

    Args:
        name: It.
        cores: Its cores.
        rate: Runs a second and core.
        start_s: Seconds before the first run.
    """

    name: str
    cores: int
    rate: float
    start_s: float = 0.0

    def seconds(self, runs: int) -> float:
        """How long it takes, by the clock."""
        return self.start_s + runs / (self.rate * self.cores)

    def dollars(self, runs: int, core_hour: float) -> float:
        """What it costs.

        Args:
            runs: How many.
            core_hour: Dollars for an hour of a core.
        """
        return self.seconds(runs) * self.cores / 3_600 * core_hour


def even_runs(machine: Engine, cluster: Engine) -> float | None:
    """The runs for which both take equally long by the clock; None where the cluster is never faster.

    >>> machine, cluster = Engine(name="a", cores=2, rate=10), Engine(name="b", cores=4, rate=10, start_s=60)
    >>> even_runs(machine, cluster), machine.seconds(2_400), cluster.seconds(2_400)
    (2400.0, 120.0, 120.0)
    """
    gain_s = 1 / (machine.rate * machine.cores) - 1 / (cluster.rate * cluster.cores)
    return (cluster.start_s - machine.start_s) / gain_s if gain_s > 0 else None


def on_paper(measured: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """What many runs would take and cost, by the largest archive that was measured."""
    largest = max(measured["sizes"], key=lambda size: size["runs"])
    rates = {name: largest["runs"] / largest[f"{name}_s"] / measured["cores"] for name in ("pool", "spark")}
    start_s = measured["start_s"] if options.spark_start is None else options.spark_start
    machine = Engine(name="one machine", cores=options.machine_cores, rate=rates["pool"])
    cluster = Engine(name="Spark", cores=options.spark_cores, rate=rates["spark"], start_s=start_s)
    even = even_runs(machine, cluster)
    return {
        "runs_per_core_second": {name: round(rate, 1) for name, rate in rates.items()},
        "events_per_run": round(largest["events"] / largest["runs"], 1),
        "start_s": start_s,
        "core_hour_usd": options.core_hour,
        "spark_pays_above_runs": None if even is None else round(even),
        "engines": [
            {
                "engine": engine.name,
                "cores": engine.cores,
                "runs": runs,
                "hours": round(engine.seconds(runs) / 3_600, 3),
                "cost_usd": round(engine.dollars(runs, options.core_hour), 2),
            }
            for engine in (machine, cluster)
            for runs in _PAPER
        ],
    }


def wanted_and_measured(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What was asked, how much of it, and what was measured."""
    lines: list[tuple[str, str, str]] = []
    if "archive" in result:
        part = result["archive"]
        fixed = ", ".join(f"{kind} {row['events']['fixed_ms']}" for kind, row in part["fixed"].items())
        pool, memory = part["pool"], part["memory"]
        alone = f"{pool['processor']} in processor time; two loops alone {pool['machine']}"
        most = ", ".join(
            f"{name} {max(row['own_mb'], row['largest_child_mb']):,.0f}" for name, row in memory.items()
        )
        lines += [
            ("pool of two, times one core", "1.8", f"{pool['times']}; {alone}"),
            ("a short run beside its events, ms", "under 0.6", fixed),
            ("rows by DuckDB, of files", "0.7", str(part["rows"]["rows.parquet"]["of_files"])),
            ("rows of SQLite, of files", "-", str(part["rows"]["rows.db#rows"]["of_files"])),
            (f"memory, MB (long run: {part['longest']:,})", "by the largest run", most),
        ]
    if "spark" in result:
        sizes = result["spark"]["sizes"]
        for size in sizes:
            seconds = f"pool {size['pool_s']}, files {size['spark_s']}, rows {size['spark_rows_s']}"
            lines.append((f"{size['runs']:,} runs, longest {size['longest']:,}, s", "the same rows", seconds))
        by_event = ", ".join(f"{1e6 * size['pool_s'] / size['events']:.0f}" for size in sizes)
        spark_by_event = ", ".join(f"{1e6 * size['spark_s'] / size['events']:.0f}" for size in sizes)
        lines += [
            ("growth: us an event, pool", "level", by_event),
            ("growth: us an event, Spark", "level", spark_by_event),
            ("Spark, of the pool, largest size", "0.85", str(sizes[-1]["of_the_pool"])),
            ("start of Spark, s", "apart", str(result["spark"]["start_s"])),
        ]
    if "stream" in result:
        part = result["stream"]
        warm = sorted(part["batches"][1:], key=lambda batch: batch["events_per_run"])
        lines += [
            (
                f"stream, {batch['events_per_run']:g} events of each run a batch, a second",
                "10,000",
                f"{batch['events_per_s']:,} with {part['runs']:,} live runs",
            )
            for batch in warm
        ]
        lines += [
            (
                "state of a run, bytes",
                "under 8,192",
                f"{part['state_bytes']:,}, at most {part['largest_state']:,}",
            ),
            ("killed and begun again", "as advance", str(part["as_advance"])),
        ]
    return lines


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="*", choices=_PARTS, default=list(_PARTS))
    parser.add_argument("--runs", type=int, default=2_500, help="runs of the archive of the part archive")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000], help="archives for Spark")
    parser.add_argument("--longest", type=int, default=20_000, help="events of the longest run")
    parser.add_argument("--stream-runs", type=int, default=50_000, help="live runs of the stream")
    parser.add_argument("--cores", type=int, default=2, help="of the pool and of Spark, here")
    parser.add_argument("--core-hour", type=float, default=0.05, help="dollars for an hour of a core")
    parser.add_argument("--machine-cores", type=int, default=16, help="on paper, of the one machine")
    parser.add_argument("--spark-cores", type=int, default=64, help="on paper, of Spark")
    parser.add_argument("--spark-start", type=float, help="on paper, seconds; by default as measured")
    options = parser.parse_args()
    result: dict[str, Any] = {}
    if "archive" in options.parts:
        result["archive"] = archive.measure(options.runs, options.longest)
    if "spark" in options.parts:
        result["spark"] = spark.archives(sorted(options.sizes), options.longest, options.cores)
        result["paper"] = on_paper(result["spark"], options)
    if "stream" in options.parts:
        result["stream"] = spark.killed_stream(options.stream_runs, options.cores)
    for what, wanted, measured in wanted_and_measured(result):
        print(f"{what:52} {wanted:20} {measured}")
    for line in result.get("paper", {}).get("engines", ()):
        print("{engine}, {cores} cores: {runs:,} runs in {hours:,.2f} h for ${cost_usd:,.2f}".format(**line))
    if "paper" in result:
        even = result["paper"]["spark_pays_above_runs"]
        print("Spark is never faster" if even is None else f"Spark is faster above {even:,} runs")
    for part in options.parts:
        paper = {"paper": result["paper"]} if part == "spark" else {}
        about = {**paper, "setup": setup("duckdb", "pyarrow", "pyspark")}
        write_result(f"speed-fleet-{part}", {**result[part], **about})


if __name__ == "__main__":
    main()
