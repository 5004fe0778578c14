"""Scenarios from the test suites and issue threads of other projects, where they are at hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.events.event_json import read_events

NOT_DECIDABLE = {
    # Without a declaration: equal polls of one tool are fine, five of another are stuck.
    "neg-hermes-process-poll",
    # Without a declaration: a duration, or an id, is all that moves in the answer.
    "pos-openclaw-exec-volatile-details",
    "pos-openclaw-upload-fresh-ids",
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
    assert wrong <= NOT_DECIDABLE


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
