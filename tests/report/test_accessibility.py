"""Who uses a keyboard, a screen reader or large contrast can use the page: axe in a real browser."""

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.report.page import page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(  # noqa: PLR0917
    pages, barriers, overflow, make_stuck, make_healthy, width, scheme
) -> None:
    """A run and a folder of them, with everything opened that can be, in both colour schemes."""
    runs = [make_stuck(60), make_healthy(), make_stuck(90, source="runs/other.jsonl")]
    limits = Limits(cost_usd=5.0)
    for html, at in ((page(runs[:1], limits=limits), ""), (page(runs), ""), (page(runs), "#run-2")):
        with pages.opened(html, width=width, scheme=scheme, at=at) as path:
            path.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true; })")
            assert barriers(path) == []
            assert overflow(path) == []
