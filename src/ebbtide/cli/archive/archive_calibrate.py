"""`ebbtide archive calibrate` of results: what their verdicts would have saved and cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ebbtide.batch.sweep.ended_runs import EndedRuns, RunOutcomes
from ebbtide.batch.sweep.verdict_outcomes import VerdictLine, ended_by_results
from ebbtide.cli.archive.ended_table import ended_table
from ebbtide.cli.lines import print_lines
from ebbtide.cli.terminal import print_json
from ebbtide.codec import to_wire


def are_results(source: str) -> bool:
    """Whether a source is a file of results, or a folder of such files as Spark writes them."""
    path = Path(source)
    return "://" not in source and (path.suffix == ".parquet" or any(path.glob("*.parquet")))


def calibrate_results(results: Sequence[Path], outcomes: RunOutcomes, *, as_json: bool) -> None:
    """Print what the verdicts in files of results would have saved, and what they would have cost.

    Args:
        results: Files of results, one a setting.
        outcomes: How the runs came out.
        as_json: Print JSON.

    Raises:
        ConfigError: A file cannot be used.
    """
    lines = {path: ended_by_results(path, outcomes) for path in results}
    if as_json:
        wire = [
            {"results": line.results, "kind": line.kind, **to_wire(line.ended)}
            for of_file in lines.values()
            for line in of_file
        ]
        print_json({"schema": 1, "outcomes": len(outcomes.by_run), "lines": wire})
        return
    for path, of_file in lines.items():
        rows: list[tuple[str, EndedRuns] | str] = [
            str(path),
            *((_about(line), line.ended) for line in of_file),
        ]
        print_lines(
            ended_table(rows, is_priced=any(line.ended.saved_usd is not None for line in of_file))[1:]
        )


def _about(line: VerdictLine) -> str:
    level = "stop" if line.ended.action == "stop" else "escalate or stop"
    return level if line.kind is None else f"{level}: {line.kind.replace('_', ' ')}"
