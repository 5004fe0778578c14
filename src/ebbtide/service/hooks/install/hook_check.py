"""Fires the hooks that are installed: a known loop goes through each, and the note has to come back.

Only those in the settings of the user are run. A project names its own programs, and a copy of one that came
from somewhere else is not to be started by looking at it.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ebbtide.adapters.hooks.codecs import CODECS
from ebbtide.codec import Record
from ebbtide.divergence.self_test import Wiring
from ebbtide.errors import EbbtideError, error_text
from ebbtide.events.identity import MARK
from ebbtide.service.hooks.daemon import LocalService
from ebbtide.service.hooks.hook_service import HookService
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.service.hooks.install.hook_places import PLACES
from ebbtide.service.hooks.install.hook_settings import AGENTS, find_hooks
from ebbtide.service.hooks.state_folder import StateFolder, read_address
from ebbtide.supervision.runs.run_store import SQLiteRunStore

_LONG: Final = 8  # events: twice what a note needs, where one or the other is late
_START_S: Final = 20.0
_COMMAND_S: Final = 10.0
_UNTRIED: Final = "by the documentation: the agent itself was not tried"
_SILENT: Final = "--shadow"  # it would be told nothing, as the person wants it


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCheck(Record):
    """The hooks of one agent.

    Args:
        event: The event that it came with; None where it did not.
        problem: Why it did not, where that is known; what the note does not prove.
    """

    agent: str
    path: str
    wiring: Wiring
    event: int | None = None
    problem: str | None = None


def check_hooks() -> tuple[HookCheck, ...]:
    """Fires the hooks of each agent in the settings of the user, against a service of its own."""
    installed = [(agent, hooks) for agent in AGENTS if (hooks := _found(agent)) is not None]
    if not installed:
        return ()
    with TemporaryDirectory(prefix="ebbtide-") as folder, _service(Path(folder)) as environment:
        return tuple(
            hooks if isinstance(hooks, HookCheck) else _fired(agent, *hooks, environment)
            for agent, hooks in installed
        )


def _found(agent: str) -> tuple[str, tuple[str, ...]] | HookCheck | None:
    """Returns the settings and the command of hooks, or why they cannot work; None where there are none."""
    try:
        hooks = find_hooks(agent)
    except EbbtideError as error:
        return HookCheck(agent=agent, path="", wiring=Wiring.BROKEN, problem=str(error))
    if hooks is None:
        return None
    path = str(hooks.path)
    if hooks.absent is not None:
        return HookCheck(agent=agent, path=path, wiring=Wiring.BROKEN, problem=f"{hooks.absent} is gone")
    return path, hooks.command


def _fired(agent: str, path: str, command: tuple[str, ...], environment: dict[str, str]) -> HookCheck:
    words = [word for word in command if word != _SILENT]
    for number in range(_LONG):
        event = json.dumps(CODECS[agent].known_call(number)).encode()
        try:
            done = subprocess.run(  # noqa: S603 - the command that the person has installed
                words, input=event, capture_output=True, check=False, timeout=_COMMAND_S, env=environment
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return HookCheck(agent=agent, path=path, wiring=Wiring.BROKEN, problem=error_text(error))
        if MARK.strip().encode() in done.stdout:
            place = PLACES.get(agent)
            problem = None if place is None or place.is_tried else _UNTRIED
            return HookCheck(agent=agent, path=path, wiring=Wiring.FIRES, event=number + 1, problem=problem)
    return HookCheck(agent=agent, path=path, wiring=Wiring.SILENT)


@contextmanager
def _service(folder: Path) -> Iterator[dict[str, str]]:
    """Runs a service beside that of the user; gives the variables that lead a hook to it."""
    state = StateFolder(folder / "state")
    service = LocalService(
        state, HookService(HookStore(SQLiteRunStore(state.runs), state.sessions)), idle_s=None
    )
    thread = threading.Thread(target=service.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + _START_S
    while read_address(state.path) is None and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        log = str(folder / "decisions.db")
        yield {**os.environ, "EBBTIDE_STATE": str(state.path), "EBBTIDE_LOG": log}
    finally:
        service.end()
        thread.join(_START_S)
