"""The real coding agents, installed by npm, against a scripted model on this machine: `make test-agents`."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import ebbtide
from ebbtide import Candidate, DecisionLog
from ebbtide.advice.applied_advice import AppliedAdvices
from ebbtide.advice.applying import apply
from ebbtide.advice.estimate import Estimate
from ebbtide.advice.kinds import KINDS, OUTPUT_LIMIT
from ebbtide.advice.priced_advice import PricedAdvice
from ebbtide.service.hooks import hook_client
from ebbtide.service.hooks.hook_client import exchange
from ebbtide.service.hooks.install.hook_places import PLACES
from ebbtide.traces.sessions.agent_homes import CodingAgent
from tests.shipped.conftest import Project

PROJECT = Path(__file__).parents[3]

PREFIX = os.environ.get("EBBTIDE_AGENTS", "")
MARK = "[ebbtide]"
CLAUDE = "claude-sonnet-4-5"
LOOP = [["echo none"]] * 14
PAGES = [[f"cat page-{number}.txt"] for number in range(60)]
# Of one answer: all at once, equal.
PARALLEL = [["cat page-1.txt"] * 3, ["cat page-2.txt"] * 3, ["cat page-3.txt"], ["cat page-4.txt"]]


def program(name: str) -> str:
    """The program of an agent."""
    return str(Path(PREFIX) / "node_modules" / ".bin" / name)


def needs(name: str) -> pytest.MarkDecorator:
    there = bool(PREFIX) and shutil.which("node") is not None and Path(program(name)).exists()
    return pytest.mark.skipif(
        not there, reason=f"no {name} in EBBTIDE_AGENTS: `make test-agents` installs it"
    )


AGENTS = [
    pytest.param(name, marks=needs(name)) for name in ("claude", "codex", "copilot", "gemini", "opencode")
]
ENDING = [pytest.param(name, marks=needs(name)) for name in ("claude", "gemini", "opencode")]
ASKING = [pytest.param(name, marks=needs(name)) for name in ("claude", "codex", "copilot", "gemini")]
NEVER_ENDED = ("codex", "copilot")  # by a hook
USAGE = {"input_tokens": 100, "output_tokens": 10}


@dataclass
class ScriptedModel:
    """Answers a request with the next line of commands, and keeps what it was sent."""

    script: list[list[str]]
    orders: list[str] = field(default_factory=list)  # of agents that it starts, one in each answer
    verdict: str = "That is all."  # what it says where it gets no tools: a judge of a goal is asked so
    requests: list[str] = field(default_factory=list)
    tools: dict[int, dict[str, Any]] = field(default_factory=dict)  # other tools, by the number of the answer
    started: int = 0
    pause_s: float = 0.0  # before each answer, as a model takes it
    server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def noted(self) -> list[int]:
        """Numbers of the requests in which a note of ours came anew."""
        counts = [request.count(MARK) for request in self.requests]
        return [n for n, count in enumerate(counts, start=1) if count > max([0, *counts[: n - 1]])]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, str]:
        time.sleep(self.pause_s)
        if "count" in path.lower():
            return json.dumps({"input_tokens": 10, "totalTokens": 10}), "application/json"
        commands: list[str] = []
        number = 0
        if not body.get("tools"):
            if "/messages" in path:
                return "".join(anthropic(0, [said(self.verdict)], body)), "text/event-stream"
        elif self.orders:
            return "".join(self.start_agent(body)), "text/event-stream"
        else:
            self.requests.append(json.dumps(body, ensure_ascii=False))
            number = len(self.requests)
            commands = self.script[number - 1] if number <= len(self.script) else []
        if "/messages" in path:
            blocks = [shell_call(number, place, command, body) for place, command in enumerate(commands)]
            if number in self.tools:
                blocks = [{"type": "tool_use", "id": f"toolu_{number}_0", **self.tools[number]}]
            return "".join(anthropic(number, blocks, body)), "text/event-stream"
        form = openai if "/responses" in path else google
        return "".join(form(number, commands, body)), "text/event-stream"

    def start_agent(self, body: dict[str, Any]) -> Iterator[str]:
        """The next agent is started, by the first agent alone; the others answer at once."""
        first = json.dumps(body["messages"][0], ensure_ascii=False)
        name = next((tool["name"] for tool in body["tools"] if tool["name"] in ("Agent", "Task")), None)
        is_below = any(order in first for order in self.orders)
        if is_below or name is None or self.started == len(self.orders):
            return anthropic(0, [said(f"Looked at {self.started} of it.")], body)
        order = self.orders[self.started]
        self.started += 1
        self.requests.append(first)
        value = {"description": "Look at it", "prompt": order, "subagent_type": "general-purpose"}
        call = {"type": "tool_use", "id": f"toolu_a{self.started}", "name": name, "input": value}
        return anthropic(self.started, [call], body)


def sse(event: dict[str, Any]) -> str:
    head = f"event: {event['type']}\n" if "type" in event else ""
    return f"{head}data: {json.dumps(event)}\n\n"


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def shell_call(number: int, place: int, command: str, body: dict[str, Any]) -> dict[str, Any]:
    name = next(
        (tool["name"] for tool in body.get("tools") or () if tool.get("name") in ("Bash", "bash")), ""
    )
    value = {"command": command, "description": "look"}
    return {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": value}


def anthropic(number: int, calls: list[dict[str, Any]], body: dict[str, Any]) -> Iterator[str]:
    blocks = calls or [said("That is all.")]
    start = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model")}
    message = {**start, "content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE}
    yield sse({"type": "message_start", "message": message})
    for place, block in enumerate(blocks):
        is_text = block["type"] == "text"
        begun = {**block, "text": ""} if is_text else {**block, "input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        yield sse({"type": "content_block_start", "index": place, "content_block": begun})
        yield sse({"type": "content_block_delta", "index": place, "delta": delta})
        yield sse({"type": "content_block_stop", "index": place})
    reason = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    ending = {"stop_reason": reason, "stop_sequence": None}
    yield sse({"type": "message_delta", "delta": ending, "usage": USAGE})
    yield sse({"type": "message_stop"})


def openai(number: int, commands: list[str], body: dict[str, Any]) -> Iterator[str]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "call_id": f"call_{number}_{place}",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": command}),
            "status": "completed",
        }
        for place, command in enumerate(commands)
    ]
    if not output:
        part = {"type": "output_text", "text": "That is all.", "annotations": []}
        message = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed"}
        output = [{**message, "content": [part]}]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {**USAGE, **details, "total_tokens": 110}
    yield sse({"type": "response.created", "response": {"id": f"r{number}"}})
    for place, item in enumerate(output):
        yield sse({"type": "response.output_item.done", "output_index": place, "item": item})
    response = {"id": f"r{number}", "usage": usage, "output": output}
    yield sse({"type": "response.completed", "response": response})


def google(number: int, commands: list[str], body: dict[str, Any]) -> Iterator[str]:
    del body
    parts: list[dict[str, Any]] = [
        {
            "functionCall": {
                "name": "run_shell_command",
                "args": {"command": command},
                "id": f"g{number}_{place}",
            }
        }
        for place, command in enumerate(commands)
    ] or [{"text": "That is all."}]
    content = {"role": "model", "parts": parts}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield sse({"candidates": [candidate], "usageMetadata": usage})


@pytest.fixture
def model() -> Iterator[Callable[[list[list[str]]], ScriptedModel]]:
    servers: list[ThreadingHTTPServer] = []

    def start(script: list[list[str]]) -> ScriptedModel:
        scripted = ScriptedModel(script)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...

            def do_GET(self) -> None:
                self.say('{"data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self.say("", "application/json")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                try:
                    text, kind = scripted.answer(self.path, json.loads(body or b"{}"))
                except ValueError:
                    text, kind = "{}", "application/json"
                self.say(text, kind)

            def say(self, text: str, kind: str) -> None:
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                with suppress(ConnectionError):  # the agent was ended meanwhile
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(data)

        scripted.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        scripted.server.daemon_threads = True
        servers.append(scripted.server)
        threading.Thread(target=scripted.server.serve_forever, args=(0.05,), daemon=True).start()
        return scripted

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home for an agent and for the service, which ends with the test."""
    folder = tmp_path / "home"
    folder.mkdir()
    names = ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME", "GEMINI_CLI_HOME", "EBBTIDE_LOG")
    for name in (*names, "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("EBBTIDE_STATE", str(tmp_path / "state"))
    client = [sys.executable, "-I", "-S", hook_client.__file__, "start"]
    subprocess.run(client, check=True)  # a scripted model is faster than a service starts
    while exchange("GET", "/status", b"", time.monotonic() + 1) is None:
        time.sleep(0.05)
    yield folder
    exchange("POST", "/end", b"", time.monotonic() + 2)


def install(agent: str, *flags: str) -> None:
    command = [sys.executable, "-m", "ebbtide", "hooks", "install", agent, *flags]
    subprocess.run(command, check=True, capture_output=True)


def run(
    agent: str,
    model: ScriptedModel,
    home: Path,
    prompt: str = "Look for the invoice.",
    *options: str,
    behind: Sequence[str] = (),
    prompts: Sequence[str] = (),
) -> str:
    """What an agent prints while it works off the script, `behind` a program that starts it.

    Claude Code takes `prompts` in one session, in the place of `prompt`.
    """
    work, settings = home / "work", configure(agent, model, home)
    if agent == "claude":
        line = ["-p", prompt, "--allowedTools", "Bash", "Agent", "--model", CLAUDE, *options]
        if prompts:
            line = ["-p", "--input-format", "stream-json", *line[2:]]
    elif agent == "codex":
        line = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        line += ["-s", "danger-full-access", prompt]
    elif agent == "opencode":
        line = ["run", prompt]
    elif agent == "copilot":
        line = ["-p", prompt, "--allow-all-tools"]
    else:
        line = ["--yolo", "--model", "gemini-2.5-pro", "-p", prompt]
    command, environment = [*behind, program(agent), *line], {**os.environ, "PWD": str(work), **settings}
    if prompts:
        return converse(command, work, environment, prompts)
    done = subprocess.run(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    return done.stdout + done.stderr


def configure(agent: str, model: ScriptedModel, home: Path) -> dict[str, str]:
    """Lets an agent ask a model; writes its files, and those that it reads, and returns its variables."""
    work = home / "work"
    work.mkdir(exist_ok=True)
    for number in range(60):
        (work / f"page-{number}.txt").write_text(f"page {number}: {number * 7919}\n")
    if agent == "claude":
        return {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
    if agent == "codex":
        configure_codex(model, home)
        return {}
    if agent == "opencode":
        options = {"baseURL": f"{model.url}/v1", "apiKey": "none"}
        value = {"provider": {"anthropic": {"options": options}}, "autoupdate": False, "permission": "allow"}
        name = f"anthropic/{CLAUDE}"
        path = home / ".config" / "opencode" / "opencode.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**value, "model": name, "small_model": name}))
        return {}
    if agent == "copilot":
        return {
            "COPILOT_PROVIDER_BASE_URL": model.url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": CLAUDE,
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }
    path = home / ".gemini" / "settings.json"
    value = json.loads(path.read_text())
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    own_guard = {"disableLoopDetection": True}  # it ends the run at five equal calls
    path.write_text(json.dumps({**value, "security": security, "model": own_guard}))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url}


def configure_codex(model: ScriptedModel, home: Path) -> None:
    """Lets Codex ask a model, unless its settings say so already."""
    path = home / ".codex" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    if path.exists() and model.url in path.read_text():
        return
    provider = f'name = "x"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\nsupports_websockets = false'
    path.write_text(f'model = "gpt-5"\nmodel_provider = "x"\n[model_providers.x]\n{provider}\n')


def converse(command: list[str], work: Path, environment: dict[str, str], prompts: Sequence[str]) -> str:
    """What Claude Code prints in one session, whose next prompt comes when it has answered the last one."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command,
        cwd=work,
        env=environment,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    printed: list[str] = []
    end = threading.Timer(240, process.kill)
    end.start()
    for words in prompts:
        message = {"role": "user", "content": words}
        process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
        process.stdin.flush()
        for text in process.stdout:
            printed.append(text)
            if '"type":"result"' in text:
                break
    process.stdin.close()
    printed += process.stdout
    process.stdout.close()
    process.wait()
    end.cancel()
    return "".join(printed)


def pause_of(agent: str) -> float:
    """Seconds for an answer of the model: Copilot CLI writes its session file once a second."""
    return 1.5 if agent == "copilot" else 0.0


def standing(agent: str) -> dict[str, Any]:
    """What `hooks status` says of an agent."""
    command = [sys.executable, "-m", "ebbtide", "hooks", "status", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert report["service"]["faults"] == {}, report
    return next(item for item in report["agents"] if item["agent"] == agent)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_loop_is_nudged(agent: str, model, home: Path) -> None:
    """The note is in the request of the model after the third equal call, or the one after that."""
    scripted = model(LOOP)
    scripted.pause_s = pause_of(agent)
    install(agent)
    output = run(agent, scripted, home)
    print(agent, "noted in requests", scripted.noted, "of", len(scripted.requests))
    assert scripted.noted, output
    assert scripted.noted[0] in (4, 5)
    assert len(scripted.requests) == len(LOOP) + 1, output  # nothing ends it
    assert standing(agent)["last_event"] > time.time() - 300


@needs("copilot")
def test_the_file_of_a_repository_tells_copilot(model, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --project, where the folder is trusted; taken out, the folder of the others is as it was."""
    scripted = model(LOOP)
    scripted.pause_s = pause_of("copilot")
    configure("copilot", scripted, home)
    monkeypatch.chdir(home / "work")
    subprocess.run(["git", "init", "--quiet"], check=True)
    other = home / "work" / ".github" / "hooks" / "team.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"version": 1, "hooks": {"Stop": [{"type": "command", "command": "true"}]}}')
    install("copilot", "--project")
    monkeypatch.setenv("COPILOT_ALLOW_ALL", "true")  # trusts the folder
    output = run("copilot", scripted, home)
    print("copilot in a repository noted in requests", scripted.noted, "of", len(scripted.requests))
    assert scripted.noted, output
    assert scripted.noted[0] in (4, 5)
    subprocess.run(
        [sys.executable, "-m", "ebbtide", "hooks", "uninstall", "copilot", "--project"], check=True
    )
    assert list(other.parent.iterdir()) == [other]


@pytest.mark.parametrize("agent", ENDING)
def test_a_loop_is_ended(agent: str, model, home: Path) -> None:
    """With --stop it ends a call or two after the note."""
    scripted = model(LOOP)
    install(agent, "--stop")
    output = run(agent, scripted, home)
    print(agent, "noted in requests", scripted.noted, "of", len(scripted.requests))
    assert scripted.noted, output
    assert scripted.noted[0] in (4, 5)
    assert len(scripted.requests) - scripted.noted[0] in (0, 1), output


@pytest.mark.parametrize("agent", AGENTS)
def test_a_healthy_session_gets_no_word(agent: str, model, home: Path) -> None:
    """Sixty calls, each of another page."""
    scripted = model(PAGES)
    install(agent, *([] if agent in NEVER_ENDED else ["--stop"]))
    output = run(agent, scripted, home)
    assert len(scripted.requests) == len(PAGES) + 1, output
    assert scripted.noted == []
    assert MARK not in output


@pytest.mark.parametrize("agent", AGENTS)
def test_a_person_switches_it_off(agent: str, model, home: Path) -> None:
    """In a line of what they say: the loop goes on, and gets not one word."""
    scripted = model(LOOP)
    install(agent, *([] if agent in NEVER_ENDED else ["--stop"]))
    output = run(agent, scripted, home, "Look for the invoice.\nebbtide off")
    assert len(scripted.requests) == len(LOOP) + 1, output
    assert scripted.noted == []


@pytest.mark.parametrize("agent", ASKING)
def test_the_switch_alone_is_no_prompt(agent: str, model, home: Path) -> None:
    """The model is not called."""
    scripted = model(LOOP)
    install(agent)
    run(agent, scripted, home, "ebbtide off")
    assert scripted.requests == []


@pytest.mark.parametrize("agent", AGENTS)
def test_equal_calls_of_one_answer_are_no_loop(agent: str, model, home: Path) -> None:
    """A model that asks three times at once has not asked again."""
    scripted = model(PARALLEL)
    scripted.pause_s = pause_of(agent)
    install(agent)
    output = run(agent, scripted, home)
    assert len(scripted.requests) == len(PARALLEL) + 1, output
    assert scripted.noted == []


@pytest.mark.parametrize("agent", AGENTS)
def test_tokens_are_those_of_the_model(agent: str, model, home: Path) -> None:
    """Every answer is counted once."""
    from ebbtide.supervision.runs.run_store import SQLiteRunStore

    scripted = model(PAGES[:6])
    scripted.pause_s = pause_of(agent)
    install(agent)
    run(agent, scripted, home)
    time.sleep(2)  # the registry writes once a second
    (run_standing,) = SQLiteRunStore(Path(os.environ["EBBTIDE_STATE"]) / "runs.db").standings()
    print(
        agent, run_standing.tokens, "of", 110 * len(scripted.requests), "tokens, events", run_standing.events
    )
    # Copilot CLI writes its last answer after its last hook.
    assert run_standing.tokens in ((110 * 6, 110 * 7) if agent == "copilot" else (110 * 7,))


@pytest.mark.skipif(not PREFIX or not Path(program("claude")).exists(), reason="no claude in EBBTIDE_AGENTS")
def test_the_plugin_of_claude_code(model, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed from the marketplace of this repository it tells the model; taken out, nothing is left."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "theme": "dark"\n}\n')

    def claude(*arguments: str) -> str:
        command = [program("claude"), *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    claude("plugin", "validate", str(PROJECT / "plugins" / "claude-code"))
    claude("plugin", "marketplace", "add", str(PROJECT))
    claude("plugin", "install", "ebbtide@ebbtide")
    assert "ebbtide mcp - ✔ Connected" in claude("mcp", "list")
    scripted = model(LOOP)
    output = run("claude", scripted, home)
    print("plugin noted in requests", scripted.noted, "of", len(scripted.requests))
    assert scripted.noted, output
    assert scripted.noted[0] in (4, 5)
    claude("plugin", "uninstall", "ebbtide@ebbtide")
    claude("plugin", "marketplace", "remove", "ebbtide")
    assert json.loads(settings.read_text()).get("theme") == "dark"
    assert "ebbtide" not in settings.read_text()


@pytest.mark.skipif(not PREFIX or not Path(program("codex")).exists(), reason="no codex in EBBTIDE_AGENTS")
def test_the_plugin_of_codex(model, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed from the marketplace of this repository it tells the model; taken out, nothing is left."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    scripted = model(LOOP)
    configure_codex(scripted, home)
    settings = home / ".codex" / "config.toml"
    others = '\n[mcp_servers.other]\ncommand = "other"  # stays\nenabled = false\n'
    settings.write_text(f"# of the team\n{settings.read_text()}{others}")
    before = settings.read_bytes()

    def codex(*arguments: str) -> str:
        command = [program("codex"), *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    codex("plugin", "marketplace", "add", str(PROJECT))
    codex("plugin", "add", "ebbtide@ebbtide")
    servers = {server["name"]: server["transport"] for server in json.loads(codex("mcp", "list", "--json"))}
    assert (servers["ebbtide"]["command"], servers["ebbtide"]["args"]) == ("ebbtide", ["mcp"])
    output = run("codex", scripted, home)
    print("plugin of codex noted in requests", scripted.noted, "of", len(scripted.requests))
    assert scripted.noted, output
    assert scripted.noted[0] in (4, 5)
    assert "am_i_stuck" in scripted.requests[-1]  # the tools come when their server has started
    assert "ebbtide:ebbtide" in scripted.requests[0]  # the skill
    codex("plugin", "remove", "ebbtide@ebbtide")
    codex("plugin", "marketplace", "remove", "ebbtide")
    assert settings.read_bytes() == before
    assert not [path for path in (home / ".codex" / "plugins").rglob("*") if path.is_file()]


MANIFESTS = {
    "claude": PROJECT / "plugins" / "claude-code" / ".claude-plugin" / "plugin.json",
    "codex": PROJECT / "plugins" / "codex" / ".codex-plugin" / "plugin.json",
}


@pytest.mark.parametrize("agent", MANIFESTS)
def test_a_plugin_has_the_hooks_of_the_installer(agent: str) -> None:
    """The events of a plugin are those that `ebbtide hooks install` takes; its version is ours."""
    folder = MANIFESTS[agent].parents[1]
    place = PLACES[agent]
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    handler = {"type": "command", "command": f"ebbtide-hook {agent}", "timeout": place.timeout}
    assert hooks == {
        event: [{**({"matcher": tools} if tools else {}), "hooks": [handler]}]
        for event, tools in place.events.items()
    }
    manifest = json.loads(MANIFESTS[agent].read_text())
    assert manifest["version"] == ebbtide.__version__


@pytest.mark.parametrize("name", ["skills/ebbtide/SKILL.md", ".mcp.json"])
def test_the_plugins_share_what_is_not_of_one_agent(name: str) -> None:
    """An agent copies the folder of its plugin alone, so each has the file, and all are equal."""
    claude, codex = (manifest.parents[1] / name for manifest in MANIFESTS.values())
    assert claude.read_bytes() == codex.read_bytes()


STREAM = ("--output-format", "stream-json", "--verbose")


def told_after(output: str, what: str) -> int | None:
    """Number of lines with a text before the one in which the person is told; None where they are not.

    Args:
        output: What the agent printed, a line an event.
        what: The text.
    """
    lines = output.splitlines()
    told = next((place for place, line in enumerate(lines) if f" says: {MARK} " in line), None)
    return None if told is None else sum(what in line for line in lines[:told])


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=needs("claude"))])
def test_a_stop_hook_that_is_never_satisfied_is_told_to_the_person(agent: str, model, home: Path) -> None:
    """The person hears of the hook with the answer to its fourth word; the model hears nothing."""
    scripted = model([])
    install(agent)
    path = home / ".claude" / "settings.json"
    value = json.loads(path.read_text())
    answer = json.dumps({"decision": "block", "reason": "The report has no summary yet."})
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": f"echo '{answer}'"}]})
    path.write_text(json.dumps(value))
    output = run(agent, scripted, home, "Write the report.", *STREAM)
    told = told_after(output, "Stop hook feedback")
    print(agent, "told after", told, "words of the hook")
    assert told in (4, 5), output
    assert scripted.noted == []


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=needs("claude"))])
def test_a_goal_that_cannot_be_met_is_told_to_the_person(agent: str, model, home: Path) -> None:
    """Likewise of a goal whose judge always says no."""
    scripted = model([])
    scripted.verdict = json.dumps({"ok": False, "reason": "there is no link in the register"})
    install(agent)
    output = run(agent, scripted, home, "/goal The register has a link.", *STREAM)
    told = told_after(output, "Stop hook feedback")
    print(agent, "told after", told, "words of the judge")
    assert told in (4, 5), output
    assert scripted.noted == []


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=needs("claude"))])
def test_twenty_agents_with_one_order_are_told_to_the_person(agent: str, model, home: Path) -> None:
    """Before the twelfth of them is started."""
    scripted = model([])
    scripted.orders = ["Review the pages, and say what has to be mended before they are sent."] * 20
    install(agent)
    output = run(agent, scripted, home, "Review the pages.", *STREAM)
    told = told_after(output, '"task_started"')
    print(agent, "told after", told, "agents of", scripted.started)
    assert told is not None, output
    assert told < 12


KEEP = "Keep the old endpoint in api/legacy.py."
TOLD = f", person: {KEEP}"


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=needs("claude"))])
def test_decisions_survive_a_compaction(agent: str, model, home: Path) -> None:
    """The first request after it has what the person said, once; so has the log."""
    scripted = model([["cat page-1.txt"]])
    install(agent, "--decisions")
    output = run(agent, scripted, home, "", *STREAM, prompts=[KEEP, "/compact", "Go on."])
    assert "compact_boundary" in output
    assert (
        "completed successfully: {}" not in output
    )  # what such a hook prints is for the model that compacts
    request = scripted.requests[-1]
    print(agent, "has it", request.count(TOLD), "times in the request after the compaction")
    assert "Go on." in request
    assert request.count(KEEP) == request.count(TOLD) == 1, output
    assert standing(agent)["hooks"][0]["flags"] == ["--decisions"]
    command = [sys.executable, "-m", "ebbtide", "decisions", "list", "--json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert [row["candidate"]["description"] for row in listed["decisions"]] == [KEEP]


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=needs("claude"))])
def test_decisions_are_handed_back_to_a_resumed_session(agent: str, model, home: Path) -> None:
    """Beside the word of the person, which is there again too."""
    scripted = model([["cat page-1.txt"]])
    install(agent, "--decisions")
    run(agent, scripted, home, KEEP)
    before = len(scripted.requests)
    output = run(agent, scripted, home, "Go on.", "--continue", *STREAM)
    assert scripted.requests[before].count(TOLD) == 1, output
    assert "The model got 1 decision of this session back: about " in output


@pytest.mark.parametrize("agent", [pytest.param("claude", marks=needs("claude"))])
def test_an_edit_that_a_decision_ruled_out_is_named_to_the_model(
    agent: str, model, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the request after the edit, once, and the file is written all the same."""
    project = Project(home / "work")
    log = project.path / "decisions.db"
    monkeypatch.setenv("EBBTIDE_LOG", str(log))
    with DecisionLog.open(log, agent="user") as opened:
        opened.add(
            Candidate(description="Use SQLite instead of Redis.", options=("SQLite", "Redis")), at=1.79e9
        )
    scripted = model([["cat page-1.txt"], ["sleep 2"], ["cat page-2.txt"], ["cat page-3.txt"]])
    for number in (3, 4):
        content = {"file_path": str(project.path / f"store{number}.py"), "content": "import redis\n"}
        scripted.tools[number] = {"name": "Write", "input": content}
    install(agent, "--decisions")
    output = run(agent, scripted, home, "Cache it.", "--permission-mode", "acceptEdits", *STREAM)
    told = "adds Redis, which a decision of 2026-09-21 by the person ruled out"
    print(agent, "was told in the requests", [told in request for request in scripted.requests])
    assert [request.count(told) for request in scripted.requests] == [0, 0, 0, 1, 1], output
    assert (project.path / "store3.py").read_text() == "import redis\n"
    assert "The model was told that its edit adds Redis" in output


WRAPPER = [sys.executable, "-m", "ebbtide", "run", "--stop", "--"]
WRAPPED = [pytest.param(name, marks=needs(name)) for name in ("claude", "codex", "opencode", "copilot")]


@pytest.mark.parametrize("agent", WRAPPED)
def test_the_wrapper_ends_a_loop(agent: str, model, home: Path) -> None:
    """Without hooks, also of an agent that hooks cannot end, within two turns of the verdict."""
    scripted = model([["cat page-1.txt"]] * 40)
    scripted.pause_s = 1.0
    output = run(agent, scripted, home, behind=WRAPPER)
    print(agent, "ended after", len(scripted.requests), "requests")
    assert "the run was ended: " in output
    assert "Session: " in output
    assert len(scripted.requests) <= 6, output


@pytest.mark.parametrize("agent", WRAPPED)
def test_the_wrapper_leaves_a_healthy_run_alone(agent: str, model, home: Path) -> None:
    """Sixty files are read, each once."""
    scripted = model(PAGES)
    output = run(agent, scripted, home, behind=WRAPPER)
    assert "the run was ended" not in output
    assert len(scripted.requests) == len(PAGES) + 1, output
    assert "HEALTHY" in output


# What the user has set, and how many of the three marks of a request ask for an hour before and after.
LIFETIMES = {"cache-hour": ("", 0, 3), "cache-minutes": ("1h", 3, 0)}
LONG = [["seq -f 'line %04g of a report that is long' 600"], ["echo done"]]


def advise(kind: str, agent: str, project: Path | None) -> str:
    """The name of an advice that is applied, as `ebbtide advice --apply` applies it."""
    estimate = Estimate(usd=41.0, interval=None, tokens=0, share=None, sessions=9, since=0.0)
    place = None if project is None else str(project)
    item = PricedAdvice(
        name=kind, project=place, kind=KINDS[CodingAgent(agent), kind], expected=estimate, before=()
    )
    return apply(item, AppliedAdvices(), time.time()).name


def take_back(name: str) -> None:
    command = [sys.executable, "-m", "ebbtide", "advice", "--undo", name]
    subprocess.run(command, check=True, capture_output=True)


def answered(scripted: ScriptedModel, request: int) -> int:
    """Characters of the first answer of a tool that the model was sent in a request."""
    body = json.loads(scripted.requests[request])
    if "input" in body:
        outputs = [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
        return len(str(outputs[0]))
    parts = [part for message in body["messages"] for part in message["content"] if isinstance(part, dict)]
    return len(str(next(part["content"] for part in parts if part["type"] == "tool_result")))


@pytest.mark.parametrize("agent", [pytest.param(name, marks=needs(name)) for name in ("claude", "codex")])
def test_the_advised_limit_cuts_what_the_model_is_sent(agent: str, model, home: Path) -> None:
    """The longest answer is the one that is promised; when it is taken back, all is as before."""
    place = home / "work" if agent == "claude" else None
    lengths = []
    for is_applied in (False, True, False):
        scripted = model(LONG)
        configure_codex(scripted, home)
        name = advise("shell-output", agent, place) if is_applied else ""
        output = run(agent, scripted, home)
        assert len(scripted.requests) == len(LONG) + 1, output
        lengths.append(answered(scripted, 1))
        if name:
            take_back(name)
    print(agent, "sends", lengths, "characters of an answer: before, with the limit, and when it is undone")
    before, applied, undone = lengths
    assert before == undone > OUTPUT_LIMIT * 1.1
    assert applied <= OUTPUT_LIMIT + 300  # the agent puts some words of its own around it


@pytest.mark.parametrize("kind", [pytest.param(name, marks=needs("claude")) for name in LIFETIMES])
def test_the_advised_lifetime_of_the_cache_is_asked_for(kind: str, model, home: Path) -> None:
    """Of each mark in a request; it goes before what the settings of the user say."""
    of_user, before, applied = LIFETIMES[kind]
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"promptCacheTtl": of_user} if of_user else {}))
    counts = []
    for is_applied in (False, True, False):
        scripted = model([["echo done"]])
        name = advise(kind, "claude", home / "work") if is_applied else ""
        run("claude", scripted, home)
        assert scripted.requests[-1].count('"cache_control"') == 3
        counts.append(scripted.requests[-1].count('"ttl": "1h"'))
        if name:
            take_back(name)
    print(kind, "has", counts, "marks of an hour of 3")
    assert counts == [before, applied, before]
