"""Measures whether a call is counted as failed that a reader says has failed.

    python -m benchmarks.quality.failed_calls [--data DIR] [--labels FILE] [--misses]

The labels are a line a call, ``{"path", "call", "failed"}``, the call by a hash of its name, arguments and
answer: 100 calls drawn at random from those of 160
real runs that are flagged as failed, or whose answers have words of failure. A call that ended with status 0,
brought content about failures, found nothing, or was never made has not failed.
"""

from __future__ import annotations

import argparse
import hashlib
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

_ARGUMENTS = 200  # characters of them that are hashed
_LABELS = Path(__file__).with_name("failed_calls.jsonl")


def identity(call: ToolCall) -> str:
    """Returns the hash by which a label knows a call."""
    answer = call.result if isinstance(call.result, str) else repr(call.result)
    text = "\n".join((call.name, repr(call.args)[:_ARGUMENTS], answer))
    return hashlib.sha1(text.encode(errors="replace"), usedforsecurity=False).hexdigest()[:16]


def failed_calls(path: Path, wanted: set[str]) -> dict[str, bool]:
    """Returns, by the hash of each of those calls, True if it is counted as failed."""
    monitor, tools = LoopMonitor(), tools_of(None, Profile.DEFAULT.divergence)
    answers: dict[str, bool] = {}
    for event in open_trace(path):
        monitor.update(event)
        loops = monitor.chain(event.chain_id)
        if isinstance(event, ToolCall) and loops is not None and (name := identity(event)) in wanted:
            failure = call_failure(event, tools.get(event.name), loops)
            answers.setdefault(name, failure not in (None, CallFailure.CANCELLED))
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
    labels: dict[str, dict[str, bool]] = defaultdict(dict)
    for line in arguments.labels.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        labels[label["path"]][label["call"]] = label["failed"]
    right = number = 0
    for name, expected in labels.items():
        counted = failed_calls(data / name, set(expected))
        for call, failed in expected.items():
            number += 1
            right += counted.get(call) == failed
            if arguments.misses and counted.get(call) != failed:
                print(f"  {name} {call}: failed {failed}, counted {counted.get(call)}")
    print(f"failed calls right: {right} of {number} {wilson(right, number)}")
    result: dict[str, Any] = {"setup": setup(), "right": right, "of": number}
    write_result("quality-failed-calls", {**result, "interval": wilson(right, number)})


if __name__ == "__main__":
    main()
