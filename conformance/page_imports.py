"""Runs the imports of an adapter's page where its framework is installed, as if they were pasted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PAGES: Final = Path(__file__).parents[1] / "docs" / "adapters"
BLOCK: Final = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)  #: shown and not run
_SHARED: Final = {"anthropic_client": "clients", "openai_client": "clients"}


def page_of(name: str) -> str:
    """The text of the page of an adapter."""
    return (PAGES / f"{_SHARED.get(name, name)}.md").read_text(encoding="utf-8")


def import_faults(page: str) -> Iterator[str]:
    """Says in words which imports of a page fail here."""
    for block in BLOCK.findall(page):
        for node in ast.walk(ast.parse(block)):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            line = ast.unparse(node)
            try:
                exec(line, {})  # noqa: S102 - an import of our own page
            except Exception as error:  # noqa: BLE001 - a framework may fail in any way
                yield f"{line}: {error!r}"
