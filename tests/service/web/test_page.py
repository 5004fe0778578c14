"""The page in a real browser, of a real service."""

import json
import re
import time
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from ebbtide import Budgets
from tests.shipped.conftest import Project

WITHIN_MS = 1000  # that the page may be behind
TOKEN = "a-token-of-the-tests"  # noqa: S105


def call(seq: int, **fields: Any) -> dict[str, Any]:
    return {"seq": seq, "kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt", **fields}


def model_call(seq: int, cost: float = 0.5) -> dict[str, Any]:
    return {"seq": seq, "kind": "llm", "model": "small", "input_tokens": 100, "cost_usd": cost}


def turns(first: int, count: int, **fields: Any) -> list[dict[str, Any]]:
    """A call of the model and one of a tool, each time the same."""
    numbers = range(first, first + 2 * count, 2)
    return [event for seq in numbers for event in (model_call(seq), call(seq + 1, **fields))]


def row(page: Page, run_id: str) -> Any:
    return page.locator(f"#runs tr[data-run='{run_id}']")


def test_a_run_goes_stuck_is_seen_within_a_second_and_stopped(empty_service, opened) -> None:
    """The sentence, the row and what was spent follow; Stop asks first, and ends the next check."""
    for name in "abcdef":
        empty_service.send(name, model_call(1), project="support", agent="helper")
    empty_service.send("invoice-7", *turns(1, 2), project="billing", agent="invoice-agent")
    with opened(empty_service) as (page, _):
        expect(page.locator("#sentence")).to_have_text("Nothing is stuck. 7 runs are working.")
        expect(row(page, "invoice-7").locator(".badge")).to_have_text("GOING ON")
        before = page.locator("#money .value").first.text_content()
        assert before == "$4.00"
        empty_service.send("invoice-7", *turns(5, 3))
        expect(page.locator("#sentence")).to_have_text(
            re.compile(r"1 of 7 runs is stuck: invoice-agent, \d s, \$2.00 since anything new."),
            timeout=WITHIN_MS,
        )
        expect(row(page, "invoice-7").locator(".badge")).to_contain_text("STUCK", timeout=WITHIN_MS)
        expect(page.locator("#money .value").first).to_have_text("$5.50", timeout=WITHIN_MS)
        assert page.locator("#runs tbody tr").first.get_attribute("data-run") == "invoice-7"
        expect(page.locator("#spoken")).to_contain_text("1 of 7 runs is stuck")
        page.get_by_role("button", name="Stop: invoice-agent").click()
        expect(page.get_by_role("button", name="Yes, stop: invoice-agent")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Stop: invoice-agent")).to_be_focused()
        assert empty_service.get("/v1/runs/invoice-7")["stop_reason"] is None
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        expect(page.locator("#told")).to_have_text(
            "invoice-agent is stopped: its next check ends it.", timeout=WITHIN_MS
        )
        assert empty_service.check("invoice-7")["end"] == "A person ended the run."
        # The badge is CUT OFF until the run is summed up, and STUCK from then on: it ended in a loop.
        expect(row(page, "invoice-7")).to_contain_text("A person ended it.", timeout=WITHIN_MS)
        expect(row(page, "invoice-7").locator(".badge")).to_have_text(re.compile("^(CUT OFF|STUCK)"))
        expect(page.locator("#sentence")).to_have_text("Nothing is stuck. 6 runs are working.")
        expect(page.locator("#sentence")).to_be_focused()


@pytest.mark.parametrize(("button", "act"), [("Go on", "acknowledge"), ("Give 10 turns", "extend")])
def test_a_stuck_run_may_go_on(shared_service, opened, button: str, act: str) -> None:
    shared_service.send(act, *turns(1, 5))
    assert shared_service.check(act)["end"] is not None
    with opened(shared_service) as (page, _):
        page.get_by_role("button", name=f"{button}: {act}").click()
        expect(page.locator(f"#stuck [data-run={act}]")).to_have_count(0, timeout=WITHIN_MS)
    assert shared_service.check(act)["end"] is None
    assert shared_service.get("/v1/audit")["entries"][0]["act"] == act


def test_a_silent_run_can_be_stopped(start, opened) -> None:
    """It is listed while it is silent, and no more when it is heard of again."""
    service = start("--silent-after", "1")
    service.send("nightly", call(1))
    with opened(service) as (page, _):
        item = page.locator("#stuck li")
        expect(item).to_contain_text(re.compile(r"nightly nothing for \d+ s"), timeout=10_000)
        expect(page.locator("#sentence")).to_contain_text("1 run is silent: nightly")
        assert item.get_by_role("button").all_text_contents() == ["Stop"]
        service.send("nightly", call(2))
        expect(item).to_have_count(0, timeout=WITHIN_MS)


def test_nobody_has_reported(empty_service, opened) -> None:
    with opened(empty_service) as (page, _):
        expect(page.locator("#sentence")).to_have_text("No run has reported yet.")
        expect(page.locator("#connect code")).to_have_text("ebbtide hooks install claude")
        empty_service.send("a", call(1))
        expect(page.locator("#sentence")).to_have_text(
            "Nothing is stuck. 1 run is working.", timeout=WITHIN_MS
        )
        expect(page.locator("#connect")).to_be_hidden()
        expect(row(page, "a")).to_be_visible()


def test_a_run_that_goes_on_is_not_told_as_if_it_were_over(empty_service, opened) -> None:
    """Its last words look like an answer, and more may come; once it has ended, they were the answer."""
    words = {"seq": 3, "kind": "llm", "model": "small", "text": "It was paid in May.", "input_tokens": 9}
    empty_service.send("live", {"seq": 1, "kind": "user", "text": "When was it paid?"}, call(2), words)
    with opened(empty_service, "/runs/live") as (page, _):
        report = page.frame_locator("#report iframe:not(.is-next)")
        expect(page.locator("#state")).to_have_text(re.compile(r"Still running, last event \d s ago\."))
        expect(report.locator("h1, [role=heading]").first).to_contain_text("GOING ON")
        expect(report.locator(".state")).to_contain_text("Still running, last event on 20")
        expect(report.locator(".why").first).to_contain_text("It gave an answer: ")
        assert empty_service.get("/v1/runs/live/summary")["headline"] == "GOING ON"
        before = page.locator("#state").text_content()
        expect(page.locator("#state")).not_to_have_text(before)
        empty_service.client.post("/v1/runs/live/end")
        expect(page.locator("#state")).to_contain_text("It ended ", timeout=WITHIN_MS)
        expect(report.locator("[role=heading]").first).to_contain_text("FINISHED", timeout=10_000)
        assert empty_service.get("/v1/runs/live/summary")["headline"] == "FINISHED"


WATCH_WORDS = """() => {
  window.differing = [];
  const look = () => {
    const frame = document.querySelector("#report iframe:not(.is-next)");
    const said = frame && frame.contentDocument && frame.contentDocument.querySelector(".verdict .badge");
    const pill = document.querySelector("#word .badge");
    if (said && pill && said.textContent !== pill.textContent) {
      window.differing.push(`${pill.textContent} above ${said.textContent}`);
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def test_a_run_and_its_report_say_one_word_at_any_time(empty_service, opened) -> None:
    """While it goes on, is stuck, is stopped and goes on again: never two words on one screen."""
    empty_service.send("live", *turns(1, 2))
    with opened(empty_service, "/runs/live") as (page, _):
        page.wait_for_selector("html[data-reports]")
        page.evaluate(WATCH_WORDS)
        report = page.frame_locator("#report iframe:not(.is-next)")
        badge = report.locator(".verdict .badge")
        expect(badge).to_have_text("GOING ON")
        empty_service.send("live", *turns(5, 4))
        expect(badge).to_have_text("STUCK", timeout=WITHIN_MS)
        expect(report.locator("main")).to_contain_text("12 events", timeout=10_000)
        empty_service.client.post("/v1/runs/live/end")
        expect(page.locator("#state")).to_contain_text("It ended ", timeout=WITHIN_MS)
        expect(report.locator("main")).to_contain_text("It ended on", timeout=10_000)
        assert page.locator("#word .badge").text_content() == badge.text_content()
        assert empty_service.get("/v1/runs/live")["words"] == badge.text_content()
        assert page.evaluate("window.differing") == []


def test_filters_stand_in_the_address(empty_service, opened) -> None:
    """What is chosen is there after a reload, holds for news too, and is said where nothing fits."""
    empty_service.send("a", *turns(1, 5), project="billing", agent="x")
    empty_service.send("b", call(1), project="billing", agent="y")
    empty_service.send("c", call(1), project="support", agent="y")
    with opened(empty_service, "/?project=billing") as (page, _):
        expect(page.locator("#runs tbody tr")).to_have_count(2)
        page.get_by_label("Agent").select_option("y")
        expect(page.locator("#runs tbody tr")).to_have_count(1)
        expect(page).to_have_url(f"{empty_service.url}/?project=billing&agent=y")
        empty_service.send("d", call(1), project="support", agent="y")
        empty_service.send("e", call(1), project="billing", agent="y")
        expect(row(page, "e")).to_be_visible(timeout=WITHIN_MS)
        expect(row(page, "d")).to_have_count(0)
        page.reload()
        expect(page.locator("#runs tbody tr")).to_have_count(2)
        page.get_by_label("Text").fill("LS 5 TIMES")
        expect(page.locator("#shown")).to_have_text("No run is like that.")
        page.get_by_label("Agent").select_option("")
        expect(page.locator("#runs tbody tr")).to_have_count(1)
        expect(row(page, "a")).to_be_visible()


def test_more_runs_are_shown_on_demand(shared_service, opened) -> None:
    for number in range(55):
        shared_service.send(f"run-{number}", call(1), agent="many")
    with opened(shared_service, "/?agent=many") as (page, _):
        expect(page.locator("#runs tbody tr")).to_have_count(50)
        page.get_by_role("button", name="Show more runs").click()
        expect(page.locator("#runs tbody tr")).to_have_count(55)
        expect(row(page, "run-4").locator("a")).to_be_focused()
        expect(page.locator("#more")).to_be_hidden()


def test_the_keyboard_is_enough(empty_service, opened) -> None:
    """From run to run, into one, and to the filter; every button can be reached."""
    empty_service.send("a", *turns(1, 5))
    empty_service.send("b", call(1))
    with opened(empty_service) as (page, _):
        page.keyboard.press("j")
        expect(row(page, "a").locator("a")).to_be_focused()
        page.keyboard.press("j")
        expect(row(page, "b").locator("a")).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(row(page, "a").locator("a")).to_be_focused()
        page.keyboard.press("/")
        expect(page.get_by_label("Text")).to_be_focused()
        page.keyboard.type("jk")
        assert page.get_by_label("Text").input_value() == "jk"
        page.get_by_label("Text").fill("")
        page.locator("#main").focus()
        names = []
        for _ in range(5):
            page.keyboard.press("Tab")
            names.append(page.evaluate("document.activeElement.textContent"))
        assert names[:4] == ["a", "Stop", "Go on", "Give 10 turns"]
        expect(page.locator("#runs tbody tr")).to_have_count(2)
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs/a")


def test_a_run_has_a_page_with_its_report_that_goes_on(shared_service, opened) -> None:
    shared_service.send("a b", *turns(1, 3, result="x"), agent="helper")
    with opened(shared_service, "/runs/a%20b") as (page, _):
        expect(page.locator("#name")).to_have_text("a b")
        report = page.frame_locator("#report iframe:not(.is-next)")
        expect(report.locator(".verdict .source")).to_have_text("a b")
        expect(page.locator("#facts")).to_contain_text("$1.50 · $1.00 wasted · 6 events")
        shared_service.send("a b", *turns(7, 3, result="x"))
        expect(page.locator("#word")).to_contain_text("STUCK", timeout=WITHIN_MS)
        expect(page.locator("#facts")).to_contain_text("12 events", timeout=WITHIN_MS)
        expect(report.locator("main")).to_contain_text("12 events", timeout=10_000)
        page.get_by_role("button", name="Stop: a b", exact=True).click()
        page.get_by_role("button", name="Yes, stop: a b").click()
        # The word is STUCK already, so only this line shows that the service stopped the run.
        expect(page.locator("#told")).to_contain_text("a b is stopped", timeout=WITHIN_MS)
        # CUT OFF until the run is summed up, and STUCK from then on: it ended in a loop.
        expect(page.locator("#word")).to_have_text(re.compile("^(CUT OFF|STUCK)"), timeout=WITHIN_MS)
        assert shared_service.get("/v1/runs/a b")["stop_reason"] is not None
        page.get_by_role("button", name="Go on: a b").click()
        expect(page.locator("#told")).to_have_text("a b goes on.")
        assert shared_service.check("a b")["end"] is None


def test_a_run_that_is_not_there(shared_service, opened) -> None:
    with opened(shared_service) as (page, window):
        window.may_lose = True
        window.open("/runs/gone")
        expect(page.locator("#why")).to_have_text("There is no such run, or it was deleted.")
        window.faults.clear()  # the browser writes the 404 down


def test_the_page_goes_on_after_a_restart(service, opened) -> None:
    """That the connection is lost is said, and what happened meanwhile is there when it is back."""
    service.send("a", call(1))
    with opened(service) as (page, window):
        window.may_lose = True
        expect(page.locator("#connection")).to_have_text("Live")
        port = service.url.rpartition(":")[2]
        assert service.end() == 0
        expect(page.locator("#connection")).to_contain_text("Connection lost")
        service.options = ("--port", port)
        service.start()
        service.send("b", *turns(1, 5))
        expect(page.locator("#connection")).to_have_text("Live", timeout=20_000)
        expect(page.locator("#sentence")).to_contain_text("1 of 2 runs is stuck: b")
        expect(row(page, "b")).to_be_visible()
        service.send("c", call(1))
        expect(row(page, "c")).to_be_visible(timeout=WITHIN_MS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1280])
def test_everybody_can_use_it(  # noqa: PLR0917
    shared_service, opened, barriers, overflow, width: int, scheme: str
) -> None:
    """axe finds nothing, and nothing is wider than the window, on either page, while Stop asks too."""
    long = "a-name-that-does-not-end-" * 6
    shared_service.send("stuck", *turns(1, 5, args={"path": long}), project=f"/x/{long}", agent=long)
    shared_service.send(long, model_call(1))
    with opened(shared_service, width=width, scheme=scheme) as (page, window):
        page.get_by_role("button", name="Stop:").first.click()
        assert barriers(page) == []
        assert overflow(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
        window.open("/runs/stuck")
        page.wait_for_selector("html[data-reports]")
        assert barriers(page) == []
        assert overflow(page) == []


def test_a_text_of_a_run_is_no_markup(shared_service, opened) -> None:
    bad = "<img src=x onerror=alert(1)>"
    shared_service.send(bad.replace("/", ""), *turns(1, 5, args={"path": bad}), project=bad, agent=bad)
    with opened(shared_service) as (page, _):
        expect(page.locator("#stuck")).to_contain_text("<img src=x")
        assert page.locator("img").count() == 0


def test_a_mark_of_a_name_reorders_nothing(empty_service, opened) -> None:
    """Each is shown as one that was replaced, and the run, its project and its agent are found as before."""
    mark, shown = "\N{RIGHT-TO-LEFT OVERRIDE}", "\N{REPLACEMENT CHARACTER}"
    call_with_mark = {"args": {"path": f"{mark}a"}}
    query = {"project": f"{mark}p", "agent": f"{mark}a"}
    empty_service.send(f"{mark}run", *turns(1, 5, **call_with_mark), **query)
    words = "() => document.title + document.documentElement.innerText"
    with opened(empty_service, f"/?{urlencode(query)}") as (page, window):
        item = row(page, f"{mark}run")
        expect(item.locator(".agent")).to_have_text(f"{shown}a · {shown}p")
        expect(page.locator("#stuck")).to_contain_text(f"{shown}run")
        assert mark not in page.evaluate(words)
        item.get_by_role("link").click()
        page.wait_for_selector("html[data-reports]")
        expect(page.locator("#name")).to_have_text(f"{shown}run")
        assert mark not in page.evaluate(words)
        window.open("/")


@pytest.mark.parametrize("reason", ["W" * 400, "no\N{NO-BREAK SPACE}break" * 30])
def test_a_reason_without_a_break_widens_no_page(shared_service, opened, overflow, reason: str) -> None:
    shared_service.send("wide", call(1), project="W" * 200, agent="V" * 200)
    shared_service.client.post("/v1/runs/wide/stop", json={"reason": reason})
    for path in ("/", "/runs/wide"):
        for width in (380, 768):
            with opened(shared_service, path, width=width) as (page, _):
                assert overflow(page) == []
                assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_filter_that_there_is_not_is_left_out(shared_service, opened) -> None:
    """An address with a verdict or a time that nobody knows shows what the page shows without them."""
    shared_service.send("found", call(1))
    with opened(shared_service, "/?standing=%3Cb%3E&since=constructor") as (page, _):
        expect(row(page, "found")).to_be_visible()
        assert page.locator("select[name=since]").input_value() == "7d"
        assert page.locator("select[name=standing]").input_value() == ""


@pytest.mark.parametrize("path", ["/", "/runs/a", "/page/main.js"])
def test_the_page_runs_nothing_but_its_own_files(shared_service, path: str) -> None:
    """No inline script or style, nothing from elsewhere, in no frame of others."""
    answer = shared_service.client.get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert not re.search(r"unsafe|https?:|\*", policy)
    assert not re.search(
        r"<style|<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|(?:src|href)=.https?:", answer.text
    )


def test_a_token_is_asked_for_once(start, opened, new_window) -> None:
    """In the address, or in a form; what is no page is refused as before."""
    service = start("--token", TOKEN)
    service.client.headers["Authorization"] = f"Bearer {TOKEN}"
    service.send("a", call(1))
    with opened(service, f"/?token={TOKEN}") as (page, window):
        assert page.url == f"{service.url}/"
        expect(row(page, "a")).to_be_visible()
        (cookie,) = window.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert TOKEN not in cookie["value"]
    window = new_window(service.url)
    page = window.page
    assert page.goto(f"{service.url}/runs/a").status == 401
    page.get_by_label("Token").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That is not the token. Try again.")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/runs/a")
    expect(page.locator("#name")).to_have_text("a")
    assert [line for line in window.faults if "401" not in line] == []
    window.context.close()
    del service.client.headers["Authorization"]
    assert service.client.get("/v1/runs").status_code == 401
    assert service.client.post("/sign-in", data={"token": TOKEN, "next": "//evil"}).headers["location"] == "/"


def test_what_can_only_be_watched_says_so(start, opened) -> None:
    """Spans tell of a run and do not ask: there is no Stop."""
    begin = time.time_ns() - 10**10
    spans = [
        {
            "traceId": "1" * 32,
            "spanId": f"{number:016x}",
            "name": "execute_tool ls",
            "startTimeUnixNano": str(begin + number * 10**8),
            "endTimeUnixNano": str(begin + number * 10**8 + 1000),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "ls",
                    "gen_ai.tool.call.arguments": "{}",
                    "gen_ai.tool.call.result": "a.txt",
                    "gen_ai.conversation.id": "traced",
                }.items()
            ],
        }
        for number in range(1, 9)
    ]
    body = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]}
    service = start("--span-wait", "0.1")
    with opened(service) as (page, _):
        assert service.client.post("/v1/traces", json=body).status_code == 200
        item = page.locator("#stuck li")
        expect(item).to_contain_text("it cannot be stopped from here", timeout=30_000)
        assert item.get_by_role("button").count() == 0


def test_a_session_of_this_machine_shows_without_any_setup(service, opened) -> None:
    """A coding agent that nobody has connected is seen, with its cost, and cannot be stopped from here."""
    with opened(service) as (page, _):
        path = service.home / ".claude" / "projects" / "-srv-shop" / "s.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(map(claude_turn, range(12))), encoding="utf-8")
        expect(page.locator("#sentence")).to_contain_text(
            "1 of 1 run is stuck: claude in shop", timeout=15_000
        )
        item = page.locator("#stuck li")
        expect(item).to_contain_text("Watched through its session file: it cannot be stopped from here.")
        assert item.get_by_role("button").count() == 0
        expect(row(page, "claude:s").locator(".cost")).to_have_text("$0.12", timeout=WITHIN_MS)


def test_the_list_and_the_run_say_what_a_session_shipped(service, opened, tmp_path) -> None:
    """A session that edited a file of a repository, and the commit of it that git has."""
    project = Project(tmp_path / "shop")
    project.now = time.time() - 600
    at = datetime.fromtimestamp(project.now, UTC).isoformat().replace("+00:00", "Z")
    head = {"sessionId": "s", "cwd": str(project.path), "timestamp": at}
    words = {"file_path": str(project.path / "cart.py"), "content": "x"}
    use = {"type": "tool_use", "id": "t", "name": "Write", "input": words}
    message = {"id": "m", "role": "assistant", "model": "claude-sonnet-4-5", "content": [use]}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    lines = [
        {"type": "assistant", "uuid": "a", "message": message, **head},
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": [result]}, **head},
    ]
    path = service.home / ".claude" / "projects" / "-shop" / "s.jsonl"
    path.parent.mkdir(parents=True)
    project.write("cart.py", ["total = 1"])
    project.commit("Add the cart")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with opened(service) as (page, _):
        expect(row(page, "claude:s").locator(".shipped")).to_have_text("1 landed", timeout=30_000)
    assert service.get("/v1/runs/claude:s")["shipped"] == "1 landed"
    with opened(service, "/runs/claude:s") as (page, _):
        expect(page.locator("#facts")).to_contain_text("shipped: 1 landed")
        report = page.frame_locator("#report iframe")
        expect(report.get_by_text("1 change: 1 landed.")).to_be_visible(timeout=10_000)


def claude_turn(number: int) -> str:
    """Two lines of a session of Claude Code: a command, and its answer."""
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    head = {"sessionId": "s", "cwd": "/srv/shop", "timestamp": at, "isSidechain": False}
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}}
    answer = {
        "id": f"m{number}", "role": "assistant", "model": "claude-sonnet-4-5", "content": [use],
        "usage": {"input_tokens": 2000, "output_tokens": 267},
    }  # fmt: skip
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "a.txt"}
    lines = [
        {"type": "assistant", "uuid": f"a{number}", "message": answer, **head},
        {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": [result]}, **head},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_money_says_what_was_wasted_and_how_budgets_stand(start, opened, tmp_path) -> None:
    """What bought nothing is found without anybody asking; a budget that is nearly spent stands out."""
    file = tmp_path / "budgets.toml"
    file.write_text(
        '[budgets]\nstore = "budgets.db"\n'
        '[[budgets.limits]]\nscope = "project"\nper = "day"\nlimit_usd = 10.0\n',
        encoding="utf-8",
    )
    budgets = Budgets.load(file)
    budgets.of(project="billing").charge(5.0)
    service = start("--budgets", str(file))
    service.send("a", *turns(1, 8), project="billing")
    with opened(service) as (page, _):
        expect(row(page, "a").locator(".wasted")).to_have_text(re.compile(r"\$\d\.\d\d"), timeout=15_000)
        expect(page.locator("#money")).to_contain_text("wasted", timeout=15_000)
        expect(page.locator("#budgets")).to_contain_text("$9.00 of $10.00")
        expect(page.locator("#budgets tr.is-near")).to_have_count(1)
    budgets.close()


def test_a_page_stays_as_long_as_it_is_wanted(empty_service, opened) -> None:
    """Of many runs that report, few come into the list by themselves; one that is stuck always does."""
    for number in range(60):
        empty_service.send(f"before-{number}", call(1))
    with opened(empty_service) as (page, _):
        expect(page.locator("#shown")).to_have_text("50 runs, the worst first; there are more")
        for number in range(70):
            empty_service.send(f"after-{number}", call(1))
        empty_service.send("z", *turns(1, 5))
        expect(row(page, "z").locator(".badge")).to_contain_text("STUCK")
        assert page.locator("#runs tbody tr").first.get_attribute("data-run") == "z"
        assert page.locator("#runs tbody tr").count() == 50 + 50 + 1
        page.locator("#more").click()
        expect(page.locator("#runs tbody tr")).to_have_count(131)
        expect(page.locator("#shown")).to_have_text("131 runs, the worst first")
