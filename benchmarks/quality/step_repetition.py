"""Does this step repeat the one before? Against labels that people gave to steps of two coding agents.

    python -m benchmarks.quality.step_repetition [--data DIR]

Labelled are transitions from one step to the next; `repetition` is what is to be found. Compared are equal
steps, steps whose words reach Jaccard 0.6, and the same tool with arguments that share most of their words,
as the monitor compares them. That share is chosen by cross-validation: for each project, on all the others.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.divergence.near_duplicates import share, words_of

_SHARES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Transition:
    """Two steps, and whether people called the second a repetition."""

    project: str
    repeats: bool
    equal: bool
    same_tool: bool
    shared: float


def step(text: str) -> tuple[str, Any]:
    """Tool and arguments of a step; one agent writes calls, the other plain text."""
    try:
        call = ast.literal_eval(text)
        return call["name"], json.loads(call["arguments"])
    except (ValueError, SyntaxError, TypeError, KeyError):
        return "", text


def transitions(trajectory: dict[str, Any]) -> Iterable[Transition]:
    project = trajectory["id"].split("/")[1].split("__")[0]
    for place, label in enumerate(trajectory["action_labels"]):
        before, after = trajectory["actions"][place : place + 2]
        (tool, args), (next_tool, next_args) = step(before), step(after)
        yield Transition(
            project=f"{trajectory['agent']} {project}",
            repeats=label == "repetition",
            equal=before == after,
            same_tool=tool == next_tool,
            shared=share(words_of(args), words_of(next_args)),
        )


def score(items: list[Transition], says: Callable[[Transition], bool]) -> dict[str, Any]:
    hits = sum(item.repeats and says(item) for item in items)
    said = sum(map(says, items))
    labelled = sum(item.repeats for item in items)
    precision, recall = hits / said if said else 0.0, hits / labelled if labelled else 0.0
    return {
        "said": said,
        "right": hits,
        "labelled": labelled,
        "precision": round(precision, 4),
        "precision_interval": wilson(hits, said),
        "recall": round(recall, 4),
        "recall_interval": wilson(hits, labelled),
        "f1": round(2 * precision * recall / (precision + recall), 4) if hits else 0.0,
    }


def at_least(least: float) -> Callable[[Transition], bool]:
    return lambda item: item.same_tool and item.shared >= least


def cross_validated(items: list[Transition]) -> tuple[dict[str, Any], dict[str, float]]:
    """The share chosen without a project, applied to it."""
    chosen: dict[str, float] = {}
    said: dict[Transition, bool] = {}
    for project in sorted({item.project for item in items}):
        others = [item for item in items if item.project != project]
        chosen[project] = max(_SHARES, key=lambda least: (score(others, at_least(least))["f1"], least))
        said.update({item: at_least(chosen[project])(item) for item in items if item.project == project})
    return score(items, said.__getitem__), chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    folder = data_folder(parser.parse_args().data)
    with gzip.open(folder / "loops" / "swe_transitions.jsonl.gz", "rt", encoding="utf-8") as text:
        items = [item for line in text for item in transitions(json.loads(line))]
    validated, chosen = cross_validated(items)
    results = {
        "equal": score(items, lambda item: item.equal),
        "jaccard 0.6": score(items, lambda item: item.shared >= 0.6),
        "same tool and most words, cross-validated": validated,
    }
    print(f"{len(items)} transitions, {sum(item.repeats for item in items)} called repetition by people")
    for name, found in results.items():
        print(
            f"{name}: precision {found['precision']} {found['precision_interval']}, recall {found['recall']} "
            f"{found['recall_interval']}, F1 {found['f1']} ({found['right']} right of {found['said']})"
        )
    print(f"shares chosen: {sorted(set(chosen.values()))}")
    write_result(
        "quality-step-repetition",
        {"transitions": len(items), "results": results, "chosen": chosen, "setup": setup()},
    )


if __name__ == "__main__":
    main()
