"""`ebbtide hooks`: what the screen says of agents, hooks and the service."""

import json
import sys
import time
from pathlib import Path

import pytest

from ebbtide.service.hooks.hook_service import HookService
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.service.hooks.state_folder import StateFolder
from ebbtide.supervision.runs.run_store import SQLiteRunStore


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable moves the settings of an agent."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def agents_of(report: str) -> dict[str, dict[str, object]]:
    return {item["agent"]: item for item in json.loads(report)["agents"]}


def test_from_nothing_to_guarded(here) -> None:
    """Two commands; the second says that nothing has come yet, and afterwards when it came."""
    done = here("hooks", "install", "claude", "--stop")
    assert done.output.splitlines()[0] == "installed in ~/.claude/settings.json"
    status = here("hooks", "status").output
    assert "service    not running; the next event starts it" in status
    assert "claude     installed; no event has arrived yet, so the hooks are unproven" in status
    assert "~/.claude/settings.json --stop" in status
    folder = StateFolder()
    service = HookService(HookStore(SQLiteRunStore(folder.runs), folder.sessions))
    for number in range(4):
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "none"}
        call["tool_use_id"] = f"t{number}"
        event = {"session_id": "run-7", "hook_event_name": "PostToolBatch", "tool_calls": [call]}
        service.take("claude", json.dumps(event).encode(), shadow=True)
    service.close()
    status = here("hooks", "status").output
    assert "the last event arrived 0 s ago, in run run-7" in status
    assert "stop: Bash 4 times in a row" in status
    agent = agents_of(here("hooks", "status", "--json").output)["claude"]
    assert agent["run"] == "claude:run-7"
    assert abs(float(str(agent["last_event"])) - time.time()) < 60


def test_codex_is_to_be_trusted(here) -> None:
    assert "trust" in here("hooks", "install", "codex").output


def test_what_nobody_has_tried_says_so(here) -> None:
    """Until its first event comes: that is the proof."""
    assert "nobody has tried them with Cursor itself" in here("hooks", "install", "cursor").output
    assert "by the documentation, tried by nobody; no event has arrived yet" in here("hooks", "status").output


def test_doctor_fires_each_installed_hook(here, tmp_path: Path) -> None:
    """The note of a known loop comes back through the command in the settings, and nothing of it is kept."""
    agents = ("claude", "codex", "copilot", "cursor", "gemini", "opencode")
    for agent in agents:
        here("hooks", "install", agent, *(["--shadow"] if agent == "gemini" else []))
    before = sorted((tmp_path / "home").rglob("*"))
    done = here("doctor", "--json")
    assert done.code == 0, done.message
    hooks = {item["agent"]: item for item in json.loads(done.output) if "agent" in item}
    assert {agent: hooks[agent]["wiring"] for agent in agents} == dict.fromkeys(agents, "fires")
    assert {item["agent"] for item in hooks.values() if item["problem"]} == {"cursor"}
    assert sorted((tmp_path / "home").rglob("*")) == before


def test_doctor_names_a_hook_that_cannot_work(here, tmp_path: Path, monkeypatch) -> None:
    """Its program is gone, or its settings cannot be read; a program that a project names is not started."""
    path = tmp_path / "home" / ".codex" / "hooks.json"
    here("hooks", "install", "codex")
    gone = str(tmp_path / "gone" / "python")
    path.write_text(path.read_text().replace(sys.executable, gone))
    (tmp_path / "home" / ".gemini").mkdir()
    (tmp_path / "home" / ".gemini" / "settings.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    here("hooks", "install", "claude", "--project")
    assert (tmp_path / ".claude" / "settings.json").exists()
    done = here("doctor")
    assert done.code == 30
    assert f"hooks of codex      broken  {gone} is gone" in done.output
    assert "hooks of gemini     broken" in done.output
    assert "hooks of claude" not in done.output


def test_a_broken_file_is_refused(here, tmp_path: Path) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{")
    done = here("hooks", "install", "claude")
    assert done.code == 2
    assert "nothing was changed" in done.message
    assert "Mend it first" in here("hooks", "status").output
    assert path.read_text() == "{"


def test_a_service_that_cannot_run_is_told(here, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EBBTIDE_STATE", str(tmp_path / "file"))
    here("hooks", "install", "gemini")
    status = here("hooks", "status")
    assert status.code == 0
    assert "cannot run, so no agent is watched" in status.output


def test_shadow_and_stop_exclude_each_other(here) -> None:
    assert here("hooks", "install", "claude", "--stop", "--shadow").code == 2


def test_uninstall(here) -> None:
    here("hooks", "install", "opencode")
    assert (
        here("hooks", "uninstall", "opencode").output == "removed from ~/.config/opencode/plugin/ebbtide.js\n"
    )
    assert here("hooks", "uninstall", "opencode").output == "there were no hooks\n"
