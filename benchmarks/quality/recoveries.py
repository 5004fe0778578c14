"""Measures whether a run that is said to have recovered from a loop has, by a reader.

    python -m benchmarks.quality.recoveries [--data DIR] [--labels FILE] [--misses]

The labels are a line a run, ``{"path" or "episode", "recovered"}``: real runs, and episodes of shells and
databases by their place in ``loops/intercode.jsonl.gz``, that an earlier rule said had recovered. A run has,
where its loop was over and what came after it brought results, up to its end.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.checking import check
from ebbtide.events.event import ToolCall
from ebbtide.supervision.summary.recorder import RunRecorder

_LABELS = Path(__file__).with_name("recoveries.jsonl")
_CUT = 70  # characters of an answer that the data keep; a longer one is known by its hash


def has_recovered(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Returns True if it is said of an episode that it recovered."""
    run = RunRecorder(decisions=False)
    for step in steps:
        answer = step["observation"]
        known = f"{answer} {step['observation_sha1']}" if len(answer) >= _CUT else answer
        run.record(ToolCall(name="shell", args={"command": step["action"]}, result=known))
    return run.summary("episode", "ebbtide").recovered is True


def main() -> None:
    """Print how many are right, and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--labels", type=Path, default=_LABELS, help="labels, a JSON object a line")
    parser.add_argument("--misses", action="store_true", help="print where reader and summary differ")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    labels = list(map(json.loads, arguments.labels.read_text(encoding="utf-8").splitlines()))
    wanted = {label["episode"] for label in labels if "episode" in label}
    with gzip.open(data / "loops" / "intercode.jsonl.gz", "rt", encoding="utf-8") as lines:
        episodes = {place: json.loads(line)["steps"] for place, line in enumerate(lines) if place in wanted}
    said = said_right = right = 0
    for label in labels:
        name = label.get("path")
        answer = check(data / name).recovered is True if name else has_recovered(episodes[label["episode"]])
        right += answer == label["recovered"]
        said += answer
        said_right += answer and label["recovered"]
        if arguments.misses and answer != label["recovered"]:
            print(f"  {name or label['episode']}: recovered {label['recovered']}, said {answer}")
    print(f'"It recovered" right: {said_right} of {said} {wilson(said_right, said)}')
    print(f"both ways right: {right} of {len(labels)} {wilson(right, len(labels))}")
    result = {"setup": setup(), "said": [said_right, said], "both_ways": [right, len(labels)]}
    write_result("quality-recoveries", result)


if __name__ == "__main__":
    main()
