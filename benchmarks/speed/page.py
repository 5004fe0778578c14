"""How soon a person sees the page of the service, with a month of one developer in it.

    python -m benchmarks.speed.page [--runs N] [--events N] [--openings N]

A real service with 1,000 runs of 300 events over 30 days, and a real Chromium on the same processors. Each
opening has a profile of its own, so that nothing is in a cache. `list` is the time from the request of the
page until sentence and runs are drawn, `whole` until the sums are too, both as the page says it, while the
service still looks for what the runs have wasted. `change` is the time from the request that makes a run
stuck until its row says so.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.measure import setup, wilson, write_result
from benchmarks.speed.service import Caller, memory_mb, served

_LIMIT_MS = 1000.0
_DAYS = 30
_DAY_S = 86_400.0


def month_of(port: int, runs: int, events: int) -> float:
    """Fill a service; events a second."""
    caller, start = Caller(port), time.perf_counter()
    now = time.time()
    for run in range(runs):
        begin = now - _DAYS * _DAY_S * (1 - (run + 1) / runs) - 10 * events
        body = "\n".join(json.dumps(event(run, seq, begin + 10 * seq)) for seq in range(1, events + 1))
        caller.ask("POST", f"/v1/runs/month-{run}/events?project=p{run % 9}&agent=a{run % 4}", body.encode())
    return runs * events / (time.perf_counter() - start)


def event(run: int, seq: int, ts: float) -> dict[str, Any]:
    """Calls of a model and of a tool that finds something else each time."""
    if seq % 2:
        usage = {"model": "claude-sonnet-4-5", "input_tokens": 4000 + seq, "output_tokens": 90}
        return {"seq": seq, "ts": ts, "kind": "llm", **usage}
    path, answer = f"/src/{run}/{seq}.py", f"total = {seq}\n" * 10
    return {"seq": seq, "ts": ts, "kind": "tool", "name": "read", "args": {"path": path}, "result": answer}


def openings(browser: Browser, port: int, count: int) -> dict[str, Any]:
    """Open the page so often, and how long it took."""
    lists, wholes = [], []
    for _ in range(count):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector("html[data-ready=true]")
        marks = page.evaluate("({...document.documentElement.dataset})")
        lists.append(float(marks["listedMs"]))
        wholes.append(float(marks["wholeMs"]))
        rows = page.locator("#runs tbody tr").count()
        context.close()
    return {"rows": rows, "list": times_of(lists), "whole": times_of(wholes)}


def times_of(values: list[float]) -> dict[str, Any]:
    """The median, the longest, and how many are under a second, with a Wilson interval."""
    hits = sum(value < _LIMIT_MS for value in values)
    return {
        "n": len(values),
        "median_ms": round(median(values)),
        "longest_ms": round(max(values)),
        "under_1_s": [hits, *wilson(hits, len(values))],
    }


def changes(browser: Browser, port: int, count: int) -> dict[str, Any]:
    """Let runs get stuck while the page is open, and how long it takes until their rows say so."""
    caller, times = Caller(port), []
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_selector("html[data-ready=true]")
    for number in range(count):
        call = {"kind": "tool", "name": "ls", "args": {}, "result": "a.txt"}
        body = "\n".join(json.dumps({"seq": seq, **call}) for seq in range(1, 12))
        start = time.perf_counter()
        caller.ask("POST", f"/v1/runs/stuck-{number}/events", body.encode())
        page.wait_for_selector(f"#runs tr[data-run=stuck-{number}] .tone-stop")
        times.append(1e3 * (time.perf_counter() - start))
    page.close()
    return times_of(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--events", type=int, default=300, help="of each run")
    parser.add_argument("--openings", type=int, default=30)
    options = parser.parse_args()
    result: dict[str, Any] = {"setup": setup("playwright", "fastapi"), "runs": options.runs}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), bare=False) as (port, pid),
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        rate = month_of(port, options.runs, options.events)
        result |= {"events": options.runs * options.events, "filled_events_a_second": round(rate)}
        openings(browser, port, 1)  # what the browser itself loads
        result["open"] = openings(browser, port, options.openings)
        result["change"] = changes(browser, port, options.openings)
        result["memory_mb"] = memory_mb(pid)
        browser.close()
    print(json.dumps(result, indent=1))
    write_result("speed-page", result)


if __name__ == "__main__":
    main()
