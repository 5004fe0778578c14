"""A folder of runs: the table is sorted, filtered and left for a run, by keyboard and by pointer."""

import dataclasses

import pytest

from ebbtide.report.page import page
from ebbtide.supervision.summary.run_summary import Spending, Tokens


@pytest.fixture
def runs(make_stuck, make_healthy):
    """Three runs that went in circles at different costs, two healthy ones, one of unknown cost."""
    items = [make_stuck(60, source=f"logs/week/stuck-{number}.jsonl") for number in (1, 2, 3)]
    items = [
        dataclasses.replace(
            item, spent=dataclasses.replace(item.spent, cost_usd=cost, unpriced=0, seconds=60.0 * cost)
        )
        for item, cost in zip(items, (2.0, 10.0, 9.0), strict=True)
    ]
    cheap = Spending(events=900, tool_calls=900, cost_usd=0.5, tokens=Tokens(input=7))
    return [
        *items,
        make_healthy(source="logs/week/healthy-1.jsonl", spent=cheap),
        make_healthy(source="logs/week/healthy-2.jsonl"),
    ]


def names(path) -> list[str]:
    """The runs that are seen, in their order."""
    return path.locator("#runs tbody tr:visible a").all_inner_texts()


def header(path, name):
    """The button that sorts by a column."""
    return path.get_by_role("columnheader", name=name).get_by_role("button")


def test_totals_and_names_without_their_folder(pages, runs) -> None:
    """What all of them cost is known in part, and said so; the common folder stands once."""
    with pages.opened(page(runs)) as path:
        text = path.locator("#overview").inner_text()
        assert "5 runs" in text
        assert "in logs/week/" in text
        assert "$21.50" in text
        assert "1 run unknown" in text
        assert names(path)[:3] == ["stuck-2.jsonl", "stuck-3.jsonl", "stuck-1.jsonl"]
        assert path.locator("article:visible").count() == 0


@pytest.mark.parametrize("width", [390, 768, 860, 1280])
def test_a_name_without_a_break_widens_no_table(pages, runs, make_stuck, overflow, width: int) -> None:
    """All columns have their values, and one run has a name of two hundred wide letters."""
    wide = make_stuck(60, source=f"logs/week/{'W' * 200}.jsonl", began_s=1.7e9)
    with pages.opened(page([*runs, wide]), width=width) as path:
        assert overflow(path) == []
        assert path.evaluate("document.documentElement.scrollWidth") == width


def test_any_column_sorts_with_the_keyboard(pages, runs) -> None:
    """Enter on a header sorts by it, again the other way round; what is unknown stays last."""
    with pages.opened(page(runs)) as path:
        header(path, "cost").focus()
        path.keyboard.press("Enter")
        order = ["stuck-2.jsonl", "stuck-3.jsonl", "stuck-1.jsonl", "healthy-1.jsonl", "healthy-2.jsonl"]
        assert names(path) == order
        assert path.get_by_role("columnheader", name="cost").get_attribute("aria-sort") == "descending"
        path.keyboard.press("Enter")
        assert names(path) == [*reversed(order[:4]), "healthy-2.jsonl"]
        header(path, "run, and why").press("Space")
        assert names(path) == sorted(order)
        header(path, "events").press("Enter")
        assert names(path)[0] == "healthy-1.jsonl"
        assert path.locator("[aria-sort]").count() == 1


def test_text_and_headline_filter(pages, runs) -> None:
    """Both together; the number of what is left is announced, and taking the filters off brings all back."""
    with pages.opened(page(runs)) as path:
        stuck = path.get_by_role("button", name="stuck 3")
        stuck.press("Enter")
        assert stuck.get_attribute("aria-pressed") == "true"
        assert len(names(path)) == 3
        path.get_by_role("searchbox").fill("-2")
        assert names(path) == ["stuck-2.jsonl"]
        assert path.get_by_role("status").inner_text() == "1 of 5 runs, the worst first"
        stuck.click()
        assert sorted(names(path)) == ["healthy-2.jsonl", "stuck-2.jsonl"]
        path.get_by_role("searchbox").fill("")
        assert len(names(path)) == 5


def test_a_row_opens_its_run_and_the_way_back_is_short(pages, runs) -> None:
    """A click on a row, or Enter on its link; its neighbours are those of the table as it is sorted."""
    with pages.opened(page(runs)) as path:
        # The browser says that the address has changed a moment after the click: each step is waited for.
        path.locator("#runs tbody tr", has_text="stuck-3").locator("td.cost").click()
        path.locator("article:visible header", has_text="stuck-3.jsonl").wait_for()
        assert path.locator("article:visible").count() == 1
        assert not path.locator("#overview").is_visible()
        path.get_by_role("link", name="Next").click()
        path.locator("article:visible header", has_text="stuck-1.jsonl").wait_for()
        path.get_by_role("link", name="All runs").click()
        path.locator("#overview").wait_for()
        path.wait_for_function("document.activeElement.textContent === 'stuck-1.jsonl'")
        path.keyboard.press("Enter")
        path.locator("article:visible canvas").first.wait_for()
        assert path.locator("article:visible canvas").count() >= 2


def test_the_cost_is_seen_on_a_phone(pages, runs) -> None:
    """At 390 pixels each row has its verdict, name and cost inside the window, and nothing is cut off."""
    with pages.opened(page(runs), width=390) as path:
        for row in path.locator("#runs tbody tr").all():
            for part in ("td.word", "td.source", "td.cost"):
                box = row.locator(part).bounding_box()
                assert 0 <= box["x"] < box["x"] + box["width"] <= 390


def test_without_scripts_everything_is_there(pages, runs) -> None:
    """The table and each run can be read, and no control is shown that does nothing."""
    with pages.opened(page(runs), java_script_enabled=False) as path:
        assert path.locator("article:visible").count() == 5
        assert path.locator("#runs tbody tr:visible").count() == 5
        assert path.locator("#overview button").count() == 0


def test_two_hundred_and_fifty_runs(pages, make_stuck) -> None:
    """All have a part of their own, and the page is ready, sorted and filtered at once."""
    runs = [make_stuck(80, source=f"logs/run-{number:03}.jsonl") for number in range(250)]
    html = page(runs)
    assert len(html) < 8_000_000
    with pages.opened(html) as path:
        assert len(names(path)) == 250
        took = path.evaluate(
            """() => {
                const start = performance.now();
                document.querySelectorAll("#runs th button")[2].click();
                document.querySelector("input[type=search]").value = "run-24";
                document.querySelector("input[type=search]").dispatchEvent(new Event("input"));
                return performance.now() - start;
            }"""
        )
        assert took < 500
        assert len(names(path)) == 10
