"""What is embedded once, in memory and on disk."""

import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import ConfigError, SemanticError
from ebbtide.text.embedding.cache import CachedEmbedder
from ebbtide.text.embedding.minilm import open_minilm
from ebbtide.text.embedding.vectors import Vectors, unit_rows
from ebbtide.text.normal_form import normal_form

DIMENSIONS = 8


class Recorder:
    """An embedder whose rows follow from the text, and that keeps what it was asked for."""

    def __init__(self, model: str = "recorder", dimensions: int = DIMENSIONS) -> None:
        self.model = model
        self.dimensions = dimensions
        self.asked: list[str] = []
        self.refused: str | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        if self.refused in texts:
            raise SemanticError("refused")
        return np.concatenate(
            [np.empty((0, self.dimensions), np.float32), *(self.row(text) for text in texts)]
        )

    def row(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return unit_rows(np.random.default_rng(seed).normal(size=(1, self.dimensions)), self.model)


@given(texts=st.lists(st.text(max_size=12)), held=st.integers(0, 4))
def test_rows_are_those_of_the_normal_forms(texts: list[str], held: int) -> None:
    """Whatever is held in memory, each text has the row of its normal form, at its own place."""
    inner = Recorder()
    embedder = CachedEmbedder(inner, memory_texts=held)
    for part in (texts, texts[::-1]):
        rows = embedder.embed(part)
        assert (rows.shape, rows.dtype) == ((len(part), DIMENSIONS), np.float32)
        assert rows.tolist() == [inner.row(normal_form(text))[0].tolist() for text in part]


def test_each_distinct_text_is_embedded_once() -> None:
    """Repeats, in one call or in a later one, cost nothing."""
    inner = Recorder()
    embedder = CachedEmbedder(inner)
    embedder.embed(["Use PgBouncer.", "ship it", "use  pgbouncer"])
    embedder.embed(["Ship it!", "wait"])
    assert inner.asked == ["use pgbouncer", "ship it", "wait"]


def test_memory_is_bounded() -> None:
    """The text that was used least recently is forgotten first."""
    inner = Recorder()
    embedder = CachedEmbedder(inner, memory_texts=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embedder.embed([text])
    assert inner.asked == ["a", "b", "c", "b"]


def test_rows_belong_to_the_caller() -> None:
    """A caller that changes its rows does not change the next caller's."""
    embedder = CachedEmbedder(Recorder())
    first = embedder.embed(["a"])
    expected = first.tolist()
    first[:] = 0
    assert embedder.embed(["a"]).tolist() == expected


def test_half_a_character_is_embedded() -> None:
    """A text that is not valid Unicode, as JSON can bring it, does not stop the run."""
    rows = CachedEmbedder(open_minilm()).embed(["broken \ud83e emoji", "broken ? emoji"])
    assert rows[0].tolist() == rows[1].tolist()


def test_negative_memory_is_refused() -> None:
    """The bound is a count."""
    with pytest.raises(ConfigError, match="memory_texts = -1: expected a whole number, 0 or more"):
        CachedEmbedder(Recorder(), memory_texts=-1)


@pytest.mark.parametrize("memory", [0, 100])
def test_file_serves_the_next_run(tmp_path: Path, memory: int) -> None:
    """A second run embeds nothing that the first one did, and gets the same bits."""
    texts = [f"claim {number}" for number in range(1_500)]
    path = tmp_path / "cache.db"
    first = CachedEmbedder(Recorder(), path=path).embed(texts)
    inner = Recorder()
    second = CachedEmbedder(inner, path=path, memory_texts=memory)
    assert second.embed([*texts, "new"])[:-1].tolist() == first.tolist()
    assert inner.asked == ["new"]
    assert second.problem is None


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    """A vector is found again by the same model only, and one of another size is not used."""
    path = tmp_path / "cache.db"
    CachedEmbedder(Recorder("one"), path=path).embed(["a"])
    for other in (Recorder("two"), Recorder("one", dimensions=16)):
        assert CachedEmbedder(other, path=path).embed(["a"]).tolist() == other.row("a").tolist()
        assert other.asked == ["a"]


def test_work_before_a_failure_is_kept(tmp_path: Path) -> None:
    """Where a long job fails, the next try starts behind what was done."""
    texts = [f"claim {number}" for number in range(3_000)]
    inner = Recorder()
    inner.refused = texts[-1]
    with pytest.raises(SemanticError, match="refused"):
        CachedEmbedder(inner, path=tmp_path / "cache.db").embed(texts)
    again = Recorder()
    CachedEmbedder(again, path=tmp_path / "cache.db").embed(texts)
    assert again.asked == texts[2_048:]


def damaged_start(path: Path) -> None:
    path.write_bytes(b"\xff" * 4_096 + path.read_bytes()[4_096:])


def damaged_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8_192:16_384] = b"\xff" * 8_192
    path.write_bytes(content)


def text_file(path: Path) -> None:
    path.write_text("Dear diary", encoding="utf-8")


def other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE decision (text TEXT)")
    connection.close()


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [damaged_start, damaged_middle, text_file, other_database, folder])
def test_unusable_file_is_reported_and_left_alone(tmp_path: Path, spoil) -> None:
    """Without its file the cache goes on in memory, says why, and leaves the file as it is."""
    path = tmp_path / "cache.db"
    texts = [f"claim {number}" for number in range(200)]
    CachedEmbedder(Recorder(), path=path).embed(texts)
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    inner = Recorder()
    embedder = CachedEmbedder(inner, path=path)
    for _ in range(2):
        assert embedder.embed(texts).tolist() == [inner.row(text)[0].tolist() for text in texts]
    assert len(inner.asked) == len(texts)
    assert embedder.problem
    assert str(path) in embedder.problem
    assert (path.read_bytes() if path.is_file() else None) == before


def test_damaged_vector_is_made_again(tmp_path: Path) -> None:
    """A stored vector that is no unit vector is not used, and replaced."""
    path = tmp_path / "cache.db"
    CachedEmbedder(Recorder(), path=path).embed(["a", "b", "c", "d"])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE embedding SET vector = zeroblob(32) WHERE rowid = 1")
        connection.execute("UPDATE embedding SET vector = x'00' WHERE rowid = 2")
        huge = (b"\xff\x7f\x7f\x7f" * DIMENSIONS,)
        connection.execute("UPDATE embedding SET vector = ? WHERE rowid = 3", huge)
    connection.close()
    for expected in (["a", "b", "c"], []):
        inner = Recorder()
        embedder = CachedEmbedder(inner, path=path)
        assert embedder.embed([*"abcd"]).tolist() == [inner.row(text)[0].tolist() for text in "abcd"]
        assert inner.asked == expected
        assert embedder.problem is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DROP TABLE embedding", "no such table"),
        (
            "CREATE TRIGGER full BEFORE INSERT ON embedding BEGIN SELECT raise(FAIL, 'disk full'); END",
            "disk full",
        ),
    ],
)
def test_file_that_fails_in_use_is_reported(tmp_path: Path, change: str, told: str) -> None:
    """A file that cannot be read or written any more costs time, not the run."""
    path = tmp_path / "cache.db"
    inner = Recorder()
    embedder = CachedEmbedder(inner, path=path, memory_texts=0)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change)
    connection.close()
    for _ in range(2):
        assert embedder.embed(["a"]).tolist() == inner.row("a").tolist()
    assert embedder.problem
    assert told in embedder.problem


def test_processes_share_a_file(tmp_path: Path) -> None:
    """Processes that start at once on a new file all use it, and none loses what another wrote."""
    program = """
import sys, numpy as np
from pathlib import Path
from ebbtide.text.embedding.cache import EmbeddingStore
number, path = int(sys.argv[1]), Path(sys.argv[2])
store = EmbeddingStore(path, "model", 2)
for item in range(100):
    store.put({f"{number} {item}".encode(): np.array([0.6, 0.8], dtype="<f4").tobytes()})
    assert store.get([f"{number} {item}".encode()]), store.problem
sys.exit(store.problem)
"""
    path = tmp_path / "cache.db"
    command = [sys.executable, "-c", program]
    processes = [
        subprocess.Popen([*command, str(number), str(path)], stderr=subprocess.PIPE, encoding="utf-8")
        for number in range(6)
    ]
    assert [process.communicate()[1] for process in processes] == [""] * 6
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM embedding").fetchone() == (600,)
    connection.close()


def test_threads_share_a_cache(tmp_path: Path) -> None:
    """Threads may ask at the same time; each gets its own rows."""
    inner = Recorder()
    embedder = CachedEmbedder(inner, path=tmp_path / "cache.db", memory_texts=5)
    calls = [[f"claim {number % 7}", f"claim {number % 5}"] for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(embedder.embed, calls))
    for texts, rows in zip(calls, results, strict=True):
        assert rows.tolist() == [inner.row(text)[0].tolist() for text in texts]
    assert embedder.problem is None
