"""The gate by genre: what it loses and keeps, on average and at worst, and what each rule is worth there.

`benchmarks.quality.gate` prints these tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.decision_texts import Labelled
from ebbtide.decisions.assessment import Assessment, RuleFired
from ebbtide.decisions.gate.evidence import score
from ebbtide.rate import Rate

Judged = tuple[Labelled, Assessment]
_LOST, _KEPT = "lost", "kept"


def refused_at(assessment: Assessment, threshold: float) -> bool:
    """What the gate would say with another threshold."""
    alone = any(rule.decides for rule in assessment.rules)
    return alone or assessment.noise - assessment.choice >= threshold


def wrong(items: Sequence[Judged], threshold: float | None = None) -> Rate:
    """Decisions lost, or noise kept."""
    errors = 0
    for item, assessment in items:
        refused = not assessment.keep if threshold is None else refused_at(assessment, threshold)
        errors += refused == item.is_decision
    return Rate(hits=errors, total=len(items))


def shown(rate: Rate) -> str:
    """The rate with its interval, in columns."""
    share, low, high = (100 * part for part in (rate.value or 0, *rate.interval))
    return f"{rate.hits:4}/{rate.total:<4} {share:5.1f} % [{low:4.1f}, {high:4.1f}]"


def genres_of(judged: Iterable[Judged]) -> dict[str, dict[str, list[Judged]]]:
    """The texts of each genre: decisions, that can be lost, and noise, that can be kept."""
    genres: dict[str, dict[str, list[Judged]]] = defaultdict(lambda: {_LOST: [], _KEPT: []})
    for item, assessment in judged:
        genres[item.genre][_LOST if item.is_decision else _KEPT].append((item, assessment))
    return dict(genres)


def genre_table(judged: Iterable[Judged]) -> dict[str, Any]:
    """Lost and kept of each genre, the average of the genres, and the worst one."""
    genres = genres_of(judged)
    result: dict[str, Any] = {"genres": {}}
    rates: dict[str, dict[str, Rate]] = {_LOST: {}, _KEPT: {}}
    print(f"\n{'genre':26} {'decisions lost':30} noise kept")
    for genre, sides in genres.items():
        for side, items in sides.items():
            if items:
                rates[side][genre] = wrong(items)
        columns = (shown(rates[side][genre]) if genre in rates[side] else "-" for side in (_LOST, _KEPT))
        print(f"{genre:26} " + " ".join(f"{column:30}" for column in columns).rstrip())
        result["genres"][genre] = {
            side: rates[side][genre].to_dict() for side in (_LOST, _KEPT) if genre in rates[side]
        }
    for side in (_LOST, _KEPT):
        shares = {genre: rate.value or 0.0 for genre, rate in rates[side].items()}
        average, worst = sum(shares.values()) / len(shares), max(shares, key=lambda genre: shares[genre])
        result[side] = {"average": round(average, 4), "genres": len(shares), "worst": worst}
        print(
            f"{side} on average of {len(shares)} genres: {100 * average:.1f} %; "
            f"worst: {worst}, {shown(rates[side][worst]).strip()}"
        )
    return result


def without(assessment: Assessment, name: str) -> bool:
    """Whether it would be refused without that rule."""
    others = [rule for rule in assessment.rules if rule.id != name]
    if any(rule.decides for rule in others):
        return True
    noise = score([rule for rule in others if rule.weight > 0])
    return noise - score([rule for rule in others if rule.weight < 0]) >= assessment.threshold


def rule_table(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """What each rule does in each genre: where it fires, and what its absence would change."""
    rules: dict[str, RuleFired] = {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    worth: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    documents: dict[str, set[str]] = defaultdict(set)
    for item, assessment in judged:
        for rule in assessment.rules:
            rules.setdefault(rule.id, rule)
            counts[rule.id]["decisions" if item.is_decision else "noise"] += 1
            documents[rule.id].add(item.document)
            keeps = not without(assessment, rule.id)
            if keeps != assessment.keep:
                side = _LOST if item.is_decision else _KEPT
                worth[rule.id][item.genre][side] += -1 if keeps == item.is_decision else 1
    return [
        {
            "rule": name,
            "weight": rule.weight,
            "decides": rule.decides,
            "decisions": counts[name]["decisions"],
            "noise": counts[name]["noise"],
            "documents": len(documents[name]),
            **{side: sum(each[side] for each in worth[name].values()) for side in (_LOST, _KEPT)},
            "by_genre": {genre: dict(each) for genre, each in worth[name].items()},
        }
        for name, rule in sorted(rules.items())
    ]


def print_rules(rows: Sequence[dict[str, Any]]) -> None:
    """The table of rules: without it, how many more decisions would be lost, and how much more noise kept."""
    print(f"\n{'rule':24} weight fires on decisions, noise, documents   without it: lost, kept; by genre")
    for row in rows:
        fires = f"{row['decisions']:9} {row['noise']:6} {row['documents']:6}"
        genres = "; ".join(
            f"{genre} {each.get(_LOST, 0):+} {each.get(_KEPT, 0):+}"
            for genre, each in row["by_genre"].items()
        )
        print(f"{row['rule']:24} {row['weight']:+5.2f} {fires} {row[_LOST]:+16} {row[_KEPT]:+5}   {genres}")


def average_at(judged: Sequence[Judged], refuses: Callable[[Judged], bool]) -> tuple[float, float]:
    """Lost and kept, averages of the genres, by any way to refuse."""
    averages = []
    for side in (_LOST, _KEPT):
        shares = [
            sum(refuses(pair) == pair[0].is_decision for pair in sides[side]) / len(sides[side])
            for sides in genres_of(judged).values()
            if sides[side]
        ]
        averages.append(sum(shares) / len(shares))
    return averages[0], averages[1]
