"""Measures whether a call is counted as failed that a reader says has failed.

    python -m benchmarks.quality.failed_calls [--data DIR] [--labels FILE] [--misses]

The labels are a line a call, ``{"path", "event", "failed"}``: 100 calls drawn at random from those of 160
real runs that are flagged as failed, or whose answers have words of failure. A call that ended with status 0,
brought content about failures, found nothing, or was never made has not failed.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.divergence.monitor import LoopMonitor, tools_of
from ebbtide.events.event import ToolCall
from ebbtide.profile import Profile
from ebbtide.supervision.summary.call_failure import CallFailure, call_failure
from ebbtide.traces.reading import open_trace

_LABELS = Path(__file__).with_name("failed_calls.jsonl")


def failed_events(path: Path, numbers: set[int]) -> dict[int, bool]:
    """Returns, by the number of each of those calls, True if it is counted as failed."""
    monitor, tools = LoopMonitor(), tools_of(None, Profile.DEFAULT.divergence)
    answers: dict[int, bool] = {}
    for number, event in enumerate(open_trace(path), 1):
        monitor.update(event)
        loops = monitor.chain(event.chain_id)
        if number in numbers and isinstance(event, ToolCall) and loops is not None:
            failure = call_failure(event, tools.get(event.name), loops)
            answers[number] = failure not in (None, CallFailure.CANCELLED)
    return answers


def main() -> None:
    """Print how many are right, and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--labels", type=Path, default=_LABELS, help="labels, a JSON object a line")
    parser.add_argument("--misses", action="store_true", help="print where reader and count differ")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    labels: dict[str, dict[int, bool]] = defaultdict(dict)
    for line in arguments.labels.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        labels[label["path"]][label["event"]] = label["failed"]
    right = number = 0
    for name, expected in labels.items():
        counted = failed_events(data / name, set(expected))
        for event, failed in expected.items():
            number += 1
            right += counted.get(event) == failed
            if arguments.misses and counted.get(event) != failed:
                print(f"  {name} event {event}: failed {failed}, counted {counted.get(event)}")
    print(f"failed calls right: {right} of {number} {wilson(right, number)}")
    result: dict[str, Any] = {"setup": setup(), "right": right, "of": number}
    write_result("quality-failed-calls", {**result, "interval": wilson(right, number)})


if __name__ == "__main__":
    main()
