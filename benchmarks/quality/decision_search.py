"""How often a search finds the record that answers a question, by words and by meaning.

    python -m benchmarks.quality.decision_search [--data DIR]

134 pages of four public repositories in one log, and 50 questions, each with the one record that it is about.
The questions were written from the titles alone, avoiding their words, before either search was tried on
them. Counted is whether that record is among the first five hits, or the first.
"words" is the full text, "meaning" the nearest vectors alone, and "both" the two fused, as `search --meaning`
does. That "both" takes only those hits of the full text that have every word was chosen on these questions:
with those that have any of them it found 31 among the first five.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, wilson, write_result
from benchmarks.quality.adr_round_trip import repositories
from ebbtide.decision_log.exchange.importing import import_decisions
from ebbtide.decision_log.exchange.reading import read_decisions
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.log.meaning import nearest, search_by_meaning
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.text.embedding.embedder import open_embedder

QUESTIONS = Path(__file__).with_suffix(".jsonl")
_FIRST = (1, 5)


def measure(path: Path) -> dict[str, Any]:
    """The hits of each search."""
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    embedder = open_embedder()
    with DecisionLog.open(":memory:") as log:
        wanted: dict[str, str] = {}
        for repository, pages in repositories(path).items():
            for name, text in sorted(pages.items()):
                result = import_decisions(log, read_decisions(text, name))
                wanted.update({f"{repository}:{name}": identifier for identifier in result.created})
        every = list(log.iterate(status=tuple(Status)))

        def words(question: str) -> list[Decision]:
            return [hit.decision for hit in log.search(question)]

        def meaning(question: str) -> list[Decision]:
            return nearest(question, every, embedder)

        searches: dict[str, Callable[[str], Iterable[Decision]]] = {
            "words": words,
            "meaning": meaning,
            "words, then meaning": lambda question: _once([*words(question), *meaning(question)]),
            "both": lambda question: [hit.decision for hit in search_by_meaning(log, question, embedder)],
        }
        result_of: dict[str, Any] = {"records": len(every), "questions": len(rows)}
        for name, search in searches.items():
            places = [_place(search(row["question"]), wanted[row["record"]]) for row in rows]
            for first in _FIRST:
                hits = sum(place is not None and place <= first for place in places)
                share = {"hits": hits, "n": len(rows), "interval": wilson(hits, len(rows))}
                result_of[f"{name}, first {first}"] = share
    return result_of


def _once(decisions: Iterable[Decision]) -> Iterable[Decision]:
    return {each.id: each for each in decisions}.values()


def _place(decisions: Iterable[Decision], identifier: str) -> int | None:
    return next((place for place, each in enumerate(decisions, start=1) if each.id == identifier), None)


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_data_option(parser)
    arguments = parser.parse_args()
    counts = measure(data_folder(arguments.data) / "decisions" / "adr.jsonl.gz")
    print(f"{counts['questions']} questions about {counts['records']} records")
    for name, share in counts.items():
        if isinstance(share, dict):
            low, high = share["interval"]
            print(f"{name:28} {share['hits']:3} of {share['n']}  ({low:.0%} to {high:.0%})")
    write_result("quality-decision-search", {"setup": setup(), **counts})


if __name__ == "__main__":
    main()
