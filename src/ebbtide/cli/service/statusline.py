"""`ebbtide statusline`: a line about a session of Claude Code. It runs often, so it imports little."""

from __future__ import annotations

import sys
import time

import click

from ebbtide.cli.declaration import Command
from ebbtide.cli.result import Result
from ebbtide.cli.terminal import Line
from ebbtide.errors import ConfigError
from ebbtide.service.hooks.hook_client import exchange


@click.command(cls=Command)
def statusline() -> Result:
    """Print a status line for Claude Code: cost, rate, verdict.

    Claude Code passes JSON on standard input. `ebbtide hooks install claude --statusline` sets it up.
    """
    body = sys.stdin.buffer.read()
    if not body.lstrip().startswith(b"{"):
        raise ConfigError("standard input is not the JSON object that Claude Code passes to its status line")
    answer = exchange("POST", "/statusline", body, time.monotonic() + 2)
    line = "ebbtide: not watching" if answer is None else answer.decode()
    return Result(lambda: {"line": line, "running": answer is not None}, lambda _: [Line.safe(line)])
