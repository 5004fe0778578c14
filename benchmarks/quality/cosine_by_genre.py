"""What a cosine threshold is worth on each public set of labelled pairs, and whether centring carries over.

    python -m benchmarks.quality.cosine_by_genre [--data DIR]

The sets: argument and key point of a debate (two splits, other topics in each), two arguments of one side of
a topic (the same where people matched them with a common key point, different where each has one and none is
common), consecutive thoughts of coding agents, their consecutive actions, and titles of the architecture
decisions of one repository, all of which are different.

For each: what 0.82 calls the same, how much of that is right, and how much of what is the same it finds.
Beside the Wilson interval, which takes pairs for independent, stands the middle 95 % of what resampled groups
give: the topics, trajectories or repositories that a set is made of. Then the threshold that would be best
there, with a precision of 0.5, on groups that it was not fitted on.

Centred: the cosine after the mean vector of the group is taken off; by side, the mean of the side. A
threshold for it is fitted on the training topics, as it is for the plain cosine, and tried on every other
set as it stands.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from benchmarks.quality.similarity import (
    RESAMPLES,
    SEED,
    Pairs,
    Scores,
    areas,
    by_group,
    centred,
    key_points,
    thoughts,
)
from ebbtide.convergence.calibration.confusion import Confusion
from ebbtide.convergence.calibration.labelled import LabelledPair
from ebbtide.convergence.calibration.pairs import cosine_similarities
from ebbtide.convergence.calibration.threshold_fit import fit_threshold
from ebbtide.text.embedding.embedder import open_embedder

COSINE = 0.82
FLOOR = 0.5
_NUMBER = re.compile(r"^(?:ADR\b)?[-\s]*\d+[-.:)\s]*|^ADR[-:.\s]*", re.IGNORECASE)
TRAINED = "key points, training topics"


def two_arguments(path: Path) -> Pairs:
    """Two arguments of one side of a topic; a group is a topic."""
    points: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in _rows(path):
        if row["match"]:
            points[row["topic"], row["stance"]][row["argument"]].add(row["key_point"])
    items = [
        LabelledPair(a=a, b=b, same=bool(matched[a] & matched[b]), group=topic)
        for (topic, _), matched in points.items()
        for a, b in combinations(sorted(matched), 2)
    ]
    return Pairs(tuple(items), tuple(item.group for item in items))


def actions(path: Path) -> Pairs:
    """Each action and the next, grouped by trajectory."""
    items = [
        LabelledPair(
            a=row["actions"][at], b=row["actions"][at + 1], same=label == "repetition", group=row["id"]
        )
        for row in _rows(path)
        for at, label in enumerate(row["action_labels"])
    ]
    return Pairs(tuple(items), tuple(item.group for item in items))


def titles(path: Path) -> Pairs:
    """Titles of the decision records of one repository, none of which says what another does."""
    by_repository: dict[str, list[str]] = defaultdict(list)
    for row in _rows(path):
        heading = next((line for line in row["markdown"].splitlines() if line.startswith("# ")), "")
        by_repository[row["id"].split(":")[0]].append(_NUMBER.sub("", heading.lstrip("# ")))
    items = [
        LabelledPair(a=a, b=b, same=False, group=repository)
        for repository, names in by_repository.items()
        for a, b in combinations(sorted(filter(None, set(names))), 2)
    ]
    return Pairs(tuple(items), tuple(item.group for item in items))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def at_threshold(pairs: Pairs, scores: Scores, threshold: float) -> dict[str, Any]:
    """What a threshold does, with the spread of its precision over resampled groups."""
    confusion = Confusion.at(threshold, scores.tolist(), pairs.labels)
    names, group_of = np.unique(pairs.groups, return_inverse=True)
    alike, right = scores >= threshold, np.array(pairs.labels)
    called = np.bincount(group_of, weights=alike, minlength=len(names))
    hits = np.bincount(group_of, weights=alike & right, minlength=len(names))
    draws = np.random.default_rng(SEED).integers(len(names), size=(RESAMPLES, len(names)))
    totals = called[draws].sum(axis=1)
    rates = hits[draws].sum(axis=1)[totals > 0] / totals[totals > 0]
    spread = [round(float(edge), 4) for edge in np.percentile(rates, [2.5, 97.5])] if len(rates) else None
    by_group_counts = sorted([int(count), int(hit)] for count, hit in zip(called, hits, strict=True) if count)
    return {
        "threshold": threshold,
        **confusion.to_dict(),
        "precision_by_resampled_groups_95": spread,
        "called_and_right_by_group": by_group_counts if len(by_group_counts) <= 30 else None,
    }


def centring(pairs: Pairs, plain: Scores, scores: dict[str, Scores]) -> dict[str, Any]:
    """Areas of the plain and of the centred cosines, each with the middle 95 % over resampled groups."""
    labels = np.array(pairs.labels)
    names, group_of = np.unique(pairs.groups, return_inverse=True)
    draws = np.random.default_rng(SEED).integers(len(names), size=(RESAMPLES // 5, len(names)))
    entry = {}
    for name, row in {"plain": plain, **scores}.items():
        whole = areas(row, labels, np.ones(len(labels), dtype=np.int64))
        drawn = [areas(row, labels, np.bincount(draw, minlength=len(names))[group_of]) for draw in draws]
        low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
        entry[name] = {
            what: {"value": round(whole[at], 4), "interval_95": [round(low[at], 4), round(high[at], 4)]}
            for at, what in enumerate(("auc", "average_precision"))
        }
    return entry


def main() -> None:
    """Measure every set, print both tables, and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    embedder = open_embedder()
    transitions = data / "loops" / "swe_transitions.jsonl.gz"
    train, dev = (data / "claims" / f"kpa_{part}.jsonl.gz" for part in ("train", "dev"))
    sets = {
        TRAINED: key_points(train),
        "key points": key_points(dev),
        "two arguments": two_arguments(dev),
        "thoughts": thoughts(transitions, said=False),
        "thoughts, both there": thoughts(transitions, said=True),
        "actions": actions(transitions),
        "titles of decisions": titles(data / "decisions" / "adr.jsonl.gz"),
    }
    scores: dict[str, dict[str, Scores]] = {}
    result: dict[str, Any] = {"setup": setup("onnxruntime", "numpy"), "model": embedder.model, "sets": {}}
    print(f"{'':<28} {'pairs':>6} {'same':>5}  precision of {COSINE:g} [Wilson] (by groups)     recall")
    for name, pairs in sets.items():
        plain = np.array(cosine_similarities(pairs.texts, embedder))
        scores[name] = {"plain": plain, "centred": by_group(pairs, centred(embedder, by_side=False))}
        if name in (TRAINED, "key points"):
            scores[name]["centred by side"] = by_group(pairs, centred(embedder, by_side=True))
        entry = at_threshold(pairs, plain, COSINE)
        fit = fit_threshold(plain.tolist(), pairs.labels, pairs.groups, precision_at_least=FLOOR)
        result["sets"][name] = {
            "pairs": len(pairs.items),
            "same": sum(pairs.labels),
            "groups": len(set(pairs.groups)),
            "at_cosine": entry,
            "fitted_here": fit.to_dict() if fit else None,
        }
        print(f"{name:<28} {len(pairs.items):>6} {sum(pairs.labels):>5}  {_words(entry)}")
        if fit:
            print(f"{'':<42} fitted here {fit.threshold:g}, held out: {_words(fit.held_out.to_dict())}")
    print("\ncentring: area under ROC, average precision")
    for name, pairs in sets.items():
        if any(pairs.labels):
            entry = centring(pairs, scores[name]["plain"], scores[name])
            result["sets"][name]["centring"] = entry
            for what, row in entry.items():
                print(f"{name:<28} {what:<16} {_area(row['auc'])}  {_area(row['average_precision'])}")
    print(f"\nthresholds fitted on {TRAINED}, as they stand elsewhere")
    result["carried_over"] = {}
    for what in ("plain", "centred"):
        pairs = sets[TRAINED]
        fit = fit_threshold(
            scores[TRAINED][what].tolist(), pairs.labels, pairs.groups, precision_at_least=FLOOR
        )
        if fit is None:
            continue
        rows = {name: at_threshold(other, scores[name][what], fit.threshold) for name, other in sets.items()}
        result["carried_over"][what] = rows
        for name, row in rows.items():
            print(f"{what:<10} {fit.threshold:<6g} {name:<28} {_words(row)}")
    write_result("quality-cosine-by-genre", result)


def _words(entry: dict[str, Any]) -> str:
    precision, recall = entry["precision"], entry["recall"]
    spread = entry.get("precision_by_resampled_groups_95")
    right = (
        "-" if precision["rate"] is None else f"{precision['rate']:.2f} {_range(precision['interval_95'])}"
    )
    groups = f" ({spread[0]:.2f}-{spread[1]:.2f})" if spread else ""
    reach = "-" if recall["rate"] is None else f"{recall['rate']:.2f} {_range(recall['interval_95'])}"
    return f"{right}{groups} of {precision['n']}; recall {reach}"


def _range(interval: list[float]) -> str:
    return f"[{interval[0]:.2f}, {interval[1]:.2f}]"


def _area(entry: dict[str, Any]) -> str:
    return f"{entry['value']:.3f} {_range(entry['interval_95'])}"


if __name__ == "__main__":
    main()
