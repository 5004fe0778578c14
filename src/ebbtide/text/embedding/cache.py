"""Each distinct text is embedded once: a cache in memory, and one on disk where a file is named."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from threading import Lock

from ebbtide.bounded import Bounded
from ebbtide.checks import whole
from ebbtide.database.kept_file import KeptFile
from ebbtide.database.migrating import Schema
from ebbtide.errors import StoreError
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
        whole("memory_texts", memory_texts, 0)
        self.model = inner.model
        self.dimensions = inner.dimensions
        self._inner = inner
        self._store = None if path is None else EmbeddingStore(path, inner.model, inner.dimensions)
        self._memory: Bounded[bytes, bytes] = Bounded(memory_texts)
        self._lock = Lock()

    @property
    def problem(self) -> str | None:
        """The reason why the file is not used, and what to do; None as long as all is well."""
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
            self._memory.renew(key, vector)


def _keyed(text: str) -> tuple[bytes, str]:
    """Returns the key that the text is filed under, and the text that is embedded for it."""
    encoded = normal_form(text).encode("utf-8", "replace")  # half a surrogate pair is no text to a model
    return hashlib.sha256(encoded).digest(), encoded.decode("utf-8")


_SCHEMA = Schema(
    what="embedding cache",
    folder=Path(__file__).parent / "schema",
    tables=("embedding",),
    version_table="embedding_version",
    lock=0x45625631,
)
_KEYS_A_QUERY = 500
_UNIT_WITHIN = 1e-3
_QUERY = "SELECT text_sha256, vector FROM embedding WHERE model = ?"


class EmbeddingStore:
    """Vectors of one model, kept in a file that several processes may use at once.

    It is a cache: where the file cannot be used, it holds nothing, and `problem` says why. It never deletes
    or overwrites a file of another kind. Its caller sees to it that one thread uses it at a time.

    Args:
        path: The file; it is made if it is not there, its folder is not.
        model: Name of the weights.
        dimensions: Numbers in a vector. Others are not returned, nor are damaged ones.
    """

    def __init__(self, path: Path, model: str, dimensions: int) -> None:
        self.problem: str | None = None
        self._model = model
        self._dimensions = dimensions
        self._file: KeptFile | None = None
        try:
            self._file = KeptFile(path, _SCHEMA, stays_open=True)
        except StoreError as error:
            self._give_up(str(error))

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors that are there, by key, as little-endian float32."""
        vectors: dict[bytes, bytes] = {}
        if self._file is None:
            return vectors
        try:
            with self._file.transaction(write=False) as database:
                for start in range(0, len(keys), _KEYS_A_QUERY):
                    part = keys[start : start + _KEYS_A_QUERY]
                    places = ", ".join("?" * len(part))
                    query = f"{_QUERY} AND text_sha256 IN ({places})"
                    vectors.update(database.execute(query, (self._model, *part)))
        except StoreError as error:
            self._give_up(str(error))
        return self._sound(vectors)

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep `vectors`, in the form in which `get` gives them."""
        if self._file is None:
            return
        rows = [(self._model, key, vector) for key, vector in vectors.items()]
        try:
            with self._file.transaction() as database:
                database.executemany("INSERT OR REPLACE INTO embedding VALUES (?, ?, ?)", rows)
        except StoreError as error:
            self._give_up(str(error))

    def _sound(self, vectors: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """Those that are unit vectors of the right size: SQLite has no checksums of its own."""
        import numpy as np

        size = self._dimensions * 4
        whole = {key: vector for key, vector in vectors.items() if len(vector) == size}
        rows = np.frombuffer(b"".join(whole.values()), dtype="<f4").reshape(-1, self._dimensions)
        with np.errstate(all="ignore"):
            unit = abs(np.linalg.norm(rows, axis=1) - 1) < _UNIT_WITHIN
        return {key: vector for (key, vector), sound in zip(whole.items(), unit, strict=True) if sound}

    def _give_up(self, reason: str) -> None:
        self.problem = (
            f"the embedding cache is not used: {reason}. "
            "Name another file, or delete this one if it is a damaged cache"
        )
        if self._file is not None:
            self._file.close()
            self._file = None
