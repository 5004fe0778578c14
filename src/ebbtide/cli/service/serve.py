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
    Option("--token", metavar="TEXT", envvar="EBBTIDE_TOKEN", help="Token that every caller must send."),
]


@click.command(cls=Command)
def serve(
    host: Annotated[
        str,
        Option(
            "--host",
            metavar="NAME",
            help="Address to listen on; any address beyond this machine needs --token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        Option(
            "--port", metavar="N", at_least=0, at_most=65535, help="Port to listen on; 0 takes a free port."
        ),
    ] = 8620,
    db: Annotated[
        str | None,
        Option(
            "--db",
            metavar="FILE|URL",
            envvar="EBBTIDE_DB",
            help="File or postgresql:// URL of the runs; the default is a file in your data folder.",
        ),
    ] = None,
    token: Token = None,
    allow_host: Annotated[
        list[str] | None,
        Option("--allow-host", metavar="NAME", help="Another host name that requests may use. Repeatable."),
    ] = None,
    keep_days: Annotated[
        float, Option("--keep-days", metavar="N", at_least=0, help="Delete runs without events for N days.")
    ] = 90.0,
    otlp_grpc: Annotated[
        int | None,
        Option(
            "--otlp-grpc",
            metavar="N",
            at_least=1,
            at_most=65535,
            help="Also accept spans over gRPC on this port (usually 4317).",
        ),
    ] = None,
    span_wait: Annotated[
        float,
        Option(
            "--span-wait",
            metavar="S",
            at_least=0,
            help="Hold a span for S seconds, until earlier spans arrive.",
        ),
    ] = 10.0,
    sessions: Annotated[
        bool,
        Option(
            "--sessions/--no-sessions",
            help="Read the session files of the coding agents on this machine; the default is yes.",
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
        Option("--alerts", metavar="FILE", type=FILE, help="TOML file with an [alerts] table."),
    ] = None,
    alert_url: Annotated[
        str | None,
        Option(
            "--alert-url",
            metavar="URL",
            envvar="EBBTIDE_ALERT_URL",
            help="Report a run that needs a person to this webhook, such as a Slack webhook.",
        ),
    ] = None,
    alert_command: Annotated[
        str | None,
        Option(
            "--alert-command",
            metavar="CMD",
            help="Run this command line when a run needs a person; its standard input is JSON.",
        ),
    ] = None,
    budgets: BudgetsFile = None,
    idle: Idle = None,
    log: Log = None,
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Run the service: all runs, their cost, and which are stuck.

    The service also answers the hooks of the coding agents on this machine. Ctrl-C ends it; nothing that it
    received is lost.
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
        Option(
            "--url", metavar="URL", help="URL of the service; the default is the service on this machine."
        ),
    ] = None,
    token: Token = None,
    log: Log = None,
    redact: Redact = True,
    as_json: AsJson = False,
) -> None:
    """Serve tools to a coding agent (MCP).

    The tools report which runs are stuck, what they cost and what was decided. The agent starts this command
    and speaks the Model Context Protocol on standard input and output; docs/mcp.md describes the setup. The
    command uses the service on this machine, and starts it if needed. With --json it lists the tools, and
    ends.
    """
    try:
        from ebbtide.service.mcp.standard_streams import list_tools, serve_tools
    except ImportError as error:
        raise ConfigError(f"the tools cannot start ({error}): pip install 'ebbtide[service]'") from error
    if as_json:
        print_json(list_tools())
        return
    serve_tools(url, token or None, open_log=partial(Place(log=log).open, new=True), redact=redact)
