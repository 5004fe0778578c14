"""The site of the docs, as it is read without a network: on a desktop and a phone, light and dark."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

PROJECT = Path(__file__).parent.parent
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site; a link that leads nowhere, or a page that no list names, fails."""
    folder = tmp_path_factory.mktemp("site")
    process = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_site_needs_no_network(site: str, browser: Browser, width: int, scheme: Scheme) -> None:
    """Every tab opens, nothing reaches over the right edge, and nothing is asked for elsewhere."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("index", "start", "check", "bill", "adapters/index", "reference"):
        page.goto(f"{site}/{name}.html")
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(30, 33, 41)"
    )
    assert [url for url in asked if not url.startswith(site)] == []
    context.close()


def test_a_word_is_found(site: str, browser: Browser) -> None:
    """The search works where the files lie."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{site}/index.html")
    field, found = page.locator("input.md-search__input"), page.locator(".md-search-result__link").first
    end = time.monotonic() + 60
    while not found.is_visible() and time.monotonic() < end:
        # A word that is typed before the index is there is not looked for.
        field.fill("")
        field.press_sequentially("calibration")
        page.wait_for_timeout(1000)
    assert "calibration" in (found.get_attribute("href") or "")
    page.close()
