"""Runs by hand: what a page has to show, without the engines that find it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from ebbtide.budget.bill.bill import (
    Amount,
    Bill,
    BillLine,
    CacheMisses,
    CarriedEvent,
    ContextPart,
    Suggestion,
    TokenClass,
    WasteKind,
    WasteLine,
)
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.summary.run_summary import (
    Cell,
    RoundPoint,
    RunDecision,
    RunFinding,
    RunSummary,
    Saving,
    Spending,
    Tokens,
)
from ebbtide.supervision.verdict import Verdict


def cells(count: int, *, start: int = 8, period: int = 2, text: str = "") -> tuple[Cell, ...]:
    """A timeline that turns in circles from an event on; each tenth is a message, each seventh fails."""
    names = ("web_search", "web_fetch", "read_file", "edit_file", "run_tests")
    timeline = []
    for number in range(1, count + 1):
        looping = number >= start
        message = not looping and number % 4 == 0
        kind = "llm" if message else "tool"
        identity = (number % period) if looping else period + number
        name = "message" if message else names[number % period if looping else number % len(names)]
        timeline.append(
            Cell(
                number=number,
                kind=kind,
                name=name,
                identity=identity,
                error=not message and number % 7 == 0,
                chain_id="",
                cost_usd=0.05 * number,
                tokens=2_000 * number,
                ts=100.0 + 6 * number,
                excerpt=f'{name} {{"q": "ferry {identity}"}} \u2192 2 results{text}',
            )
        )
    return tuple(timeline)


def bill(total: float, text: str = "") -> Bill:
    """A bill with everything on it that a page can show; its classes leave a tenth unexplained."""

    def amount(share: float) -> Amount:
        return Amount(cost_usd=total * share, tokens=round(40_000 * total * share), share=share)

    def lines(**shares: float) -> tuple[BillLine, ...]:
        return tuple(
            BillLine(name=name.replace("_", " ") + text, amount=amount(share), count=3, failures=1)
            for name, share in shares.items()
        )

    shares = {
        TokenClass.INPUT: 0.1,
        TokenClass.CACHE_WRITE: 0.2,
        TokenClass.CACHE_READ: 0.5,
        TokenClass.OUTPUT: 0.06,
        TokenClass.REASONING: 0.04,
    }
    return Bill(
        sentence=f"Half of it for reading again what web_fetch had answered.{text}",
        total=amount(1.0),
        unattributed=amount(0.1),
        why_unattributed=lines(a_compaction=0.1),
        classes=tuple(BillLine(name=name, amount=amount(share)) for name, share in shares.items()),
        contents=(BillLine(name=ContextPart.TOOL_OUTPUT, amount=amount(0.7)), *lines(other=0.3)),
        models=lines(large=0.8, small=0.2),
        agents=lines(main=0.9, helper=0.1),
        tools=lines(web_fetch=0.6, web_search=0.3),
        files=lines(brief_md=0.05),
        requests=(BillLine(name=f"Find the report.{text}", amount=amount(0.9), event=2),),
        phases=lines(before_the_first_change=0.4, changing=0.6),
        events=(
            CarriedEvent(
                event=9,
                content=ContextPart.TOOL_OUTPUT,
                title=f"web_fetch https://ferry.example/2021{text}",
                tool="web_fetch",
                size=900,
                reads=31,
                amount=amount(0.3),
                is_estimated=True,
            ),
            CarriedEvent(
                event=4,
                content=ContextPart.OWN_WORDS,
                title="",
                tool=None,
                size=1,
                reads=1,
                amount=amount(0.001),
            ),
        ),
        misses=CacheMisses(calls=4, tokens=8_000, above_hit=amount(0.08), after_pauses=2),
        wasted=amount(0.25),
        avoidable=amount(0.08),
        waste=(
            WasteLine(
                kind=WasteKind.SAME_CALL,
                amount=amount(0.25),
                count=26,
                events=(10, 12),
                example=f"again{text}",
            ),
        ),
        suggestions=(
            Suggestion(text=f"Stop after event 20: saves $2.00.{text}", saving=amount(0.6), event=20),
            Suggestion(text="Keep the cache warm: saves $0.24.", saving=amount(0.08)),
        ),
    )


def stuck(count: int = 60, **changes: Any) -> RunSummary:
    """A run that turned in circles, with everything that a page can show."""
    text = changes.pop("text", "")
    verdict = Verdict(action=Action.STOP, cause=Cause.DIVERGENCE, event=20)
    fields: dict[str, Any] = {
        "source": f"runs/stuck{text}.jsonl",
        "format": "ebbtide-events",
        "verdict": verdict,
        "reason": f"web_search and web_fetch in turn, {count // 2 - 4} times, same results.{text}",
        "latest": verdict,
        "spent": Spending(
            events=count,
            tool_calls=count - 2,
            llm_calls=2,
            tokens=Tokens(input=1_900 * count, output=100 * count),
            cost_usd=0.05 * count,
            unpriced=1,
            unpriced_models=(f"small-2{text}",),
            seconds=6.0 * count,
        ),
        "findings": (
            RunFinding(
                id="c1",
                kind="cycle",
                action=Action.STOP,
                cause=Cause.DIVERGENCE,
                sentence=f"web_search and web_fetch in turn, {count // 2 - 4} times, same results{text}",
                advice=f"Try something else, or say what is missing and finish.{text}",
                tools=("web_search", f"web_fetch{text}"),
                first_event=8,
                last_event=count,
                copies=count // 2 - 4,
                cost_usd=0.05 * (count - 8),
                tokens=2_000 * (count - 8),
                seconds=6.0 * (count - 8),
                evidence=f"web_fetch https://ferry.example/2021\n\u2192 Annual report 2021.{text}",
            ),
            RunFinding(
                id="r1",
                kind="repeat",
                action=Action.NUDGE,
                cause=Cause.DIVERGENCE,
                sentence="read_file 3 times, same answer",
                first_event=2,
                last_event=5,
                copies=3,
            ),
        ),
        "rounds": tuple(
            RoundPoint(
                number=number,
                event=number * 5,
                agent=f"ana{text}",
                novelty_rate=max(0.0, 1 - number * 0.14),
                new_claims=max(0, 7 - number),
                claims=8,
                readiness=min(0.6, 0.08 * number),
                signal="CONTINUE" if number < 9 else "ESCALATE",
            )
            for number in range(1, 13)
        ),
        "converged": "ESCALATE",
        "saving": Saving(
            verdict=verdict,
            after=Spending(
                events=count - 20,
                cost_usd=0.05 * (count - 20),
                tokens=Tokens(input=2_000 * (count - 20)),
            ),
        ),
        "decisions": (
            RunDecision(event=3, agent="ana", text=f"Use the report of 2021.{text}", kept=True),
            RunDecision(event=9, agent=None, text="ok", kept=False, reason=f"too short{text}"),
            RunDecision(
                event=12,
                agent=None,
                text="Use the annual report.",
                kept=False,
                reason="a duplicate",
                duplicate_of=3,
            ),
        ),
        "bill": bill(0.05 * count, text),
        "chains": ("",),
        "faults": (f"line 17: not JSON{text}",),
        "degraded": 1,
        "timeline": cells(count, text=text),
    }
    return RunSummary(**fields | changes)


def healthy(**changes: Any) -> RunSummary:
    """A run that nothing is wrong with, and about which little is known."""
    fields: dict[str, Any] = {
        "source": "runs/healthy.jsonl",
        "format": "ebbtide-events",
        "verdict": Verdict(),
        "reason": "24 calls: no loop, and no limit passed.",
        "latest": Verdict(),
        "spent": Spending(events=24, tool_calls=24),
        "timed": False,
    }
    return RunSummary(**fields | changes)


@pytest.fixture
def make_stuck() -> Callable[..., RunSummary]:
    """Makes a run that turned in circles."""
    return stuck


@pytest.fixture
def make_healthy() -> Callable[..., RunSummary]:
    """Makes a run that nothing is wrong with."""
    return healthy


class Pages:
    """Opens reports in the system's browser, and sees to it that none fails or asks for anything."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self.folder = folder

    @contextmanager
    def opened(
        self,
        html: str,
        *,
        width: int = 1280,
        scheme: str = "light",
        at: str = "",
        before: str | None = None,
        **context: Any,
    ) -> Iterator[Page]:
        """A page after its script ran.

        Args:
            html: The report.
            width: Of the window, in pixels.
            scheme: "light" or "dark".
            at: What the address ends in, such as "#run-2".
            before: A script of the test that runs before those of the page.
            **context: What else playwright should know of the window.
        """
        file = self.folder / "report.html"
        file.write_text(html, encoding="utf-8")
        window = self.browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce", **context
        )
        faults: list[str] = []
        page = window.new_page()
        if before is not None:
            page.add_init_script(before)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
        page.on(
            "request", lambda request: None if request.url.startswith("file:") else faults.append(request.url)
        )
        try:
            page.goto(file.as_uri() + at)
            if context.get("java_script_enabled", True):
                page.wait_for_selector("html[data-ready=true]", timeout=60_000)
            yield page
            assert faults == []
        finally:
            window.close()


@pytest.fixture
def pages(browser: Browser, tmp_path: Path) -> Pages:
    """Opens reports in a browser."""
    return Pages(browser, tmp_path)
