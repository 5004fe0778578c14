"""The embedder that a short spec names: the shipped model, a folder, a library or an endpoint.

The libraries come with the extra ``semantic`` and are imported when an embedder is made, never before.
"""

from __future__ import annotations

from pathlib import Path

from ebbtide.errors import ConfigError
from ebbtide.text.embedding.cache import CachedEmbedder
from ebbtide.text.embedding.vectors import API_KEY_ENV, Embedder

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
