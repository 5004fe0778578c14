"""Libraries that only an extra brings, imported where they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ebbtide.errors import SemanticError


def library(name: str, *, install: str = "ebbtide[semantic]") -> Any:
    """Returns the module `name`, imported.

    Args:
        install: Name by which pip installs it.

    Raises:
        SemanticError: It is not installed, or does not start.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise SemanticError(f"{name} cannot be used ({error}): pip install '{install}'") from error
