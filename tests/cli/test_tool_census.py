"""`ebbtide doctor --trace`."""

import json
from pathlib import Path

import pytest

from ebbtide.cli.runs.tool_census import show
from ebbtide.events.shipped_tools import shipped
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.supervision.run_options import RunOptions

CALLS = [
    {"kind": "tool", "name": "Bash", "args": {"command": "ls"}, "result": "a"},
    {"kind": "tool", "name": "Bash", "args": {"command": "python a.py"}, "result": "b"},
    {"kind": "tool", "name": "job_status", "args": {"id": 1}},
]


@pytest.fixture(name="trace")
def _trace(tmp_path: Path) -> str:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in CALLS), encoding="utf-8")
    return str(path)


def test_each_tool_is_shown_with_what_is_known(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a tool; an unknown one comes with a declaration to copy."""
    show(trace, RunOptions(), as_json=False)
    printed = capsys.readouterr().out
    assert "1 read, 1 unknown (shipped: claude_code); most often unknown: python" in printed
    assert "1 unknown; 1 call without answer" in printed
    assert "1 tool is unknown" in printed
    assert '[tools."job_status"]' in printed


def test_json_and_the_users_declaration(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for machines; what the user declared is known from there."""
    tools = ToolPolicies.from_dict({"*_status": {"effect": "poll"}}).over(shipped())
    show(trace, RunOptions(tools=tools), as_json=True)
    wire = json.loads(capsys.readouterr().out)
    assert wire["undeclared"] == []
    assert wire["tools"][1]["effects"] == {"poll": 1}
    assert wire["tools"][1]["source"] == "your file"


def test_a_declared_tool_that_is_nearly_one_of_the_run(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named with the one that was meant; a pattern that fits, and a tool like none, are not."""
    table = {name: {"effect": "poll"} for name in ("job_staus", "deploy", "B*sh")}
    show(trace, RunOptions(tools=ToolPolicies.from_dict(table)), as_json=False)
    printed = capsys.readouterr().out
    assert "job_staus is declared and never called; did you mean job_status?" in printed
    assert printed.count("never called") == 1
