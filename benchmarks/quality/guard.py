"""What the contrast guard vetoes, rightly and wrongly, and what stems change, on labelled texts.

    python -m benchmarks.quality.guard [--data DIR]

The guard is asked about pairs that are already alike. A veto is right where people call the two texts
different and wrong where they call them the same:

- table: reversals and rewordings of our own. "tune" was in sight while the rules were made. "held_out" was
  written before the rules, "fresh" after them and full of traps; the rules saw neither before the first
  count, which was 39 of 40 caught and 0 of 40 wrong, and 35 of 40 and 6 of 40. What "fresh" showed was then
  mended in part
- stance: arguments about one topic, for or against it; two that differ in stance are not the same, two of one
  stance mostly are. Mistakes on these were read while the rules were made
- matches: an argument and a key point that people say it makes, or does not make
- thoughts: consecutive thoughts of coding agents, labelled redundant or not
- unlabelled: how often the guard speaks at all, in rewritten reviews, reflections and thoughts that repeat

Tokens: how well the Jaccard of words, of stems, and of stems without function words tells matches from
non-matches (five folds of topics) and redundant thoughts from others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations, groupby, pairwise, product
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, add_data_option, data_folder, setup, wilson, write_result
from ebbtide.text.contrast.guard import contrast
from ebbtide.text.contrast.words import FUNCTION_WORDS
from ebbtide.text.normal_form import normal_form
from ebbtide.text.stems import stem_tokens

Pair = tuple[str, str]
Tokens = Callable[[str], frozenset[str]]

ALIKE = Fraction(6, 10)
TABLE = ROOT / "tests" / "text" / "contrast" / "contrast_pairs.json"
FOLDS = 5
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?:\\n|\n)+")


def words(text: str) -> frozenset[str]:
    return frozenset(normal_form(text).split())


def stems(text: str) -> frozenset[str]:
    return stem_tokens(normal_form(text))


def content_stems(text: str) -> frozenset[str]:
    return stems(text) - FUNCTION_WORDS


def jaccard(one: frozenset[str], other: frozenset[str]) -> Fraction:
    together = len(one | other)
    return Fraction(len(one & other), together) if together else Fraction(0)


def alike(pairs: Iterable[Pair], tokens: Tokens = stems, least: Fraction = ALIKE) -> list[Pair]:
    """The pairs that are alike but not equal, once each."""
    distinct = dict.fromkeys((a, b) for a, b in pairs if normal_form(a) != normal_form(b))
    return [(a, b) for a, b in distinct if jaccard(tokens(a), tokens(b)) >= least]


def vetoes(pairs: list[Pair]) -> dict[str, Any]:
    """How many of the pairs the guard calls different, and why."""
    kinds = Counter(found.kind.value for a, b in pairs if (found := contrast(a, b)) is not None)
    vetoed = sum(kinds.values())
    return {
        "pairs": len(pairs),
        "vetoed": vetoed,
        "share": round(vetoed / len(pairs), 4) if pairs else None,
        "interval": wilson(vetoed, len(pairs)),
        "kinds": dict(sorted(kinds.items())),
    }


def table() -> dict[str, Any]:
    """Our own pairs, by half."""
    result = {}
    for half, rows in json.loads(TABLE.read_text(encoding="utf-8")).items():
        reversals = [(row["a"], row["b"]) for row in rows if row["kind"]]
        rewordings = [(row["a"], row["b"]) for row in rows if not row["kind"]]
        result[f"{half}: reversals"] = vetoes(reversals)
        result[f"{half}: rewordings"] = vetoes(rewordings)
    return result


def stance(data: Path) -> dict[str, Any]:
    """Texts about one topic that are alike, by whether they take one side."""
    result = {}
    topics: dict[str, dict[str, str]] = {}
    for row in _claims(data):
        topic = topics.setdefault(row["topic"], {})
        topic[row["argument"]] = topic[row["key_point"]] = row["stance"]
    sides = [list(topic.items()) for topic in topics.values()]
    for least in (ALIKE, Fraction(5, 10)):
        same = [(a, b) for side in sides for (a, one), (b, other) in combinations(side, 2) if one == other]
        different = [
            (a, b) for side in sides for (a, one), (b, other) in combinations(side, 2) if one != other
        ]
        result[f"against each other, Jaccard >= {float(least)}"] = vetoes(alike(different, least=least))
        result[f"on one side, Jaccard >= {float(least)}"] = vetoes(alike(same, least=least))
    return result


def matches(data: Path) -> dict[str, Any]:
    """An argument and a key point, by label; few of them are alike in words, so all are counted as well."""
    rows = list(_claims(data))
    result = {}
    for label in (True, False):
        pairs = [(row["argument"], row["key_point"]) for row in rows if row["match"] is label]
        name = "match" if label else "no match"
        result[f"{name}, Jaccard >= 0.4"] = vetoes(alike(pairs, least=Fraction(4, 10)))
        result[f"{name}, all"] = vetoes(pairs)
    return result


def thoughts(data: Path) -> dict[str, Any]:
    """Consecutive thoughts of coding agents that are alike, by label."""
    labelled = list(_thoughts(data))
    result = {}
    for name, redundant in (("redundant", True), ("not redundant", False)):
        pairs = [(a, b) for a, b, label in labelled if (label == "redundancy") is redundant]
        result[f"{name}, all"] = vetoes(pairs)
        result[f"{name}, Jaccard >= 0.6"] = vetoes(alike(pairs))
    return result


def unlabelled(data: Path) -> dict[str, Any]:
    """How often the guard speaks at all."""
    chains = list(_rows(data / "rounds" / "self_refine_yelp_gpt4.jsonl.gz"))
    texts = [[(item["text"], item["feedback"] or "") for item in chain["attempts"]] for chain in chains]
    consecutive = (
        pair
        for attempts in texts
        for before, after in pairwise(attempts)
        for place in (0, 1)
        for pair in product(sentences(before[place]), sentences(after[place]))
    )
    memories = (row["memory"] for row in _rows(data / "rounds" / "alfworld_base.jsonl.gz"))
    reflections = (
        pair
        for memory in memories
        for before, after in combinations(memory, 2)
        for pair in product(sentences(before), sentences(after))
    )
    steps = (row["steps"] for row in _rows(data / "loops" / "hotpotqa_react_base.jsonl.gz"))
    searching = (pair for run in steps for pair in combinations([step["thought"] for step in run], 2))
    return {
        "sentences of consecutive rewritings": vetoes(alike(consecutive)),
        "sentences of reflections after failed trials": vetoes(alike(reflections)),
        "thoughts of one question": vetoes(alike(searching)),
    }


def tokens(data: Path) -> dict[str, Any]:
    """How well three kinds of tokens tell the labels apart."""
    forms: dict[str, Tokens] = {"words": words, "stems": stems, "stems without function words": content_stems}
    train = list(_rows(data / "claims" / "kpa_train.jsonl.gz"))
    topics = sorted({row["topic"] for row in train})
    labelled = list(_thoughts(data))
    result = {}
    for name, form in forms.items():
        scored = [
            (row["topic"], jaccard(form(row["argument"]), form(row["key_point"])), row["match"])
            for row in train
        ]
        folds = [
            [(score, match) for topic, score, match in scored if topic in topics[fold::FOLDS]]
            for fold in range(FOLDS)
        ]
        redundancy = [(jaccard(form(a), form(b)), label == "redundancy") for a, b, label in labelled]
        result[name] = {
            "matches": _at(ALIKE, [(score, match) for _, score, match in scored]),
            "matches at 0.3": _at(Fraction(3, 10), [(score, match) for _, score, match in scored]),
            "matches: area under the curve, by fold": [round(area(fold), 4) for fold in folds],
            "matches: average precision, by fold": [round(average_precision(fold), 4) for fold in folds],
            "redundant thoughts": _at(ALIKE, redundancy),
            "redundant thoughts: area under the curve": round(area(redundancy), 4),
            "redundant thoughts: average precision": round(average_precision(redundancy), 4),
            "redundant thoughts: best F1, at": best_f1(redundancy),
        }
    return result


def area(scored: list[tuple[Fraction, bool]]) -> float:
    """The chance that a positive scores above a negative; a tie is half."""
    wins = positives = below = 0
    for _, group in groupby(sorted(scored, key=lambda item: item[0]), key=lambda item: item[0]):
        labels = [label for _, label in group]
        positive = sum(labels)
        negative = len(labels) - positive
        wins += 2 * positive * below + positive * negative
        positives += positive
        below += negative
    return wins / (2 * positives * below)


def average_precision(scored: list[tuple[Fraction, bool]]) -> float:
    """Precision at each score that brings positives, weighted by how many it brings."""
    total = hits = seen = 0.0
    for _, group in groupby(sorted(scored, key=lambda item: -item[0]), key=lambda item: item[0]):
        labels = [label for _, label in group]
        hits += sum(labels)
        seen += len(labels)
        total += sum(labels) * hits / seen
    return total / hits


def best_f1(scored: list[tuple[Fraction, bool]]) -> list[float]:
    """The highest F1 that any threshold reaches, and that threshold."""
    positives = sum(label for _, label in scored)
    best = (0.0, 1.0)
    hits = seen = 0
    for score, group in groupby(sorted(scored, key=lambda item: -item[0]), key=lambda item: item[0]):
        labels = [label for _, label in group]
        hits += sum(labels)
        seen += len(labels)
        best = max(best, (2 * hits / (seen + positives), float(score)))
    return [round(value, 4) for value in best]


def sentences(text: str) -> list[str]:
    """The sentences of at least three words."""
    return [part.strip() for part in _SENTENCE.split(text) if len(part.split()) >= 3]


def _at(least: Fraction, scored: list[tuple[Fraction, bool]]) -> dict[str, Any]:
    found = [label for score, label in scored if score >= least]
    positives = sum(label for _, label in scored)
    return {
        "found": sum(found),
        "of": positives,
        "recall": round(sum(found) / positives, 4),
        "recall_interval": wilson(sum(found), positives),
        "called_same": len(found),
        "precision": round(sum(found) / len(found), 4) if found else None,
        "precision_interval": wilson(sum(found), len(found)),
    }


def _claims(data: Path) -> Iterator[dict[str, Any]]:
    for name in ("kpa_train", "kpa_dev"):
        yield from _rows(data / "claims" / f"{name}.jsonl.gz")


def _thoughts(data: Path) -> Iterator[tuple[str, str, str]]:
    """Consecutive thoughts with their label, without steps that have no thought."""
    for row in _rows(data / "loops" / "swe_transitions.jsonl.gz"):
        said = [thought if thought and thought != "None" else None for thought in row["thoughts"]]
        for (before, after), label in zip(pairwise(said), row["thought_labels"], strict=True):
            if before is not None and after is not None:
                yield before, after, label


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def show(result: dict[str, Any]) -> None:
    """Print the result as lines of text."""
    for section, rows in result.items():
        if section in ("setup", "tokens"):
            continue
        print(f"\n{section}")
        for name, row in rows.items():
            share = "-" if row["share"] is None else f"{row['share']:7.2%}"
            low, high = row["interval"]
            kinds = ", ".join(f"{kind} {count}" for kind, count in row["kinds"].items())
            print(
                f"  {name:46} {row['vetoed']:5} of {row['pairs']:6} {share}  [{low:.3f}, {high:.3f}]  {kinds}"
            )
    print("\ntokens")
    for form, row in result["tokens"].items():
        print(f"  {form}")
        for name, value in row.items():
            print(f"    {name}: {value}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    data = data_folder(parser.parse_args().data)
    result = {
        "setup": setup(),
        "table": table(),
        "stance": stance(data),
        "matches": matches(data),
        "thoughts": thoughts(data),
        "unlabelled": unlabelled(data),
        "tokens": tokens(data),
    }
    show(result)
    write_result("guard", result)


if __name__ == "__main__":
    main()
