"""The page in a real browser."""

from collections import Counter

from ebbtide.budget.limits import Limits
from ebbtide.report.page import page

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    '<svg onload="document.title=\'owned\'">" autofocus onfocus="document.title=\'owned\'" \x1b[2J \u202eevil'
)


def elements(path) -> Counter[str]:
    """How often each element is there."""
    return Counter(path.evaluate("[...document.querySelectorAll('*')].map(node => node.localName)"))


def test_the_page_comes_up_with_its_timeline_and_charts(pages, make_stuck) -> None:
    """The scripts run under the page's own policy: a timeline with a cell in focus, two charts, a legend."""
    with pages.opened(page([make_stuck(60)], limits=Limits(cost_usd=5.0))) as path:
        assert elements(path)["canvas"] == 3
        slider = path.get_by_role("slider")
        assert slider.get_attribute("aria-valuemax") == "60"
        assert "web_search" in slider.get_attribute("aria-valuetext")
        assert path.get_by_text("Most often:").is_visible()
        assert path.get_by_text("1 of 27 equal").is_visible()


def test_hostile_text_stays_text(pages, make_stuck) -> None:
    """A run full of scripts, handlers and escape sequences runs none of them and adds no element."""
    with pages.opened(page([make_stuck(60, text=" tame")])) as path:
        tame = elements(path)
    with pages.opened(page([make_stuck(60, text=HOSTILE)])) as path:
        assert "owned" not in path.title().replace("document.title='owned'", "")
        assert path.title().startswith("STUCK: ")
        assert elements(path) == tame
        text = path.inner_text("body")
        assert "<img src=x onerror=" in text
        assert "\x1b" not in text


def test_twenty_thousand_calls_come_up(pages, make_stuck) -> None:
    """A run of twenty thousand calls is drawn, and its last call can be reached."""
    with pages.opened(page([make_stuck(20_000)])) as path:
        slider = path.get_by_role("slider")
        slider.focus()
        path.keyboard.press("End")
        assert slider.get_attribute("aria-valuenow") == "20000"
