"""What labels of your own bring to the gate: decisions lost and noise kept, by how many labels there are.

    python -m benchmarks.quality.own_labels [--data DIR] [--draws N] [--cache FILE]

Four sets, each on its own, as if it were the text of one team. ConDec, relay and ADR are those of
benchmarks/decision_texts.py; the records of ADR stand beside narration and the thoughts of agents. "turns"
are sentences of the open half of benchmarks/quality/decisions_blind.md: labelled ones of turns that decide,
and every sentence of turns that do not, each judged as a part of its turn.

A draw leaves out a fifth of the documents, has 200 of the other texts labelled in the order in which
`ebbtide decisions label` asks, half by lot and half where the gate is least sure, and counts the errors on
the fifth with the first 0, 25, 50, 100 and 200 of these labels. Means over the draws; the Wilson interval
(95 %) is that of so many different texts, and "draws" are the middle 90 % of the draws.

How much a feature may move a verdict, and the form of the threshold, were chosen on ConDec, relay and ADR; of
"turns" the numbers were looked at, and nothing was chosen by them alone.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decision_texts import Labelled, labelled_texts
from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.learning.decision_label import DecisionLabel, LabelKind
from ebbtide.decisions.learning.drawing import OpenQuestion, doubt_of_labels, next_question
from ebbtide.decisions.learning.features import READ, LabelledCandidate, RuleReading
from ebbtide.decisions.learning.training import LabelledTable, labelled_table
from ebbtide.text.embedding.cache import CachedEmbedder
from ebbtide.text.embedding.embedder import open_embedder

SIZES = (0, 25, 50, 100, 200)
_FOLDS = 5
_EVERY = 10  # labels after which the order of the next ones is thought over
_GENRES = {"issue comments": "ConDec", "logs of agents": "relay"}
_REST, _TURNS = "ADR and narration", "turns"

Item = tuple[Labelled, Assessment]


def sets_of(data: Path) -> dict[str, list[Item]]:
    sets: dict[str, list[Item]] = {name: [] for name in (*_GENRES.values(), _REST, _TURNS)}
    for item in labelled_texts(data):
        name = _TURNS if item.said_in else _GENRES.get(item.genre, _REST)
        sets[name].append((item, assess(item.candidate(), item.turn())))
    return sets


def labelled(item: Item, draw: str) -> LabelledCandidate:
    text, assessment = item
    label = DecisionLabel(
        text=text.text,
        label=LabelKind.DECISION if text.is_decision else LabelKind.NONE,
        document=text.document,
        draw=draw,
    )
    return LabelledCandidate(label, RuleReading.of(assessment))


def labelled_in_order(pool: Sequence[Item], embedder: CachedEmbedder) -> list[LabelledCandidate]:
    """The first 200 that a person would be asked about, with the right answers."""
    by_text = {item.text: (item, assessment) for item, assessment in pool}
    open_questions = [
        OpenQuestion(text=text, document="", place="", speaker="", before="", after="", assessment=assessment)
        for text, (_, assessment) in by_text.items()
    ]
    labels: list[LabelledCandidate] = []
    doubt: dict[str, Any] = {}
    while open_questions and len(labels) < SIZES[-1]:
        if len(labels) >= _EVERY and len(labels) % _EVERY == 0:
            doubt = {"doubt": doubt_of_labels(labelled_table(labels, embedder), embedder)}
        question, draw = next_question(open_questions, len(labels), **doubt)
        open_questions.remove(question)
        labels.append(labelled(by_text[question.text], draw))
    return labels


def errors(
    labels: Sequence[LabelledCandidate], test: Sequence[LabelledCandidate], embedder: CachedEmbedder
) -> tuple[float, float]:
    """The shares of decisions that are lost, and of noise that is kept."""
    candidates = [*labels, *test]
    table = LabelledTable(candidates, embedder.embed([each.label.text[:READ] for each in candidates]))
    numbers = np.arange(len(candidates))
    refused = table.refused(numbers[len(labels) :], numbers[: len(labels)])
    decisions = np.array([each.is_decision for each in test])
    return float(refused[decisions].mean()), float((~refused[~decisions]).mean())


def draw(items: Sequence[Item], number: int, embedder: CachedEmbedder) -> list[tuple[float, float]]:
    rng = random.Random(number)
    documents = sorted(
        {item.document for item, _ in items}, key=lambda name: _lot(f"{number // _FOLDS}{name}")
    )
    left_out = set(documents[number % _FOLDS :: _FOLDS])
    pool = [pair for pair in items if pair[0].document not in left_out]
    rng.shuffle(pool)
    # What is drawn differs from draw to draw: half of what is there is what this team has.
    pool = pool[: max(len(pool) * 3 // 4, SIZES[-1])]
    test = [labelled(pair, "random") for pair in items if pair[0].document in left_out]
    labels = labelled_in_order(pool, embedder)
    return [errors(labels[:size], test, embedder) for size in SIZES]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=20, help="how often each set is measured")
    parser.add_argument("--cache", type=Path, help="file that keeps embeddings between runs")
    add_data_option(parser)
    options = parser.parse_args()
    embedder = open_embedder(cache=options.cache)
    result: dict[str, Any] = {"draws": options.draws, "sets": {}}
    means: list[list[tuple[float, float]]] = []
    for name, items in sets_of(data_folder(options.data)).items():
        decisions = sum(item.is_decision for item, _ in items)
        counts = (decisions, len(items) - decisions)
        embedder.embed([item.text[:READ] for item, _ in items])
        results = np.array([draw(items, number, embedder) for number in range(options.draws)])
        print(f"{name}: {counts[0]} decisions, {counts[1]} others")
        means.append([tuple(each) for each in results.mean(axis=0)])
        points = [_point(size, results[:, at], counts) for at, size in enumerate(SIZES)]
        result["sets"][name] = {"decisions": counts[0], "others": counts[1], "curve": points}
    print("mean of the sets")
    result["mean"] = []
    for at, size in enumerate(SIZES):
        lost, passed = (float(np.mean([each[at][kind] for each in means])) for kind in (0, 1))
        named = [each[at] for each in means[:-1]]
        without = [float(np.mean([each[kind] for each in named])) for kind in (0, 1)]
        line = f"  {size:4} labels: lost {lost:6.1%}, kept {passed:6.1%}"
        print(f"{line}; without turns {without[0]:6.1%}, {without[1]:6.1%}")
        result["mean"].append(
            {"labels": size, "lost": round(lost, 4), "kept": round(passed, 4)}
            | {"lost_without_turns": round(without[0], 4), "kept_without_turns": round(without[1], 4)}
        )
    result["cost"] = cost()
    print(result["cost"])
    write_result("quality-own-labels", {**result, "setup": setup("numpy", "onnxruntime")})


def _point(size: int, results: np.ndarray, counts: tuple[int, int]) -> dict[str, Any]:
    point: dict[str, Any] = {"labels": size}
    line = f"  {size:4} labels:"
    for kind, what in enumerate(("lost", "kept")):
        mean = float(results[:, kind].mean())
        low, high = wilson(round(mean * counts[kind]), counts[kind])
        least, most = (round(float(q), 4) for q in np.quantile(results[:, kind], (0.05, 0.95)))
        point[what] = {
            "rate": round(mean, 4),
            "n": counts[kind],
            "interval_95": [low, high],
            "draws_90": [least, most],
        }
        line += f" {what} {mean:6.1%} [{low:5.1%}, {high:5.1%}], draws {least:5.1%} to {most:5.1%};"
    print(line.rstrip(";"))
    return point


def cost() -> dict[str, float]:
    """What training of 200 labels takes where nothing is embedded yet, and one more embedding."""
    texts = [
        f"We will keep number {number} in the queue of the worker, not in memory" for number in range(400)
    ]
    fresh = [
        labelled(
            (
                Labelled("", text, str(number // 4), is_decision=number % 2 == 0),
                assess(Candidate(description=text)),
            ),
            "random",
        )
        for number, text in enumerate(texts[:200])
    ]
    start = time.perf_counter()
    table = labelled_table(fresh, open_embedder())
    table.model(np.arange(len(fresh)))
    trained = time.perf_counter() - start
    inner = open_embedder()
    start = time.perf_counter()
    for text in texts[200:]:
        inner.embed([text])
    return {
        "train_200_labels_s": round(trained, 3),
        "embedding_ms": round((time.perf_counter() - start) * 1000 / 200, 2),
    }


def _lot(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


if __name__ == "__main__":
    main()
