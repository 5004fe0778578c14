"""all-MiniLM-L6-v2 on onnxruntime, as it is installed."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.errors import SemanticError
from ebbtide.text.embedding.embedder import open_embedder
from ebbtide.text.embedding.minilm import _TOKENIZER, _WEIGHTS, _PackageFile, model_files, open_minilm
from ebbtide.text.embedding.onnx_embedder import OnnxEmbedder, length_batches

# Cosines of the float32 model, computed with sentence-transformers.
REFERENCE = [
    (
        "cache frequently accessed queries at the application layer",
        "app-layer caching of hot queries is recommended",
        0.77857,
    ),
    ("use connection pooling for the database", "add a pool of database connections", 0.88605),
    ("use connection pooling for the database", "rotate the tls certificates every quarter", 0.02554),
    ("enable retries", "disable retries", 0.90524),
    (
        "the deployment failed because the disk was full",
        "no space was left on the device during the rollout",
        0.49724,
    ),
    ("caf\u00e9 \u4e2d\u6587 \U0001f980 na\u00efve", "cafe", 0.52036),
    ("", "nothing", 0.29298),
    ("we agreed that nobody deploys on a friday, " * 40, "no deployments on fridays", 0.52550),
]

CLAIMS = [
    "",
    "yes",
    "use pgbouncer",
    "cache hot queries in the application",
    "the nightly backup has not finished since the disk was replaced on tuesday",
    "enable retries with exponential backoff for every call that leaves the cluster",
    "rollback takes four minutes, and the dashboards show no errors after it",
    "caf\u00e9 \u4e2d\u6587 \U0001f980 na\u00efve",
    "split the orders table by month; " * 12,
    "we agreed that nobody deploys on a friday, " * 40,
]


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    """The default model, without a cache around it."""
    return open_minilm()


@pytest.fixture(scope="module")
def alone(minilm: OnnxEmbedder) -> np.ndarray:
    """Each claim embedded by itself."""
    return np.concatenate([minilm.embed([claim]) for claim in CLAIMS])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the installed model, as a user would name it."""
    for path, name in zip(model_files(), ("model.onnx", "tokenizer.json"), strict=True):
        (tmp_path / name).symlink_to(path)
    return tmp_path


@pytest.mark.clause("N09")
@pytest.mark.parametrize(("left", "right", "cosine"), REFERENCE)
def test_cosine_is_that_of_the_full_model(minilm: OnnxEmbedder, left: str, right: str, cosine: float) -> None:
    """Storing the weights in eight bits moves a cosine by less than a hundredth."""
    rows = minilm.embed([left, right])
    assert float(rows[0] @ rows[1]) == pytest.approx(cosine, abs=0.01)


@settings(max_examples=40)
@given(order=st.lists(st.integers(0, len(CLAIMS) - 1), max_size=24))
def test_rows_follow_the_texts_whatever_the_batch(
    minilm: OnnxEmbedder, alone: np.ndarray, order: list[int]
) -> None:
    """A text has the row that it has alone, at its own place, whatever it is embedded with."""
    rows = minilm.embed([CLAIMS[number] for number in order])
    assert (rows.shape, rows.dtype) == ((len(order), 384), np.float32)
    assert np.allclose(rows, alone[order], atol=2e-6)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_long_text_counts_by_its_beginning(minilm: OnnxEmbedder) -> None:
    """After 254 word pieces nothing of a text counts."""
    same = "queue " * 254
    rows = minilm.embed([same, same + "and then the opposite", "queue " * 253 + "apple"])
    assert rows[0].tolist() == pytest.approx(rows[1].tolist(), abs=1e-6)
    assert rows[0] @ rows[2] < 0.9999


def test_more_threads_change_nothing(minilm: OnnxEmbedder) -> None:
    """The number of threads is a matter of speed alone."""
    assert np.allclose(open_minilm(threads=2, spinning=True).embed(CLAIMS), minilm.embed(CLAIMS), atol=2e-6)


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_folder_gives_the_same_rows(minilm: OnnxEmbedder, folder: Path, place: str) -> None:
    """The model can come from a folder of the user, in either of the usual layouts."""
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / "model.onnx").rename(folder / place)
    embedder = open_embedder(f"folder:{folder}")
    assert embedder.model == f"{folder.name}@{_WEIGHTS.sha256[:12]}"
    assert embedder.embed(CLAIMS[1:6]).tolist() == minilm.embed(CLAIMS[1:6]).tolist()


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_folder_without_a_file_is_refused(folder: Path, missing: str) -> None:
    """The file that a folder lacks is named."""
    (folder / missing).unlink()
    with pytest.raises(
        SemanticError, match=f"no {missing}; name a folder that has model.onnx and tokenizer.json"
    ):
        open_embedder(f"folder:{folder}")


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_folder_with_a_broken_file_is_refused(folder: Path, broken: str) -> None:
    """What the libraries say about a file that they cannot read is passed on without a traceback."""
    (folder / broken).unlink()
    (folder / broken).write_bytes(b"version https://git-lfs.github.com/spec/v1")
    with pytest.raises(SemanticError, match=f"{broken}.*not a sentence embedder: "):
        open_embedder(f"folder:{folder}")


@pytest.mark.parametrize(
    ("settings", "accepted"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, True),
        ({"word_embedding_dimension": 384}, True),
        ({"pooling_mode_cls_token": True}, False),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, False),
        ([], False),
    ],
)
def test_folder_that_pools_otherwise_is_refused(folder: Path, settings: object, accepted: bool) -> None:
    """A model made for another kind of sentence vector would give wrong ones without notice."""
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    if accepted:
        assert open_embedder(f"folder:{folder}").dimensions == 384
    else:
        with pytest.raises(SemanticError, match=r"1_Pooling.config\.json: "):
            open_embedder(f"folder:{folder}")


@pytest.mark.parametrize("file", [_WEIGHTS, _TOKENIZER])
def test_wrong_checksum_is_refused(
    file: _PackageFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights or a tokenizer that were not the measured ones are refused, and no code of the package runs."""
    package = tmp_path / file.package.replace("-", "_")
    place = package / file.path
    place.parent.mkdir(parents=True)
    place.write_bytes(b"something else")
    (package / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert package.name not in sys.modules
    with pytest.raises(
        SemanticError, match=f"expected {file.sha256}: pip install .*'{file.package}=={file.version}'"
    ):
        open_minilm()


@given(lengths=st.lists(st.integers(1, 300)), budget=st.integers(1, 600))
def test_batches_hold_every_item_once_within_the_budget(lengths: list[int], budget: int) -> None:
    """Batches part the items, sorted by length, and stay in the budget unless one item is above it."""
    batches = length_batches(lengths, budget)
    order = [number for batch in batches for number in batch]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[number] for number in order] == sorted(lengths)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= budget
