"""Hooks in settings files of others: put in, taken out, and never at the cost of what was there."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import ConfigError
from ebbtide.service.hooks.install.commented_json import changed, parsed
from ebbtide.service.hooks.install.hook_places import PLACES, is_ours
from ebbtide.service.hooks.install.hook_settings import (
    AGENTS,
    HookOptions,
    find_hooks,
    install_hooks,
    uninstall_hooks,
)

# Settings as others have them: other indents, other hooks for the same events, other characters, no newline.
OTHERS = {
    "empty": "{}",
    "tabs": '{\n\t"model": "opus",\n\t"env": {"A": "ä"}\n}',
    "hooks": """{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "PostToolBatch": [{"hooks": [{"type": "command", "command": "log.sh"}]}],
        "AfterTool": [{"matcher": "run_.*", "hooks": [{"type": "command", "command": "log.sh"}]}],
        "PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "fmt.sh"}]}],
        "Notification": []
    }
}
""",
    "versioned": '{ "version": 1, "hooks": {} }\n',
    "flat": """{
  "version": 1,
  "hooks": {
    "PostToolUse": [{"type": "command", "command": "log.sh"}],
    "Stop": []
  }
}
""",
}
JSON_AGENTS = list(PLACES)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def written(agent: str, text: str) -> Path:
    path = PLACES[agent].path(os.environ, None)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("agent", AGENTS)
def test_a_round_trip_from_nothing(agent: str, home: Path) -> None:
    """What was not there is not there afterwards."""
    before = sorted(home.rglob("*.js*"))
    path = install_hooks(agent, HookOptions(shadow=True))
    installed = find_hooks(agent)
    assert installed is not None
    assert (installed.path, installed.flags) == (path, ("--shadow",))
    assert uninstall_hooks(agent) == path
    assert uninstall_hooks(agent) is None
    assert find_hooks(agent) is None
    assert sorted(home.rglob("*.js*")) == before


@pytest.mark.parametrize("agent", JSON_AGENTS)
@pytest.mark.parametrize("name", OTHERS)
def test_a_round_trip_through_settings_of_others(agent: str, name: str) -> None:
    """Byte for byte, and what was there is kept meanwhile."""
    path = written(agent, OTHERS[name])
    path.chmod(0o640)
    install_hooks(agent, HookOptions())
    value, before = json.loads(path.read_text()), json.loads(OTHERS[name])
    assert {key: value[key] for key in before if key != "hooks"} == {
        key: item for key, item in before.items() if key != "hooks"
    }
    for event, groups in before.get("hooks", {}).items():
        assert value["hooks"][event][: len(groups)] == groups
    assert set(PLACES[agent].events) <= set(value["hooks"])
    assert path.stat().st_mode & 0o777 == 0o640
    uninstall_hooks(agent)
    assert path.read_text() == OTHERS[name]
    assert [item.name for item in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("agent", JSON_AGENTS)
def test_twice_is_once(agent: str) -> None:
    """And with other options, the latest hold."""
    path = written(agent, OTHERS["hooks"])
    install_hooks(agent, HookOptions())
    once = path.read_text()
    install_hooks(agent, HookOptions())
    assert path.read_text() == once
    install_hooks(agent, HookOptions(shadow=True))
    installed = find_hooks(agent)
    assert installed is not None
    assert installed.flags == ("--shadow",)
    assert path.read_text().count("hook_client.py") == len(PLACES[agent].events)
    uninstall_hooks(agent)
    assert path.read_text() == OTHERS["hooks"]


def test_what_others_change_later_stays() -> None:
    path = written("claude", OTHERS["hooks"])
    install_hooks("claude", HookOptions())
    value = json.loads(path.read_text())
    value["model"] = "opus"
    path.write_text(json.dumps(value))
    uninstall_hooks("claude")
    assert json.loads(path.read_text()) == {**json.loads(OTHERS["hooks"]), "model": "opus"}


@pytest.mark.parametrize("agent", JSON_AGENTS)
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1 "b": 2}',
        '{"a": 1} {}',
        "[]",
        "/* {}",
        "{a: 1}",
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        "\xff",
    ],
)
def test_a_broken_file_is_refused_and_left_alone(agent: str, text: str) -> None:
    path = written(agent, "")
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match="nothing was changed"):
        install_hooks(agent, HookOptions())
    assert path.read_bytes() == text.encode("latin-1")
    assert [item.name for item in path.parent.iterdir()] == [path.name]


COMMENTED = """\ufeff{
  // The model of the team.
  "model": "opus", /* not "sonnet" */
  "hooks": {
    "Stop": [ // one of ours
      {"hooks": [{"type": "command", "command": "say done"},]},
    ],
  },
}
"""


@pytest.mark.parametrize("agent", JSON_AGENTS)
def test_comments_trailing_commas_and_a_byte_order_mark_are_kept(agent: str) -> None:
    path = written(agent, COMMENTED)
    install_hooks(agent, HookOptions())
    text = path.read_text(encoding="utf-8")
    for kept in (
        "\ufeff{\n",
        "// The model of the team.",
        '/* not "sonnet" */',
        "// one of ours",
        "say done",
    ):
        assert text.count(kept) == 1
    assert text.count("hook_client.py") == len(PLACES[agent].events)
    install_hooks(agent, HookOptions())
    assert path.read_text(encoding="utf-8") == text
    path.write_text(text.replace("opus", "haiku"), encoding="utf-8")
    uninstall_hooks(agent)
    after = path.read_text(encoding="utf-8")
    assert "hook_client" not in after
    assert parsed(after.removeprefix("\ufeff")).value == {
        **parsed(COMMENTED.removeprefix("\ufeff")).value,
        "model": "haiku",
    }


@pytest.mark.parametrize("agent", JSON_AGENTS)
def test_the_ends_of_lines_are_kept(agent: str) -> None:
    """As Windows writes them, also where the file is changed in place afterwards."""
    before = '{\r\n  "theme": "dark",\r\n  "model": "opus"\r\n}\r\n'
    path = written(agent, "")
    path.write_bytes(before.encode())
    install_hooks(agent, HookOptions())
    assert b'"theme": "dark",\r\n' in path.read_bytes()
    uninstall_hooks(agent)
    assert path.read_bytes() == before.encode()


def test_a_plugin_of_somebody_else_is_neither_overwritten_nor_removed() -> None:
    install_hooks("opencode", HookOptions())
    installed = find_hooks("opencode")
    assert installed is not None
    installed.path.write_text("export default {}", encoding="utf-8")
    for change in (lambda: install_hooks("opencode", HookOptions()), lambda: uninstall_hooks("opencode")):
        with pytest.raises(ConfigError, match="rename it first"):
            change()
    assert installed.path.read_text(encoding="utf-8") == "export default {}"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.text(max_size=3), _VALUES, max_size=4)


@given(before=_OBJECTS, after=_OBJECTS, indent=st.sampled_from([None, 2, "\t"]))
def test_a_changed_text_stands_for_the_value(before: dict, after: dict, indent: int | str | None) -> None:
    """Whatever changed, and however it was written; what did not change leaves the text alone."""
    text = f"// first\n{json.dumps(before, indent=indent)} // last"
    new = changed(text, after)
    assert parsed(new).value == after
    assert new.startswith("// first\n")
    assert new.endswith("// last")
    assert changed(new, after) == new


def test_the_timeouts_are_in_units_of_the_agent() -> None:
    """Seconds, and for Gemini CLI milliseconds."""
    for agent, timeout in (("claude", 5), ("codex", 3), ("copilot", 5), ("cursor", 5), ("gemini", 5000)):
        value = json.loads(install_hooks(agent, HookOptions()).read_text())
        handlers = [
            handler
            for groups in value["hooks"].values()
            for group in groups
            for handler in group.get("hooks", [group])
        ]
        assert {handler["timeout"] for handler in handlers} == {timeout}
        assert all(handler["type"] == "command" and is_ours(handler["command"]) for handler in handlers)
        assert all(" -I -S " in handler["command"] for handler in handlers)


def test_the_status_line() -> None:
    path = install_hooks("claude", HookOptions(status_line=True))
    assert json.loads(path.read_text())["statusLine"]["command"].endswith(" statusline")
    uninstall_hooks("claude")
    assert not path.exists()
    text = '{"statusLine": {"type": "command", "command": "mine.sh"}}'
    path.write_text(text)
    with pytest.raises(ConfigError, match="status line already"):
        install_hooks("claude", HookOptions(status_line=True))
    assert path.read_text() == text


def test_what_an_agent_cannot_do_is_refused() -> None:
    for agent, title in (("codex", "Codex"), ("copilot", "Copilot"), ("cursor", "Cursor")):
        with pytest.raises(ConfigError, match=f"no hook of {title} can end a run"):
            install_hooks(agent, HookOptions(stops=True))
    with pytest.raises(ConfigError, match="Claude Code alone"):
        install_hooks("gemini", HookOptions(status_line=True))
    with pytest.raises(ConfigError, match="tells a hook of a compaction"):
        install_hooks("codex", HookOptions(decisions=True))


def test_decisions_are_kept_beside_other_options() -> None:
    path = install_hooks("claude", HookOptions(stops=True, decisions=True))
    assert "PreCompact" in json.loads(path.read_text())["hooks"]
    installed = find_hooks("claude")
    assert installed is not None
    assert installed.flags == ("--stop", "--decisions")


def test_a_project_has_its_own(tmp_path: Path) -> None:
    for agent in AGENTS:
        path = install_hooks(agent, HookOptions(), project=tmp_path / "shop")
        assert path.is_relative_to(tmp_path / "shop")
        assert find_hooks(agent) is None
        assert find_hooks(agent, project=tmp_path / "shop") is not None


def test_variables_move_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the agents themselves have it."""
    for agent, variable, name in (
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("copilot", "COPILOT_HOME", "hooks/ebbtide.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ):
        monkeypatch.setenv(variable, str(tmp_path / agent))
        assert install_hooks(agent, HookOptions()) == tmp_path / agent / name


@pytest.mark.parametrize("agent", AGENTS)
def test_a_program_that_is_gone_is_seen(agent: str, home: Path) -> None:
    """An environment that was deleted after its hooks were put in."""
    path = install_hooks(agent, HookOptions())
    installed = find_hooks(agent)
    assert installed is not None
    assert installed.absent is None
    path.write_text(path.read_text().replace(sys.executable, str(home / "gone" / "python")))
    installed = find_hooks(agent)
    assert installed is not None
    assert installed.absent == str(home / "gone" / "python")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """Settings in a folder of dotfiles."""
    target = tmp_path / "dotfiles.json"
    target.write_text(OTHERS["tabs"])
    path = PLACES["claude"].path(os.environ, None)
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    install_hooks("claude", HookOptions())
    assert path.is_symlink()
    assert "hook_client.py" in target.read_text()
    uninstall_hooks("claude")
    assert path.is_symlink()
    assert target.read_text() == OTHERS["tabs"]


def test_a_home_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and nothing is changed."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    for agent in AGENTS:
        with pytest.raises(ConfigError):
            install_hooks(agent, HookOptions())
