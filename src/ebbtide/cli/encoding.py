"""What a terminal or a pipe shows in place of a character that its encoding does not have."""

from __future__ import annotations

import codecs

_NAME = "ebbtide.plain"
# Columns of a curve by their height, marks, and the signs of a text.
_LIKE = str.maketrans(
    {
        "\u2581": "_",
        "\u2582": ".",
        "\u2583": ":",
        "\u2584": "-",
        "\u2585": "=",
        "\u2586": "+",
        "\u2587": "*",
        "\u2588": "#",
        "\u2502": "|",
        "\u2500": "-",
        "\u203e": "^",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2022": "*",
        "\u2026": "...",
        "\u2192": "->",
        "\u00b7": ".",
        "\u00d7": "x",
        "\u00a0": " ",
    }
)


def plain_characters() -> str:
    """The name of an error handler for encoding: it writes what a character is like, or a question mark."""
    codecs.register_error(_NAME, _replaced)
    return _NAME


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_LIKE)
    return "".join(character if character.isascii() else "?" for character in text), error.end
