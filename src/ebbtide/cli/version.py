"""`ebbtide --version`."""

from __future__ import annotations

from ebbtide import __version__


def print_version() -> None:
    """Print the name and the version."""
    print(f"ebbtide {__version__}")
