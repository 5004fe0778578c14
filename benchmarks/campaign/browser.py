"""Texts of others in a real browser: nothing of them runs, loads, becomes an element or shifts the page.

A real service, reports of `check` and `archive` as files, and Chromium. Payloads stand in all that somebody
else writes: names of runs, projects, agents, users, models, tools and chains, arguments, answers, words,
notes, reasons of a stop, decisions, spans, sessions, names of files, addresses. Half of the rounds switch the
policy of the pages off, so that nothing but our own escaping holds; in the others it may not even be asked.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
from playwright.sync_api import Browser, BrowserContext, Error, Frame, Page, sync_playwright

from benchmarks.campaign.attack import Attack
from benchmarks.campaign.payloads import ELSEWHERE, MARKER, PLANTED, name, payload

CHROMIUM = next(
    (path for each in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(each))), None
)
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
_TOKEN = "a-token-of-the-campaign"  # noqa: S105
_WIDTHS = (360, 390, 768, 1280)
_MOMENT_MS = 200  # in which what was planted would act
_COMES_UP_MS = 60_000  # on a busy machine
_TURNS = 6

_LISTEN = f"""(() => {{
  const tell = (what, detail) => window.tellPlanted(what, String(detail).slice(0, 300));
  window.{MARKER} = () => tell("a payload runs", location.href);
  for (const name of ["alert", "confirm", "prompt", "print"])
    window[name] = () => tell("a payload opens a dialog", name);
  addEventListener("securitypolicyviolation", (event) =>
    tell("a payload asks the policy",
      `${{event.effectiveDirective}} ${{event.blockedURI}} ${{event.sample}}`));
}})()"""

_LOOK = f"""() => {{
  const told = [];
  if (document.contentType !== "text/html") return told; // nobody takes an answer for a page
  const tell = (what, node, detail) => told.push([what, node.localName + (node.id ? `#${{node.id}}` : ""),
    detail.slice(0, 300)]);
  const places = ["href", "src", "action", "formaction", "xlink:href", "srcset", "poster", "data", "srcdoc"];
  for (const node of document.querySelectorAll("*")) {{
    if (node.classList.contains("{PLANTED}")) tell("a payload is an element", node, node.outerHTML);
    for (const {{ name, value }} of node.attributes) {{
      if (/^on/i.test(name)) tell("a payload is a handler", node, `${{name}}=${{value}}`);
      if (name === "style" && value.includes("{ELSEWHERE}")) tell("a payload is a style", node, value);
      if (!places.includes(name) || value.startsWith("#")) continue;
      let url = null;
      try {{ url = new URL(value, document.baseURI); }} catch (error) {{ continue; }}
      if (!["http:", "https:", "file:"].includes(url.protocol) || url.host !== location.host)
        tell("a payload is an address", node, `${{name}}=${{value}}`);
    }}
  }}
  const root = document.documentElement;
  const limit = root.clientWidth + 1;
  const isWide = root.scrollWidth > limit;
  const marks = /[\\u202a-\\u202e\\u2066-\\u2069]/;
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let widest = null;
  for (let text = words.nextNode(); text; text = words.nextNode()) {{
    const node = text.parentElement;
    if (!node.checkVisibility()) continue;
    if (marks.test(text.data)) tell("a mark reorders what a person reads", node, JSON.stringify(text.data));
    const range = document.createRange();
    range.selectNodeContents(text);
    if (isWide && range.getBoundingClientRect().right > limit && !node.closest(".scroll, .unseen, svg"))
      widest = node;
  }}
  if (isWide) tell("a payload makes the page wider than its window", widest || root,
    `${{root.scrollWidth}} > ${{root.clientWidth}}: ${{(widest || root).textContent.slice(0, 80)}}`);
  if (marks.test(document.title)) tell("a mark reorders what a person reads", root, document.title);
  return told;
}}"""


@dataclass
class Findings:
    """What was found in one seed: each kind at each place once, however often it comes.

    Args:
        attack: Where it is noted.
    """

    attack: Attack
    round: int = 0
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    def note(self, what: str, place: str, detail: str) -> None:
        """Note it."""
        key = (what, place, re.sub(r"\W|\d", "", detail)[:12])
        self.attack.counts["sightings"] += 1
        if key not in self._seen:
            self._seen.add(key)
            self.attack.find(what, round=self.round, place=place, detail=detail[:400])


class Window:
    """One window of the browser, and all that may not happen in it.

    Args:
        browser: Whose.
        home: How the addresses begin that it may ask for.
        findings: Where it is noted.
        is_bare: Whether the policy of the pages is off.
    """

    def __init__(self, browser: Browser, home: str, findings: Findings, *, is_bare: bool) -> None:
        chance = findings.attack.chance
        self._findings = findings
        self._home = home
        self._place = ""
        self.context: BrowserContext = browser.new_context(
            viewport={"width": chance.choice(_WIDTHS), "height": 844},
            color_scheme=chance.choice(("light", "dark")),
            reduced_motion="reduce",
            bypass_csp=is_bare,
        )
        self.context.expose_binding(
            "tellPlanted", lambda _, what, detail: findings.note(what, self._place, detail)
        )
        self.context.add_init_script(_LISTEN)
        self.page: Page = self.context.new_page()
        self.context.on("page", lambda page: self._note("a payload opens a window", page.url))
        self.context.on("request", lambda request: self._asked(request.url))
        self.page.on(
            "dialog",
            lambda dialog: (self._note("a payload opens a dialog", dialog.message), dialog.dismiss()),
        )
        self.page.on("pageerror", lambda error: self._note("a script of the page fails", str(error)))

    def _note(self, what: str, detail: str) -> None:
        self._findings.note(what, self._place, detail)

    def _asked(self, url: str) -> None:
        if not url.startswith(self._home):
            self._note("a payload asks somebody else", url)

    def open(self, place: str, address: str, *, until: str | None = None) -> None:
        """Open a page, and look at all of it.

        Args:
            place: What findings call it.
            address: Behind `home`.
            until: What is there when the page is.
        """
        self._place = place
        self._findings.attack.counts["pages"] += 1
        try:
            self.page.goto(self._home + address, wait_until="domcontentloaded")
            if until is not None:
                self.page.wait_for_selector(until, state="attached", timeout=_COMES_UP_MS)
        except Error as error:
            self._note("the page does not come up", str(error).partition("\n")[0])
            return
        self.look()
        if not self.page.url.startswith(self._home):
            self._note("a payload goes elsewhere", self.page.url)

    def look(self) -> None:
        """See what became of the payloads, in every frame, with everything open."""
        for frame in self.page.frames:
            with suppress(Error):  # a report that another one has replaced
                frame.evaluate(
                    "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
                )
        self.page.wait_for_timeout(_MOMENT_MS)
        for frame in self.page.frames:
            self._look_at(frame)

    def _look_at(self, frame: Frame) -> None:
        try:
            told = frame.evaluate(_LOOK)
        except Error:
            return
        self._findings.attack.counts["frames"] += 1
        for what, node, detail in told:
            self._findings.note(what, f"{self._place} {node}", detail)

    def use(self) -> None:
        """Do what a person does with what is there: point, press, open."""
        page = self.page
        for frame in page.frames:
            for selector in (".strip canvas", ".chart canvas", "[role=slider]"):
                for found in frame.query_selector_all(selector)[:2]:
                    with suppress(Error):
                        found.hover(timeout=1000)
                        found.click(timeout=1000)
                        page.keyboard.press("ArrowRight")
                        page.keyboard.press("End")
        self.look()


@contextmanager
def served(folder: Path) -> Iterator[tuple[httpx.Client, Path]]:
    """A service with budgets and a token, and the home in which it reads sessions."""
    home = folder / "home"
    home.mkdir()
    budgets = folder / "budgets.toml"
    limits = "".join(
        f'[[budgets.limits]]\nscope = "{scope}"\nper = "day"\nlimit_usd = 3.0\n'
        for scope in ("project", "agent", "user")
    )
    budgets.write_text(f'[budgets]\nstore = "budgets.db"\n{limits}', encoding="utf-8")
    line = [
        sys.executable, "-m", "ebbtide", "--no-config", "serve", "--port", "0", "--db",
        str(folder / "runs.db"), "--token", _TOKEN, "--budgets", str(budgets), "--span-wait", "0.1", "--json",
    ]  # fmt: skip
    environment = {**os.environ, "EBBTIDE_STATE": str(folder / "state"), "HOME": str(home)}
    with subprocess.Popen(
        line, env=environment, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            headers = {"Authorization": f"Bearer {_TOKEN}"}
            with httpx.Client(base_url=url, timeout=60, headers=headers) as client:
                yield client, home
        finally:
            process.terminate()


def run_lines(chance: random.Random) -> bytes:
    """A run that is stuck, with payloads wherever an event has a text."""

    def text() -> str:
        return payload(chance).encode("utf-8", "replace").decode()

    agent, model, chain = name(chance), name(chance), chance.choice(("", text()))
    call = {"kind": "tool", "name": text(), "args": {text(): text(), "path": text()}, "result": text()}
    if chance.random() < 0.3:
        call |= {"args": text(), "error": text()}
    events: list[dict[str, Any]] = [
        {"kind": "system", "name": chance.choice(("spawn", "handoff", "error", "retry")), "text": text()},
        {"kind": "user", "text": f"Find {text()}"},
        {
            "kind": "llm",
            "model": model,
            "text": f"We decided to use {text()} because it is faster than {text()}.",
        },
    ]
    for _ in range(_TURNS):
        events += [
            {"kind": "llm", "model": model, "input_tokens": 900, "cost_usd": 0.2, "text": text()},
            call,
        ]
    events.append(
        {"kind": "llm", "model": model, "text": f"All 12 tests pass and {text()} is pushed. {text()}"}
    )
    now = time.time() - 60
    for seq, event in enumerate(events, start=1):
        event |= {"agent": agent, "chain_id": chain}
        events[seq - 1] = {**event, "seq": seq, "ts": now + seq}
    return "\n".join(map(json.dumps, events)).encode()


def plant(client: httpx.Client, home: Path, one: Attack) -> list[str]:
    """Fill the service; the names of its runs."""
    chance = one.chance
    for run in client.get("/v1/runs", params={"limit": 1000}).json()["runs"]:
        client.delete(f"/v1/runs/{quote(run['run_id'], safe='')}")
    runs = []
    for _ in range(3):
        run_id = name(chance).replace("/", "\N{DIVISION SLASH}")
        if run_id in {".", ".."}:
            continue
        path = f"/v1/runs/{quote(run_id, safe='')}"
        query = {each: name(chance) for each in ("project", "agent", "user")}
        lines = run_lines(chance)
        answer = client.post(f"{path}/events?{urlencode(query)}", content=lines)
        one.expect(answer.status_code == 200, "events with payloads are refused", answer=answer.text[:300])
        one.counts["texts"] += lines.count(b"\n") * 4
        client.post(f"{path}/check?{urlencode(query)}")
        runs.append(run_id)
    if runs:
        path = f"/v1/runs/{quote(runs[-1], safe='')}"
        by = urlencode({"by": name(chance)})
        client.post(f"{path}/stop?{by}", json={"reason": payload(chance).encode("utf-8", "replace").decode()})
        client.post(f"/v1/runs/{quote(runs[0], safe='')}/end")
    client.post("/v1/traces", json=spans(chance))
    folder = home / ".claude" / "projects" / f"-srv-{chance.randrange(1000)}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{chance.randrange(1 << 30):x}.jsonl").write_text(session(chance), encoding="utf-8")
    return runs


def spans(chance: random.Random) -> dict[str, Any]:
    """Calls of a tool as OpenTelemetry exports them."""
    texts = {
        key: payload(chance).encode("utf-8", "replace").decode()
        for key in (
            "gen_ai.tool.name", "gen_ai.tool.call.result", "gen_ai.conversation.id", "gen_ai.agent.name",
            "gen_ai.request.model",
        )
    }  # fmt: skip
    texts |= {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": json.dumps({payload(chance): payload(chance)}),
    }
    begin = time.time_ns() - 10**10
    trace = f"{chance.randrange(1 << 127):032x}"
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in texts.items()]
    items = [
        {
            "traceId": trace, "spanId": f"{number:016x}", "name": f"execute_tool {texts['gen_ai.tool.name']}",
            "startTimeUnixNano": str(begin + number * 10**8), "attributes": attributes,
            "endTimeUnixNano": str(begin + number * 10**8 + 10),
        }
        for number in range(1, 9)
    ]  # fmt: skip
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": name(chance)}}]}
    scope = {"scope": {"name": name(chance)}, "spans": items}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def session(chance: random.Random) -> str:
    """A session of Claude Code with a title, a folder, words and calls that somebody else wrote."""

    def text() -> str:
        return payload(chance).encode("utf-8", "replace").decode()

    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = {"sessionId": text(), "cwd": f"/srv/{text()}", "timestamp": at, "isSidechain": False}
    rows: list[dict[str, Any]] = [
        {"type": "custom-title", "customTitle": text(), **head},
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": text()}, **head},
    ]
    tool = {"name": text(), "input": {text(): text()}}
    for number in range(_TURNS):
        use = {"type": "tool_use", "id": f"t{number}", **tool}
        said = {"type": "text", "text": text()}
        usage = {"input_tokens": 2000, "output_tokens": 100}
        model = {"id": f"m{number}", "role": "assistant", "model": name(chance), "usage": usage}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text()}
        rows += [
            {"type": "assistant", "uuid": f"a{number}", "message": {**model, "content": [said, use]}, **head},
            {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": [result]}, **head},
        ]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def reports(folder: Path, one: Attack) -> list[tuple[str, Path]]:
    """Reports that `check` and `archive` write of files with payloads in them and in their names."""
    chance = one.chance
    sources = folder / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir()
    for number in range(3):
        title = name(chance).replace("/", "\N{DIVISION SLASH}").encode()[:120].decode(errors="ignore")
        text = run_lines(chance) if number else session(chance).encode()
        with suppress(OSError):
            (sources / f"{number}{title}.jsonl").write_bytes(text)
    (sources / f"{name(chance).replace('/', '')[:40]}.json").write_text("{", encoding="utf-8")
    one_file = next(path for path in sorted(sources.iterdir()) if path.suffix == ".jsonl")
    made = [("report of a file", folder / "file.html"), ("report of a folder", folder / "folder.html")]
    for (_, path), source in zip(made, (one_file, sources), strict=True):
        _command("check", "--html", str(path), "--", str(source))
    rows = folder / "rows.parquet"
    rows.unlink(missing_ok=True)
    _command("archive", "check", "--jobs", "1", "-o", str(rows), "--", str(sources))
    if rows.exists():
        made.append(("report of an archive", folder / "archive.html"))
        _command("archive", "report", "--html", str(made[-1][1]), "--", str(rows))
    return [(place, path) for place, path in made if path.exists()]


def _command(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "ebbtide", "--no-config", *words], capture_output=True, check=False)


def visit_service(window: Window, runs: list[str], chance: random.Random) -> None:
    """Every page of the service, as a person goes through them."""
    window.open("sign-in", f"/runs/{quote(name(chance), safe='')}?{urlencode({name(chance): name(chance)})}")
    field = window.page.query_selector("#token")
    if field is not None:
        field.fill(_TOKEN)
        with window.page.expect_navigation(wait_until="domcontentloaded"):
            field.press("Enter")
        window.look()
    window.open("signed in", f"/?token={_TOKEN}")
    query = urlencode({each: name(chance) for each in ("text", "project", "agent", "standing", "since")})
    window.open("overview", f"/?{query}", until="html[data-ready=true]")
    window.open("overview", "/", until="html[data-ready=true]")
    page = window.page
    with suppress(Error):
        page.locator("input[name=text]").fill(name(chance), timeout=2000)
        page.locator("input[name=text]").fill("", timeout=2000)
        page.get_by_role("button", name="Stop:").first.click(timeout=2000)
    window.look()
    with suppress(Error):
        page.get_by_role("button", name="Yes, stop").first.click(timeout=2000)
        page.wait_for_selector("#told:not(:empty)", timeout=2000)
    window.look()
    for run in runs:
        window.open("a run", f"/runs/{quote(run, safe='')}", until="html[data-reports]")
        window.use()
    window.open(
        "no run", f"/runs/{quote(name(chance).replace('/', ''), safe='')}", until="html[data-ready=true]"
    )
    for place in ("/v1/runs/", "/page/", "/"):
        window.open("a refusal", f"{place}{quote(name(chance), safe='')}")
    window.open("a list", f"/v1/runs?{urlencode({'standing': name(chance)})}")
    if runs:
        path = f"/v1/runs/{quote(runs[0], safe='')}"
        for each in ("", "/verdict", "/summary"):
            window.open("an answer", path + each)
    window.open("answers", "/v1/audit")
    window.open("answers", "/metrics")
    window.open("the API", "/docs")


def one_round(browser: Browser, client: httpx.Client, home: Path, findings: Findings) -> None:
    """Plant, then look at every page."""
    one = findings.attack
    is_bare = one.chance.random() < 0.5
    one.counts["rounds without the policy" if is_bare else "rounds with the policy"] += 1
    runs = plant(client, home, one)
    window = Window(browser, str(client.base_url).rstrip("/"), findings, is_bare=is_bare)
    try:
        visit_service(window, runs, one.chance)
    finally:
        window.context.close()
    folder = home.parent
    made = reports(folder, one)
    one.expect(len(made) == 3, "a report was not written", made=[place for place, _ in made])
    window = Window(browser, folder.as_uri(), findings, is_bare=is_bare)
    try:
        for place, path in made:
            ready = None if "archive" in place else "html[data-ready=true]"
            window.open(place, f"/{path.name}", until=ready)
            window.use()
    finally:
        window.context.close()


def attack(one: Attack) -> None:
    """Round after round, until the time is over.

    Raises:
        SystemExit: There is no Chromium here.
    """
    if CHROMIUM is None:
        raise SystemExit("browser: no Chromium here: apt-get install chromium")
    findings = Findings(one)
    with (
        tempfile.TemporaryDirectory() as name_of_folder,
        served(Path(name_of_folder)) as (client, home),
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        while one.goes_on:
            findings.round += 1
            one_round(browser, client, home, findings)
        browser.close()
