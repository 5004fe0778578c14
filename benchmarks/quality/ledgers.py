"""How well told actions show that agents go in circles: each round against the ledger of an orchestrator.

    python -m benchmarks.quality.ledgers [--data DIR] [--no-others]

25 runs of a multi-agent system, all of which failed. After each round its orchestrator fills in a ledger: is
the team in a loop, is progress being made. A ledger is judged from what stands before it. What the
orchestrator says to itself is left out: the ledgers and its plans are there.

- rounds: a round is flagged where it led over known ground (`ebbtide.divergence.detectors.stated_calls`), as
  the k-th such step or a later one. k is chosen on four fifths of the runs, and scored on the others
- baselines: every round is flagged; every round from the n-th on is, n chosen in the same way
- live: of how many runs something told is reported, and what the supervisor does
- others: runs of other kinds, in which nothing may be reported of told actions, unless they are stuck
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.run_sets import SETS, RecordedRun, chat_turns
from benchmarks.quality.scenario_files import read_scenarios
from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.events.event import ModelCall
from ebbtide.events.stated_actions import stated_action
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.traces.chats.autogen_messages import Group

FOLDS = 5
MOST = 10  # the highest count of steps, and of rounds, that is tried
_SAMPLES = 2_000
_SEED = 20_260
_SILENT = ("Orchestrator (thought)", "Orchestrator (termination condition)")
LABELS = ("is_in_loop", "no_progress")


class LedgerRound(NamedTuple):
    """A round, and what the ledger behind it says.

    Args:
        number: Its place in the run, from 0.
        steps: Steps over known ground up to its end.
        is_known_ground: Whether it added one.
        is_in_loop: What the ledger says.
        no_progress: What the ledger says.
    """

    number: int
    steps: int
    is_known_ground: bool
    is_in_loop: bool
    no_progress: bool


Rule = Callable[[LedgerRound, int], bool]
RULES: dict[str, Rule] = {
    "known ground": lambda item, least: item.is_known_ground and item.steps >= least,
    "from the n-th round on": lambda item, least: item.number >= least,
}


def histories(data: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The name and the messages of each run."""
    for path in sorted((data / "rounds" / "ledgers").glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield path.name.removesuffix(".json.gz"), json.load(file)["history"]


def rounds_of(history: Sequence[dict[str, Any]]) -> list[LedgerRound]:
    """The rounds of a run, each judged from what was said before its ledger."""
    group, monitor = Group(), LoopMonitor()
    rounds: list[LedgerRound] = []
    before = 0
    for message in history:
        if message["role"] not in _SILENT:
            for event in group.add(message):
                monitor.update(event)
            continue
        ledger = _ledger(message["content"])
        if ledger is None:
            continue
        chain = monitor.chain("")
        steps = 0 if chain is None or chain.stated.calls is None else chain.stated.calls.steps
        rounds.append(
            LedgerRound(
                number=len(rounds),
                steps=steps,
                is_known_ground=steps > before,
                is_in_loop=ledger["is_in_loop"]["answer"] is True,
                no_progress=ledger["is_progress_being_made"]["answer"] is False,
            )
        )
        before = steps
    return rounds


def _ledger(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return None
    return value if isinstance(value, dict) and "is_in_loop" in value else None


def score(pairs: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    """Precision, recall and F1 of flags against labels, each pair a flag and its label."""
    hits = sum(flag and label for flag, label in pairs)
    flags, labels = sum(flag for flag, _ in pairs), sum(label for _, label in pairs)
    return {
        "rounds": len(pairs),
        "labelled": labels,
        "flagged": flags,
        "right": hits,
        "precision": round(hits / flags, 3) if flags else None,
        "precision_interval": wilson(hits, flags),
        "recall": round(hits / labels, 3) if labels else None,
        "recall_interval": wilson(hits, labels),
        "f1": _f1(pairs),
    }


def _f1(pairs: Sequence[tuple[bool, bool]]) -> float:
    hits = sum(flag and label for flag, label in pairs)
    total = sum(flag + label for flag, label in pairs)
    return round(2 * hits / total, 3) if total else 0.0


def _pairs(
    runs: Sequence[Sequence[LedgerRound]], rule: Rule, least: int, label: str
) -> list[tuple[bool, bool]]:
    return [(rule(item, least), getattr(item, label)) for run in runs for item in run]


def out_of_fold(runs: Sequence[Sequence[LedgerRound]], rule: Rule, label: str) -> dict[str, Any]:
    """A rule whose count is chosen without the runs that it is scored on; F1 with an interval over runs."""
    by_run: list[list[tuple[bool, bool]]] = [[] for _ in runs]
    chosen = []
    for fold in range(FOLDS):
        training = [run for number, run in enumerate(runs) if number % FOLDS != fold]
        least = max(range(1, MOST + 1), key=lambda least: _f1(_pairs(training, rule, least, label)))
        chosen.append(least)
        for number in range(fold, len(runs), FOLDS):
            by_run[number] = _pairs([runs[number]], rule, least, label)
    chance = random.Random(_SEED)
    sampled = sorted(
        _f1([pair for run in chance.choices(by_run, k=len(by_run)) for pair in run]) for _ in range(_SAMPLES)
    )
    interval = sampled[int(0.025 * _SAMPLES)], sampled[int(0.975 * _SAMPLES)]
    return {**score([pair for run in by_run for pair in run]), "f1_interval": interval, "chosen": chosen}


def live(data: Path) -> dict[str, Any]:
    """What is reported of the runs that rests on told actions, and what is done, by what the ledgers say."""
    result: dict[str, Any] = {}
    for _, history in histories(data):
        group, supervisor = Group(), Supervisor()
        events = [
            event for message in history if message["role"] not in _SILENT for event in group.add(message)
        ]
        is_in_loop = any(item.is_in_loop for item in rounds_of(history))
        row = result.setdefault(
            "in a loop at some time" if is_in_loop else "never in a loop",
            {"runs": 0, "reported": 0, "kinds": Counter[str](), "actions": Counter[str]()},
        )
        row["actions"].update({supervisor.record(event).action.value for event in events})
        kinds = {signal.kind.value for signal in find_loops(events) if signal.is_stated}
        row["kinds"].update(kinds)
        row["reported"] += bool(kinds)
        row["runs"] += 1
    for row in result.values():
        row["interval"] = wilson(row["reported"], row["runs"])
    return result


def _tells(event: object) -> bool:
    return isinstance(event, ModelCall) and stated_action(event.text or "") is not None


def others(data: Path) -> dict[str, Any]:
    """Runs of other kinds by group: how many tell actions, and of how many something told is reported."""
    result: dict[str, Any] = {}
    sets: dict[str, Iterator[RecordedRun]] = {name: read(data) for name, read in SETS.items()}
    sets["coding chats, as turns"] = chat_turns(data)
    for path in sorted((ROOT / "tests" / "scenarios").glob("*.jsonl.gz")):
        sets[f"tests: {path.name.removesuffix('.jsonl.gz')}"] = iter(read_scenarios(path))
    for name, runs in sets.items():
        for run in runs:
            row = result.setdefault(f"{name}: {run.group}", {"runs": 0, "telling": 0, "reported": 0})
            row["runs"] += 1
            row["telling"] += any(
                isinstance(event, ModelCall) and stated_action(event.text or "") for event in run.events
            )
            row["reported"] += any(signal.is_stated for signal in find_loops(run.events))
    for row in result.values():
        row["interval"] = wilson(row["reported"], row["runs"])
    return result


def show(result: dict[str, Any]) -> None:
    for label in LABELS:
        for name, row in result[label].items():
            precision, recall = row["precision_interval"], row["recall_interval"]
            interval = f" {row['f1_interval']}, k {row['chosen']}" if "chosen" in row else ""
            print(
                f"{label:12} {name:28} F1 {row['f1']:.3f}{interval}; precision {row['precision']} {precision}"
                f" of {row['flagged']}, recall {row['recall']} {recall} of {row['labelled']}"
            )
    for name, row in result["live"].items():
        print(f"live, {name}: {row['reported']} of {row['runs']} runs reported {row['interval']}")
        print(f"    by what {dict(row['kinds'])}, runs by action {dict(row['actions'])}")
    for name, row in result.get("others", {}).items():
        print(f"{name:40} {row['runs']:5} runs, {row['telling']} tell actions, {row['reported']} reported")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure told actions against the ledgers of an orchestrator."
    )
    add_data_option(parser)
    parser.add_argument("--no-others", action="store_true", help="leave out the runs of other kinds")
    options = parser.parse_args()
    data = data_folder(options.data)
    runs = [rounds_of(history) for _, history in histories(data)]
    result: dict[str, Any] = {"setup": setup(), "runs": len(runs)}
    for label in LABELS:
        rows = result[label] = {"every round": score(_pairs(runs, lambda *_: True, 0, label))}
        for name, rule in RULES.items():
            rows[f"{name}, out of fold"] = out_of_fold(runs, rule, label)
            for least in range(1, MOST + 1):
                rows[f"{name}, {least}"] = score(_pairs(runs, rule, least, label))
    result["live"] = live(data)
    if not options.no_others:
        result["others"] = others(data)
    show(result)
    write_result("quality-ledgers", result)


if __name__ == "__main__":
    main()
