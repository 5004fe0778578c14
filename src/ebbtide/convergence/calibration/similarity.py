"""Measures the similarity of two claims at each level, as novelty would see it.

Source: novelty spec, 2.1, L1 and L2.
"""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.convergence.novelty import claim_tokens
from ebbtide.profile.convergence import TokenForm
from ebbtide.text.contrast.guard import contrast
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.jaccard_index import jaccard
from ebbtide.text.normal_form import normal_form


def jaccard_similarities(pairs: Sequence[tuple[str, str]], tokens: TokenForm) -> list[float]:
    """The Jaccard similarity of each pair, 0 to 1; equal normal forms are 1."""
    return [_jaccard(normal_form(a), normal_form(b), tokens) for a, b in pairs]


def cosine_similarities(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[float]:
    """The cosine of each pair, -1 to 1.

    Raises:
        SemanticError: The texts cannot be embedded.
    """
    left = embedder.embed([normal_form(a) for a, _ in pairs])
    right = embedder.embed([normal_form(b) for _, b in pairs])
    return [float(cosine) for cosine in (left * right).sum(axis=1)]


def contradicts(a: str, b: str) -> bool:
    """Returns True if the contrast guard keeps the two apart."""
    return contrast(normal_form(a), normal_form(b)) is not None


def _jaccard(a: str, b: str, tokens: TokenForm) -> float:
    return 1.0 if a == b else jaccard(claim_tokens(a, tokens), claim_tokens(b, tokens))
