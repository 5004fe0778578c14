"""Decisions that mean what a text means, whatever their words: full text and vectors, in one list.

Two lists of hits become one by reciprocal rank: a hit counts 1 / (60 + its place) in each list that has it.

Source: G. V. Cormack and others, "Reciprocal Rank Fusion" (SIGIR 2009).
"""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.decision_log.log.reading import ReadableLog, Statuses, statuses_of
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decision_log.record.results import FoundBy, SearchHit
from ebbtide.text.embedding.vectors import Embedder

_IN_FORCE = (Status.KEPT, Status.SUPERSEDED)
_FLATTEN = 60  # as in the source
_CANDIDATES = 50  # hits of each list that are fused
_LONGEST = 1_000  # characters of a context; a model reads some 200 words


def search_by_meaning(
    log: ReadableLog,
    text: str,
    embedder: Embedder,
    *,
    limit: int = 20,
    status: Statuses = None,
    most: int = 20_000,
) -> tuple[SearchHit, ...]:
    """Decisions with all words of a text, and those that are nearest to it in meaning; best first.

    Each decision is embedded the first time; an embedder with a cache file does so once.

    Args:
        log: The log, or a view of one.
        text: What is looked for, best as a question or a sentence.
        embedder: What makes vectors, such as `ebbtide.text.embedding.embedder.open_embedder` gives.
        limit: At most so many hits, from 1.
        status: Where they stand; None takes those that are kept or superseded.
        most: So many decisions are compared by meaning, the latest ones.

    Raises:
        SemanticError: The texts cannot be embedded.
        ConfigError: `limit` is below 1.
    """
    states = statuses_of(status, _IN_FORCE)
    first = max(limit, _CANDIDATES)
    # One that has a few of the words is found by meaning if it is worth it.
    by_words = [hit.decision for hit in log.search(text, limit=first, status=states, every_word=True)]
    decisions = log.list(status=states, limit=most).decisions
    by_meaning = nearest(text, decisions, embedder)[:first] if text.strip() else []
    ranks: dict[str, float] = {}
    for hits in (by_words, by_meaning):
        for place, decision in enumerate(hits, start=1):
            ranks[decision.id] = ranks.get(decision.id, 0.0) + 1 / (_FLATTEN + place)
    worded, near = {each.id for each in by_words}, {each.id for each in by_meaning}
    every = {each.id: each for each in (*by_meaning, *by_words)}
    return tuple(
        SearchHit(
            decision=every[identifier],
            rank=ranks[identifier],
            found_by=(FoundBy.WORDS,) * (identifier in worded) + (FoundBy.MEANING,) * (identifier in near),
        )
        for identifier in sorted(ranks, key=lambda identifier: (-ranks[identifier], identifier))[:limit]
    )


def nearest(text: str, decisions: Sequence[Decision], embedder: Embedder) -> list[Decision]:
    """Decisions by the cosine of their vector and that of a text, the nearest first."""
    if not decisions:
        return []
    vectors = embedder.embed([text, *map(_meant_text, decisions)])
    cosines = vectors[1:] @ vectors[0]
    return [decisions[place] for place in (-cosines).argsort(kind="stable")]


def _meant_text(decision: Decision) -> str:
    context = (decision.particulars.context if decision.particulars else None) or ""
    return f"{decision.candidate.description}\n{context[:_LONGEST]}".strip()
