"""Hooks of MkDocs: the README is the first page, and links out of the docs lead into the project.

``PROJECT_URL`` names the project, as for the package; without it such a link is plain text.
"""

import os
import re
from pathlib import Path
from typing import Any

_README = Path(__file__).parent.parent / "README.md"
_OUTSIDE = re.compile(r"(?<!!)\[([^\]]*)\]\(\.\./((?:examples|tests|benchmarks|[A-Z]+\.md)[^)\s]*)\)")
_OF_README = re.compile(r"\]\((?!https?:|#|docs/)([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Adds the README as the page ``index.md``."""
    from mkdocs.structure.files import File

    text = _OF_README.sub(r"](../\1)", _README.read_text(encoding="utf-8")).replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Returns the text of a page with its links out of the docs changed, and its screens without colours."""
    markdown = markdown.replace("```console\n", "```text\n")  # dollars would be taken for prompts
    address = os.environ.get("PROJECT_URL", "").rstrip("/")
    return _OUTSIDE.sub(rf"[\1]({address}/blob/main/\2)" if address else r"\1", markdown)
