"""The sessions of an agent that is watched, and the command lines that ask for an earlier one."""

from pathlib import Path

import pytest

from ebbtide.cli.wrapper.session_finder import SessionBaseline, SessionFinder

RESUMING = [
    "claude -c",
    "claude -p --resume=0000 go",
    "codex resume --last",
    "codex exec resume 0000 go",
    "codex -m gpt-5 fork",
    "gemini -r 5",
    "opencode run -s ses_1 go",
    "copilot --session-id 0000",
    "pi -c",
    "qwen -c",
    "kimi -C",
    "cursor-agent --resume=0000",
    "droid -r",
    "goose session --resume",
    "grok -c",
    "hermes --continue",
    "iflow -c",
    "kiro-cli chat --resume",
    "gptme -r",
    "openclaw agent --session-id 0000",
    "npx some-agent --continue",
    "npx codex resume",
]
FRESH = [
    "claude -p continue",
    "claude -p resume",
    "claude -p -- --continue",
    "codex -c key=value",
    "codex -c resume=1",
    "codex --config fork=true exec go",
    "codex exec continue",
    "codex exec -- resume",
    "gemini -c",
    "copilot -c",
    "npx codex -c key=value",
    "npx some-agent",
]


@pytest.mark.parametrize("line", RESUMING)
def test_an_earlier_session_is_asked_for(line: str) -> None:
    """By an option or a command of this agent."""
    assert SessionBaseline(command=tuple(line.split()), folders=(), files={}).resumes


@pytest.mark.parametrize("line", FRESH)
def test_the_same_word_is_something_else(line: str) -> None:
    """For another agent, as a value, or as a prompt."""
    assert not SessionBaseline(command=tuple(line.split()), folders=(), files={}).resumes


def test_an_old_session_of_codex_is_unpacked(tmp_path: Path) -> None:
    """One that goes on has a past, and one that is packed meanwhile is no session of the agent."""
    folder = tmp_path / ".codex/sessions/2026/11/01"
    folder.mkdir(parents=True)
    resumed = folder / "rollout-2026-11-01T10-00-00-a.jsonl"
    cold = folder / "rollout-2026-11-01T10-00-00-b.jsonl"
    resumed.with_suffix(".jsonl.zst").write_bytes(b"packed")
    cold.write_text("{}\n")
    environment = {"CODEX_HOME": str(tmp_path / ".codex")}
    finder = SessionFinder(SessionBaseline.of(["codex", "resume"], environment), environment)
    assert finder.look() == []
    resumed.write_text("{}\n")
    cold.unlink()
    cold.with_suffix(".jsonl.zst").write_bytes(b"packed")
    assert [(item.file.path, item.is_new) for item in finder.look()] == [(str(resumed), False)]
