"""The rule of the gate that comes from labels: what it adds to the other rules, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ebbtide.decisions.assessment import Assessment, Layer, RuleFired
from ebbtide.decisions.learning.features import READ, RuleReading
from ebbtide.decisions.learning.learned_model import LearnedModel, ModelExample
from ebbtide.errors import ConfigError
from ebbtide.text.embedding.cache import CachedEmbedder
from ebbtide.text.embedding.vectors import Vectors

LEARNED = "learned"  #: id of the rule
_SHOWN = 60  # characters of a neighbour
_DIGITS = 4  # of a weight
_OPEN_MODELS = 4


def with_labels(text: str, assessment: Assessment, path: str) -> Assessment:
    """An assessment by the rules, and what a trained model adds to it.

    A rule that refuses alone still does. Where the model was made of no labels, nothing changes.

    Args:
        text: The candidate; its first 500 characters are read.
        assessment: By the rules alone.
        path: File of the model.

    Raises:
        ConfigError: The model cannot be used; the message says why.
        SemanticError: The extra ``semantic`` is not installed.
    """
    model = _model(path)
    if abs(model.refuse_at - assessment.threshold) > 1e-9:
        raise ConfigError(
            f"{path}: this model was trained for refuse_at = {model.refuse_at:g}, and the profile has "
            f"{assessment.threshold:g}. `ebbtide decisions train` with the same profile writes it anew"
        )
    if not model.examples:
        return assessment
    vector = embedder().embed([text[:READ]])
    weight = round(model.points(vector, RuleReading.of(assessment)), _DIGITS)
    learned = RuleFired(
        id=LEARNED, layer=Layer.INFORMATIONAL, reason=_explained(model, vector), weight=weight
    )
    return _combined(assessment, learned)


def _combined(assessment: Assessment, learned: RuleFired) -> Assessment:
    noise = assessment.noise + max(learned.weight, 0.0)
    choice = assessment.choice - min(learned.weight, 0.0)
    deciding = [rule for rule in assessment.rules if rule.decides]
    refused_by_rules = assessment.noise - assessment.choice >= assessment.threshold
    refuses = noise - choice >= assessment.threshold
    # What turns the verdict comes first, where screens look.
    turns = refuses is not refused_by_rules
    rules = (learned, *assessment.rules) if turns else (*assessment.rules, learned)
    refusing: Sequence[RuleFired] = deciding
    if refuses:
        refusing = [rule for rule in rules if rule.weight > 0 or rule.decides]
    return replace(
        assessment,
        keep=not refuses and not deciding,
        primary=refusing[0] if refuses or deciding else None,
        rules=rules,
        noise=noise,
        choice=choice,
    )


def _explained(model: LearnedModel, vector: Vectors) -> str:
    """By the labelled text whose meaning is nearest, and the nearest one of the other kind."""
    like, unlike = model.neighbours(vector)
    contrast = f", unlike {_named(unlike)}" if unlike else ""
    return f"By your labels: like {_named(like)}{contrast}"


def _named(example: ModelExample) -> str:
    words = " ".join(example.text.split())
    cut = words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}\u2026"
    return f"'{cut}' ({'decision' if example.is_decision else 'none'})"


def _model(path: str) -> LearnedModel:
    """The model in a file; read again when the file changes."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked for every candidate
    except OSError as error:
        raise ConfigError(
            f"{path}: the trained model cannot be read: {error.strerror or error}. "
            "`ebbtide decisions train` makes it"
        ) from error
    return _read_model(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=_OPEN_MODELS)
def _read_model(path: str, _changed: int, _size: int) -> LearnedModel:
    from ebbtide.text.embedding.minilm import FINGERPRINT

    model = LearnedModel.load(Path(path))
    if model.embedding != FINGERPRINT:
        raise ConfigError(
            f"{path}: this model was trained with the embeddings {model.embedding!r:.80}, and {FINGERPRINT} "
            "are installed. `ebbtide decisions train` writes it anew from the labels"
        )
    return model


@lru_cache(maxsize=1)
def embedder() -> CachedEmbedder:
    """The embedder of this process.

    Raises:
        SemanticError: The extra ``semantic`` is not installed.
    """
    from ebbtide.text.embedding.embedder import open_embedder

    return open_embedder()
