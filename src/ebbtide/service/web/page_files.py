"""The files of the page: its own, and those that it shares with the report."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

_SHARED: Final = frozenset({"page.css", "overview.css", "palette.js"})
_OWN: Final = frozenset({
    "service.css", "icon.svg", "api.js", "words.js", "acts.js", "now.js", "money.js", "runs.js", "main.js",
    "run.js",
})  # fmt: skip
_TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "html": "text/html"}


def page_file(name: str) -> tuple[str, str] | None:
    """The text of a file, and its media type; None where there is none of this name."""
    if name not in _SHARED and name not in _OWN:
        return None
    return file_text(name), f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"


@cache
def file_text(name: str) -> str:
    """The text of a file that is there."""
    folder = (
        resources.files("ebbtide.report") / "assets"
        if name in _SHARED
        else resources.files("ebbtide.service.web") / "page"
    )
    return (folder / name).read_text(encoding="utf-8")
