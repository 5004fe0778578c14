"""Level 2: meaning of claims, by the cosine of their embeddings.

Exact: each new claim is compared with every claim said before in one matrix product. numpy comes with the
extra ``semantic`` and is imported when an index is made.

Source: novelty spec, 2.1 L2 (clauses N08, F01).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ebbtide.profile.convergence import NoveltyRules
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.optional_library import library

if TYPE_CHECKING:
    from ebbtide.text.embedding.vectors import Vectors

#: Cosine from which two texts mean the same, by model; what was measured for each is in docs/calibration.md.
COSINES = {"all-MiniLM-L6-v2": 0.82}
_OTHER_MODELS = 0.82
_FIRST_ROOM = 64  # rows; doubled whenever they are full


def cosine_at_least(rules: NoveltyRules, model: str) -> float:
    """Returns the threshold that the profile sets, or else the one of the model."""
    if rules.cosine_at_least is not None:
        return rules.cosine_at_least
    return next((cosine for name, cosine in COSINES.items() if name.lower() in model.lower()), _OTHER_MODELS)


class SemanticMatch(NamedTuple):
    """Text said before, by its number from 0 in the order in which they were said, and its cosine."""

    number: int
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticReading:
    """Texts said before that are near to a text.

    Args:
        matches: The texts before it at or above the threshold, most similar first.
        nearest: The most similar text before it, however far; None for the first.
    """

    matches: tuple[SemanticMatch, ...]
    nearest: SemanticMatch | None


class SemanticIndex:
    """Index of vectors of texts, searchable by cosine.

    Args:
        embedder: Source of the vectors.
        at_least: Cosine from which two texts mean the same, -1 to 1.
    """

    def __init__(self, embedder: Embedder, at_least: float) -> None:
        self._np = library("numpy")
        self._embedder = embedder
        self._at_least = at_least
        self._rows: Vectors = self._np.empty((_FIRST_ROOM, embedder.dimensions), dtype=self._np.float32)
        self._filled = 0

    def add(self, texts: Sequence[str]) -> list[SemanticReading]:
        """Remembers texts, and finds for each what was said before it, earlier ones of `texts` included.

        Raises:
            SemanticError: They cannot be embedded. Nothing is remembered then.
        """
        if not texts:
            return []
        start = self._filled
        self._grow(self._embedder.embed(texts))
        cosines = self._rows[start : self._filled] @ self._rows[: self._filled].T
        return [self._reading(row[: start + at]) for at, row in enumerate(cosines)]

    def _reading(self, cosines: Vectors) -> SemanticReading:
        if not len(cosines):
            return SemanticReading(matches=(), nearest=None)
        numbers = self._np.flatnonzero(cosines >= self._at_least)
        ordered = sorted((-float(cosines[number]), int(number)) for number in numbers)
        nearest = int(cosines.argmax())
        return SemanticReading(
            matches=tuple(SemanticMatch(number, -negative) for negative, number in ordered),
            nearest=SemanticMatch(nearest, float(cosines[nearest])),
        )

    def _grow(self, vectors: Vectors) -> None:
        needed = self._filled + len(vectors)
        if needed > len(self._rows):
            room = self._np.empty(
                (max(needed, 2 * len(self._rows)), self._rows.shape[1]), dtype=self._np.float32
            )
            room[: self._filled] = self._rows[: self._filled]
            self._rows = room
        self._rows[self._filled : needed] = vectors
        self._filled = needed
