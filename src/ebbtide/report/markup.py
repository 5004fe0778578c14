"""HTML from parts: whatever is no markup already is escaped, so that no text of a run can become any."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from html import escape
from importlib import resources
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


def tile(name: str, value: str, note: str | None) -> Markup:
    """Returns an amount with its name, and a remark below it."""
    return element(
        "div",
        element("dt", name),
        element("dd", value, class_="value"),
        element("dd", note, class_="note") if note else None,
    )


def table(
    title: str,
    headers: Sequence[str],
    rows: Sequence[Iterable[str]],
    *,
    words: Collection[str] = (),
    most: int | None = None,
) -> Markup:
    """Returns a table that a click on its title opens.

    Args:
        title: Text that opens it.
        headers: Names of the columns; one without a name heads nothing.
        rows: Cells, as text or markup.
        words: Names of the columns that hold words; the others hold numbers.
        most: Rows to show; None shows all.
    """
    classes = ["source" if name in words else "number" for name in headers]
    head = [
        element("th", name, scope="col", class_=kind) if name else element("td", class_=kind)
        for name, kind in zip(headers, classes, strict=True)
    ]
    body = [
        element(
            "tr",
            *(element("td", cell, dir="auto", class_=kind) for cell, kind in zip(row, classes, strict=True)),
        )
        for row in rows[:most]
    ]
    omitted = len(rows) - len(body)
    return element(
        "details",
        element("summary", title),
        element(
            "div",
            element("table", element("thead", element("tr", *head)), element("tbody", *body)),
            class_="scroll",
            tabindex="0",
            role="group",
            aria_label=title,
        ),
        element("p", f"{omitted:,} more are not shown.", class_="quiet") if omitted else None,
        class_="table",
    )


def document(title: str, *body: str | None, scripts: Sequence[str] = (), styles: Sequence[str] = ()) -> str:
    """Returns the HTML of a whole page, which asks the network for nothing.

    The content security policy names the script and the styles by their hashes and allows nothing else, so
    that a text that found a way out of its place could still neither run nor load anything.

    Args:
        scripts: Names of assets that are run at its end.
    """
    script, style = _assets(scripts), _assets(styles)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script, style)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        Markup(f"<style>{style}</style>"),
    )
    ending = Markup(f"<script>{script}</script>") if script else None
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body, ending), lang='en')}\n"


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _assets(names: Sequence[str]) -> str:
    folder = resources.files("ebbtide.report") / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
