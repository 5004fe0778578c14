"""What a negation denies."""

import pytest

from ebbtide.text.contrast.statement import read_statement


@pytest.mark.parametrize(
    ("text", "heads", "passed"),
    [
        ("We do not need to deploy the cache", ("deploy",), ("need",)),
        ("We do not need the cache", ("need",), ()),
        ("They want not to need the cache", ("need",), ()),
        ("We did not silently try to deploy the cache", ("deploy",), ("silently", "try")),
        ("We do not rely on the cache", ("rely",), ()),
    ],
)
def test_a_negation_goes_on_through_a_word_before_to(
    text: str, heads: tuple[str, ...], passed: tuple[str, ...]
) -> None:
    """With "not need to deploy" it is the deploying, with "not need" the needing; adverbs are passed."""
    (negation,) = read_statement(text).polarity.negations
    assert (negation.heads, negation.passed) == (heads, passed)
