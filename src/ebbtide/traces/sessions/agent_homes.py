"""Homes of coding agents, in which they keep their sessions: one table, a row an agent.

Taken from the agents' own sources and documentation:

- Claude Code: https://code.claude.com/docs/en/claude-directory; that ``CLAUDE_CONFIG_DIR`` may name several
  folders, with commas between them, is a habit of the tools around it.
- Codex: ``codex-rs/rollout`` in https://github.com/openai/codex.
- Gemini CLI: ``packages/core/src/config/storage.ts`` and ``services/chatRecordingService.ts`` in
  https://github.com/google-gemini/gemini-cli.
- OpenCode: ``packages/opencode/src/storage`` in https://github.com/anomalyco/opencode.
- mini-swe-agent: ``minisweagent/run/mini.py`` in https://github.com/SWE-agent/mini-swe-agent.
- Copilot CLI: https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-config-dir-reference
- Qwen Code: ``packages/core/src/config/storage.ts`` in https://github.com/QwenLM/qwen-code.
- Kimi Code: https://moonshotai.github.io/kimi-code/en/configuration/data-locations
- Antigravity CLI: seen in the files of its users; nobody has written its folders down.
- pi: ``packages/coding-agent`` in https://github.com/earendil-works/pi.
- Droid: the parsers of https://github.com/ryoppippi/ccusage and https://github.com/junhoyeo/tokscale.
- Cursor, OpenClaw, iFlow, Hermes, Kiro CLI and Grok Build: the registry of agents in ``internal/parser`` of
  https://github.com/kenn-io/agentsview; Hermes also ``hermes_constants.py`` in
  https://github.com/NousResearch/hermes-agent.
- Cline and Roo Code: ``src/core/storage/disk.ts`` in https://github.com/cline/cline; newer sessions of Cline:
  ``sdk/packages/core/docs/messages-contract-v1.md`` there.
- Goose: ``crates/goose/src/session`` in https://github.com/block/goose.
- gptme: https://gptme.org/docs/config.html

aider is not in the table: it writes its history into the folder that it works in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class CodingAgent(StrEnum):
    """An agent whose sessions can be looked for."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    MINI = "mini"
    COPILOT = "copilot"
    PI = "pi"
    QWEN = "qwen"
    KIMI = "kimi"
    ANTIGRAVITY = "antigravity"
    CURSOR = "cursor"
    DROID = "droid"
    OPENCLAW = "openclaw"
    CLINE = "cline"
    ROO = "roo"
    GOOSE = "goose"
    GROK = "grok"
    HERMES = "hermes"
    IFLOW = "iflow"
    KIRO = "kiro"
    GPTME = "gptme"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPattern:
    """Files of sessions in a folder.

    Args:
        glob: Their paths below the folder; ``**`` stands for any number of folders.
        is_main: Whether they are sessions of their own, rather than of sub-agents.
        obstacle: Why they cannot be read, with what to do instead; empty where they can.
        is_database: Whether each is a database, with any number of sessions.
    """

    glob: str
    is_main: bool = True
    obstacle: str = ""
    is_database: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHome:
    """Home of an agent, in which it keeps its sessions.

    Args:
        agent: The agent.
        name: What people call it.
        variable: The variable that names another home; empty where there is none.
        is_list: Whether the variable may name several, with commas between them.
        homes: Where it looks without the variable; ``{home}``, ``{config}`` and ``{data}`` are the folders of
            the user, of settings and of data.
        folders: Below its home.
        patterns: Below those folders. Of files that differ only in their ending the first one counts.
    """

    agent: CodingAgent
    name: str
    variable: str = ""
    is_list: bool = False
    homes: tuple[str, ...]
    folders: tuple[str, ...] = ("",)
    patterns: tuple[SessionPattern, ...]


_OPENCODE = "sessions of OpenCode in files like this one cannot be read"
# Where editors that are built on VS Code keep what their extensions write.
_EDITORS = (
    *(
        f"{base}/{editor}/User/globalStorage"
        for editor in ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
        for base in ("{config}", "{home}/Library/Application Support", "{home}/AppData/Roaming")
    ),
    "{home}/.vscode-server/data/User/globalStorage",
)

AGENT_HOMES = (
    AgentHome(
        agent=CodingAgent.CLAUDE,
        name="Claude Code",
        variable="CLAUDE_CONFIG_DIR",
        is_list=True,
        homes=("{home}/.claude", "{config}/claude"),
        folders=("projects",),
        patterns=(
            SessionPattern(glob="*/*.jsonl"),
            SessionPattern(glob="*/*/subagents/**/agent-*.jsonl", is_main=False),
        ),
    ),
    AgentHome(
        agent=CodingAgent.CODEX,
        name="Codex",
        variable="CODEX_HOME",
        homes=("{home}/.codex",),
        folders=("sessions", "archived_sessions"),
        patterns=(
            SessionPattern(glob="**/rollout-*.jsonl"),
            SessionPattern(glob="**/rollout-*.jsonl.zst"),
        ),
    ),
    AgentHome(
        agent=CodingAgent.GEMINI,
        name="Gemini CLI",
        variable="GEMINI_CLI_HOME",  # stands for the folder of the user
        homes=("{home}",),
        folders=(".gemini/tmp",),
        patterns=(
            SessionPattern(glob="*/chats/session-*.jsonl"),
            SessionPattern(glob="*/chats/session-*.json"),
            SessionPattern(glob="*/chats/*/*.jsonl", is_main=False),
        ),
    ),
    AgentHome(
        agent=CodingAgent.OPENCODE,
        name="OpenCode",
        homes=("{data}/opencode",),
        patterns=(
            SessionPattern(glob="opencode*.db", is_database=True),
            SessionPattern(glob="storage/session/*/ses_*.json"),
            SessionPattern(glob="project/*/storage/session/info/*.json", obstacle=_OPENCODE),
        ),
    ),
    AgentHome(
        agent=CodingAgent.MINI,
        name="mini-swe-agent",
        variable="MSWEA_GLOBAL_CONFIG_DIR",
        homes=("{config}/mini-swe-agent", "{home}/Library/Application Support/mini-swe-agent"),
        patterns=(SessionPattern(glob="last_mini_run.traj.json"),),
    ),
    AgentHome(
        agent=CodingAgent.COPILOT,
        name="Copilot CLI",
        variable="COPILOT_HOME",
        homes=("{home}/.copilot",),
        folders=("session-state",),
        patterns=(SessionPattern(glob="*/events.jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.PI,
        name="pi",
        variable="PI_CODING_AGENT_DIR",
        homes=("{home}/.pi/agent",),
        folders=("sessions",),
        patterns=(SessionPattern(glob="*/*.jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.QWEN,
        name="Qwen Code",
        variable="QWEN_HOME",
        homes=("{home}/.qwen",),
        folders=("projects",),
        patterns=(
            SessionPattern(glob="*/chats/*.jsonl"),
            SessionPattern(glob="*/subagents/*/agent-*.jsonl", is_main=False),
        ),
    ),
    AgentHome(
        agent=CodingAgent.KIMI,
        name="Kimi Code",
        variable="KIMI_CODE_HOME",
        homes=("{home}/.kimi-code",),
        folders=("sessions",),
        patterns=(
            SessionPattern(glob="*/*/agents/main/wire.jsonl"),
            SessionPattern(glob="*/*/agents/agent-*/wire.jsonl", is_main=False),
        ),
    ),
    AgentHome(
        agent=CodingAgent.ANTIGRAVITY,
        name="Antigravity CLI",
        homes=("{home}/.gemini/antigravity-cli",),
        folders=("brain",),
        patterns=(SessionPattern(glob="*/.system_generated/logs/transcript_full.jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.CURSOR,
        name="Cursor",
        homes=("{home}/.cursor",),
        folders=("projects",),
        patterns=(
            SessionPattern(glob="*/agent-transcripts/*/subagents/*.jsonl", is_main=False),
            SessionPattern(glob="*/agent-transcripts/**/*.jsonl"),
        ),
    ),
    AgentHome(
        agent=CodingAgent.DROID,
        name="Droid",
        homes=("{home}/.factory",),
        folders=("sessions",),
        patterns=(SessionPattern(glob="*/*.jsonl"), SessionPattern(glob="*.jsonl")),
    ),
    AgentHome(
        agent=CodingAgent.OPENCLAW,
        name="OpenClaw",
        variable="OPENCLAW_STATE_DIR",
        homes=("{home}/.openclaw", "{home}/.clawdbot"),
        folders=("agents",),
        # Ids end in a digit or a letter up to f; ``ID.trajectory.jsonl`` beside them is no session.
        patterns=(SessionPattern(glob="*/sessions/*[0-9a-f].jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.CLINE,
        name="Cline",
        homes=("{home}/.cline/data", *(f"{editor}/saoudrizwan.claude-dev" for editor in _EDITORS)),
        patterns=(
            SessionPattern(glob="tasks/*/api_conversation_history.json"),
            SessionPattern(glob="sessions/*/*.messages.json"),
        ),
    ),
    AgentHome(
        agent=CodingAgent.ROO,
        name="Roo Code",
        homes=tuple(f"{editor}/rooveterinaryinc.roo-cline" for editor in _EDITORS),
        folders=("tasks",),
        patterns=(SessionPattern(glob="*/api_conversation_history.json"),),
    ),
    AgentHome(
        agent=CodingAgent.GOOSE,
        name="Goose",
        homes=("{data}/goose", "{home}/AppData/Roaming/Block/goose/data"),
        folders=("sessions",),
        patterns=(
            SessionPattern(glob="sessions.db", is_database=True),
            SessionPattern(glob="*.jsonl"),
        ),
    ),
    AgentHome(
        agent=CodingAgent.GROK,
        name="Grok Build",
        variable="GROK_HOME",
        homes=("{home}/.grok",),
        folders=("sessions",),
        patterns=(SessionPattern(glob="*/*/chat_history.jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.HERMES,
        name="Hermes",
        variable="HERMES_HOME",
        homes=("{home}/.hermes",),
        patterns=(
            SessionPattern(glob="state.db", is_database=True),
            SessionPattern(glob="sessions/session_*.json"),
            SessionPattern(glob="sessions/*.jsonl"),
        ),
    ),
    AgentHome(
        agent=CodingAgent.IFLOW,
        name="iFlow",
        homes=("{home}/.iflow",),
        folders=("projects",),
        patterns=(SessionPattern(glob="*/session-*.jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.KIRO,
        name="Kiro CLI",
        variable="KIRO_HOME",
        homes=("{home}/.kiro",),
        folders=("sessions/cli",),
        patterns=(SessionPattern(glob="*.jsonl"),),
    ),
    AgentHome(
        agent=CodingAgent.GPTME,
        name="gptme",
        variable="GPTME_LOGS_HOME",
        homes=("{data}/gptme/logs", "{home}/Library/Application Support/gptme/logs"),
        patterns=(SessionPattern(glob="*/conversation.jsonl"),),
    ),
)


def folders_of(home: AgentHome, environment: Mapping[str, str]) -> list[str]:
    """The folders that an agent keeps sessions in, whether they are there or not."""
    value = environment.get(home.variable, "")
    homes = [part.strip() for part in (value.split(",") if home.is_list else [value])]
    user = user_folder()
    places = {
        "home": user,
        "config": _base(environment, "XDG_CONFIG_HOME") or f"{user}/.config",
        "data": _base(environment, "XDG_DATA_HOME") or f"{user}/.local/share",
    }
    homes = [f"{user}{part[1:]}" if part[:2] in ("~", "~/") else part for part in homes if part]
    homes = homes or [form.format_map(places) for form in home.homes]
    return [str(Path(place, name).absolute()) for place in homes for name in home.folders]


def user_folder() -> str:
    """The folder of the user; ``~`` where there is none."""
    return os.path.expanduser("~")  # noqa: PTH111 - Path refuses where there is none


def _base(environment: Mapping[str, str], name: str) -> str:
    """A folder by the XDG specification, in which a relative path counts for nothing."""
    value = environment.get(name, "")
    return value if Path(value).is_absolute() else ""
