"""The tools for models, asked by the official client over both transports."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jsonschema
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ebbtide.service.client import ServiceClient
from ebbtide.service.mcp.standard_streams import ensure_service
from ebbtide.service.service_error import ServiceError

TOKEN = "a-token-for-tests-alone"  # noqa: S105 - made up
READING = {
    *("stuck_now", "list_runs", "explain_run", "am_i_stuck", "is_my_report_true", "spending", "check_trace"),
    "find_decisions",
}
WRITING = {"acknowledge", "extend", "record_decision"}
LOOP = [
    {"seq": 1, "kind": "llm", "model": "small", "input_tokens": 900, "output_tokens": 9, "cost_usd": 0.5},
    *({"seq": seq, "kind": "tool", "name": "ls", "args": {}, "result": "a.txt"} for seq in range(2, 7)),
]


@contextlib.asynccontextmanager
async def over_http(service, **_: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"} if "--token" in service.options else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def over_stdio(service, **environment: str) -> AsyncIterator[Client]:
    arguments = ["-m", "ebbtide", "mcp", "--url", service.url]
    if "--token" in service.options:
        arguments += ["--token", TOKEN]
    line = StdioServerParameters(
        command=sys.executable, args=arguments, env={**service.environment, **environment}
    )
    async with Client(stdio_client(line)) as client:
        yield client


@pytest.fixture(params=[over_stdio, over_http], ids=["stdio", "http"])
def connect(request) -> Callable[..., Any]:
    return request.param


@pytest.fixture
def service(empty_service):
    return empty_service


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A decision log for the processes of one test."""
    path = tmp_path / "decisions.db"
    monkeypatch.setenv("EBBTIDE_LOG", str(path))
    return path


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return answer.content[0].text


def test_the_tools_say_what_they_do(empty_service, connect) -> None:
    """Each has a schema of what it answers, a short description, and says whether it changes anything."""

    async def check() -> None:
        async with connect(empty_service) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING | WRITING
        for name, tool in tools.items():
            assert tool.annotations.read_only_hint is (name in READING), name
            assert tool.output_schema["type"] == "object", name
            assert 20 < len(tool.description) < 300, name
            for schema in (tool.input_schema, tool.output_schema):
                jsonschema.Draft202012Validator.check_schema(schema)
        asks_for = {"path"} if connect is over_stdio else {"content"}
        assert set(tools["check_trace"].input_schema["properties"]) == asks_for

    anyio.run(check)


def test_a_report_is_held_against_the_run_before_it_is_said(empty_service, connect) -> None:
    """As often as it is asked, and over HTTP with the same line."""
    failed = {"seq": 1, "kind": "tool", "name": "Bash", "args": {"command": "pytest -q"}}
    failed["result"] = "3 failed, 209 passed in 4.10s"
    empty_service.send("claude:session-7", failed, project="billing", agent="claude")
    words = "All 212 tests pass."

    async def check() -> None:
        async with connect(empty_service) as client:
            for _ in range(2):
                answer = await ask(client, "is_my_report_true", text=words, run_id="session-7")
                assert answer["correct"].startswith(f'Your report says "{words}"')
                assert [claim["answer"] for claim in answer["claims"]] == ["contradicted"]
                assert not answer["is_guess"]
            fine = await ask(client, "is_my_report_true", text="Hello there.")
            assert (fine["correct"], fine["claims"], fine["is_guess"]) == (None, [], True)
            assert fine["answer"].startswith("It claims nothing")

    anyio.run(check)
    token = TOKEN if "--token" in empty_service.options else None
    with ServiceClient(empty_service.url, token=token) as client:
        answer = client.claims("claude:session-7", words)
        assert answer["line"].startswith("1 claim: 1 contradicted: says ")
        with pytest.raises(ServiceError, match="no such run"):
            client.claims("nobody", words)


def test_a_run_is_stuck_until_a_person_lets_it_go_on(empty_service, connect, tmp_path: Path) -> None:
    """The whole way of a run through the tools."""
    empty_service.send("claude:session-7", *LOOP, project="billing", agent="claude")
    empty_service.send("fine", LOOP[0])
    trace = tmp_path / "trace.jsonl"
    trace.write_text("\n".join(map(json.dumps, LOOP)), encoding="utf-8")

    async def check() -> None:
        async with connect(empty_service) as client:
            stuck = await ask(client, "stuck_now")
            assert [row["run_id"] for row in stuck["stuck"]] == ["claude:session-7"]
            assert stuck["sentence"].startswith("1 of 2 runs is stuck: claude")
            runs = await ask(client, "list_runs", limit=1)
            assert runs["more"]
            assert runs["runs"][0]["agent"] == "claude"
            mine = await ask(client, "am_i_stuck", run_id="session-7")
            assert (mine["stuck"], mine["is_guess"]) == (True, False)
            assert mine["answer"].startswith("Yes. ls ")
            assert mine["evidence"].startswith("events 2 to ")
            assert "ask the person" in mine["do_differently"]
            fine = await ask(client, "am_i_stuck")
            assert (fine["run_id"], fine["stuck"], fine["is_guess"]) == ("fine", False, True)
            why = await ask(client, "explain_run", run_id="claude:session-7")
            assert (why["findings"][0]["kind"], why["tool_calls"]) == ("repeat", 5)
            spent = await ask(client, "spending", by="agent")
            assert spent["budgets"] == []
            assert spent["cost_usd"] == 1.0
            source = {"path": str(trace)} if connect is over_stdio else {"content": trace.read_text()}
            recorded = await ask(client, "check_trace", **source)
            assert recorded["findings"][0]["kind"] == "repeat"
            assert (await ask(client, "extend", run_id="session-7", turns=3))["action"] == "allow"
            assert (await ask(client, "acknowledge", run_id="session-7"))["action"] == "allow"
            assert (await ask(client, "stuck_now"))["stuck"] == []

    anyio.run(check)
    acts = empty_service.get("/v1/audit", limit=2)["entries"]
    assert [(entry["act"], entry["caller"].partition(" ")[0]) for entry in acts] == [
        ("acknowledge", "mcp"),
        ("extend", "mcp"),
    ]


def test_decisions_meet_the_gate(log: Path, start, connect) -> None:
    """One is kept, its repetition is not, and the answer says of which it is one."""
    service = start()

    async def check() -> None:
        async with connect(service, EBBTIDE_LOG=str(log)) as client:
            assert await ask(client, "find_decisions") == {"decisions": []}
            words = {"text": "Use SQLite for the run store.", "reasons": ["One file, no server to run."]}
            first = await ask(client, "record_decision", **words, agent="ada")
            assert first["verdict"] == "kept"
            again = await ask(client, "record_decision", **words, agent="ada")
            assert (again["verdict"], again["same_as"]) == ("duplicate", first["id"])
            assert "go by that one" in again["next_step"]
            empty = await ask(client, "record_decision", text="Done.", agent="ada")
            assert empty["verdict"] == "quarantined"
            assert empty["reason"]
            hits = (await ask(client, "find_decisions", words="sqlite store"))["decisions"]
            assert [(hit["id"], hit["agent"]) for hit in hits] == [(first["id"], "ada")]

    anyio.run(check)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("explain_run", {"run_id": "nobody"}, "list_runs shows which there are"),
        ("am_i_stuck", {"run_id": "a/b\0"}, "no such run"),
        ("acknowledge", {"run_id": "nobody"}, "no such run"),
        ("am_i_stuck", {}, "ebbtide hooks install"),
        ("extend", {"run_id": "x", "turns": 0}, "greater than or equal to 1"),
        ("spending", {"since": "yesterday"}, "expected 24h, 7d"),
        ("list_runs", {"standing": "stuck"}, "expected some of allow, nudge"),
        ("stuck", {}, "Unknown tool"),
    ],
)
def test_errors_say_what_to_do(shared_service, tool: str, arguments: dict[str, Any], words: str) -> None:
    """An error is an answer that the model reads, not the end of the session."""

    async def check() -> None:
        async with over_http(shared_service) as client:
            assert words in await refusal(client, tool, **arguments)
            await ask(client, "stuck_now")

    anyio.run(check)


def test_keys_are_masked(empty_service, connect) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    events = [{**event, "args": {"token": key}} if event["kind"] == "tool" else event for event in LOOP]
    empty_service.send("a", *events)

    async def check() -> None:
        async with connect(empty_service) as client:
            for tool in ("explain_run", "am_i_stuck"):
                assert key not in json.dumps(await ask(client, tool, run_id="a"))

    anyio.run(check)


def test_the_gate_of_the_service_stands_before_its_tools(start) -> None:
    """No page of another site, no other name, and nobody without the token."""
    service = start("--token", TOKEN)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    good = {"Authorization": f"Bearer {TOKEN}"}
    for headers, status in (
        ({}, 401),
        ({**good, "Origin": "https://evil.example"}, 403),
        ({**good, "Host": "evil.example"}, 421),
    ):
        assert service.client.post("/mcp", json=ping, headers=headers).status_code == status
    for verb in ("get", "delete"):
        assert getattr(service.client, verb)("/mcp", headers=good).status_code == 405

    async def check() -> None:
        for connect in (over_http, over_stdio):
            async with connect(service) as client:
                assert (await ask(client, "stuck_now"))["stuck"] == []

    anyio.run(check)
    assert service.end() == 0


def test_a_service_that_is_away_is_told(service) -> None:
    """The session outlives the service."""

    async def check() -> None:
        async with over_stdio(service) as client:
            await ask(client, "stuck_now")
            service.kill()
            assert "ConnectionRefusedError" in await refusal(client, "stuck_now")
            service.options = ("--port", service.url.rpartition(":")[2])
            service.start()
            await ask(client, "stuck_now")

    anyio.run(check)


def test_a_service_is_started_where_none_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers, is started once, and one that cannot start says why."""
    monkeypatch.setenv("EBBTIDE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            ServiceClient(f"http://127.0.0.1:{port}", timeout_s=0.2) as client,
            pytest.raises(ServiceError, match=r"--port \d+: Address already in use"),
        ):
            ensure_service(client, port)
    with ServiceClient(f"http://127.0.0.1:{port}") as client:
        try:
            ensure_service(client, port)
            ensure_service(client, port)
            assert list(client.runs()) == []
        finally:
            pid = listener(port)
            if pid is not None:
                os.kill(pid, 15)


def listener(port: int) -> int | None:
    """The process that was started for a port; it belongs to this test."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"ebbtide" in words and b"serve" in words and str(port).encode() in words:
                return int(folder.name)
    return None


def test_the_tools_are_listed() -> None:
    """`--json` shows what a client gets, and starts nothing."""
    line = [sys.executable, "-m", "ebbtide", "mcp", "--json"]
    tools = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
    assert {tool["name"] for tool in tools} == READING | WRITING
    assert all(tool["outputSchema"]["type"] == "object" for tool in tools)


def test_the_settings_on_the_page_are_what_agents_read(project: Path) -> None:
    """Each block parses, and names the command or the address that there is."""
    page = (project / "docs" / "mcp.md").read_text(encoding="utf-8")
    blocks = [block.partition("\n") for block in page.split("```")[1::2]]
    settings = [json.loads(text) for kind, _, text in blocks if kind.startswith("json")]
    settings += [tomllib.loads(text) for kind, _, text in blocks if kind.startswith("toml")]
    servers = [
        server
        for table in settings
        for servers in (table.get("mcpServers") or table.get("mcp_servers") or table["mcp"],)
        for server in servers.values()
    ]
    assert len(servers) >= 5
    for server in servers:
        command = server.get("command")
        if command is None:
            assert server["url"].endswith(":8620/mcp")
        else:
            words = command if isinstance(command, list) else [command, *server["args"]]
            assert words == ["ebbtide", "mcp"]
