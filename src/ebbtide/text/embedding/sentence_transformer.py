"""Any model of the library sentence-transformers, where that is installed."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.errors import SemanticError
from ebbtide.text.embedding.vectors import Vectors, unit_rows
from ebbtide.text.optional_library import library


class SentenceTransformerEmbedder:
    """Sentence vectors as the model's own settings make them, on the device that the library chooses.

    Args:
        name: Name or folder of the model. A name that is not on this machine is downloaded by the library.

    Raises:
        SemanticError: The library is not installed, or the model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        sentence_transformers = library("sentence_transformers", install="sentence-transformers")
        self.model = f"sentence-transformers:{name}"
        try:
            self._encoder = sentence_transformers.SentenceTransformer(name)
        except Exception as error:  # of the library, of transformers, of the hub's client: no other base
            raise SemanticError(f"{self.model}: cannot be loaded: {error}") from error
        self.dimensions = int(self._encode([""]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in the order of `texts`."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._encoder.encode(list(texts), show_progress_bar=False), self.model)
