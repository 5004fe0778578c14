"""Stability of meaning: cosine of consecutive rounds, and of two agents' latest turns.

Source: rubric, section 4 (clause B03).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebbtide.codec import State
from ebbtide.events.transcript import Round
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.normal_form import normal_form

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Similarity of rounds in meaning, -1 to 1; None if there is nothing to compare.

    Args:
        rounds: This round and the last one before it that said something.
        agents: This round and the latest one of another agent.
    """

    rounds: float | None
    agents: float | None


class StabilityMeter(State):
    """Comparison of each round with the one before it.

    A round stands for its summary, or else for the mean direction of its claims.

    Args:
        embedder: Source of the vectors. A cache in it makes claims free that were embedded for L2.
    """

    _latest: dict[str | None, tuple[str, ...]]  # by agent, the one that spoke last at the end

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._latest = {}

    def update(self, item: Round) -> Stability:
        """Compares a round, and remembers it."""
        content = (item.summary,) if item.summary else item.claims
        texts = tuple(form for form in map(normal_form, content) if form)
        if not texts:
            return Stability(rounds=None, agents=None)
        here = self._direction(texts)
        before = next(reversed(self._latest.values()), None)
        others = [text for agent, text in self._latest.items() if agent != item.agent]
        self._latest.pop(item.agent, None)
        self._latest[item.agent] = texts
        return Stability(
            rounds=self._cosine(here, before),
            agents=self._cosine(here, others[-1] if others else None),
        )

    def _direction(self, texts: tuple[str, ...]) -> npt.NDArray[np.float32]:
        mean: npt.NDArray[np.float32] = self._embedder.embed(texts).mean(axis=0)
        return mean / max(float((mean @ mean) ** 0.5), 1e-12)

    def _cosine(self, here: npt.NDArray[np.float32], texts: tuple[str, ...] | None) -> float | None:
        return None if texts is None else round(float(here @ self._direction(texts)), 6)
