"""`ebbtide serve` and `ebbtide mcp`: all runs, on a page and for a coding agent."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import click

from ebbtide.cli.budgets import BudgetsFile
from ebbtide.cli.decisions.place import Log, Place
from ebbtide.cli.declaration import FILE, AsJson, Command, Idle, Option, Redact
from ebbtide.cli.terminal import print_json
from ebbtide.errors import ConfigError
from ebbtide.service.alerts.alert_settings import AlertSettings

Token = Annotated[
    str | None,
    Option("--token", metavar="TEXT", envvar="EBBTIDE_TOKEN", help="What a caller has to know."),
]


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
    otlp_grpc: Annotated[
        int | None,
        Option(
            "--otlp-grpc",
            metavar="N",
            at_least=1,
            at_most=65535,
            help="Take spans over gRPC too, on this port (4317 is the usual one).",
        ),
    ] = None,
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
    from ebbtide.service.web.service_settings import ServiceSettings

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
        grpc_port=otlp_grpc,
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
    try:
        from ebbtide.service.mcp.standard_streams import list_tools, serve_tools
    except ImportError as error:
        raise ConfigError(f"the tools cannot start ({error}): pip install 'ebbtide[service]'") from error
    if as_json:
        print_json(list_tools())
        return
    serve_tools(url, token or None, open_log=partial(Place(log=log).open, new=True), redact=redact)
