"""Cost of finding what a claim means the same as, by size: exactly, and with an approximate index.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.speed.semantic

Needs the extras ``semantic`` and ``bench``. Time does not depend on what the vectors say, so they are random
unit vectors of the model's size; embedding a claim, measured by benchmarks.speed.embedding, is not in it.
`usearch` is asked for the nearest vector, adds each claim as well, and may miss. Its recall is printed, and
is that of the hardest case: random vectors have no neighbourhoods. One thread, because with two on a busy
machine numpy waits for the second one longer than the product takes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from usearch.index import Index

from benchmarks.measure import setup, write_result
from ebbtide.convergence.semantic import SemanticIndex
from ebbtide.text.embedding.vectors import Vectors

DIMENSIONS = 384  # all-MiniLM-L6-v2
SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
SAMPLE = 50
EMBEDDING_MS = 5.7  # mean of benchmarks/results/speed-embedding.json


class Drawn:
    """Gives a new random unit vector for each text."""

    model = "random"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        rows = self._random.standard_normal((len(texts), DIMENSIONS), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def exact_ms(size: int) -> float:
    """Median milliseconds of one claim after `size` others."""
    index = SemanticIndex(Drawn(), 0.82)
    for start in range(0, size, 1_000):
        index.add([str(number) for number in range(start, start + 1_000)])
    spent = []
    for number in range(SAMPLE):
        start_s = time.perf_counter()
        index.add([str(number)])
        spent.append(1_000 * (time.perf_counter() - start_s))
    return statistics.median(spent)


def approximate_ms(size: int) -> tuple[float, float]:
    """Median milliseconds of one claim after `size` others, and how often the true nearest was found."""
    drawn = Drawn()
    rows = drawn.embed([""] * size)
    index = Index(ndim=DIMENSIONS, metric="ip", dtype="f32")
    index.add(np.arange(size), rows, threads=2)
    spent, found = [], 0
    for number in range(SAMPLE):
        vector = drawn.embed([""])[0]
        start_s = time.perf_counter()
        nearest = int(index.search(vector, 1).keys[0])
        index.add(size + number, vector)
        spent.append(1_000 * (time.perf_counter() - start_s))
        found += nearest == int((rows @ vector).argmax())
    return statistics.median(spent), found / SAMPLE


def main() -> None:
    """Time both at doubling sizes and write the result."""
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        exact = exact_ms(size)
        approximate, recall = approximate_ms(size)
        rows.append(
            {
                "seen": size,
                "exact_ms": round(exact, 3),
                "usearch_ms": round(approximate, 3),
                "usearch_recall": recall,
                "exact_over_embedding": round(exact / EMBEDDING_MS, 2),
            }
        )
        print(
            f"{size:>7} seen: exact {exact:7.3f} ms, {exact / EMBEDDING_MS:5.2f} of embedding the claim; "
            f"usearch {approximate:6.3f} ms, recall {recall:.2f}",
            flush=True,
        )
    write_result("speed-semantic", {"setup": setup("numpy", "usearch"), "rows": rows})


if __name__ == "__main__":
    main()
