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
    ],
)
def test_numbers_of_a_list_say_nothing_and_each_script_is_a_word(text: str, words: list[str]) -> None:
    """A number alone is what the text says; without spaces, words end where the script changes."""
    assert [item.text for item in read_items(text)[0]] == words
