"""Which loops are found, and what honest work is taken for one, on the scenarios from 46 repositories.

    python -m benchmarks.quality.loops [--data DIR]

A stuck scenario is found if anything is raised by its end; a fine one is a false alarm if anything is
raised at any of its events. Scenarios named `thr-` are one source's threshold, which others contradict:
they are left out. The published packages run on the same events, as far as they are installed; run
boundaries begin them anew.

A second row gives declarations for the tools whose scenario cannot be decided without one, as the
scenario's own words say: a poller, and answers with volatile fields.

The rules have no parameters that are fitted to a scenario. What cross-validation there can be is by source:
the share of sources whose scenarios are all decided rightly, with its interval.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.loop_peers import Watcher, installed, packages, starts_anew
from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.effect import Effect
from ebbtide.events.event_json import read_events
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy

# What the scenarios themselves say that has to be declared.
DECLARED = ToolPolicies(
    {
        "process_manage": ToolPolicy(effect=Effect.POLL),
        "exec": ToolPolicy(volatile_fields=("durationMs", "cwd")),
        "message": ToolPolicy(volatile_fields=("fileId", "messageId")),
    }
)

# Why each scenario that is decided wrongly is; a new one shows up without a reason.
REASONS = {
    "neg-hermes-process-poll": "equal polls, no declaration and no time; five of another tool are stuck",
    "pos-openclaw-exec-volatile-details": "the answer moves, in a duration alone; that has to be declared",
    "pos-openclaw-upload-fresh-ids": "the answer moves, in fresh ids alone; that has to be declared",
}


def declared() -> Watcher:
    monitor = LoopMonitor(tools=DECLARED)
    return lambda event: bool(monitor.update(event))


def first_alarm(scenario: dict[str, Any], make: Callable[[], Watcher], *, anew: bool) -> int | None:
    """The event at which anything is raised first, counted from 1."""
    watcher = make()
    for place, event in enumerate(read_events(scenario["events"]), start=1):
        if anew and starts_anew(event):
            watcher = make()
        if watcher(event):
            return place
    return None


def score(scenarios: list[dict[str, Any]], make: Callable[[], Watcher], *, anew: bool) -> dict[str, Any]:
    alarms = {scenario["id"]: first_alarm(scenario, make, anew=anew) for scenario in scenarios}
    result: dict[str, Any] = {}
    by_source: dict[str, bool] = defaultdict(lambda: True)
    for kind, is_text in (("tool", False), ("text", True)):
        chosen = [scenario for scenario in scenarios if scenario["id"].startswith("text-") == is_text]
        stuck = [scenario["id"] for scenario in chosen if scenario["expect"] == "stuck"]
        fine = [scenario["id"] for scenario in chosen if scenario["expect"] == "ok"]
        found = [name for name in stuck if alarms[name] is not None]
        false = [name for name in fine if alarms[name] is not None]
        result[kind] = {
            "stuck": len(stuck),
            "found": len(found),
            "found_interval": wilson(len(found), len(stuck)),
            "fine": len(fine),
            "false": len(false),
            "false_interval": wilson(len(false), len(fine)),
            "median_event_of_alarm": median(alarms[name] or 0 for name in found) if found else None,
            "missed": sorted(set(stuck) - set(found)),
            "false_alarms": false,
        }
    for scenario in scenarios:
        right = (alarms[scenario["id"]] is not None) == (scenario["expect"] == "stuck")
        by_source[scenario["source"].split(":")[0].split("#")[0]] &= right
    right = sum(by_source.values())
    result["sources"] = {"all_right": right, "of": len(by_source), "interval": wilson(right, len(by_source))}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    folder = data_folder(parser.parse_args().data)
    scenarios = json.loads((Path(folder) / "loops" / "scenarios.json").read_text(encoding="utf-8"))
    kept = [scenario for scenario in scenarios if "thr-" not in scenario["id"]]
    makers = installed()
    results = {name: score(kept, make, anew=name != "ebbtide") for name, make in makers.items()}
    results["ebbtide, declared"] = score(kept, declared, anew=False)
    print(f"{'':24} stuck found   false      text found  false   median event   sources all right")
    for name, found in results.items():
        tool, text, sources = found["tool"], found["text"], found["sources"]
        print(
            f"{name:24} {tool['found']:3} of {tool['stuck']:3}    {tool['false']:3} of {tool['fine']:3}  "
            f"{text['found']:3} of {text['stuck']:2}   {text['false']:2} of {text['fine']:2} "
            f"{tool['median_event_of_alarm']!s:>10}  {sources['all_right']:9} of {sources['of']}"
        )
    print("\nMissed, and false alarms, of ebbtide:")
    wrong = [
        name
        for kind in ("tool", "text")
        for key in ("missed", "false_alarms")
        for name in results["ebbtide"][kind][key]
    ]
    for name in wrong:
        print(f"  {name}: {REASONS.get(name, 'no reason known')}")
    kinds = Counter(str(signals[0].kind) for scenario in kept if (signals := _signals(scenario)))
    print("\nRule that spoke first: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    result = {
        "scenarios": len(kept),
        "results": results,
        "reasons": {name: REASONS.get(name) for name in wrong},
        "first_rule": dict(kinds),
        "setup": setup(*packages()),
    }
    write_result("quality-loops", result)


def _signals(scenario: dict[str, Any]) -> list[Any]:
    monitor = LoopMonitor()
    return [signal for event in read_events(scenario["events"]) for signal in monitor.update(event)]


if __name__ == "__main__":
    main()
