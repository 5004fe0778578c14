"""`ebbtide hooks ...`: coding agents on this machine, watched while they work."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ebbtide.cli.declaration import STOP, Argument, CommandGroup, Idle, Option
from ebbtide.cli.result import Result
from ebbtide.cli.table import Table
from ebbtide.cli.terminal import Line, short_path
from ebbtide.errors import ConfigError, StoreError
from ebbtide.service.hooks.daemon import serve_local
from ebbtide.service.hooks.hook_store import latest_events
from ebbtide.service.hooks.install.hook_places import PLACES
from ebbtide.service.hooks.install.hook_settings import (
    HookOptions,
    InstalledHooks,
    find_hooks,
    install_hooks,
    uninstall_hooks,
)
from ebbtide.service.hooks.state_folder import StateFolder, ask_status
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import RunStanding, SQLiteRunStore

hooks = CommandGroup(name="hooks", help="Watch coding agents through their hooks.")


class HookAgent(StrEnum):
    """A coding agent that has hooks."""

    CLAUDE = "claude"
    CODEX = "codex"
    COPILOT = "copilot"
    CURSOR = "cursor"
    GEMINI = "gemini"
    OPENCODE = "opencode"


Agent = Annotated[
    HookAgent, Argument(metavar="AGENT", help="claude, codex, copilot, cursor, gemini or opencode.")
]
InProject = Annotated[
    bool,
    Option("--project/--global", help="Install for the project in this folder, or for all your projects."),
]


@hooks.command()
def install(
    agent: Agent,
    in_project: InProject = False,
    shadow: Annotated[bool, Option("--shadow", help="Record only; the agent receives no messages.")] = False,
    stop: Annotated[bool, Option("--stop", help=STOP)] = False,
    with_statusline: Annotated[
        bool, Option("--statusline", help="Show cost and verdict in the Claude Code status line.")
    ] = False,
    decisions: Annotated[
        bool,
        Option("--decisions", help="Remind Claude Code of the decisions after its context is compacted."),
    ] = False,
) -> Result:
    """Add hooks to the settings of a coding agent.

    AGENT is claude, codex, copilot, cursor, gemini or opencode. What others have put there stays; a copy of
    the file is kept beside it. Saying it again changes the options.
    """
    if shadow and stop:
        raise ConfigError("--shadow and --stop cannot be combined: --shadow only records")
    options = HookOptions(shadow=shadow, stops=stop, status_line=with_statusline, decisions=decisions)
    path = install_hooks(agent.value, options, project=Path.cwd() if in_project else None)
    place = PLACES.get(agent.value)
    lines = [Line.safe(f"installed in {short_path(str(path))}")]
    if place is not None and place.advice:
        lines.append(Line(place.advice))
    lines.append(Line("Restart the agent, then run `ebbtide hooks status`."))
    wire = {"agent": agent.value, "path": str(path), "flags": list(options.flags)}
    return Result(lambda: wire, lambda _: lines)


@hooks.command()
def uninstall(agent: Agent, in_project: InProject = False) -> Result:
    """Remove the hooks from the settings of a coding agent.

    AGENT is claude, codex, copilot, cursor, gemini or opencode. A file that nobody else has changed is as it
    was before.
    """
    path = uninstall_hooks(agent.value, project=Path.cwd() if in_project else None)
    line = "there were no hooks" if path is None else f"removed from {short_path(str(path))}"
    wire = {"agent": agent.value, "path": None if path is None else str(path)}
    return Result(lambda: wire, lambda _: [Line.safe(line)])


@hooks.command()
def status() -> Result:
    """Show which agents are watched, and the last event of each.

    A recent event proves that the hooks of an agent work.
    """
    report = HookStatus.now()
    return Result(report.to_dict, partial(_status_lines, report))


@hooks.command("serve")
def serve_hooks(
    idle: Idle = None,
) -> Result:
    """Run the service that answers the hooks of coding agents.

    The hooks start it themselves, and it ends after half an hour without an event. There is one for each
    user: where one runs, this says so.
    """
    folder = StateFolder()
    end = serve_local(folder) if idle is None else serve_local(folder, idle_s=idle)
    if end.other is not None:
        line = f"the service is running already, as process {end.other.pid or 'unknown'}"
    else:
        line = f"the service has ended after {end.seconds:.0f} s"
    wire = {"pid": None if end.other is None else end.other.pid, "seconds": round(end.seconds)}
    return Result(lambda: wire, lambda _: [Line(line)])


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """The state of the hooks of one agent.

    Args:
        agent: The word for it.
        hooks: Where its hooks are: of the user, and of the project.
        problem: Why a settings file cannot be read; None where all can.
        latest: When its last event came, and of which run; None where none did.
        standing: How that run stood when it was last written; None where it was not.
    """

    agent: str
    hooks: tuple[InstalledHooks, ...]
    problem: str | None
    latest: tuple[float, str] | None
    standing: RunStanding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStatus:
    """The state of the hooks of all agents.

    Args:
        agents: One after the other.
        folder: The state of the service.
        problem: Why the state cannot be written; None where it can.
        service: What the service says of itself; None where none answers.
    """

    agents: tuple[AgentStatus, ...]
    folder: Path | None
    problem: str | None
    service: dict[str, Any] | None

    @classmethod
    def now(cls) -> HookStatus:
        """Looks at all agents and at the service, as the project in this folder sees them."""
        folder, problem = None, None
        standings: dict[str, RunStanding] = {}
        try:
            state = StateFolder()
            folder = state.path
            latest = latest_events(state.sessions)
            if state.runs.exists():
                standings = {run.run_id: run for run in SQLiteRunStore(state.runs).standings()}
        except StoreError as error:
            latest, problem = {}, str(error)
        service = ask_status()
        if service is not None:
            latest |= {agent: (when, run) for agent, (when, run) in service.get("latest", {}).items()}
        return cls(
            agents=tuple(
                _agent_status(agent.value, latest.get(agent.value), standings) for agent in HookAgent
            ),
            folder=folder,
            problem=problem,
            service=service,
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "service": self.service,
            "folder": None if self.folder is None else str(self.folder),
            "problem": self.problem,
            "agents": [
                {
                    "agent": item.agent,
                    "hooks": [
                        {"path": str(place.path), "flags": list(place.flags), "absent": place.absent}
                        for place in item.hooks
                    ],
                    "problem": item.problem,
                    "last_event": None if item.latest is None else item.latest[0],
                    "run": None if item.latest is None else item.latest[1],
                    "standing": None if item.standing is None else item.standing.to_dict(),
                }
                for item in self.agents
            ],
        }


def _status_lines(report: HookStatus, _width: int) -> list[Line]:
    """Returns a few lines an agent."""
    table = Table("", "", broken=())
    table.add(Line("service  "), _service_line(report))
    for item in report.agents:
        lines = [_hooks_text(item)]
        lines += [" ".join([short_path(str(place.path)), *place.flags]) for place in item.hooks]
        if item.hooks and item.standing is not None and item.standing.action is not Action.ALLOW:
            lines.append(f"{item.standing.action.value}: {item.standing.reason}")
        if item.problem is not None:
            lines.append(item.problem)
        table.add(item.agent, [Line.safe(line) for line in lines])
    return table.lines(0, header=False)


def _hooks_text(item: AgentStatus) -> str:
    if not item.hooks:
        return "no hooks"
    absent = next((place.absent for place in item.hooks if place.absent is not None), None)
    if absent is not None:
        return f"installed, but {absent} is missing: install again"
    if item.latest is None:
        place = PLACES.get(item.agent)
        tried = "" if place is None or place.is_tried else " by the documentation, tried by nobody"
        return f"installed{tried}; no event has arrived yet, so the hooks are unproven"
    when, run = item.latest
    return f"installed; the last event arrived {_ago(when)}, in run {run.partition(':')[2]}"


def _service_line(report: HookStatus) -> str:
    if report.problem is not None:
        return f"cannot run, so no agent is watched: {report.problem}"
    if report.service is None:
        return "not running; the next event starts it"
    faults = report.service.get("faults") or {}
    since = datetime.fromtimestamp(report.service["since"]).astimezone()
    line = f"running since {since:%H:%M} as process {report.service['pid']}"
    if not faults:
        return f"{line}, no faults"
    return f"{line}, {sum(faults.values())} faults, the latest: {report.service['last_fault']}"


def _ago(when: float) -> str:
    seconds = max(0.0, time.time() - when)
    if seconds < 90:
        return f"{seconds:.0f} s ago"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min ago"
    return f"on {datetime.fromtimestamp(when).astimezone():%d %b at %H:%M}"


def _agent_status(
    agent: str, latest: tuple[float, str] | None, standings: Mapping[str, RunStanding]
) -> AgentStatus:
    hooks: dict[Path, InstalledHooks] = {}
    problem = None
    for place in (None, Path.cwd()):
        try:
            hooks_there = find_hooks(agent, project=place)
        except ConfigError as error:
            problem = str(error)
        else:
            if hooks_there is not None:
                hooks.setdefault(Path(os.path.realpath(hooks_there.path)), hooks_there)
    return AgentStatus(
        agent=agent,
        hooks=tuple(hooks.values()),
        problem=problem,
        latest=latest,
        standing=None if latest is None else standings.get(latest[1]),
    )
