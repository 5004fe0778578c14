"""Vectors in an SQLite file, by model and text."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_OURS = 0x45625631  # application id of the file; its last digit is the version of the table
_WAIT_S = 10.0  # for another process that writes
_KEYS_A_QUERY = 500
_UNIT_WITHIN = 1e-3

_TABLE = """CREATE TABLE embedding (
    model TEXT NOT NULL, text_sha256 BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text_sha256)
)"""


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
        self._path = path
        self._model = model
        self._dimensions = dimensions
        self._connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, connection.close)
            self._connection = connection
            self._prepare(connection)
        except sqlite3.Error as error:
            self._give_up(str(error))

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors that are there, by key, as little-endian float32."""
        vectors: dict[bytes, bytes] = {}
        try:
            for start in range(0, len(keys), _KEYS_A_QUERY):
                vectors.update(self._select(keys[start : start + _KEYS_A_QUERY]))
        except sqlite3.Error as error:
            self._give_up(str(error))
        return self._sound(vectors)

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep `vectors`, in the form in which `get` gives them."""
        if self._connection is None:
            return
        rows = [(self._model, key, vector) for key, vector in vectors.items()]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO embedding VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(str(error))

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        (kind,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if kind == 0 and tables == 0:
            connection.execute(f"PRAGMA application_id = {_OURS}")
            connection.execute(_TABLE)
            kind = _OURS
        connection.execute("COMMIT")
        if kind == _OURS:
            connection.execute("PRAGMA journal_mode = WAL")
        else:
            self._give_up("it is a database of something else, or of another version")

    def _select(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        if self._connection is None:
            return iter(())
        places = ", ".join("?" * len(keys))
        query = f"SELECT text_sha256, vector FROM embedding WHERE model = ? AND text_sha256 IN ({places})"  # noqa: S608 - placeholders
        return self._connection.execute(query, (self._model, *keys))

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
            f"{self._path}: the embedding cache is not used: {reason}. "
            "Name another file, or delete this one if it is a damaged cache"
        )
        if self._connection is not None:
            self._connection.close()
            self._connection = None
