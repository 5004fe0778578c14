"""Each distinct text is embedded once: a cache in memory, and one on disk where a file is named."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from threading import Lock

from ebbtide.errors import ConfigError
from ebbtide.text.embedding.store import EmbeddingStore
from ebbtide.text.embedding.vectors import Embedder, Vectors
from ebbtide.text.normal_form import normal_form

_AT_ONCE = 1_024  # what is kept if a later part fails


class CachedEmbedder:
    """Embeds the L0 normal form of each distinct text, once.

    The normal form is what claims are compared in, and it matters to models: a full stop at the end can move
    a cosine by more than 0.1. May be used from several threads; a new process opens its own.

    Args:
        inner: What embeds the texts that are not known.
        path: SQLite file that keeps vectors between runs and may be shared by processes. It grows by about
            2 KB a text, and may be deleted when nothing uses it. None: memory only.
        memory_texts: Vectors held in memory, the least recently used going first.
    """

    def __init__(self, inner: Embedder, *, path: Path | None = None, memory_texts: int = 16_384) -> None:
        if memory_texts < 0:
            raise ConfigError(f"memory_texts = {memory_texts}: expected 0 or more")
        self.model = inner.model
        self.dimensions = inner.dimensions
        self._inner = inner
        self._store = None if path is None else EmbeddingStore(path, inner.model, inner.dimensions)
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._memory_texts = memory_texts
        self._lock = Lock()

    @property
    def problem(self) -> str | None:
        """Why the file is not used, and what to do; None as long as all is well."""
        return self._store.problem if self._store else None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in the order of `texts`.

        Raises:
            SemanticError: The embedder inside failed. What it had done before that is kept.
        """
        import numpy as np

        keyed = [_keyed(text) for text in texts]
        distinct = dict(keyed)
        with self._lock:
            vectors = self._stored(distinct)
        new = [key for key in distinct if key not in vectors]
        for start in range(0, len(new), _AT_ONCE):
            keys = new[start : start + _AT_ONCE]
            rows = self._inner.embed([distinct[key] for key in keys]).astype("<f4", copy=False)
            fresh = {key: row.tobytes() for key, row in zip(keys, rows, strict=True)}
            vectors.update(fresh)
            with self._lock:
                self._remember(fresh)
                if self._store:
                    self._store.put(fresh)
        rows = np.frombuffer(b"".join(vectors[key] for key, _ in keyed), dtype="<f4")
        return rows.reshape(len(texts), self.dimensions).astype(np.float32)

    def _stored(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        vectors = {key: self._memory[key] for key in keys if key in self._memory}
        if self._store and (others := [key for key in keys if key not in vectors]):
            vectors.update(self._store.get(others))
        self._remember(vectors)
        return vectors

    def _remember(self, vectors: Mapping[bytes, bytes]) -> None:
        for key, vector in vectors.items():
            self._memory[key] = vector
            self._memory.move_to_end(key)
        while len(self._memory) > self._memory_texts:
            self._memory.popitem(last=False)


def _keyed(text: str) -> tuple[bytes, str]:
    """What the text is filed under, and what is embedded for it."""
    encoded = normal_form(text).encode("utf-8", "replace")  # half a surrogate pair is no text to a model
    return hashlib.sha256(encoded).digest(), encoded.decode("utf-8")
