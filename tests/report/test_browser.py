"""The page in a real browser, where there is one."""

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.report.page import page

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
    None,
)
HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    '<svg onload="document.title=\'owned\'">" autofocus onfocus="document.title=\'owned\'" \x1b[2J \u202eevil'
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: apt-get install chromium")


class Counted(HTMLParser):
    """How often each element is there, the text of the body, and what html and title say."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.counts: dict[str, int] = {}
        self.root: dict[str, str | None] = {}
        self.slider: dict[str, str | None] = {}
        self.text = ""
        self.title = ""
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self._inside.append(tag)
        if tag == "html":
            self.root = dict(attrs)
        if dict(attrs).get("role") == "slider":
            self.slider = dict(attrs)

    def handle_endtag(self, tag):
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data):
        inside = self._inside[-1] if self._inside else ""
        if inside == "title":
            self.title += data
        elif inside not in {"script", "style"}:
            self.text += data


def loaded(html: str, folder: Path) -> Counted:
    """The document after the browser ran its scripts."""
    file = folder / "report.html"
    file.write_text(html, encoding="utf-8")
    process = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder / 'profile'}",
            "--virtual-time-budget=4000",
            "--window-size=1280,900",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        env=os.environ | {"HOME": str(folder)},
        check=False,
    )
    assert "<html" in process.stdout, process.stderr[-2000:]
    return Counted(process.stdout)


def test_the_page_comes_up_with_its_timeline_and_charts(tmp_path, make_stuck) -> None:
    """The scripts run under the page's own policy: a timeline with a cell in focus, two charts, a legend."""
    path = loaded(page([make_stuck(60)], limits=Limits(cost_usd=5.0)), tmp_path)
    assert path.root.get("data-ready") == "true"
    assert path.counts["canvas"] == 3
    assert path.slider["aria-valuemax"] == "60"
    assert "web_search" in path.slider["aria-valuetext"]
    assert "Most often:" in path.text
    assert re.search(r"1 of 27 equal", path.text)


def test_hostile_text_stays_text(tmp_path, make_stuck) -> None:
    """A run full of scripts, handlers and escape sequences runs none of them and adds no element."""
    tame = loaded(page([make_stuck(60, text=" tame")]), tmp_path)
    path = loaded(page([make_stuck(60, text=HOSTILE)]), tmp_path)
    assert path.root.get("data-ready") == "true"
    assert "owned" not in path.title.replace("document.title='owned'", "")
    assert path.title.startswith("STUCK: ")
    assert {"img", "svg"}.isdisjoint(path.counts)
    assert path.counts == tame.counts
    assert "<img src=x onerror=" in path.text
    assert "\x1b" not in path.text


def test_twenty_thousand_calls_come_up(tmp_path, make_stuck) -> None:
    """A run of twenty thousand calls is drawn, and its last call can be reached."""
    path = loaded(page([make_stuck(20_000)]), tmp_path)
    assert path.root.get("data-ready") == "true"
    assert path.slider["aria-valuemax"] == "20000"
