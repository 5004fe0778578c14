"""The bill on a run's page."""

import dataclasses
import re

import pytest

from ebbtide.budget.bill.bill import Amount, Bill, BillLine, TokenClass
from ebbtide.report.bill import bill_details, bill_part
from ebbtide.report.page import page


def test_the_bar_is_as_wide_as_the_shares(make_stuck) -> None:
    """A part a class, one after the other, and what no class explains as its own."""
    html = bill_part(make_stuck(60))
    parts = re.findall(r'<rect x="([\d.]+)" y="0" width="([\d.]+)" height="10" class="class-([\w-]+)">', html)
    assert [(float(x), float(width), name) for x, width, name in parts] == [
        (0.0, 100.0, "input"),
        (100.0, 200.0, "cache-write"),
        (300.0, 500.0, "cache-read"),
        (800.0, 60.0, "output"),
        (860.0, 40.0, "reasoning"),
        (900.0, 100.0, "unattributed"),
    ]
    for words in ("cache reads<b>$1.50</b>", "unattributed<b>$0.30</b>", "<b>$0.75</b> wasted"):
        assert words in html


def test_of_an_unknown_cost_the_tokens_are_shown(make_healthy) -> None:
    """Without prices the bar shows shares of tokens, and no amount is zero dollars."""
    classes = (
        BillLine(name=TokenClass.INPUT, amount=Amount(tokens=100, share=0.1)),
        BillLine(name=TokenClass.CACHE_READ, amount=Amount(tokens=900, share=0.9)),
    )
    html = bill_part(make_healthy(bill=Bill(total=Amount(tokens=1_000, share=1.0), classes=classes)))
    assert '<p class="total">unknown</p>' in html
    assert "cache reads<b>900 tokens</b>" in html
    assert "$" not in html


@pytest.mark.parametrize("width", [390, 1280])
def test_a_dear_event_is_a_click_away_from_the_timeline(pages, make_stuck, width) -> None:
    """So are the events of suggestions and of waste, by pointer and by keyboard."""
    with pages.opened(page([make_stuck(60)]), width=width) as path:
        slider = path.get_by_role("slider")
        path.locator(".dearest button.jump").first.click()
        assert slider.get_attribute("aria-valuenow") == "9"
        assert path.evaluate("document.activeElement.getAttribute('role')") == "slider"
        path.locator(".suggestions button.jump").press("Enter")
        assert slider.get_attribute("aria-valuenow") == "20"
        path.get_by_text("Waste by kind").click()
        path.get_by_role("button", name="event 12").click()
        assert slider.get_attribute("aria-valuenow") == "12"


def test_breakdowns_are_folded_and_complete(make_stuck) -> None:
    """One table to open for each; a breakdown by the only model says nothing and is left out."""
    bill = make_stuck(60).bill
    titles = re.findall(r"<summary>(.*?)</summary>", bill_details(bill))
    assert titles == [
        "Waste by kind",
        "By content",
        "By tool",
        "By file",
        "By request",
        "By phase",
        "By model",
        "By agent",
        "Why something is unattributed",
        "Cache misses",
    ]
    alone = dataclasses.replace(bill, models=bill.models[:1], agents=())
    assert not {"By model", "By agent"} & set(re.findall(r"<summary>(.*?)</summary>", bill_details(alone)))
    assert "tool results" in bill_details(bill)


def test_without_a_bill_nothing_is_made_up(make_healthy) -> None:
    """A run of which neither cost nor tokens are known has no bar and no breakdown."""
    run = make_healthy()
    assert bill_details(run.bill) is None
    assert "<svg" not in bill_part(run)
    assert Amount() == run.bill.total
