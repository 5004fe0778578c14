"""`ebbtide hooks | serve | mcp | statusline`: coding agents on this machine, watched while they work."""

from __future__ import annotations

import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import click

from ebbtide.cli.budgets.commands import BudgetsFile
from ebbtide.cli.decisions.place import Log
from ebbtide.cli.declaration import FILE, Argument, AsJson, Command, CommandGroup, Option, Redact
from ebbtide.cli.settings.options import refuse_unnamed
from ebbtide.cli.terminal import plain, print_json
from ebbtide.errors import ConfigError

hooks = CommandGroup(name="hooks", help="Watch Claude Code, Codex, Gemini CLI or OpenCode while it works.")


class HookAgent(StrEnum):
    """A coding agent that has hooks."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"


Agent = Annotated[HookAgent, Argument(metavar="AGENT", help="claude, codex, gemini or opencode.")]
Idle = Annotated[
    float | None,
    Option("--idle", metavar="S", at_least=0, help="Stop after S seconds without new data."),
]
Token = Annotated[
    str | None,
    Option("--token", metavar="TEXT", envvar="EBBTIDE_TOKEN", help="What a caller has to know."),
]
InProject = Annotated[
    bool, Option("--project/--global", help="For the project in this folder, or for all your projects.")
]


@hooks.command()
def install(
    agent: Agent,
    in_project: InProject = False,
    shadow: Annotated[bool, Option("--shadow", help="Record only: the agent is told nothing.")] = False,
    stop: Annotated[
        bool, Option("--stop", help="End a run that is stuck. Without it, the model is told, no more.")
    ] = False,
    with_statusline: Annotated[
        bool, Option("--statusline", help="Show cost and verdict in the status line of Claude Code.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put hooks into the settings of a coding agent.

    AGENT is claude, codex, gemini or opencode. What others have put there stays; a copy of the file is kept
    beside it. Saying it again changes the options.
    """
    from ebbtide.service.hooks.install.hook_places import PLACES
    from ebbtide.service.hooks.install.hook_settings import HookOptions, install_hooks

    if shadow and stop:
        raise ConfigError("--shadow and --stop: a run that is only recorded is not ended")
    options = HookOptions(shadow=shadow, stops=stop, status_line=with_statusline)
    path = install_hooks(agent.value, options, project=Path.cwd() if in_project else None)
    place = PLACES.get(agent.value)
    if as_json:
        print_json({"agent": agent.value, "path": str(path), "flags": list(options.flags)})
        return
    from ebbtide.cli.service.hook_status import shown_path

    print(plain(f"installed in {shown_path(path)}"))
    if place is not None and place.advice:
        print(place.advice)
    print("Start the agent anew, then see `ebbtide hooks status`.")


@hooks.command()
def uninstall(agent: Agent, in_project: InProject = False, as_json: AsJson = False) -> None:
    """Take the hooks out of the settings of a coding agent.

    AGENT is claude, codex, gemini or opencode. A file that nobody else has changed is as it was before.
    """
    from ebbtide.service.hooks.install.hook_settings import uninstall_hooks

    path = uninstall_hooks(agent.value, project=Path.cwd() if in_project else None)
    if as_json:
        print_json({"agent": agent.value, "path": None if path is None else str(path)})
        return
    from ebbtide.cli.service.hook_status import shown_path

    print("there were none" if path is None else plain(f"removed from {shown_path(path)}"))


@hooks.command()
def status(as_json: AsJson = False) -> None:
    """Show which agents are watched, and when each was last heard of.

    The time of the last event proves that the hooks of an agent work.
    """
    from ebbtide.cli.service.hook_status import HookStatus, print_status

    report = HookStatus.of(list(HookAgent), Path.cwd())
    if as_json:
        print_json(report.to_dict())
    else:
        print_status(report)


@hooks.command("serve")
def serve_hooks(
    idle: Idle = None,
    as_json: AsJson = False,
) -> None:
    """Run the service that answers the hooks of coding agents.

    The hooks start it themselves, and it ends after half an hour without an event. There is one for each
    user: where one runs, this says so.
    """
    from ebbtide.service.hooks.daemon import serve_local
    from ebbtide.service.hooks.state_folder import StateFolder

    folder = StateFolder()
    end = serve_local(folder) if idle is None else serve_local(folder, idle_s=idle)
    if as_json:
        print_json({"pid": None if end.other is None else end.other.pid, "seconds": round(end.seconds)})
    elif end.other is not None:
        print(f"the service is running already, as process {end.other.pid or 'unknown'}")
    else:
        print(f"the service has ended after {end.seconds:.0f} s")


@click.command(cls=Command)
def serve(
    host: Annotated[
        str,
        Option("--host", metavar="NAME", help="Listen there; anything but this machine needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int, Option("--port", metavar="N", at_least=0, at_most=65535, help="The port; 0 takes a free one.")
    ] = 8620,
    db: Annotated[
        str | None,
        Option(
            "--db",
            metavar="FILE|URL",
            envvar="EBBTIDE_DB",
            help="File of the runs, or postgresql:// URL; else a file in your data folder.",
        ),
    ] = None,
    token: Token = None,
    allow_host: Annotated[
        list[str] | None,
        Option("--allow-host", metavar="NAME", help="A further name of this host. Repeatable."),
    ] = None,
    keep_days: Annotated[
        float, Option("--keep-days", metavar="N", at_least=0, help="Delete runs that were silent for N days.")
    ] = 90.0,
    span_wait: Annotated[
        float,
        Option("--span-wait", metavar="S", at_least=0, help="A span waits S seconds for earlier ones."),
    ] = 10.0,
    sessions: Annotated[
        bool,
        Option(
            "--sessions/--no-sessions",
            help="Read the sessions of this machine's coding agents in their files.",
        ),
    ] = True,
    silent_after: Annotated[
        float,
        Option(
            "--silent-after",
            metavar="S",
            at_least=1,
            help="Call a run silent after S seconds without events.",
        ),
    ] = 600.0,
    alerts: Annotated[
        str | None,
        Option("--alerts", metavar="FILE", type=FILE, help="TOML file with a table [alerts]."),
    ] = None,
    alert_url: Annotated[
        str | None,
        Option(
            "--alert-url",
            metavar="URL",
            envvar="EBBTIDE_ALERT_URL",
            help="Tell this webhook, as of Slack, of a run that needs a person.",
        ),
    ] = None,
    alert_command: Annotated[
        str | None,
        Option("--alert-command", metavar="CMD", help="Run this command line then, with JSON as input."),
    ] = None,
    budgets: BudgetsFile = None,
    idle: Idle = None,
    log: Log = None,
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Run the service: all runs, what they cost, and which are stuck.

    It takes the hooks of the coding agents on this machine too. Ctrl-C ends it; nothing that it took is lost.
    """
    from ebbtide.cli.decisions.place import Place
    from ebbtide.service.alerts.alert_settings import AlertSettings
    from ebbtide.service.web.service_settings import ServiceSettings

    refuse_unnamed("alerts", "whoever wrote the file could have a command run here")
    settings = ServiceSettings(
        host=host,
        port=port,
        token=token or None,
        names=tuple(allow_host or ()),
        redact=redact,
        keep_days=keep_days,
        sessions=sessions,
        silent_after_s=silent_after,
        idle_s=idle,
        span_wait_s=span_wait,
        alerts=AlertSettings.read(alerts, url=alert_url or None, command=alert_command or None),
    )
    try:
        from ebbtide.service.web.server import serve_web
    except ImportError as error:
        raise ConfigError(f"the service cannot start ({error}): pip install 'ebbtide[service]'") from error
    serve_web(
        settings,
        db,
        announce=lambda url: _announce(url, as_json=as_json),
        open_log=partial(Place(log=log).open, new=True),
        budgets=budgets,
    )


def _announce(url: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": url}, indent=None)
    else:
        print(f"Open {url}", flush=True)
    sys.stdout.flush()


@click.command(cls=Command)
def mcp(
    url: Annotated[
        str | None,
        Option("--url", metavar="URL", help="Where the service is; without it, on this machine."),
    ] = None,
    token: Token = None,
    log: Log = None,
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Serve tools to a coding agent: which runs are stuck, what they cost, what was decided.

    It speaks the Model Context Protocol on standard input and output; the agent starts it, as docs/mcp.md
    says. It asks the service of this machine, and starts it where it does not run. With --json it lists the
    tools, and ends.
    """
    from ebbtide.cli.decisions.place import Place

    try:
        from ebbtide.service.mcp.standard_streams import list_tools, serve_tools
    except ImportError as error:
        raise ConfigError(f"the tools cannot start ({error}): pip install 'ebbtide[service]'") from error
    if as_json:
        print_json(list_tools())
        return
    serve_tools(url, token or None, open_log=partial(Place(log=log).open, new=True), redact=redact)


@click.command(cls=Command)
def statusline(as_json: AsJson = False) -> None:
    """Print a line about a session of Claude Code: cost, dollars an hour, verdict.

    Standard input has what Claude Code gives its status line. `ebbtide hooks install claude --statusline`
    sets it up.
    """
    import time

    from ebbtide.service.hooks.hook_client import exchange

    body = sys.stdin.buffer.read()
    if not body.lstrip().startswith(b"{"):
        raise ConfigError("standard input is not what Claude Code gives its status line: a JSON object")
    answer = exchange("POST", "/statusline", body, time.monotonic() + 2)
    line = "ebbtide: not watching" if answer is None else answer.decode()
    if as_json:
        print_json({"line": line, "running": answer is not None})
    else:
        print(plain(line))
