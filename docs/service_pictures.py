"""Draws the pictures of the service's page, with Chromium: ``python docs/service_pictures.py``."""
# ruff: noqa: INP001 - a script beside the pages, no package

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from ebbtide import Message, ModelCall, ToolCall, Usage
from ebbtide.events.event import Event
from ebbtide.service.client import ServiceClient

DOCS = Path(__file__).parent
AGENTS = DOCS.parent / "examples" / "stuck_agents.py"
BUDGETS = """[budgets]
store = "budgets.db"
[[budgets.limits]]
scope = "project"
name = "billing"
per = "day"
limit_usd = 40.0
[[budgets.limits]]
scope = "all"
per = "month"
limit_usd = 250.0
"""
# Run, project, agent, model, calls, days since.
WORK = (
    ("refund-2291", "support", "helper", "claude-haiku-4-5", 14, 0.02),
    ("refund-2292", "support", "helper", "claude-haiku-4-5", 9, 0.05),
    ("nightly-import", "warehouse", "importer", "gpt-5-mini", 30, 0.1),
    ("review-841", "website", "reviewer", "claude-opus-4-5", 12, 0.4),
    ("review-840", "website", "reviewer", "claude-opus-4-5", 8, 1.2),
    ("invoice-6", "billing", "invoice-agent", "claude-sonnet-4-5", 11, 1.5),
    ("refund-2288", "support", "helper", "claude-haiku-4-5", 17, 2.3),
    ("review-839", "website", "reviewer", "claude-opus-4-5", 10, 3.1),
    ("invoice-5", "billing", "invoice-agent", "claude-sonnet-4-5", 16, 4.2),
)


def main() -> None:
    """Run some work and the two agents of the example, and take the pictures."""
    with tempfile.TemporaryDirectory() as name, service_in(Path(name)) as (url, environment):
        with ServiceClient(url) as service:
            for run_id, project, agent, model, calls, days in WORK:
                begin = time.time() - days * 86_400
                service.add(run_id, work(model, calls, begin), project=project, agent=agent)
        line = [sys.executable, str(AGENTS), "--url", url, "--pause", "0.3"]
        agents = subprocess.Popen(line, env=environment)  # noqa: S603 - the example
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            take_pictures(browser, url)
            browser.close()
        agents.terminate()
        agents.wait()


def take_pictures(browser: Browser, url: str) -> None:
    """Wait until both agents are stuck, and take one picture after the other."""
    for name, path, width, height, scheme in (
        ("service-light", "/", 1200, 1080, "light"),
        ("service-dark", "/", 1200, 1080, "dark"),
        ("service-phone", "/", 380, 1180, "light"),
        ("service-run", "/runs/invoice-7", 1200, 900, "light"),
    ):
        window = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        window.goto(url + path)
        window.wait_for_selector("html[data-ready=true]")
        if path == "/":
            expect(window.locator("#stuck li")).to_have_count(2, timeout=60_000)
            expect(window.locator("#runs tr[data-run=invoice-7] .wasted")).to_contain_text(
                "$", timeout=60_000
            )
            window.wait_for_timeout(6_000)  # the sums follow the runs
        else:
            window.wait_for_selector("html[data-reports]")
        window.screenshot(path=DOCS / f"{name}.png")
        window.close()


def work(model: str, calls: int, begin: float) -> Iterator[Event]:
    """A run that goes well: each call finds something else."""
    yield Message(text="Look into it.", ts=begin)
    for number in range(calls):
        at = begin + 20 * number
        usage = Usage(model=model, input_tokens=9_000 + 1_500 * number, output_tokens=400)
        yield ModelCall(usage=usage, ts=at + 5)
        yield ToolCall(
            name="read_file", args={"path": f"src/part_{number}.py"}, result=f"def f{number}()", ts=at + 9
        )


@contextmanager
def service_in(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A service that keeps everything in a folder: its address, and the environment of its agents."""
    budgets = folder / "budgets.toml"
    budgets.write_text(BUDGETS, encoding="utf-8")
    environment = {**os.environ, "HOME": str(folder / "home"), "EBBTIDE_STATE": str(folder / "state")}
    options = ["--port", "0", "--db", str(folder / "runs.db"), "--budgets", str(budgets), "--json"]
    line = [sys.executable, "-m", "ebbtide", "serve", *options]
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, encoding="utf-8") as process:  # noqa: S603
        try:
            first = "" if process.stdout is None else process.stdout.readline()
            yield json.loads(first)["url"], environment
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
