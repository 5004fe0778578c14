"""A sentence-transformers model as ONNX, on onnxruntime: tokens in, mean of the token vectors out.

Measured on all-MiniLM-L6-v2 with int8 weights (benchmarks/speed/embedding.py prints the numbers): basic
graph optimisation folds the weights to float32 at load and is the fastest level. The higher ones replace Add
and LayerNormalization by one slower operator. Batches of about 512 padded tokens stay in the processor's
caches; the same texts in batches of 4,096 take a third longer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ebbtide.checks import whole
from ebbtide.errors import SemanticError
from ebbtide.text.embedding.vectors import Vectors, unit_rows
from ebbtide.text.optional_library import library

_BATCH_TOKENS = 512
_MAX_TOKENS = 256
_ERRORS_ONLY = 3  # onnxruntime's log level


class OnnxEmbedder:
    """Mean-pooled sentence vectors of one ONNX model.

    A text longer than `max_tokens` counts by its beginning alone.

    Args:
        model: Name of the weights.
        weights: The ONNX file: ``input_ids`` and ``attention_mask`` in, token vectors out.
        tokenizer: The ``tokenizer.json`` that belongs to it.
        max_tokens: Tokens of a text that count, the start and end tokens included.
        threads: Threads that the model computes with, 1 or more.
        spinning: Threads wait actively, which halves the speed where other programs want the cores.

    Raises:
        ConfigError: `threads` is below 1.
        SemanticError: A library is missing, or the files do not make an embedder.
    """

    def __init__(
        self,
        model: str,
        *,
        weights: Path,
        tokenizer: Path,
        max_tokens: int = _MAX_TOKENS,
        threads: int = 1,
        spinning: bool = False,
    ) -> None:
        whole("threads", threads, 1)
        onnxruntime, tokenizers = library("onnxruntime"), library("tokenizers")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.log_severity_level = _ERRORS_ONLY
        options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spinning)))
        self.model = model
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
            self._session = onnxruntime.InferenceSession(
                str(weights), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(max_tokens)
            self._inputs = {item.name for item in self._session.get_inputs()}
            (self.dimensions,) = self._sums([self._tokenizer.encode("").ids])[0].shape
        except Exception as error:  # both libraries raise errors that have no other base
            raise SemanticError(f"{weights} with {tokenizer}: not a sentence embedder: {error}") from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in the order of `texts`.

        Rows depend on their neighbours in the last bits of a float only: the arithmetic is float32, and
        padding is masked.
        """
        import numpy as np

        # One by one: the tokenizer's own batches use every core, whatever `threads` says.
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for batch in length_batches([len(ids) for ids in tokens], _BATCH_TOKENS):
            rows[batch] = self._sums([tokens[number] for number in batch])
        return unit_rows(rows, self.model)

    def _sums(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """The sum of the token vectors of each text: of the same direction as their mean."""
        import numpy as np

        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        feed = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(ids)
        hidden = self._session.run(None, feed)[0]
        sums: Vectors = np.matmul(mask[:, np.newaxis, :].astype(np.float32), hidden)[:, 0]
        return sums


def open_folder(folder: Path, *, threads: int = 1) -> OnnxEmbedder:
    """The model in `folder`: ``tokenizer.json``, and ``model.onnx`` there or in ``onnx/``.

    Raises:
        SemanticError: A file is missing, or the model does not pool by the mean.
    """
    weights, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
    if not weights.is_file():
        weights = folder / "onnx" / "model.onnx"
    for path in (weights, tokenizer):
        if not path.is_file():
            raise SemanticError(
                f"{folder}: no {path.name}; name a folder that has model.onnx and tokenizer.json"
            )
    _check_pooling(folder / "1_Pooling" / "config.json")
    name = f"{folder.resolve().name}@{sha256(weights)[:12]}"
    return OnnxEmbedder(name, weights=weights, tokenizer=tokenizer, threads=threads)


def sha256(path: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def length_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Groups of items of similar length, each at most `budget` when padded to its longest.

    An item above the budget is a group of its own.

    >>> length_batches([3, 9, 4, 30, 4], budget=12)
    [[0, 2, 4], [1], [3]]
    """
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not batches or (len(batches[-1]) + 1) * lengths[number] > budget:
            batches.append([])
        batches[-1].append(number)
    return batches


def _check_pooling(path: Path) -> None:
    """Refuse a model that says it makes its sentence vector in another way: the result would be wrong."""
    if not path.is_file():
        return
    try:
        settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        modes = [
            name for name, value in settings.items() if name.startswith("pooling_mode_") and value is True
        ]
    except (OSError, ValueError, AttributeError) as error:
        raise SemanticError(f"{path}: cannot be read: {error}") from error
    if modes not in ([], ["pooling_mode_mean_tokens"]):
        raise SemanticError(
            f"{path}: the model pools by {', '.join(modes)}, and only the mean is computed here; "
            f"use sentence-transformers:{path.parent.parent}"
        )
