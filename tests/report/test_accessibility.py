"""Who uses a keyboard, a screen reader or large contrast can use the page: axe in a real browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from ebbtide.budget.limits import Limits
from ebbtide.report.page import page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# What reaches over the right edge, unless it is inside something that scrolls or is there for readers alone.
OUTSIDE = """width => [...document.querySelectorAll("main *, footer *")]
    .filter(node => !node.closest(".scroll, .unseen, svg") && node.checkVisibility())
    .filter(node => node.getBoundingClientRect().right > width + 1)
    .map(node => node.outerHTML.slice(0, 160))"""


def problems(path) -> list[str]:
    """What axe finds, with the elements."""
    results = Axe().run(path, options=RULES)
    return [
        f"{item['id']}: {node['html'][:160]}"
        for item in results.response["violations"]
        for node in item["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(pages, make_stuck, make_healthy, width, scheme) -> None:
    """A run and a folder of them, with everything opened that can be, in both colour schemes."""
    runs = [make_stuck(60), make_healthy(), make_stuck(90, source="runs/other.jsonl")]
    limits = Limits(cost_usd=5.0)
    for html, at in ((page(runs[:1], limits=limits), ""), (page(runs), ""), (page(runs), "#run-2")):
        with pages.opened(html, width=width, scheme=scheme, at=at) as path:
            path.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true; })")
            assert problems(path) == []
            assert path.evaluate(OUTSIDE, width) == []
