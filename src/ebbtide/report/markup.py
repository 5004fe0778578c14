"""HTML from parts: whatever is no markup already is escaped, so that no text of a run can become any."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

# Controls that a page shows as boxes at best, marks that reorder the text around them, and half characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_VOID = frozenset({"br", "col", "hr", "input", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def plain(text: str, length: int | None = None) -> str:
    """Returns `text` without controls and without marks that reorder what stands around it.

    Args:
        text: Any text, such as the answer of a tool.
        length: Characters to keep; None keeps all.
    """
    clean = _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)
    return (
        clean if length is None or len(clean) <= length else f"{clean[: length - 1]}\N{HORIZONTAL ELLIPSIS}"
    )


def escaped(text: str) -> Markup:
    """Returns `text` as HTML; what is markup already stays as it is."""
    return text if isinstance(text, Markup) else Markup(escape(plain(text)))


def element(name: str, /, *children: str | None, **attributes: str | bool | float | None) -> Markup:
    """Returns an element of HTML.

    Args:
        *children: Texts, which are escaped, and markup; None is left out.
        **attributes: `class_` and `aria_label` stand for ``class`` and ``aria-label``. True gives an
            attribute without a value; None and False give none.

    >>> element("p", "1 < 2 ", element("b", "so"), class_="why", hidden=False)
    '<p class="why">1 &lt; 2 <b>so</b></p>'
    """
    opening = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(plain(str(value)))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    inside = "".join(escaped(child) for child in children if child is not None)
    return Markup(f"<{name}{opening}>" if name in _VOID else f"<{name}{opening}>{inside}</{name}>")


def joined(*parts: str | None) -> Markup:
    """Joins parts one after the other."""
    return Markup("".join(escaped(part) for part in parts if part is not None))


def json_block(value: Any, name: str) -> Markup:
    """Returns data for a script, in a block that the browser does not run and that no text can end."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')
