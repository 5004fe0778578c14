"""An HTML file that asks the network for nothing.

The content security policy names the script and the styles by their hashes and allows nothing else, so that a
text that found a way out of its place could still neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from ebbtide.report.markup import Markup, element


def document(title: str, *body: str | None, scripts: Sequence[str] = (), styles: Sequence[str] = ()) -> str:
    """Returns the HTML of a whole page.

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
