"""Level 0: the normal form in which claims are compared.

Source: novelty spec, section 2.1 (clauses N01, N05).
"""

from __future__ import annotations

import unicodedata

_SENTENCE_ENDS = ".!?"


def normal_form(text: str) -> str:
    r"""Returns the text in lower case, with white space collapsed and stripped, and trailing ``.!?`` removed.

    Idempotent. The text is put into Unicode NFC, so that claims that look the same are the same,
    and every Unicode white space counts.

    >>> normal_form("  Use\u00a0PgBouncer for   pooling!? ")
    'use pgbouncer for pooling'
    """
    if not text.isascii():
        # Lower-casing can take a string out of NFC (U+0130), and composing can bring upper case back.
        lowered = unicodedata.normalize("NFC", text).lower()
        text = unicodedata.normalize("NFC", lowered)
        while (again := unicodedata.normalize("NFC", text.lower())) != text:
            text = again
    else:
        text = text.lower()
    collapsed = " ".join(text.split())
    while collapsed and collapsed[-1] in _SENTENCE_ENDS:
        collapsed = collapsed.rstrip(_SENTENCE_ENDS).rstrip()
    return collapsed
