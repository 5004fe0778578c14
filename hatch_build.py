"""Writes the README for PyPI: its links lead into the project, whose address ``PROJECT_URL`` names.

Without the variable the links stay as they are, for whoever builds a copy of their own.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


def _registry_name(address: str) -> str:
    """Returns the name in the MCP registry, which looks for it in the README on PyPI."""
    host, _, path = address.partition("://")[2].partition("/")
    if host == "github.com":
        return f"io.github.{path.partition('/')[0]}/ebbtide"
    return f"{'.'.join(reversed(host.split('.')))}/ebbtide"


class ProjectAddress(MetadataHookInterface):
    """Fills in the fields ``readme`` and ``urls``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds both fields to the metadata of the package."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = os.environ.get("PROJECT_URL", "").rstrip("/")
        metadata["urls"] = {}
        if address:
            at = f"v{metadata['version']}"
            metadata["urls"] = {
                "Source": address,
                "Documentation": f"{address}/blob/{at}/README.md",
                "Changelog": f"{address}/blob/{at}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
            text = _LINK.sub(
                lambda link: f"{link[1]}{link[2]}({address}/{'raw' if link[1] else 'blob'}/{at}/{link[3]})",
                text,
            )
            text += f"\n<!-- mcp-name: {_registry_name(address)} -->\n"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
