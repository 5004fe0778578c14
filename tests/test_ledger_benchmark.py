"""What `benchmarks.quality.ledgers` counts: rounds by what stands before their ledger, and folds of runs."""

import json
from typing import Any

import pytest

from benchmarks.quality.ledgers import FOLDS, RULES, LedgerRound, out_of_fold, rounds_of, score

THOUGHT = "Orchestrator (thought)"


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def ledger(*, in_loop: bool, progress: bool, reason: str = "") -> dict[str, Any]:
    answers = {"is_in_loop": in_loop, "is_progress_being_made": progress}
    table = {name: {"reason": reason, "answer": answer} for name, answer in answers.items()}
    return said(THOUGHT, f"Updated Ledger:\n{json.dumps(table)}")


def page(deed: str, address: str) -> dict[str, Any]:
    return said("WebSurfer", f"I {deed}.\n\nHere is a screenshot of [Shop]({address}).")


HISTORY = [
    said("human", "Which lamp is cheapest?"),
    ledger(in_loop=False, progress=True),
    said("Orchestrator (-> WebSurfer)", "Please open the shop."),
    page("clicked 'Shop'", "https://shop.example/"),
    ledger(in_loop=False, progress=True),
    said("Orchestrator (-> WebSurfer)", "Please scroll down."),
    page("scrolled down one page", "https://shop.example/"),
    ledger(in_loop=True, progress=False),
    said("Orchestrator (-> WebSurfer)", "Please go on."),
    ledger(in_loop=True, progress=False),
]


def test_a_round_is_judged_by_what_stands_before_its_ledger() -> None:
    """An order that nobody answers is a step, too."""
    assert rounds_of(HISTORY) == [
        LedgerRound(0, 0, is_known_ground=False, is_in_loop=False, no_progress=False),
        LedgerRound(1, 0, is_known_ground=False, is_in_loop=False, no_progress=False),
        LedgerRound(2, 1, is_known_ground=True, is_in_loop=True, no_progress=True),
        LedgerRound(3, 2, is_known_ground=True, is_in_loop=True, no_progress=True),
    ]


def test_what_the_orchestrator_says_to_itself_is_no_input() -> None:
    changed = [
        ledger(in_loop=False, progress=True, reason="I clicked 'X'. [Other](https://other.example/)")
        if message["role"] == THOUGHT
        else message
        for message in HISTORY
    ]
    plans = [each for message in changed for each in (message, said(THOUGHT, "I clicked 'New plan'."))]
    steps = [(item.steps, item.is_known_ground) for item in rounds_of(HISTORY)]
    assert [(item.steps, item.is_known_ground) for item in rounds_of(plans)] == steps


def test_f1_is_that_of_flags_against_labels() -> None:
    row = score([(True, True), (True, False), (False, True), (False, False)])
    assert (row["precision"], row["recall"], row["f1"], row["labelled"]) == (0.5, 0.5, 0.5, 2)
    assert score([(False, False)])["precision"] is None


def test_a_count_is_chosen_without_the_run_that_it_is_scored_on() -> None:
    """The runs that need another count are too few to be fitted, and all of them are scored."""

    def run(least: int) -> list[LedgerRound]:
        return [LedgerRound(n, n, n > 0, n >= least, n >= least) for n in range(8)]

    runs = [run(2 if number % FOLDS else 6) for number in range(2 * FOLDS)]
    row = out_of_fold(runs, RULES["known ground"], "is_in_loop")
    assert row["chosen"] == [2] * FOLDS
    assert row["right"] == row["labelled"] == 2 * (2 + 4 * 6)
    assert row["f1"] == pytest.approx(2 * 52 / (52 + 60), abs=1e-3)
