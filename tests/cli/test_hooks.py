"""`ebbtide hooks`: what the screen says of agents, hooks and the service."""

import json
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
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def agents_of(report: str) -> dict[str, dict[str, object]]:
    return {item["agent"]: item for item in json.loads(report)["agents"]}


def test_from_nothing_to_guarded(here) -> None:
    """Two commands; the second says that nothing has come yet, and afterwards when it came."""
    done = here("hooks", "install", "claude", "--stop")
    assert done.output.splitlines()[0] == "installed in ~/.claude/settings.json"
    status = here("hooks", "status").output
    assert "service    not running; the next event starts it" in status
    assert "claude     installed; no event came yet, so it is not known to work" in status
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
    assert "the last event came 0 s ago, in run run-7" in status
    assert "stop: Bash 4 times in a row" in status
    agent = agents_of(here("hooks", "status", "--json").output)["claude"]
    assert agent["run"] == "claude:run-7"
    assert abs(float(str(agent["last_event"])) - time.time()) < 60


def test_codex_is_to_be_trusted(here) -> None:
    assert "trust" in here("hooks", "install", "codex").output


def test_what_nobody_has_tried_says_so(here) -> None:
    """Until its first event comes: that is the proof."""
    assert "nobody has tried them with Cursor itself" in here("hooks", "install", "cursor").output
    assert "by the documentation, tried by nobody; no event came yet" in here("hooks", "status").output


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
    assert "cannot run, so nothing is watched" in status.output


def test_shadow_and_stop_exclude_each_other(here) -> None:
    assert here("hooks", "install", "claude", "--stop", "--shadow").code == 2


def test_uninstall(here) -> None:
    here("hooks", "install", "opencode")
    assert (
        here("hooks", "uninstall", "opencode").output == "removed from ~/.config/opencode/plugin/ebbtide.js\n"
    )
    assert here("hooks", "uninstall", "opencode").output == "there were none\n"
