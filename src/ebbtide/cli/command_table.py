"""The commands, and where each is declared."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from ebbtide.cli.declaration import CommandGroup
from ebbtide.cli.exits import Exit
from ebbtide.cli.version import print_version


def _version(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        print_version()
        context.exit()


class _Ebbtide(CommandGroup):
    def invoke(self, ctx: click.Context) -> None:
        """Runs a command. When its reader goes away, as `head` does, it ends without a word."""
        try:
            try:
                super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            _end_quietly()
        except SystemExit as end:
            # What rich makes of a broken pipe.
            if isinstance(end.__context__, BrokenPipeError):
                _end_quietly()
            raise


def _end_quietly() -> NoReturn:
    # Without this the interpreter would try to write what is left, and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(Exit.PIPE_CLOSED) from None


root = _Ebbtide(
    "ebbtide",
    help="Check AI agents' runs: do they converge, do they loop, what did they decide, what did they cost?",
    places={
        "check": "ebbtide.cli.runs.commands:check",
        "archive": "ebbtide.cli.archive.commands:archive",
        "watch": "ebbtide.cli.runs.commands:watch",
        "demo": "ebbtide.cli.runs.commands:demo",
        "loops": "ebbtide.cli.runs.commands:loops",
        "doctor": "ebbtide.cli.runs.commands:doctor",
        "hooks": "ebbtide.cli.service.commands:hooks",
        "serve": "ebbtide.cli.service.commands:serve",
        "mcp": "ebbtide.cli.service.commands:mcp",
        "statusline": "ebbtide.cli.service.commands:statusline",
        "budgets": "ebbtide.cli.budgets.commands:budgets",
        "score": "ebbtide.cli.rounds.commands:score",
        "stop": "ebbtide.cli.rounds.commands:stop",
        "extract": "ebbtide.cli.rounds.commands:extract",
        "calibrate": "ebbtide.cli.rounds.commands:calibrate",
        "decisions": "ebbtide.cli.decisions.commands:app",
        "formats": "ebbtide.cli.reference:formats",
        "schema": "ebbtide.cli.reference:schema",
    },
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version.",
        )
    ],
)
