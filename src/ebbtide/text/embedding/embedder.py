"""Texts as vectors whose cosine says how much two of them mean the same.

An `Embedder` gives one vector of length 1 a text, so the cosines of two sets of texts are one matrix
product: ``left @ right.T``. The libraries for it come with the extra ``semantic`` and are imported when an
embedder is made, never before.

Source: novelty spec, section 2.1, L2 (clauses N08, N09).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ebbtide.errors import ConfigError, SemanticError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ebbtide.text.embedding.cache import CachedEmbedder

#: float32, texts x dimensions, every row of length 1
Vectors: TypeAlias = "npt.NDArray[np.float32]"

API_KEY_ENV = "EBBTIDE_EMBEDDING_API_KEY"
_SPECS = "minilm, folder:PATH, sentence-transformers:NAME or openai:URL#MODEL"


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


def open_embedder(
    spec: str | None = None, *, threads: int = 1, cache: Path | None = None, api_key_env: str = API_KEY_ENV
) -> CachedEmbedder:
    """The embedder that `spec` names, ready to use, with a cache around it.

    Args:
        spec: ``minilm`` (also None) is all-MiniLM-L6-v2 from the extra ``semantic``, which needs no network.
            ``folder:PATH`` is a model on disk as ``model.onnx`` and ``tokenizer.json``.
            ``sentence-transformers:NAME`` is a model of that library, by name or path.
            ``openai:URL#MODEL`` is an endpoint that speaks OpenAI's protocol, such as
            ``openai:http://localhost:11434/v1#all-minilm``; it is asked for one vector here.
        threads: Threads that ONNX models compute with, 1 or more.
        cache: File that keeps vectors between runs, None to keep them in memory only. Weights that change
            under the same name or path need a new file.
        api_key_env: Environment variable with the key of the endpoint; no key is sent if it is not set.

    Raises:
        ConfigError: `spec` or `threads` cannot be used.
        SemanticError: A library, the weights or the endpoint is missing or wrong.
    """
    from ebbtide.text.embedding.cache import CachedEmbedder

    return CachedEmbedder(_embedder(spec or "minilm", threads, api_key_env), path=cache)


def _embedder(spec: str, threads: int, api_key_env: str) -> Embedder:
    kind, _, name = spec.partition(":")
    if spec == "minilm":
        from ebbtide.text.embedding.minilm import open_minilm

        return open_minilm(threads=threads)
    if kind == "folder" and name:
        from ebbtide.text.embedding.onnx_embedder import open_folder

        return open_folder(Path(name), threads=threads)
    if kind == "sentence-transformers" and name:
        from ebbtide.text.embedding.sentence_transformer import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(name)
    url, _, model = name.partition("#")
    if kind == "openai" and url and model:
        from ebbtide.text.embedding.endpoint import EndpointEmbedder

        return EndpointEmbedder(url, model, api_key_env=api_key_env)
    raise ConfigError(f"embedder {spec!r}: expected {_SPECS}")


def library(name: str, *, install: str = "ebbtide[semantic]") -> Any:
    """The module `name`, imported.

    Args:
        name: What to import.
        install: What brings it, as pip names it.

    Raises:
        SemanticError: It is not installed, or does not start.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise SemanticError(f"{name} cannot be used ({error}): pip install '{install}'") from error


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
