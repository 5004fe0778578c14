"""A model of labels: a small file that the gate reads beside its rules."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ebbtide.codec import WireError, from_wire, to_wire
from ebbtide.decisions.learning.decision_label import write_whole
from ebbtide.decisions.learning.features import (
    LOGITS_A_POINT,
    FeatureTable,
    LearnedWeights,
    RuleReading,
    bounded_points,
)
from ebbtide.errors import ConfigError
from ebbtide.settings_file import read_text
from ebbtide.text.embedding.vectors import Vectors

#: Grows with every change of what is in the file, or of how features are made.
SCHEMA = 1
_KIND = "ebbtide decision model"
_LARGEST = 64 << 20  # bytes of a file
_AGAIN = "`ebbtide decisions train` writes it anew from the labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExample:
    """A labelled text that the model was made of."""

    text: str
    is_decision: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelFile:
    """The file as JSON; numbers as base64, little-endian."""

    kind: str
    schema: int
    made_by: str
    embedding: str
    refuse_at: float
    threshold: float
    rules: tuple[str, ...]
    trust: float
    weights: str  # float64, one a feature
    examples: tuple[ModelExample, ...]
    vectors: str  # float16, examples x dimensions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearnedModel:
    """A model of labels.

    Args:
        made_by: Version of Ebbtide that trained it.
        embedding: Names the files that make the vectors.
        refuse_at: Threshold of the rules that it was trained with, in points.
        threshold: Logit of "no decision" from which a candidate is refused.
        rules: Ids of the rules that have a feature.
        fit: What they teach, a weight a feature as `FeatureTable` lays them out.
        examples: The labelled texts.
        vectors: Their meanings, examples x dimensions.
    """

    made_by: str
    embedding: str
    refuse_at: float
    threshold: float
    rules: tuple[str, ...]
    fit: LearnedWeights
    examples: tuple[ModelExample, ...]
    vectors: Vectors

    def points(self, vector: Vectors, reading: RuleReading) -> float:
        """Returns the points that the labels add to those of the rules: above 0 towards refusing.

        Added to the points, it refuses exactly where the logit reaches the threshold.

        Args:
            vector: The meaning of the candidate: one row.
            reading: What the rules say of it.
        """
        import numpy as np

        rows = FeatureTable(self.rules).rows(vector, [reading])
        (logit,) = self.fit.logits(np.array([reading.offset]), rows).tolist()
        points = reading.points
        sum_of_points = float((logit - self.threshold) / LOGITS_A_POINT)
        # Where both agree, what the rules have beyond their bound stays theirs.
        return sum_of_points - (bounded_points(points) if sum_of_points * points > 0 else points)

    def neighbours(self, vector: Vectors) -> tuple[ModelExample, ModelExample | None]:
        """The labelled text whose meaning is nearest, and the nearest one with the other label, if any.

        Args:
            vector: A meaning: one row. The model has at least one example.
        """
        order = [self.examples[number] for number in (-(self.vectors @ vector[0])).argsort().tolist()]
        others = (example for example in order if example.is_decision is not order[0].is_decision)
        return order[0], next(others, None)

    def save(self, path: Path) -> None:
        """Write the file.

        Raises:
            ConfigError: It cannot be written.
        """
        document = _ModelFile(
            kind=_KIND,
            schema=SCHEMA,
            made_by=self.made_by,
            embedding=self.embedding,
            refuse_at=self.refuse_at,
            threshold=self.threshold,
            rules=self.rules,
            trust=self.fit.trust,
            weights=base64.b64encode(self.fit.weights.astype("<f8").tobytes()).decode(),
            examples=self.examples,
            vectors=base64.b64encode(self.vectors.astype("<f2").tobytes()).decode(),
        )
        write_whole(path, f"{json.dumps(to_wire(document), indent=1, ensure_ascii=False)}\n")

    @classmethod
    def load(cls, path: Path) -> LearnedModel:
        """The model in a file.

        Raises:
            ConfigError: The file cannot be read, is none, is damaged, or was written by a version whose
                models are made in another way; the message says which, and what to do.
            SemanticError: numpy is not installed.
        """
        from ebbtide.text.optional_library import library

        library("numpy")
        try:
            table: Any = json.loads(read_text(path, _LARGEST))
        except OSError as error:
            raise ConfigError(
                f"{path}: the trained model cannot be read: {error.strerror or error}"
            ) from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: not a trained model: {error}. {_AGAIN}") from error
        if not isinstance(table, dict) or table.get("kind") != _KIND:
            raise ConfigError(f"{path}: not a trained model. {_AGAIN}")
        if table.get("schema") != SCHEMA:
            raise ConfigError(
                f"{path}: this model was written by Ebbtide {str(table.get('made_by'))!r:.40} in form "
                f"{str(table.get('schema'))!r:.20}, and form {SCHEMA} is read here. {_AGAIN}"
            )
        try:
            return _model_of(from_wire(_ModelFile, table))
        except (WireError, ValueError) as error:
            raise ConfigError(f"{path}: the trained model is damaged: {error}. {_AGAIN}") from error


def _model_of(document: _ModelFile) -> LearnedModel:
    import numpy as np

    weights = np.frombuffer(base64.b64decode(document.weights, validate=True), dtype="<f8")
    dimensions = len(weights) - len(document.rules) - 2
    if dimensions < 1:
        raise ValueError("weights are missing")
    vectors = np.frombuffer(base64.b64decode(document.vectors, validate=True), dtype="<f2")
    rows = vectors.reshape(len(document.examples), dimensions).astype(np.float32)
    numbers = (weights, rows, np.array([document.threshold, document.refuse_at, document.trust]))
    if not all(np.isfinite(part).all() for part in numbers):
        raise ValueError("a number in it is none")
    return LearnedModel(
        made_by=document.made_by,
        embedding=document.embedding,
        refuse_at=document.refuse_at,
        threshold=document.threshold,
        rules=document.rules,
        fit=LearnedWeights(weights=weights.astype(np.float64), trust=document.trust),
        examples=document.examples,
        vectors=rows,
    )
