"""A file that a command writes because somebody asked for it."""

from __future__ import annotations

import sys
from pathlib import Path

from ebbtide.cli.terminal import plain
from ebbtide.errors import ConfigError


def write_file(path: Path, text: str) -> None:
    """Write a file, and say so.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
    print(f"wrote {plain(str(path))}", file=sys.stderr)
