"""The quick version of `python -m benchmarks.campaign`: each fault on each store, one round in a browser."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.campaign import attack, faults
from benchmarks.campaign import browser as in_browser
from benchmarks.campaign.payloads import ELSEWHERE

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that every user reaches: those of pytest are for one alone."""
    # A store that was torn may still close its files.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("store", faults.STORES)
@pytest.mark.parametrize("fault", ["no room", "read-only", "torn"])
def test_a_store_outlives_a_fault(store: str, fault: str, folder: Path) -> None:
    """Nothing acknowledged is lost, and no error but our own escapes."""
    one = attack.Attack(7, 1.0)
    if fault == "torn":
        faults.torn(one, store, folder)
    else:
        faults.held(one, store, fault, folder)
    assert one.findings == []


def test_clocks_that_jump(folder: Path) -> None:
    """Everything counts once."""
    one = attack.Attack(7, 1.0)
    faults.clocks(one, folder)
    assert one.findings == []


def test_what_is_found_fails_the_attack() -> None:
    """A seed that finds something is none that passes."""

    def finds(one: attack.Attack) -> None:
        one.expect(one.seed != 2, "two", number=one.seed)

    assert attack.run("none", finds, [1], 0.1, keeps=False)
    assert not attack.run("none", finds, [1, 2], 0.1, keeps=False)


def test_a_round_in_a_browser_finds_nothing(browser, folder: Path) -> None:
    """No payload acts in any page of the service, nor in the reports of files."""
    one = attack.Attack(7, 1.0)
    with in_browser.served(folder) as (client, home):
        in_browser.one_round(browser, client, home, in_browser.Findings(one))
    assert one.findings == []
    assert one.counts["pages"] > 15


LETTING = """<!DOCTYPE html><html><head><title>t</title>{policy}</head><body><p>{text}</p></body></html>"""
POLICY = """<meta http-equiv=Content-Security-Policy content="default-src 'none'">"""
ACTS = {
    "<img class=planted src=x onerror=planted(1)>": {
        "a payload is an element", "a payload is a handler", "a payload runs", "a payload asks the policy"
    },
    "<script>alert(1)</script>": {"a payload opens a dialog", "a payload asks the policy"},
    f"<img src=//{ELSEWHERE}/i.png>": {
        "a payload is an address", "a payload asks somebody else", "a payload asks the policy"
    },
    "<a href=javascript:planted(1)>go</a>": {"a payload is an address"},
    "W" * 400: {"a payload makes the page wider than its window"},
    "\N{RIGHT-TO-LEFT OVERRIDE}x": {"a mark reorders what a person reads"},
}  # fmt: skip


@pytest.mark.parametrize("text", ACTS, ids=range(len(ACTS)))
def test_a_page_that_lets_a_payload_act_is_found(browser, folder: Path, text: str) -> None:
    """With a policy what it would do is refused and seen; without one it acts and is seen."""
    seen = set()
    for is_bare in (False, True):
        one = attack.Attack(7, 1.0)
        (folder / "page.html").write_text(LETTING.format(policy=POLICY, text=text), encoding="utf-8")
        window = in_browser.Window(browser, folder.as_uri(), in_browser.Findings(one), is_bare=is_bare)
        window.open("page", "/page.html")
        window.context.close()
        seen |= {finding["what"] for finding in one.findings}
    assert seen == ACTS[text]
