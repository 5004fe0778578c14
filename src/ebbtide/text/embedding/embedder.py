"""Embedders: the one that a short spec names, and those of a library and of an endpoint.

The libraries come with the extra ``semantic`` and are imported when an embedder is made, never before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ebbtide.checks import whole
from ebbtide.errors import ConfigError, SemanticError
from ebbtide.text.embedding.cache import CachedEmbedder
from ebbtide.text.embedding.minilm import open_minilm
from ebbtide.text.embedding.onnx_embedder import open_folder
from ebbtide.text.embedding.vectors import API_KEY_ENV, Embedder, Vectors, unit_rows
from ebbtide.text.json_endpoint import JsonEndpoint, shown
from ebbtide.text.optional_library import library

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    import numpy.typing as npt

_SPECS = "minilm, folder:PATH, sentence-transformers:NAME or openai:URL#MODEL"


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
    return CachedEmbedder(_embedder(spec or "minilm", threads, api_key_env), path=cache)


def _embedder(spec: str, threads: int, api_key_env: str) -> Embedder:
    kind, _, name = spec.partition(":")
    if spec == "minilm":
        return open_minilm(threads=threads)
    if kind == "folder" and name:
        return open_folder(Path(name), threads=threads)
    if kind == "sentence-transformers" and name:
        return SentenceTransformerEmbedder(name)
    url, _, model = name.partition("#")
    if kind == "openai" and url and model:
        return EndpointEmbedder(url, model, api_key_env=api_key_env)
    raise ConfigError(f"embedder {spec!r}: expected {_SPECS}")


class SentenceTransformerEmbedder:
    """Sentence vectors of a model of sentence-transformers, as its own settings make them.

    The library chooses the device.

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


class EndpointEmbedder:
    """Vectors from ``POST {base_url}/embeddings``: of OpenAI, Ollama, vLLM and others.

    Failures that may pass are tried again, as `JsonEndpoint` says.

    Args:
        base_url: Such as ``https://api.openai.com/v1`` or ``http://localhost:11434/v1``.
        model: As the endpoint names it.
        api_key_env: Environment variable with the key; no key is sent if it is not set.
        batch_size: Texts in a request, 1 or more.
        timeout_s: Seconds of silence after which a request has failed.
        attempts: Times that a request is sent, 1 or more.
        first_wait_s: Seconds before the second attempt.

    Raises:
        ConfigError: An argument cannot be used.
        SemanticError: A library is missing.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key_env: str = API_KEY_ENV,
        batch_size: int = 64,
        timeout_s: float = 30.0,
        attempts: int = 4,
        first_wait_s: float = 0.5,
    ) -> None:
        library("numpy")
        whole("batch_size", batch_size, 1)
        self.model = f"openai:{base_url.rstrip('/')}#{model}"
        self._endpoint = JsonEndpoint(
            base_url,
            "embeddings",
            name=self.model,
            api_key_env=api_key_env,
            timeout_s=timeout_s,
            attempts=attempts,
            first_wait_s=first_wait_s,
        )
        self._name = model
        self._batch_size = batch_size
        self._dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        """Numbers in a vector; the endpoint is asked for one the first time.

        Raises:
            SemanticError: It does not give one.
        """
        return self._dimensions or int(self.embed(["dimensions"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in the order of `texts`.

        Raises:
            SemanticError: The endpoint did not answer, refused, or its answer makes no sense.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._endpoint.connected() as post:
            batches = (texts[at : at + self._batch_size] for at in range(0, len(texts), self._batch_size))
            replies = ((post({"model": self._name, "input": list(batch)}), len(batch)) for batch in batches)
            return np.concatenate([self._rows(reply, count) for reply, count in replies])

    def _rows(self, reply: httpx2.Response, texts: int) -> Vectors:
        rows = self._read(reply, texts)
        if self._dimensions is None:
            self._dimensions = rows.shape[1]
        if rows.shape[1] != self._dimensions:
            raise SemanticError(
                f"{self.model}: vectors of {rows.shape[1]} numbers after {self._dimensions}: "
                "the endpoint changed its model meanwhile; start again"
            )
        return unit_rows(rows, self.model)

    def _read(self, reply: httpx2.Response, texts: int) -> npt.NDArray[np.floating[Any]]:
        """The vectors of a reply, in the order of the texts, whatever order they came in."""
        import numpy as np

        try:
            vectors = {item["index"]: item["embedding"] for item in reply.json()["data"]}
            rows = np.asarray([vectors[number] for number in range(texts)])
        except (ValueError, LookupError, TypeError) as error:
            raise SemanticError(
                f"{self.model}: the answer holds no list of {texts} vectors: {shown(reply.text)}"
            ) from error
        if len(vectors) != texts or rows.ndim != 2 or rows.dtype.kind not in "fi" or not rows.size:
            raise SemanticError(f"{self.model}: expected {texts} vectors of one length: {shown(reply.text)}")
        return rows
