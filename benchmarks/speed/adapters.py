"""What an adapter costs beside its framework, for a call of the model.

    python -m benchmarks.speed.adapters NAME...

Runs the healthy script of the kit, forty calls of the model and of a tool, on the framework's own offline
model, in the environment where the framework is installed. `ours_ms` is the processor time inside of what the
adapters share: asking, and recording the call of the model and of the tool, supervisor included. `run_ms` is
that of the whole run, framework, model and tool included. Medians of several runs of one adapter after a
first one, each divided by its calls of the model. Names that were measured before are kept in the result.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.measure import RESULTS, setup, write_result
from conformance.harness import harness
from conformance.scripts import Workshop, healthy
from ebbtide.adapters.run_watch import RunWatch

_RUNS = 7
_METHODS = ("advise", "record", "record_message", "record_answer", "record_tool_call", "end")
_RESULT = "speed-adapters"


class Clock:
    """Adds up the time inside some methods, nested calls once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, with its time added up."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            start = time.thread_time()
            try:
                return method(*args, **kwargs)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.thread_time() - start

        return call


def measure(name: str) -> dict[str, float]:
    """Milliseconds a call of the model, ours and all."""
    framework = harness(name)
    clock = Clock()
    for method in _METHODS:
        setattr(RunWatch, method, clock.timed(getattr(RunWatch, method)))
    ours, whole = [], []
    adapter = framework.adapter()
    framework.run(adapter, healthy, Workshop().tools(), framework.modes[0])  # what is imported and built once
    for _ in range(_RUNS):
        clock.seconds = 0.0
        start = time.process_time()  # some frameworks run tools and models in threads of their own
        trial = framework.run(adapter, healthy, Workshop().tools(), framework.modes[0])
        whole.append((time.process_time() - start) / len(trial.inputs))
        ours.append(clock.seconds / len(trial.inputs))
    return {"ours_ms": round(1e3 * median(ours), 4), "run_ms": round(1e3 * median(whole), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="adapters whose framework is installed")
    names = parser.parse_args().names
    file = RESULTS / f"{_RESULT}.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["adapters"] if file.exists() else {}
    warnings.simplefilter("ignore")
    for name in names:
        rows[name] = measure(name)
        share = rows[name]["ours_ms"] / rows[name]["run_ms"]
        print(f"{name}: ours {rows[name]['ours_ms']} ms a call of the model, {share:.1%} of the run")
    write_result(_RESULT, {"setup": setup(), "adapters": dict(sorted(rows.items()))})


if __name__ == "__main__":
    main()
