"""Texts as vectors whose cosine says how much two of them mean the same.

An `Embedder` gives one vector of length 1 a text, so the cosines of two sets of texts are one matrix
product: ``left @ right.T``.

Source: novelty spec, section 2.1, L2 (clauses N08, N09).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ebbtide.errors import SemanticError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: float32, texts x dimensions, every row of length 1
Vectors: TypeAlias = "npt.NDArray[np.float32]"

API_KEY_ENV = "EBBTIDE_EMBEDDING_API_KEY"


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def model(self) -> str:
        """Names the weights: vectors are comparable, and stored ones usable, only where it is the same."""

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in the order of `texts`; what else is in `texts` does not change a row.

        Args:
            texts: What can be encoded as UTF-8. `open_embedder` sees to that, and to the normal form.

        Raises:
            SemanticError: The texts cannot be embedded.
        """


def unit_rows(rows: npt.NDArray[np.floating[Any]], source: str) -> Vectors:
    """`rows` scaled to length 1.

    Args:
        rows: Any scale, texts x dimensions.
        source: Who made them, for the message.

    Raises:
        SemanticError: A row is zero, infinite or not a number, and so has no direction.
    """
    import numpy as np

    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unusable = ~(np.isfinite(lengths) & (lengths > 0))
    if unusable.any():
        raise SemanticError(
            f"{source}: vector {int(unusable.argmax()) + 1} of {len(rows)} is zero or not a number"
        )
    scaled: Vectors = (rows / lengths).astype(np.float32, copy=False)
    return scaled
