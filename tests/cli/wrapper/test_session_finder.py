"""The command lines that ask for an earlier session."""

import pytest

from ebbtide.cli.wrapper.session_finder import SessionBaseline

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
