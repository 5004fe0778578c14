"""Finds decisions by sentence vectors and a logistic head, in sets that the head has not seen.

    python -m benchmarks.quality.decision_sentences [--data DIR] [--cache FILE]

The labelled turns of the open and the tuning part (benchmarks/quality/decisions_blind.md), sentence by
sentence, as vectors of the local model of the extra `semantic`. Four ways: the rules of the product; a head
on the vectors; a head on the vectors, the evidence of the gate and the circumstances of the sentence; and
what the rules or that head find. A head learns from the labels of five genres, from issue comments (ConDec)
and from events that agents logged (relay), at less weight, and is asked about the sixth genre. Comments are
left out with the reviews, which are made of them. The strength of its prior, and for each role the lowest
threshold at which four of five kept sentences are right, are those of genres that were left out of the five
in turn. The sealed part is asked once, of heads that learned from all of the other two parts. The rules
were fitted to the open and the tuning part, and are a sign of the second head: of these two parts the rows
with rules are no rows of unseen sets. The sealed part is one.

Recall counts turns that decide something, precision sentences that are kept, as in decision_turns; with and
without labels in doubt. `hindsight` is the recall at a precision of 0.8 with the threshold that the
outcomes of the set itself choose: what no choice of threshold gets beyond.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.decisions_blind import fill, rows
from benchmarks.quality.forecast_scores import Forecaster, Numbers
from ebbtide.decisions.candidate import Candidate, Source
from ebbtide.decisions.gate.assess import assess
from ebbtide.decisions.turns.filtered_turns import Disposition, SpokenTurn
from ebbtide.decisions.turns.turn_filter import filter_turns
from ebbtide.errors import SemanticError
from ebbtide.profile import Profile
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.extraction.blocks import Form
from ebbtide.text.extraction.sentences import sentences
from ebbtide.text.extraction.turn import Speaker

AIM: Final = 0.8  # precision
_PRIORS: Final = (1e-4, 1e-3, 1e-2)
_DOUBTFUL: Final = 0.5  # what a label in doubt counts
_MORE: Final = 0.3  # what a comment or a logged event counts
_LEARNED_FROM: Final = ("comments", "relay")  # never asked about
_ROLES: Final = ("user", "agent")
WAYS: Final = ("rules", "vectors", "vectors and signs", "rules or vectors and signs")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSentence:
    """A sentence of a labelled turn.

    Args:
        part: ``open``, ``tuning`` or ``sealed``; ``more`` for what is only learned from.
        genre: The set.
        turn: The id of the turn.
        by: ``user`` or ``agent``.
        text: The words.
        decides: It overlaps a labelled sentence of a decision.
        firm: The label of its turn is not in doubt.
        kept: The product keeps it.
        signs: Evidence of the gate, and circumstances.
    """

    part: str
    genre: str
    turn: str
    by: str
    text: str
    decides: bool
    firm: bool
    kept: bool
    signs: tuple[float, ...]


def sentences_of(row: dict[str, Any], part: str) -> Iterator[LabelledSentence]:
    """Yields the sentences of a filled row, without code."""
    text = row["text"]
    role = Speaker.PERSON if row["by"] == "user" else Speaker.MODEL
    turn = SpokenTurn(number=1, speaker=row["speaker"], text=text, role=role)
    kept = filter_turns([turn], Profile.DEFAULT).having(Disposition.KEPT)
    decisions = row["sentences"] if row["label"] == "decision" else []
    spans = [(text.index(words), text.index(words) + len(words)) for words in decisions]
    found = [item for item in sentences(text) if item.form is not Form.CODE and item.text.strip()]
    for number, item in enumerate(found):
        is_kept = any(each.sentence.start < item.end and item.start < each.sentence.end for each in kept)
        yield LabelledSentence(
            part=part,
            genre=row["genre"],
            turn=row["id"],
            by=row["by"],
            text=item.text,
            decides=any(item.start < end and start < item.end for start, end in spans),
            firm=not row["doubt"],
            kept=is_kept,
            signs=_signs(item.text, row["by"], kept=is_kept, number=number, count=len(found)),
        )


def _signs(text: str, by: str, *, kept: bool = False, number: int = 0, count: int = 1) -> tuple[float, ...]:
    assessment = assess(Candidate(description=text, source=Source.AUTO))
    return (
        float(by == "user"),
        float(kept),
        float(assessment.keep),
        assessment.choice,
        min(assessment.noise, 10.0),
        float(text.rstrip().endswith("?")),
        float(np.log1p(len(text))),
        float(number == 0),
        float(np.log1p(count)),
    )


def more_labels(data: Path, used: set[int]) -> Iterator[LabelledSentence]:
    """Yields comments that are in no turn of `used` lines, and logged events."""
    with gzip.open(data / "decisions" / "condec.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            if number not in used and row["text"].strip():
                yield _more("comments", "user", row["text"], number, decides=row["label"] == "decision")
    with gzip.open(data / "decisions" / "relay_events.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            text = row.get("content") or ""
            if len(text.split()) > 2:
                yield _more("relay", "agent", text[:1_000], number, decides=row["type"] == "decision")


def _more(genre: str, by: str, text: str, number: int, *, decides: bool) -> LabelledSentence:
    return LabelledSentence(
        part="more",
        genre=genre,
        turn=f"{genre} {number}",
        by=by,
        text=text,
        decides=decides,
        firm=True,
        kept=False,
        signs=_signs(text, by),
    )


def read_sentences(data: Path) -> list[LabelledSentence]:
    """Returns the sentences of all parts, and what is only learned from."""
    found: list[LabelledSentence] = []
    used: set[int] = set()
    for part in ("open", "tuning", "sealed"):
        for stored in rows(part):
            place = re.search(r"condec.*line=(\d+),sentences=(\d+)", stored["source"] or "")
            if place:
                used |= set(range(int(place[1]), int(place[1]) + int(place[2])))
            found += sentences_of(fill(stored, str(data)), part)
    return [*found, *more_labels(data, used)]


def features(items: Sequence[LabelledSentence], embedder: Embedder, *, signs: bool) -> Numbers:
    """Returns the vectors of sentences, with the signs beside them where wanted."""
    vectors = np.asarray(embedder.embed([item.text for item in items]), dtype=np.float64)
    if not signs:
        return np.column_stack([vectors, [float(item.by == "user") for item in items]])
    return np.column_stack([vectors, [item.signs for item in items]])


def fit(items: Sequence[LabelledSentence], matrix: Numbers, prior: float) -> Forecaster:
    """Returns a head that learned from sentences."""
    outcomes = np.array([item.decides for item in items], dtype=np.float64)
    weights = [_MORE if item.part == "more" else 1.0 if item.firm else _DOUBTFUL for item in items]
    return Forecaster(matrix, outcomes, np.array(weights), prior=prior)


def counts(
    items: Sequence[LabelledSentence], kept: Sequence[bool], *, firm: bool = False
) -> tuple[int, int, int, int]:
    """Returns turns that are hit, turns that decide, sentences that are right, and those that are kept."""
    pairs = [(item, is_kept) for item, is_kept in zip(items, kept, strict=True) if item.firm or not firm]
    hits = {item.turn for item, is_kept in pairs if is_kept and item.decides}
    decisions = {item.turn for item, _ in pairs if item.decides}
    right = sum(is_kept and item.decides for item, is_kept in pairs)
    return len(hits), len(decisions), right, sum(is_kept for _, is_kept in pairs)


def lowest_threshold(items: Sequence[LabelledSentence], scores: Numbers) -> float:
    """Returns the lowest threshold at the precision aimed at; infinity where there is none."""
    order = np.argsort(-scores)
    decides = np.array([item.decides for item in items])[order]
    precision = np.cumsum(decides) / np.arange(1, len(order) + 1)
    places = np.flatnonzero(precision >= AIM)
    return float(scores[order[places[-1]]]) if len(places) else float("inf")


def thresholds(items: Sequence[LabelledSentence], scores: Numbers) -> dict[str, float]:
    """Returns the lowest threshold of each role at which the precision is that aimed at."""
    found = {}
    for role in _ROLES:
        own = [number for number, item in enumerate(items) if item.by == role]
        found[role] = lowest_threshold([items[number] for number in own], scores[own]) if own else 0.0
    return found


def scores_out_of_fold(
    items: Sequence[LabelledSentence], matrix: Numbers, genres: Sequence[str], prior: float
) -> tuple[list[LabelledSentence], Numbers]:
    """Returns the sentences of genres, each scored by a head that saw none of its genre."""
    asked: list[LabelledSentence] = []
    scores: list[Numbers] = []
    for genre in genres:
        known = [number for number, item in enumerate(items) if is_known(item, genre)]
        own = [number for number, item in enumerate(items) if item.genre == genre]
        head = fit([items[number] for number in known], matrix[known], prior)
        asked += [items[number] for number in own]
        scores.append(head.chances(matrix[own]))
    return asked, np.concatenate(scores)


def is_known(item: LabelledSentence, left_out: str) -> bool:
    """Returns True if a head that is asked about a genre may learn from a sentence."""
    return item.genre != left_out and not (left_out == "reviews" and item.genre == "comments")


def head_for(
    items: Sequence[LabelledSentence], matrix: Numbers
) -> tuple[float, dict[str, float], Forecaster]:
    """Returns the prior and the thresholds that do best on genres left out in turn, and a head of all."""
    genres = sorted({item.genre for item in items} - set(_LEARNED_FROM))
    best: tuple[int, float, dict[str, float]] | None = None
    for prior in _PRIORS:
        asked, scores = scores_out_of_fold(items, matrix, genres, prior)
        limits = thresholds(asked, scores)
        hits = counts(asked, [score >= limits[item.by] for item, score in zip(asked, scores, strict=True)])[0]
        if best is None or hits > best[0]:
            best = hits, prior, limits
    assert best is not None
    return best[1], best[2], fit(items, matrix, best[1])


def rows_of(
    name: str, way: str, items: Sequence[LabelledSentence], kept: Sequence[bool], scores: Numbers | None
) -> list[dict[str, Any]]:
    """Returns the counts of a set for both roles and each, with and without labels in doubt."""
    found = []
    for whose in ("both", *_ROLES):
        places = [number for number, item in enumerate(items) if whose in ("both", item.by)]
        own, own_kept = [items[number] for number in places], [kept[number] for number in places]
        for firm in (False, True):
            hits, decisions, right, total = counts(own, own_kept, firm=firm)
            row: dict[str, Any] = {"set": name, "way": way, "by": whose, "labels": "firm" if firm else "all"}
            row |= {"hits": hits, "decisions": decisions, "right": right, "kept": total}
            row |= {"recall": wilson(hits, decisions), "precision": wilson(right, total)}
            if scores is not None and not firm and own:
                limit = lowest_threshold(own, scores[places])
                row["hindsight"] = counts(own, [bool(score >= limit) for score in scores[places]])[0]
            found.append(row)
    return found


def measure(items: Sequence[LabelledSentence], embedder: Embedder) -> list[dict[str, Any]]:
    """Returns the rows of all ways, by genre left out and for the sealed part."""
    open_items = [item for item in items if item.part != "sealed"]
    sealed = [item for item in items if item.part == "sealed"]
    genres = sorted({item.genre for item in open_items} - set(_LEARNED_FROM))
    tasks: list[tuple[str, list[LabelledSentence], list[LabelledSentence]]] = [
        (
            genre,
            [item for item in open_items if is_known(item, genre)],
            [item for item in open_items if item.genre == genre],
        )
        for genre in genres
    ]
    if sealed:
        tasks.append(("sealed", open_items, sealed))
    results: list[dict[str, Any]] = []
    pooled: dict[str, list[tuple[LabelledSentence, bool]]] = {way: [] for way in WAYS}
    for name, known, asked in tasks:
        kept: dict[str, tuple[list[bool], Numbers | None]] = {"rules": ([item.kept for item in asked], None)}
        for way in WAYS[1:3]:
            signs = way != "vectors"
            prior, limits, head = head_for(known, features(known, embedder, signs=signs))
            scores = head.chances(features(asked, embedder, signs=signs))
            own = [bool(score >= limits[item.by]) for item, score in zip(asked, scores, strict=True)]
            kept[way] = own, scores
            print(f"{name}, {way}: prior {prior}, thresholds {limits}")
        either = [one or other for one, other in zip(kept["rules"][0], kept[WAYS[2]][0], strict=True)]
        kept[WAYS[3]] = either, None
        for way, (flags, scores_of_way) in kept.items():
            results += rows_of(name, way, asked, flags, scores_of_way)
            _show(results[-6])
            if name != "sealed":
                pooled[way] += zip(asked, flags, strict=True)
    for way, pairs in pooled.items():
        results += rows_of("all genres", way, [item for item, _ in pairs], [flag for _, flag in pairs], None)
        for row in results[-6:]:
            _show(row)
    return results


def _show(row: dict[str, Any]) -> None:
    print(
        f"{row['set']}, {row['way']}, {row['by']}, {row['labels']} labels: {row['hits']} of "
        f"{row['decisions']} turns {row['recall']}, {row['right']} of {row['kept']} sentences right "
        f"{row['precision']}" + (f", in hindsight {row['hindsight']}" if "hindsight" in row else "")
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, help="file that keeps the vectors")
    add_data_option(parser)
    options = parser.parse_args()
    items = read_sentences(data_folder(options.data))
    try:
        embedder = open_embedder(cache=options.cache)
    except SemanticError as error:
        raise SystemExit(str(error)) from error
    print(f"{len(items)} sentences, {sum(item.decides for item in items)} of them decide something")
    write_result(
        "quality-decision-sentences",
        {"setup": setup("numpy", "onnxruntime"), "rows": measure(items, embedder)},
    )


if __name__ == "__main__":
    main()
