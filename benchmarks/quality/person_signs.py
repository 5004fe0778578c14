"""Fit what each sign of a choice counts in what people say, and tell what the sum finds in unseen documents.

    python -m benchmarks.quality.person_signs [--data DIR] [--write]

Sentences of people in the open and the tuning part of benchmarks/quality/decisions_blind.md, and comments on
issues (ConDec) that are in neither, at less weight. Folds are whole documents. The threshold is the lowest at
which of the sentences that are kept in the folds, and by the gate, the aimed share is right. `recall` is over
turns that decide something, as in decision_turns. The wordings among the signs were written with the open
part at hand, so that the tuning part is the honest row. With `--write` the weights are those of all labels,
and `src/ebbtide/decisions/turns/person_signs.json` has them from then on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.decisions_blind import fill, rows
from ebbtide.decisions.candidate import Candidate, Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.learning.logistic import Numbers, fitted_weights
from ebbtide.decisions.turns import person_signs
from ebbtide.decisions.turns.turn_candidates import sentences_of_person

AIM = 0.8  # precision
_FOLDS = 8
_DRAWS = 3  # ways to cut the documents into folds
_SPREAD = 0.2  # variance of a weight before anything is seen
_FREE = 100.0  # that of the constant
_DOUBTFUL = 0.5  # what a label in doubt counts
_COMMENTS = 0.3  # what a comment counts
_BLOCK = 40  # comments that are taken for one document
_WEIGHTS = Path(person_signs.__file__).with_name(person_signs.WEIGHTS_FILE)
_CONSTANT = "constant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence: its signs, whether it decides something, and whether the gate keeps it."""

    signs: tuple[str, ...]
    decides: bool
    passes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A labelled turn; those without a part are comments, which are learned from and not counted."""

    part: str | None
    document: str
    firm: bool
    decides: bool
    weight: float
    sentences: tuple[Sentence, ...]


def turns_of(data: Path) -> list[Turn]:
    turns, used = [], set()
    for part in ("open", "tuning"):
        for stored in rows(part):
            row = fill(stored, str(data))
            place = re.search(r"condec.*line=(\d+),sentences=(\d+)", row["source"])
            if place:
                used |= set(range(int(place[1]), int(place[1]) + int(place[2])))
            if row["by"] != "user":
                continue
            decides = row["label"] == "decision"
            spans = [
                (row["text"].index(words), row["text"].index(words) + len(words))
                for words in (row["sentences"] if decides else ())
            ]
            document = f"comments {int(place[1]) // _BLOCK}" if place else row["source"].partition("#")[0]
            if row["genre"] == "meetings_mails":
                document = row["id"]
            turns.append(
                Turn(
                    part=part,
                    document=document,
                    firm=not row["doubt"],
                    decides=decides,
                    weight=_DOUBTFUL if row["doubt"] else 1.0,
                    sentences=read(row["text"], spans),
                )
            )
    with gzip.open(data / "decisions" / "condec.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            decides = row["label"] == "decision"
            sentences = () if number in used else read(row["text"], [(0, 1)] if decides else [])[:1]
            # A comment is a sentence cut out of its turn.
            sentences = tuple(
                Sentence(
                    signs=tuple(sign for sign in each.signs if not sign.startswith("turn.")),
                    decides=decides,
                    passes=each.passes,
                )
                for each in sentences
            )
            turns.append(
                Turn(
                    part=None,
                    document=f"comments {number // _BLOCK}",
                    firm=True,
                    decides=decides,
                    weight=_COMMENTS,
                    sentences=sentences,
                )
            )
    return turns


def read(text: str, spans: Sequence[tuple[int, int]]) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            signs=signs.names,
            decides=any(item.start < end and start < item.end for start, end in spans),
            passes=assess(Candidate(description=item.text, source=Source.AUTO)).keep,
        )
        for item, signs in sentences_of_person(text)
    )


def fitted(turns: Sequence[Turn]) -> dict[str, float]:
    """What each sign counts, and the constant."""
    sentences = [(each, turn.weight) for turn in turns for each in turn.sentences]
    names = sorted({sign for each, _ in sentences for sign in each.signs})
    column = {name: number for number, name in enumerate(names)}
    matrix: Numbers = np.zeros((len(sentences), len(names) + 1))
    for number, (each, _) in enumerate(sentences):
        matrix[number, [column[sign] for sign in each.signs]] = _SPREAD**0.5
        matrix[number, -1] = _FREE**0.5
    targets = np.array([float(each.decides) for each, _ in sentences])
    importance = np.array([weight for _, weight in sentences])
    weights = fitted_weights(matrix, targets, np.zeros(len(sentences)), importance)
    scaled = [*(weights[:-1] * _SPREAD**0.5), weights[-1] * _FREE**0.5]
    return dict(zip([*names, _CONSTANT], map(float, scaled), strict=True))


def scores_in_folds(turns: Sequence[Turn], draw: int) -> list[list[float]]:
    """The score of each sentence by weights that did not see its document."""
    documents = sorted({turn.document for turn in turns})
    random.Random(draw).shuffle(documents)
    fold = {document: number % _FOLDS for number, document in enumerate(documents)}
    scores: list[list[float]] = [[] for _ in turns]
    for number in range(_FOLDS):
        weights = fitted([turn for turn in turns if fold[turn.document] != number])
        for turn, own in zip(turns, scores, strict=True):
            if fold[turn.document] == number:
                own += [scored(weights, each) for each in turn.sentences]
    return scores


def scored(weights: dict[str, float], sentence: Sentence) -> float:
    return weights[_CONSTANT] + sum(weights.get(sign, 0.0) for sign in sentence.signs)


Counts = tuple[int, int, int, int]


def counts_at(
    turns: Sequence[Turn],
    scores: Sequence[Sequence[float]],
    threshold: float,
    counted: Callable[[Turn], bool] = lambda turn: turn.part is not None,
) -> Counts:
    """Turns that are hit, turns that decide, sentences that are right, and those that are kept."""
    hits = decisions = right = kept = 0
    for turn, own in zip(turns, scores, strict=True):
        if not counted(turn):
            continue
        choices = [
            each
            for each, value in zip(turn.sentences, own, strict=True)
            if value >= threshold and each.passes
        ]
        correct = sum(each.decides for each in choices)
        kept, right, decisions = kept + len(choices), right + correct, decisions + turn.decides
        hits += bool(correct)
    return hits, decisions, right, kept


def threshold_of(turns: Sequence[Turn], scores: Sequence[Sequence[float]]) -> float:
    """The lowest threshold at which the precision is that aimed at."""
    lowest = float("inf")
    for value in sorted({value for own in scores for value in own}, reverse=True):
        _, _, right, kept = counts_at(turns, scores, value)
        if kept and right / kept >= AIM:
            lowest = value
    return lowest


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the weights")
    add_data_option(parser)
    options = parser.parse_args()
    turns = turns_of(data_folder(options.data))
    thresholds, results = [], []
    for draw in range(_DRAWS):
        scores = scores_in_folds(turns, draw)
        thresholds.append(threshold_of(turns, scores))
        for part in ("open", "tuning"):
            for firm in (False, True):
                hits, decisions, right, kept = counts_at(
                    turns,
                    scores,
                    thresholds[-1],
                    lambda turn, part=part, firm=firm: turn.part == part and (turn.firm or not firm),
                )
                row = {"draw": draw, "part": part, "labels": "firm" if firm else "all"}
                row |= {"hits": hits, "decisions": decisions, "right": right, "kept": kept}
                row |= {"recall": wilson(hits, decisions), "precision": wilson(right, kept)}
                results.append(row)
                print(
                    f"folds {draw}, {part}, {row['labels']} labels: {hits} of {decisions} turns "
                    f"{row['recall']}, {right} of {kept} sentences right {row['precision']}"
                )
    weights = fitted(turns)
    threshold = sum(thresholds) / len(thresholds) - weights.pop(_CONSTANT)
    for name, weight in sorted(weights.items(), key=lambda each: -each[1]):
        print(f"{weight:6.2f}  {name}")
    print(f"{threshold:6.2f}  threshold")
    write_result("quality-person-signs", {"setup": setup(), "aim": AIM, "rows": results})
    if options.write:
        table = {
            "threshold": round(threshold, 2),
            "weights": {name: round(weight, 2) for name, weight in sorted(weights.items())},
        }
        _WEIGHTS.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
        print(f"written: {_WEIGHTS.name}")


if __name__ == "__main__":
    main()
