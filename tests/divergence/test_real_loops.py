"""Scenarios from the test suites and issue threads of other projects, where they are at hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.events.event_json import read_events

NOT_DECIDABLE = {
    # Without a declaration: a folder, or an id, is all that moves in the answer.
    "pos-openclaw-exec-volatile-details",
    "pos-openclaw-upload-fresh-ids",
    # Each look waits for twenty seconds: that is judged by time, and its source counts.
    "pos-dmtools-throwaway-word",
    # A fresh id in the arguments looks like one record after the other.
    "pos-openrouter-nonce-churn",
    # Two declared changes without answers: each of them makes the other one new.
    "pos-forge-12333",
}
# Their sources stop at the third equal call. Where the answer or the effect is not known it takes one more,
# and for a change that is declared and says each time that it was made, several.
SUSPECTED_LATER = {
    "pos-forge-12-x3",
    "pos-openrouter-3-rounds",
    "pos-openrouter-fan-out-set-x3",
    "pos-ouroboros-file-set-oscillation",
    "pos-stella-mcp-identical",
    "pos-veronica-aaab-x2",
}


@pytest.fixture(scope="module")
def scenarios(data: Path) -> list[dict[str, Any]]:
    items = json.loads((data / "loops" / "scenarios.json").read_text(encoding="utf-8"))
    return [item for item in items if "thr-" not in item["id"]]


def test_stuck_runs_are_found_and_work_is_left_alone(scenarios: list[dict[str, Any]]) -> None:
    """Every scenario is decided as its source says, but for those that take a declaration."""
    wrong = {
        scenario["id"]
        for scenario in scenarios
        if bool(find_loops(read_events(scenario["events"]))) != (scenario["expect"] == "stuck")
    }
    assert wrong <= NOT_DECIDABLE | SUSPECTED_LATER


def test_what_is_only_suspected_is_found_where_it_goes_on(scenarios: list[dict[str, Any]]) -> None:
    """Three times as long, each of them is found."""
    longer = {
        scenario["id"]: [replace(event, seq=None) for event in read_events(scenario["events"])] * 3
        for scenario in scenarios
        if scenario["id"] in SUSPECTED_LATER
    }
    assert longer.keys() == SUSPECTED_LATER
    assert [name for name, run in longer.items() if not find_loops(run)] == []


def test_no_scenario_degrades_the_monitor(scenarios: list[dict[str, Any]]) -> None:
    """Whatever the sources hold can be read, and a restart at any tenth event changes nothing."""
    for scenario in scenarios:
        calls = list(read_events(scenario["events"]))[:400]
        straight, restarted = LoopMonitor(), LoopMonitor()
        for place, call in enumerate(calls):
            if place % 10 == 0:
                restarted = LoopMonitor.from_bytes(restarted.to_bytes())
            assert straight.update(call) == restarted.update(call), scenario["id"]
        assert straight.snapshot().degraded == 0
