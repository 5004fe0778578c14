"""Any endpoint that speaks OpenAI's embeddings protocol: OpenAI itself, Ollama, vLLM and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbtide.checks import whole
from ebbtide.errors import SemanticError
from ebbtide.text.embedding.vectors import API_KEY_ENV, Vectors, unit_rows
from ebbtide.text.json_endpoint import JsonEndpoint, shown
from ebbtide.text.optional_library import library

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    import numpy.typing as npt


class EndpointEmbedder:
    """Vectors from ``POST {base_url}/embeddings``.

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
