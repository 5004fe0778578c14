"""Draws the pictures of the report, with Chromium: ``python docs/report_pictures.py``."""
# ruff: noqa: INP001 - a script beside the pages, no package

import dataclasses
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import sync_playwright

from ebbtide import __version__
from ebbtide.budget.prices import Prices
from ebbtide.checking import check
from ebbtide.cli.runs.demo import demo_runs
from ebbtide.report.page import Provenance, page
from ebbtide.supervision.run_options import RunOptions

DOCS = Path(__file__).parent
MADE = Provenance(made_at=datetime(2026, 11, 23, 12, 0, tzinfo=UTC), version=__version__, profile="default")


def main() -> None:
    """Check the sample and take the pictures."""
    options = RunOptions(prices=Prices(), timeline=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        runs = []
        for name, content in demo_runs().items():
            file = Path(folder, name)
            file.write_text(content, encoding="utf-8")
            runs.append(dataclasses.replace(check(file, options), source=f"demo/{name}"))
        stuck = [run for run in runs if run.source == "demo/stuck.jsonl"]
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, shown, width, height, scheme in (
            ("report-desktop", stuck, 1200, 1470, "light"),
            ("report-phone", stuck, 390, 1280, "dark"),
            ("report-folder", runs, 1200, 720, "light"),
        ):
            file = Path(folder, f"{name}.html")
            file.write_text(page(shown, provenance=MADE), encoding="utf-8")
            window = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            window.goto(file.as_uri())
            window.wait_for_selector("html[data-ready=true]")
            window.screenshot(path=DOCS / f"{name}.png")
            window.close()
        browser.close()


if __name__ == "__main__":
    main()
