"""Where a text says what is quoted from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.text.llm.quotations import Quotations


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("The cache is cold.", "the cache is cold", "The cache is cold."),
        ("Use `pip install`, **now**!", "Use pip install, now", "Use `pip install`, **now**!"),
        ("Say \u201cno\u201d to it", 'Say "no" to it', "Say \u201cno\u201d to it"),
        ("one\n  two\tthree", "one two three", "one\n  two\tthree"),
        ("unable, then able.", "able", "able."),
        ("STRASSE und Stra\u00dfe", "stra\u00dfe und strasse", "STRASSE und Stra\u00dfe"),
        (
            "\u6211\u4eec\u4eca\u5929\u4e0a\u7ebf\u3002\u597d\u3002",
            "\u4eca\u5929\u4e0a\u7ebf",
            "\u4eca\u5929\u4e0a\u7ebf\u3002",
        ),
        ("The cache is not cold.", "the cache is cold", None),
        ("unable", "able", None),
        ("table tops", "table top", None),
        ("anything", "", None),
        ("anything!", "!", None),
        ("", "x", None),
    ],
)
def test_find(text: str, quote: str, found: str | None) -> None:
    """Case, markup, white space and quotation marks may differ; words may not, nor be cut."""
    place = Quotations(text).find(quote)
    assert (None if place is None else text[slice(*place)]) == found


@given(st.lists(st.sampled_from(["tea", "is", "hot", "**now**", "\u2014", "x9"]), min_size=1), st.data())
def test_every_run_of_words_is_found(words: list[str], data: st.DataObject) -> None:
    """What is copied from a text is found, and the place says the same."""
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    text, quote = " ".join(words), " ".join(words[start:end])
    place = Quotations(text).find(quote)
    letters = "".join(filter(str.isalnum, quote))
    if not letters:
        assert place is None
    else:
        assert place is not None
        assert "".join(filter(str.isalnum, text[slice(*place)])) == letters
