"""What to do about a model whose price nobody knows."""

from __future__ import annotations

from ebbtide.budget.prices import Prices


def price_hint() -> str:
    """One sentence; where public prices are not installed, it says how to get them."""
    public = "" if Prices().origin else ", or install public ones: pip install 'ebbtide[prices]'"
    return f"Add prices with --prices FILE{public}."
