"""Two agents in a circle, one through an adapter and one through a hook: seen, and stopped by the button."""

import subprocess
import sys
import threading
from pathlib import Path

from playwright.sync_api import expect

EXAMPLE = Path(__file__).parents[3] / "examples" / "stuck_agents.py"


def test_agents_in_a_circle_are_seen_stopped_and_billed(service, opened) -> None:
    line = [sys.executable, str(EXAMPLE), "--url", service.url, "--pause", "0.1"]
    process = subprocess.Popen(
        line, env=service.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        with opened(service) as (page, window):
            expect(page.locator("#sentence")).to_contain_text("2 of 2 runs are stuck", timeout=20_000)
            for label in ("invoice-agent", "claude in shop"):
                page.get_by_role("button", name=f"Stop: {label}").click()
                page.get_by_role("button", name=f"Yes, stop: {label}").click()
                expect(page.locator("#told")).to_contain_text(f"{label} is stopped")
            expect(page.locator("#sentence")).to_contain_text("Nothing is stuck")
            printed, _ = process.communicate(timeout=20)
            assert "the agent of your own ended: [ebbtide] This run was ended: " in printed
            assert "the coding agent ended: " in printed
            assert printed.count("A person ended the run.") == 2
            window.open("/runs/invoice-7")
            expect(page.locator("#word")).to_contain_text("STUCK")
            report = page.frame_locator("#report iframe:not(.is-next)")
            expect(report.locator("main")).to_contain_text("wasted", timeout=10_000)
            bill = service.get("/v1/runs/invoice-7/summary")["bill"]
            expect(page.locator("#facts")).to_contain_text(f"${bill['total']['cost_usd']:,.2f}")
            assert bill["wasted"]["cost_usd"] > 0
            assert service.get("/v1/runs/claude:5d1c")["cost_usd"] > 0
    finally:
        guard.cancel()
        process.kill()
        process.communicate()
