"""The words that a text is read as."""

import pytest

from ebbtide.text.contrast.clauses import read_items


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3.", ["3", "."]),
        ("1. Use Redis", ["use", "redis"]),
        ("Use Redis. 2. Drop it", ["use", "redis", ".", "drop", "it"]),
        ("It costs 3.", ["it", "costs", "3", "."]),
        ("Redisを使う", ["redis", "を使う"]),
        ("テストA", ["テスト", "a"]),
        ("re-open the half-open link", ["reopen", "the", "half", "open", "link"]),
    ],
)
def test_what_is_a_word(text: str, words: list[str]) -> None:
    """List numbers are none, a number alone is; words end where the script changes, and at most hyphens."""
    assert [item.text for item in read_items(text)[0]] == words
