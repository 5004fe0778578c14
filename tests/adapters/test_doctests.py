"""The examples in what the adapters share; their own modules need their frameworks."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["answer_text", "final_text", "run_watch"])
def test_examples(name: str) -> None:
    """They print what they show."""
    module = import_module(f"ebbtide.adapters.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
