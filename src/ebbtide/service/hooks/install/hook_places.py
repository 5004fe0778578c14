"""Places of the hooks of coding agents: one table, a row an agent.

All run a command. Claude Code could post to an address instead, which takes less of the processor. But the
port may change, the service ends when there is nothing to do and nobody would start it again, and the
settings would hold a token: in those of a project everybody would get it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ebbtide.adapters.hooks.codecs import CODECS
from ebbtide.service.hooks import hook_client
from ebbtide.traces.sessions.agent_homes import user_folder

CLIENT: Final = Path(hook_client.__file__)
_SECONDS: Final = 5
_CODEX_SECONDS: Final = 3  # it clamps the end of a session to that, with a warning


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlace:
    """The way in which an agent takes a command.

    Args:
        file: Its settings below its folder.
        folder: Its folder, below that of the user or of the project.
        variable: The variable that names another folder for the user; empty where there is none.
        is_base: Whether the variable names the folder above.
        tools: Patterns of tools, by the events that are taken for those alone.
        timeout: How long it waits for the command, in its own unit.
        advice: What the person has to do besides.
        project_folder: Its folder below that of a project, where it has another name there.
        is_flat: Whether a command stands in the list of its event by itself, rather than in a group.
        heading: What a file of hooks states besides them.
        is_tried: Whether they were tried with the agent itself, rather than read in its documentation.
    """

    agent: str
    file: str
    folder: str
    variable: str
    is_base: bool = False
    timeout: int
    advice: str = ""
    project_folder: str = ""
    is_flat: bool = False
    heading: Mapping[str, Any] = field(default_factory=dict)
    is_tried: bool = True
    tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def events(self) -> Mapping[str, str]:
        """The events that are taken, each with a pattern of the tools that it is about, or ""."""
        return {event: self.tools.get(event, "") for event in CODECS[self.agent].kinds}

    def path(self, environment: Mapping[str, str], project: Path | None) -> Path:
        """The file.

        Args:
            project: The folder of the project; None takes the settings of the user.
        """
        if project is not None:
            return project / (self.project_folder or self.folder) / self.file
        own = environment.get(self.variable, "").partition(",")[0].strip()
        if own and not self.is_base:
            return Path(own) / self.file
        return Path(own or user_folder()) / self.folder / self.file


PLACES: Final[Mapping[str, HookPlace]] = {
    place.agent: place
    for place in (
        HookPlace(
            agent="claude",
            folder=".claude",
            file="settings.json",
            variable="CLAUDE_CONFIG_DIR",
            timeout=_SECONDS,
            tools={"PreToolUse": "Agent|Task"},
        ),
        HookPlace(
            agent="codex",
            folder=".codex",
            file="hooks.json",
            variable="CODEX_HOME",
            timeout=_CODEX_SECONDS,
            advice="Codex asks once whether you trust these hooks: say yes, or they do not run.",
        ),
        HookPlace(
            agent="gemini",
            folder=".gemini",
            file="settings.json",
            variable="GEMINI_CLI_HOME",
            is_base=True,
            timeout=_SECONDS * 1000,
        ),
        HookPlace(
            agent="copilot",
            folder=".copilot",
            project_folder=".github",
            file="hooks/ebbtide.json",
            variable="COPILOT_HOME",
            timeout=_SECONDS,
            is_flat=True,
            heading={"version": 1},
        ),
        HookPlace(
            agent="cursor",
            folder=".cursor",
            file="hooks.json",
            variable="",
            timeout=_SECONDS,
            advice="These hooks follow Cursor's documentation: nobody has tried them with Cursor itself.",
            is_flat=True,
            heading={"version": 1},
            is_tried=False,
        ),
    )
}


def client_command(*arguments: str) -> str:
    """The command line of the client."""
    words = [sys.executable, "-I", "-S", str(CLIENT), *arguments]
    return shlex.join(words) if os.name == "posix" else subprocess.list2cmdline(words)


def words_of(command: str) -> list[str]:
    """The words of a command line; none where it cannot be taken apart."""
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:
        return []
    return [word.strip('"') for word in words]


def is_ours(command: object) -> bool:
    """True if a command is that of the client, of this installation or another one."""
    return isinstance(command, str) and CLIENT.name in command and "ebbtide" in command
