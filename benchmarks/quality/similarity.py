"""How well each similarity tells which texts say the same, on two sets of labelled pairs.

    python -m benchmarks.quality.similarity [--data DIR]

Argument and key point of a debate, labelled by people: one topic is a group. Consecutive thoughts of coding
agents, labelled "redundancy" by people: one trajectory is a group; half of the redundant pairs are the word
"None" twice, so pairs with text on both sides stand beside the whole.

For each measure: area under the ROC curve and average precision, with bootstrap intervals over arguments (or
over trajectories), and what thresholds do: the spec's (0.6 for Jaccard, 0.82 for cosine), and those that
`calibrate` fits and tries on held-out groups.

Measures beside the meter's own need no labels either. Shared words: of the stems of the shorter text, how
many the longer has; weighted, a stem counts by how few texts of the group have it. Centred: the cosine after
the mean of the group is taken off, which is what all its texts have in common; by side, the mean of the
arguments is taken off arguments, that of the key points off key points. Clause: the same for the clause of
the argument that is most like the key point. Combined: the mean of the last two and weighted shared words;
the share of these is chosen on the training topics, none of which is among those it is measured on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from ebbtide.convergence.calibration.confusion import Confusion
from ebbtide.convergence.calibration.curves import area_under_roc, average_precision, threshold_curve
from ebbtide.convergence.calibration.labelled import LabelledPair
from ebbtide.convergence.calibration.pairs import calibrate_pairs, cosine_similarities, jaccard_similarities
from ebbtide.convergence.calibration.threshold_fit import fit_threshold
from ebbtide.convergence.novelty import claim_tokens
from ebbtide.profile.convergence import TokenForm
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.normal_form import normal_form

Scores = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]

SPEC = {"L1 words": 0.6, "L1 stems": 0.6, "L2": 0.82}
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
FLOORS = (0.0, 0.4, 0.5)
RESAMPLES = 1_000
SEED = 20_260
_CLAUSE_END = re.compile(r"(?<=[.!?;:])\s+|,\s+|\s(?:because|so|and|but)\s", re.IGNORECASE)
_CLAUSE_WORDS = 3


class Pairs(NamedTuple):
    """Labelled pairs, and which of them depend on each other."""

    items: tuple[LabelledPair, ...]
    units: tuple[str, ...]  # what the bootstrap draws

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Both texts of each pair."""
        return [(item.a, item.b) for item in self.items]

    @property
    def labels(self) -> list[bool]:
        """Whether they say the same."""
        return [item.same for item in self.items]

    @property
    def groups(self) -> list[str]:
        """What a cross-validation holds out together."""
        return [item.group for item in self.items]


def key_points(path: Path) -> Pairs:
    """Argument and key point, grouped by topic."""
    rows = list(_rows(path))
    items = [
        LabelledPair(a=row["argument"], b=row["key_point"], same=row["match"], group=row["topic"])
        for row in rows
    ]
    return Pairs(tuple(items), tuple(row["argument"] for row in rows))


def thoughts(path: Path, *, said: bool) -> Pairs:
    """Each thought and the next, grouped by trajectory; `said`: both of them are there."""
    items = []
    for row in _rows(path):
        for at, label in enumerate(row["thought_labels"]):
            a, b = row["thoughts"][at : at + 2]
            if not said or "None" not in (a, b):
                items.append(LabelledPair(a=a, b=b, same=label == "redundancy", group=row["id"]))
    return Pairs(tuple(items), tuple(item.group for item in items))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def by_group(pairs: Pairs, score: Callable[[list[str], list[str]], Scores]) -> Scores:
    """A score that may look at all texts of a group."""
    found = np.zeros(len(pairs.items))
    for group in sorted(set(pairs.groups)):
        at = [number for number, other in enumerate(pairs.groups) if other == group]
        found[at] = score([pairs.items[n].a for n in at], [pairs.items[n].b for n in at])
    return found


def weighted_words(a: list[str], b: list[str]) -> Scores:
    """Of the weight of the stems of the shorter text, the share that the longer has."""
    different = {_stems(text) for text in (*a, *b)}
    holders = Counter(stem for stems in different for stem in stems)
    return _shared(
        a, b, {stem: math.log((len(different) + 1) / (count + 1)) for stem, count in holders.items()}
    )


def shared_words(a: list[str], b: list[str]) -> Scores:
    """Of the stems of the shorter text, the share that the longer has."""
    return _shared(a, b, dict.fromkeys(chain.from_iterable(map(_stems, (*a, *b))), 1.0))


def _shared(a: list[str], b: list[str], weights: Mapping[str, float]) -> Scores:
    def weight(stems: frozenset[str]) -> float:
        return max(math.fsum(weights[stem] for stem in stems), 1e-9)

    pairs = [(_stems(left), _stems(right)) for left, right in zip(a, b, strict=True)]
    return np.array([weight(x & y) / min(weight(x), weight(y)) for x, y in pairs])


@cache
def _stems(text: str) -> frozenset[str]:
    return claim_tokens(normal_form(text), TokenForm.STEMS)


def centred(embedder: Embedder, *, by_side: bool) -> Callable[[list[str], list[str]], Scores]:
    """Cosine without what all texts of a group, or of a side of it, have in common."""

    def score(a: list[str], b: list[str]) -> Scores:
        left, right = embedder.embed(a), embedder.embed(b)
        sides = (_mean(embedder, a), _mean(embedder, b)) if by_side else (_mean(embedder, [*a, *b]),) * 2
        cosines: Scores = (_unit(left - sides[0]) * _unit(right - sides[1])).sum(axis=1)
        return cosines

    return score


def best_clause(embedder: Embedder) -> Callable[[list[str], list[str]], Scores]:
    """The same by side, for the clause on the left that is most like the text on the right."""

    def score(a: list[str], b: list[str]) -> Scores:
        clauses = {text: _clauses(text) for text in a}
        left_mean = _mean(embedder, [clause for text in clauses for clause in clauses[text]])
        left = {text: _unit(embedder.embed(parts) - left_mean) for text, parts in clauses.items()}
        right = _unit(embedder.embed(b) - _mean(embedder, b))
        return np.array([(left[text] @ row).max() for text, row in zip(a, right, strict=True)])

    return score


def _clauses(text: str) -> list[str]:
    return [part for part in _CLAUSE_END.split(text) if len(part.split()) >= _CLAUSE_WORDS] or [text]


def _mean(embedder: Embedder, texts: Sequence[str]) -> Rows:
    mean: Rows = embedder.embed(sorted(set(texts))).mean(axis=0)
    return mean


def _unit(rows: Rows) -> Rows:
    scaled: Rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return scaled


def measures(pairs: Pairs, embedder: Embedder) -> dict[str, Scores]:
    """Every score that needs no label."""
    stems = np.array(jaccard_similarities(pairs.texts, TokenForm.STEMS))
    cosine = np.array(cosine_similarities(pairs.texts, embedder))
    return {
        "L1 words": np.array(jaccard_similarities(pairs.texts, TokenForm.WORDS)),
        "L1 stems": stems,
        "shared words": by_group(pairs, shared_words),
        "shared words, weighted": by_group(pairs, weighted_words),
        "L2": cosine,
        "larger of L1 stems, L2": np.maximum(stems, cosine),
        "L2 centred": by_group(pairs, centred(embedder, by_side=False)),
        "L2 centred by side": by_group(pairs, centred(embedder, by_side=True)),
        "L2 centred, best clause": by_group(pairs, best_clause(embedder)),
    }


def combined(scores: dict[str, Scores], share: float) -> Scores:
    """The mean of the two centred cosines, and a share of weighted shared words."""
    meaning = (scores["L2 centred by side"] + scores["L2 centred, best clause"]) / 2
    mixed: Scores = (1 - share) * meaning + share * scores["shared words, weighted"]
    return mixed


def areas(
    scores: Scores, labels: npt.NDArray[np.bool_], weights: npt.NDArray[np.int64]
) -> tuple[float, float]:
    """Area under the ROC curve and average precision, each pair counted as often as its weight says."""
    order = np.argsort(-scores, kind="stable")
    ranked, right, count = scores[order], labels[order], weights[order]
    last = np.append(ranked[1:] != ranked[:-1], True)  # the end of each run of equals
    hits, yes = np.cumsum(count * right)[last], np.cumsum(count)[last]
    found, passed = np.diff(hits, prepend=0), np.diff(yes - hits, prepend=0)
    negatives = max(yes[-1] - hits[-1], 1)
    roc = float(((hits - found / 2) * passed).sum() / (hits[-1] * negatives)) if hits[-1] else math.nan
    precision = float((found * hits / np.maximum(yes, 1)).sum() / max(hits[-1], 1))
    return roc, precision


def intervals(pairs: Pairs, scores: Scores) -> dict[str, Any]:
    """Both areas, with the middle 95 % of what resampled units give."""
    labels = np.array(pairs.labels)
    curve = threshold_curve(scores.tolist(), pairs.labels)
    whole = areas(scores, labels, np.ones(len(labels), dtype=np.int64))
    assert np.allclose(whole, (area_under_roc(curve), average_precision(curve)))
    units, unit_of = np.unique(pairs.units, return_inverse=True)
    chance = np.random.default_rng(SEED)
    drawn = [
        areas(
            scores,
            labels,
            np.bincount(chance.integers(len(units), size=len(units)), minlength=len(units))[unit_of],
        )
        for _ in range(RESAMPLES)
    ]
    low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
    names = ("auc", "average_precision")
    return {
        name: {
            "value": round(whole[at], 4),
            "interval_95": [round(float(low[at]), 4), round(float(high[at]), 4)],
        }
        for at, name in enumerate(names)
    }


def thresholds(pairs: Pairs, scores: Scores, spec: float | None) -> dict[str, Any]:
    """What the spec's threshold does, and what fitted ones do where they were not fitted."""
    values, labels = scores.tolist(), pairs.labels
    found: dict[str, Any] = {}
    if spec is not None:
        found["spec"] = {"threshold": spec, **Confusion.at(spec, values, labels).to_dict()}
    for floor in FLOORS:
        fit = fit_threshold(values, labels, pairs.groups, precision_at_least=floor)
        found[f"fitted_precision_{floor:g}"] = fit.to_dict() if fit else None
    return found


def report(name: str, pairs: Pairs, scores: dict[str, Scores]) -> dict[str, Any]:
    """Print and return everything about one set."""
    counts = {"pairs": len(pairs.items), "same": sum(pairs.labels), "groups": len(set(pairs.groups))}
    print(f"\n{name}: {', '.join(f'{count} {what}' for what, count in counts.items())}")
    found: dict[str, Any] = {}
    for measure, row in scores.items():
        entry = {**intervals(pairs, row), **thresholds(pairs, row, SPEC.get(measure))}
        found[measure] = entry
        print(f"  {measure:<26} AUC {_area(entry['auc'])}   AP {_area(entry['average_precision'])}")
        for label in ("spec", *(f"fitted_precision_{floor:g}" for floor in FLOORS)):
            if part := entry.get(label):
                held_out = part.get("held_out")
                words = f"{_in_words(held_out)} held out" if held_out else _in_words(part)
                print(f"      {label:<22} {part['threshold']:<6g} {words}")
    return {**counts, "measures": found}


def _area(entry: dict[str, Any]) -> str:
    low, high = entry["interval_95"]
    return f"{entry['value']:.3f} [{low:.3f}, {high:.3f}]"


def _in_words(confusion: dict[str, Any]) -> str:
    precision, recall = confusion["precision"], confusion["recall"]
    shown = "-" if precision["rate"] is None else f"{precision['rate']:.2f} {precision['interval_95']}"
    return f"precision {shown} of {precision['n']}, recall {recall['rate']:.2f}, F1 {confusion['f1']:.3f}"


def main() -> None:
    """Measure both sets and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    embedder = open_embedder()
    train, dev = (key_points(data / "claims" / f"kpa_{part}.jsonl.gz") for part in ("train", "dev"))
    on_train, on_dev = measures(train, embedder), measures(dev, embedder)
    ones = np.ones(len(train.items), dtype=np.int64)
    share = max(SHARES, key=lambda tried: areas(combined(on_train, tried), np.array(train.labels), ones)[1])
    on_train["combined"], on_dev["combined"] = combined(on_train, share), combined(on_dev, share)
    print(f"share of weighted words in combined, chosen on the training topics: {share:g}")
    result: dict[str, Any] = {"setup": setup("onnxruntime", "numpy"), "model": embedder.model, "share": share}
    result["key points, training topics"] = report("key points, training topics", train, on_train)
    result["key points"] = report("key points", dev, on_dev)
    path = data / "loops" / "swe_transitions.jsonl.gz"
    for name, said in (("thoughts", False), ("thoughts, both there", True)):
        pairs = thoughts(path, said=said)
        scores = measures(pairs, embedder)
        del scores["L2 centred by side"], scores["L2 centred, best clause"]  # both sides are of one kind
        result[name] = report(name, pairs, scores)
    proposals: dict[str, dict[str, str]] = {}
    for name, pairs in (("key points", dev), ("thoughts", thoughts(path, said=False))):
        for floor in FLOORS:
            label = f"{name}, precision at least {floor:g}"
            found = calibrate_pairs(pairs.items, embedder=embedder, precision_at_least=floor)
            proposals[label] = {part.name: part.verdict for part in found.measures}
            print(f"\ncalibrate on {label}, default profile:")
            for part, verdict in proposals[label].items():
                print(f"  {part}: {verdict}")
    write_result("quality-similarity", {**result, "calibrate": proposals})


if __name__ == "__main__":
    main()
