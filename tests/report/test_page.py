"""The page as a file: what stands in it, and that nothing of a run can become more than text."""

import base64
import dataclasses
import hashlib
import json
import math
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.report.page import Provenance, page
from ebbtide.supervision.summary.run_summary import RunDecision

HOSTILE = {
    "script": "</script><script>document.title='owned'</script>",
    "comment": "<!--<script>",
    "handler": "\" onerror=\"document.title='owned'\" x='",
    "image": "<img src=x onerror=\"document.title='owned'\">",
    "style": "</style><style>*{display:none}</style>",
    "entity": "&lt;b&gt; &amp;amp; &#60;script&#62;",
    "terminal": "\x1b[2J\x1b]0;owned\x07",
    "reordered": "\u202etxt.exe\u2066\u200f",
    "halves": "\ud800 \udfff",
    "lines": "a\u2028b\u2029c\r\nd",
    "template": "${document.title='owned'} {{7*7}}",
}
ASSETS = Path(__file__).parents[2] / "src" / "ebbtide" / "report" / "assets"
NETWORK = re.compile(r"\b(?:src|href|action|formaction|srcset|poster)$")


class Read(HTMLParser):
    """Elements with their attributes, text by element, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        name = self.open[-1] if self.open else ""
        self.texts[name] = self.texts.get(name, "") + data

    def text(self):
        return " ".join(text for name, text in self.texts.items() if name not in {"script", "style"})

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def structure(html: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(tag, tuple(sorted(attributes))) for tag, attributes in Read(html).elements]


def test_the_page_says_the_verdict_the_cost_and_every_finding(make_stuck) -> None:
    """Without a script the text is all there: verdict, why, cost, saving, findings, decisions."""
    text = Read(page([make_stuck(60)], limits=Limits(cost_usd=5.0))).text()
    for part in (
        "STUCK",
        "web_search and web_fetch in turn, 26 times, same results.",
        "$3.00+",
        "No price is known for 1 model call (small-2), so it cost more.",
        "114,000 in, 6,000 out",
        "A stop after event 20 would have saved",
        "events 8-60",
        "$2.60, 104,000 tokens",
        "Annual report 2021.",
        "$3.00 of $5.00 spent. At the latest rate, the limit is reached at about event 100, in 4 min",
        "Use the report of 2021.",
        "Noise: 2 refused: too short, it repeats an earlier one",
        "repeats event 3",
        "line 17: not JSON",
    ):
        assert part in text


def test_little_is_known_and_said_so(make_healthy) -> None:
    """An unknown cost is called unknown; there is no chart without numbers and no timeline without calls."""
    report = Read(page([make_healthy()]))
    text = report.text()
    for part in (
        "HEALTHY",
        "unknown",
        "No loop, no limit passed",
        "there are no rates",
        "No sentence looks like",
    ):
        assert part in text
    names = {attributes.get("class") for _, attributes in report.elements}
    assert not names & {"chart", "timeline"}


def test_several_runs_have_a_table_the_worst_first(make_stuck, make_healthy) -> None:
    """Each run is linked from the table and has a part of its own."""
    report = Read(page([make_healthy(), make_stuck(60), make_stuck(400)]))
    rows = [row for row in report.named("a") if row["href"].startswith("#run-")]
    assert [row["href"] for row in rows] == ["#run-1", "#run-2", "#run-3"]
    ids = [article["id"] for article in report.named("article")]
    assert ids == ["run-1", "run-2", "run-3"]
    assert "3 runs" in report.text()


def test_an_archive_of_runs_is_a_table_with_the_worst_ones_whole(make_healthy) -> None:
    """More runs than a page can hold are rows without a part of their own."""
    report = Read(page([make_healthy(source=f"run-{number}") for number in range(320)]))
    assert len(report.named("article")) == 300
    assert len(report.named("tr")) >= 321


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_changes_no_element(text, make_stuck) -> None:
    """With a hostile text in every place of a run the page has the elements that it has without."""
    limits = Limits(cost_usd=5.0)
    assert structure(page([make_stuck(40, text=text)], limits=limits)) == structure(
        page([make_stuck(40, text=" plain")], limits=limits)
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_changes_no_element_of_a_folder(text, make_stuck) -> None:
    """Nor in the names and reasons of many runs, in what was not checked, and in what the foot says."""

    def folder(text: str) -> str:
        runs = [make_stuck(count, text=text) for count in (40, 50)]
        foot = Provenance(version=text, profile=text, prices=text)
        return page(runs, provenance=foot, skipped=[(f"a{text}", f"b{text}")])

    assert structure(folder(text)) == structure(folder(" plain"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", folder(text))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_control_reaches_the_file(text, make_stuck) -> None:
    """Escape sequences and marks that reorder text are not in the file, and it can be written as UTF-8."""
    html = page([make_stuck(40, text=text)])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)
    assert html.encode()


def test_the_policy_allows_the_two_hashes_and_nothing_else(make_stuck) -> None:
    """The content security policy names what stands in the file; nothing is loaded from anywhere."""
    html = page([make_stuck(60)])
    report = Read(html)
    (policy,) = [item["content"] for item in report.named("meta") if item.get("http-equiv")]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    for rule, hashes in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(hashes[1].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    for tag, attributes in report.elements:
        for name, value in attributes.items():
            assert not NETWORK.search(name) or value.startswith("#"), (tag, name, value)
            assert not name.startswith("on"), (tag, name)
            assert name != "style", tag
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_our_scripts_never_make_markup_of_text() -> None:
    """No script of ours parses text as HTML or runs it, so that data stays text in the page too."""
    for name in ("palette.js", "strip.js", "timeline.js", "charts.js", "overview.js", "page.js"):
        script = (ASSETS / name).read_text(encoding="utf-8")
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert way not in script, (name, way)
        assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import)\b", script)


def test_what_is_vendored_is_what_its_note_says() -> None:
    """The chart library is the file whose hash stands beside it, with its licence."""
    note = (ASSETS / "VENDORED.md").read_text(encoding="utf-8")
    checksums = re.findall(r"^\| `(.+?)` \| ([0-9a-f]{64}) \|$", note, re.MULTILINE)
    assert {name for name, _ in checksums} == {"uPlot.iife.min.js", "uPlot.min.css", "uPlot.LICENSE"}
    for name, digest in checksums:
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == digest
    assert "MIT License" in (ASSETS / "uPlot.LICENSE").read_text(encoding="utf-8")


def test_every_chart_and_control_has_words(make_stuck) -> None:
    """A chart has a label and a table behind it; regions that scroll can be reached by keyboard."""
    report = Read(page([make_stuck(60)], limits=Limits(cost_usd=5.0)))
    charts = [item for item in report.named("div") if item.get("class") == "chart"]
    assert len(charts) == 2
    assert all(item["role"] == "img" and item["aria-label"] for item in charts)
    scrolling = [item for item in report.named("div") if item.get("class") == "scroll"]
    assert scrolling
    assert all(item["tabindex"] == "0" and item["aria-label"] for item in scrolling)
    assert report.text().count("As a table") == 2
    assert report.named("html")[0]["lang"] == "en"


def test_data_of_the_script_is_the_run(make_stuck) -> None:
    """The script gets the columns of the timeline, each text once, and where the findings are."""
    html = page([make_stuck(60)], limits=Limits(cost_usd=5.0))
    block = re.search(r'<script type="application/json" id="data-1">(.*?)</script>', html)
    run = json.loads(block[1])
    timeline = run["timeline"]
    assert timeline["number"] is None
    assert timeline["names"][timeline["name"][20]] == make_stuck(60).timeline[20].name
    assert len(set(timeline["texts"])) == len(timeline["texts"])
    assert sum(timeline["cost"]) == 3_000_000
    assert timeline["time"][:2] == [0, 6_000]
    assert run["findings"][0] == [8, 60, "stop", "", True]
    assert run["limits"][0]["ends_at"] == 100


def test_the_foot_says_how_the_report_came_about(make_healthy) -> None:
    """Version, date, profile and prices."""
    made_at = datetime(2026, 5, 4, 3, 2, tzinfo=UTC)
    foot = Provenance(made_at=made_at, version="7.1", profile="spec", prices="own prices")
    text = Read(page([make_healthy()], provenance=foot)).text()
    assert (
        "Made by ebbtide 7.1 on 2026-05-04 03:02 UTC \N{MIDDLE DOT} profile spec \N{MIDDLE DOT} own prices"
        in text
    )


def test_when_a_run_was_is_said_where_its_times_are_dates(make_stuck) -> None:
    """Times that count from its begin are none."""
    begin, *_, end = (cell.ts for cell in make_stuck(60).timeline)
    text = Read(page([make_stuck(60, began_s=begin, ended_s=end)])).text()
    assert " UTC" not in text.split("Made by")[0]
    calendar = {"began_s": 1_780_000_000.0 + begin, "ended_s": 1_780_000_000.0 + end}
    text = Read(page([make_stuck(60, **calendar)])).text()
    assert "2026-05-28 20:28 to 20:34 UTC" in text


def test_numbers_that_are_none_end_nothing(make_stuck) -> None:
    """A time or a cost without bound is drawn as unknown."""
    cells = list(make_stuck(60).timeline)
    cells[5] = dataclasses.replace(cells[5], ts=math.inf, cost_usd=math.nan)
    assert "STUCK" in page([make_stuck(60, timeline=tuple(cells))])


def test_files_that_were_not_checked_are_named(make_healthy) -> None:
    """With the reason."""
    text = Read(
        page([make_healthy(), make_healthy()], skipped=[("runs/a.jsonl", "no event could be read")])
    ).text()
    assert "1 file not checked" in text
    assert "runs/a.jsonl: no event could be read" in text


def test_a_long_run_shows_less_of_each_call(make_stuck) -> None:
    """Twenty thousand calls with long answers stay a file that a browser opens."""
    html = page([make_stuck(20_000, text="x" * 2_000)])
    assert len(html) < 16_000_000


def test_decisions_say_what_they_repeat_and_reverse(make_healthy) -> None:
    """A kept decision that may reverse another names its event; with none kept that is said."""
    decisions = RunDecision(event=9, agent="ben", text="Use PostgreSQL.", kept=True, supersedes=4)
    assert "may reverse event 4" in Read(page([make_healthy(decisions=(decisions,))])).text()
    deed = RunDecision(
        event=9, agent=None, text="Use Redis.", kept=True, by_person=True, accepted=11, carried_out=14
    )
    text = Read(page([make_healthy(decisions=(deed,))])).text()
    assert "event 9 · user · accepted at event 11 · carried out at event 14" in text
    refusal = RunDecision(event=9, agent=None, text="ok", kept=False)
    text = Read(page([make_healthy(decisions=(refusal,))])).text()
    assert "No decision was kept." in text
    assert "no reason given" in text


def test_many_decisions_are_folded_away(make_healthy) -> None:
    """The first dozen are seen at once, the others can be opened."""
    decisions = [RunDecision(event=at, agent=None, text=f"Use plan {at}.", kept=True) for at in range(1, 31)]
    html = page([make_healthy(decisions=tuple(decisions))])
    assert [len(part.split("</li>")) - 1 for part in html.split('class="decisions"')[1:]] == [12, 18]
    assert "18 more" in Read(html).text()


def test_whether_it_converged_is_always_said(make_stuck, make_healthy) -> None:
    """With a curve or without one."""
    assert "Not judged: there are no rounds of conversation." in Read(page([make_healthy()])).text()
    assert (
        "No, stuck after 12 rounds: nothing new, and nothing says that it is finished."
        in Read(page([make_stuck()])).text()
    )


def test_the_cheaper_findings_are_folded_away(make_stuck) -> None:
    """A run with hundreds of findings shows the most expensive, folds the next and counts the rest."""
    report = Read(page([make_stuck(60, findings=make_stuck(60).findings * 150)]))
    assert sum(button["class"] == "locate" for button in report.named("button")) == 200
    text = report.text()
    assert "Findings (300)" in text
    assert "188 more, each cheaper than these" in text
    assert "100 are not shown." in text


def test_the_verdict_is_the_heading_of_its_run(make_stuck, make_healthy) -> None:
    """Readers of screens find each verdict by its level; there is no level 0."""
    for runs in ([make_stuck(60)], [make_stuck(60), make_healthy()]):
        headings = [item for _, item in Read(page(runs)).elements if item.get("role") == "heading"]
        assert headings
        assert {item["aria-level"] for item in headings} == {"1"}
