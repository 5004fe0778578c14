"""Real agents behind `ebbtide acp`, with a client of the protocol's own package: `make test-agents`."""

import asyncio
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.hooks.test_real_agents import (
    CLAUDE,
    MARK,
    PAGES,
    ScriptedModel,
    configure,
    model,
    needs,
    program,
)

__all__ = ["model"]  # the fixture

acp = pytest.importorskip("acp", reason="needs agent-client-protocol: `make test-agents` installs it")

COMMANDS = {
    "opencode": ["opencode", "acp"],
    "copilot": ["copilot", "--acp"],
    "claude": ["claude-agent-acp"],
    "codex": ["codex-acp"],
}
AGENTS = [pytest.param(name, marks=needs(line[0])) for name, line in COMMANDS.items()]
LOOP = [["cat page-1.txt"]]
LIMIT = 50 << 20  # bytes of a line
LATEST_S = 240.0


@dataclass
class Editor:
    """A client that allows everything, and keeps what it is shown."""

    shown: list[str] = field(default_factory=list)

    def on_connect(self, connection: object) -> None: ...

    async def request_permission(self, options: Any, **_: object) -> Any:
        allowed = next(option.option_id for option in options if option.kind.startswith("allow"))
        outcome = acp.schema.AllowedOutcome(outcome="selected", option_id=allowed)
        return acp.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, update: Any, **_: object) -> None:
        if update.session_update == "agent_message_chunk":
            self.shown.append(update.content.text)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        del method, params
        return {}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None: ...


@dataclass
class Outcome:
    """How the turns ended, and what the person saw."""

    stops: list[str]
    shown: str
    said: str  # on standard error


def converse(agent: str, model: ScriptedModel, home: Path, *options: str, prompts: int = 1) -> Outcome:
    """A session of an agent behind `ebbtide acp`."""
    environment = {**os.environ, "HOME": str(home), "IS_SANDBOX": "1", **configure(agent, model, home)}
    environment["ANTHROPIC_MODEL"] = CLAUDE
    if agent == "codex":
        with (home / ".codex" / "config.toml").open("r+") as file:
            settings = file.read()
            file.seek(0)
            file.write(f'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n{settings}')
    name, *arguments = COMMANDS[agent]
    line = [sys.executable, "-m", "ebbtide", "acp", *options, "--", program(name), *arguments]
    editor, errors, work = Editor(), home / "errors", home / "work"

    async def session() -> list[str]:
        with errors.open("wb") as file:
            kept = {"limit": LIMIT, "stderr": file, "shutdown_timeout": 60.0}
            start = acp.spawn_agent_process(
                editor, line[0], *line[1:], env=environment, cwd=work, transport_kwargs=kept
            )
            async with start as (connection, _):
                await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
                begun = await connection.new_session(cwd=str(work), mcp_servers=[])
                stops = []
                for number in range(prompts):
                    words = [acp.text_block(f"Look for the invoice {number}.")]
                    answer = await connection.prompt(session_id=begun.session_id, prompt=words)
                    stops.append(answer.stop_reason)
                return stops

    stops = asyncio.run(asyncio.wait_for(session(), LATEST_S))
    return Outcome(stops, "".join(editor.shown), errors.read_text(errors="replace"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home for an agent."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("agent", AGENTS)
def test_a_loop_is_ended_within_one_call(agent: str, model, home: Path) -> None:
    """The verdict comes with the fourth answer: at most one more call of the model is made."""
    scripted = model(LOOP * 40)
    scripted.pause_s = 1.0
    outcome = converse(agent, scripted, home, "--stop")
    print(agent, "ended after", len(scripted.requests), "requests")
    assert outcome.stops == ["cancelled"], outcome
    assert f"{MARK} This run was ended: " in outcome.shown
    assert "was ended: " in outcome.said
    assert len(scripted.requests) <= 5


@pytest.mark.parametrize("agent", AGENTS)
def test_a_healthy_session_is_left_alone(agent: str, model, home: Path) -> None:
    """Sixty files are read, each once."""
    scripted = model(PAGES)
    outcome = converse(agent, scripted, home, "--stop")
    print(agent, outcome.said.splitlines()[-1])
    assert outcome.stops == ["end_turn"], outcome
    assert "page 59: " in scripted.requests[len(PAGES)]
    assert MARK not in outcome.shown
    assert scripted.noted == []
    assert "ebbtide: FINISHED, HEALTHY: " in outcome.said


@pytest.mark.parametrize("agent", AGENTS)
def test_a_note_goes_with_the_next_prompt(agent: str, model, home: Path) -> None:
    """Without --stop: the model reads it in the first request of the second turn, and never before."""
    scripted = model(LOOP * 6)
    outcome = converse(agent, scripted, home, prompts=2)
    print(agent, "noted in requests", scripted.noted, "of", len(scripted.requests))
    assert outcome.stops == ["end_turn", "end_turn"], outcome
    # Some make a request of their own between the turns.
    second = next(n for n, request in enumerate(scripted.requests, start=1) if "invoice 1." in request)
    assert scripted.noted == [second], outcome
