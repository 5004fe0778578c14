"""Models of sentence-transformers, where that library is installed; it is not part of the extra."""

from pathlib import Path

import numpy as np
import pytest

from ebbtide.errors import SemanticError
from ebbtide.text.embedding.embedder import open_embedder

pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")

WORDS = ["use", "pgbouncer", "cache", "hot", "queries", "ship", "on", "friday"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a very small model that has learned nothing."""
    from transformers import BertConfig, BertModel, BertTokenizer, set_seed

    folder = tmp_path_factory.mktemp("model")
    vocabulary = {
        word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
    }
    set_seed(1)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder


def test_rows_follow_the_texts(model: Path) -> None:
    """A model on disk gives unit vectors in the order of the texts, whatever else is in the batch."""
    embedder = open_embedder(f"sentence-transformers:{model}")
    assert (embedder.model, embedder.dimensions) == (f"sentence-transformers:{model}", 16)
    rows = embedder.embed(["use pgbouncer", "ship on friday", "Use PgBouncer."])
    assert (rows.dtype, rows.shape) == (np.float32, (3, 16))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[0].tolist() == rows[2].tolist()
    alone = open_embedder(f"sentence-transformers:{model}")
    assert np.allclose(alone.embed(["ship on friday"])[0], rows[1], atol=1e-6)
    assert alone.embed([]).shape == (0, 16)


def test_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A folder without a model is an error in one sentence."""
    with pytest.raises(SemanticError, match=r"nothing: cannot be loaded: "):
        open_embedder(f"sentence-transformers:{tmp_path / 'nothing'}")
