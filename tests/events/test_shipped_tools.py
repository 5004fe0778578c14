"""The declarations that come with the package."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ebbtide
from ebbtide.events.effect import Effect
from ebbtide.events.shipped_tools import FAMILIES, declarations, shipped
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy, bare_name


def test_every_file_is_read() -> None:
    """No file lies beside the list of families unread."""
    folder = Path(ebbtide.__file__).parent / "events" / "tools"
    assert {path.stem for path in folder.glob("*.toml")} == {*FAMILIES, "shell"}
    assert all(re.compile(pattern) for _, policy in all_declarations() for pattern in policy.noise)


def all_declarations() -> list[tuple[str, ToolPolicy]]:
    return [item for family in FAMILIES for item in declarations(family)]


def test_a_name_means_one_thing() -> None:
    """No two declarations of one name disagree about what it does."""
    meanings: dict[str, ToolPolicy] = {}
    for name, policy in all_declarations():
        if policy.ends and not policy.says_effect:
            continue  # it says only how a run ends with it
        meaning = replace(policy, noise=(), failure=(), ends={})
        assert meanings.setdefault(name, meaning) == meaning, name


@pytest.mark.parametrize(
    ("name", "args", "effect"),
    [
        ("Bash", {"command": "gh run watch 5"}, Effect.WAIT),
        ("Bash", {"command": "sed -i s/a/b/ f"}, Effect.CHANGE),
        ("Bash", {"command": "python a.py"}, None),
        ("Bash", None, None),
        ("bash", "git status", Effect.READ),
        ("exec_command", '{"cmd": "ls"}', Effect.READ),
        ("shell", {"command": ["bash", "-lc", "rm x"]}, Effect.CHANGE),
        ("write_stdin", {"session_id": 1, "chars": ""}, Effect.POLL),
        ("write_stdin", {"session_id": 1}, Effect.POLL),
        ("write_stdin", {"session_id": 1, "chars": "q"}, Effect.CHANGE),
        ("execute_bash", {"command": ""}, Effect.POLL),
        ("str_replace_editor", {"command": "view", "path": "a"}, Effect.READ),
        ("str_replace_editor", {"command": "insert", "path": "a"}, Effect.CHANGE),
        ("mcp__claude-in-chrome__computer", {"action": "screenshot"}, Effect.READ),
        ("mcp_github_create_issue", {}, Effect.CHANGE),
        ("functions.exec_command", {"cmd": "sleep 5"}, Effect.WAIT),
        ("mcp__postgres__query", {"sql": "SELECT 1"}, Effect.READ),
        ("TodoWrite", {"todos": []}, Effect.ACKNOWLEDGE),
        ("TaskOutput", {"block": False}, Effect.POLL),
        ("TaskOutput", {"block": True}, Effect.WAIT),
    ],
)
def test_effects_by_argument(name: str, args: Any, effect: Effect | None) -> None:
    """What a call does depends on its arguments, in whatever form they were recorded."""
    policy = shipped().get(name)
    assert policy is not None
    assert policy.effect_of(args) is effect


@pytest.mark.parametrize(
    ("args", "effect"),
    [
        ({}, None),
        ({"path": "a"}, None),
        ({"command": "ls"}, Effect.READ),
        ({"sql": "DELETE FROM a"}, Effect.CHANGE),
    ],
)
def test_an_unknown_tool_is_not_declared(args: Any, effect: Effect | None) -> None:
    """Nothing is guessed from a name; a command or a statement among the arguments says what it does."""
    policy = shipped().get("delete_everything")
    assert policy is not None
    assert policy.effect_of(args) is effect


def test_noise_is_taken_out_and_failures_are_seen() -> None:
    """What an agent's harness adds to an answer says nothing, and its errors are errors."""
    policy = shipped().get("exec_command")
    assert policy is not None
    answer = "Chunk ID: {}\nWall time: {} seconds\nProcess exited with code 1\nOutput:\nno"
    assert policy.answer(answer.format("a", 0.1)) == policy.answer(answer.format("b", 2.5))
    assert policy.failed(answer)
    assert not policy.failed(answer.replace("code 1", "code 0"))


def test_the_users_table_comes_first() -> None:
    """A user's declaration holds, and what it is silent about is taken from the shipped one."""
    own = ToolPolicies.from_dict({"Bash": {"repeats_at_least": 9}, "Rea?": {"effect": "change"}})
    policies = own.over(shipped())
    bash, read, glob = policies.get("Bash"), policies.get("Read"), policies.get("Glob")
    assert bash is not None
    assert read is not None
    assert glob is not None
    assert (bash.repeats_at_least, bash.effect_of({"command": "ls"})) == (9, Effect.READ)
    assert (read.effect, read.source, glob.effect) == (Effect.CHANGE, "your file", Effect.READ)


@pytest.mark.parametrize(
    ("policy", "args", "effect"),
    [
        ({"http": "method"}, {"method": "post"}, Effect.CHANGE),
        ({"http": "method"}, {}, Effect.READ),
        ({"by": {"argument": "a", "read": ["x"]}, "effect": "change"}, {"a": "y"}, Effect.CHANGE),
        ({"command": "c", "effect": "change"}, {}, Effect.CHANGE),
    ],
)
def test_declarations_by_argument(policy: dict[str, Any], args: object, effect: Effect) -> None:
    """A user can declare by argument, too."""
    declared = ToolPolicies.from_dict({"t": policy}).get("t")
    assert declared is not None
    assert declared.effect_of(args) is effect


def test_bare_names() -> None:
    """A name with several separators loses all that stands before the last."""
    assert bare_name("server/tool.call") == "call"
