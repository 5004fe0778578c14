"""The plugin for OpenCode, which runs plugins in its own process and no commands."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from ebbtide.errors import ConfigError
from ebbtide.regular_file import refuse_special
from ebbtide.service.hooks.install.hook_places import CLIENT
from ebbtide.traces.sessions.agent_homes import user_folder

_SOURCE: Final = Path(__file__).with_name("opencode_plugin.js")
_NAME: Final = "ebbtide.js"
_FLAGS: Final = re.compile(r'^const flags = "([^"]*)"', re.MULTILINE)
_SPAWN: Final = re.compile(r'spawn\("(.*?)", \["-I", "-S", "(.*?)", "start"\]')


def path_of(project: Path | None) -> Path:
    """The file of the plugin.

    Args:
        project: The folder of a project; None takes the settings of the user.
    """
    if project is not None:
        return project / ".opencode" / "plugin" / _NAME
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path(user_folder()) / ".config") / "opencode" / "plugin" / _NAME


def install(flags: tuple[str, ...], project: Path | None) -> Path:
    """Write the plugin; its file.

    Raises:
        ConfigError: It cannot be written, or a file of somebody else has its name.
    """
    path = path_of(project)
    _require_ours(path)
    words = {
        "FLAGS": "&".join(f"{flag.strip('-')}=1" for flag in flags),
        "PYTHON": sys.executable,
        "CLIENT": str(CLIENT),
    }
    text = _SOURCE.read_text(encoding="utf-8")
    for name, word in words.items():
        text = text.replace(f'"{name}"', json.dumps(word))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def uninstall(project: Path | None) -> Path | None:
    """Take the plugin away; its file, or None where there was none.

    Raises:
        ConfigError: It cannot be removed, or is somebody else's.
    """
    path = path_of(project)
    if not path.exists():
        return None
    _require_ours(path)
    try:
        path.unlink()
    except OSError as error:
        raise ConfigError(f"{path} cannot be removed: {error.strerror or error}") from error
    with suppress(OSError):
        path.parent.rmdir()
    return path


def _require_ours(path: Path) -> None:
    try:
        refuse_special(path)
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    if CLIENT.name not in text:
        raise ConfigError(f"{path} is not Ebbtide's plugin: rename it first; nothing was changed")


def parts_of(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options of an installed plugin, and the programs that it runs."""
    text = path.read_text(encoding="utf-8")
    words, spawn = _FLAGS.search(text), _SPAWN.search(text)
    flags = tuple(f"--{word.removesuffix('=1')}" for word in words[1].split("&") if word) if words else ()
    return flags, tuple(json.loads(f'"{program}"') for program in spawn.groups()) if spawn else ()
