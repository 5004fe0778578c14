"""The command line: its commands, where each is declared, and the end of a call that fails."""

from __future__ import annotations

import codecs
import os
import sys
from io import TextIOWrapper
from typing import NoReturn

import click

from ebbtide import __version__
from ebbtide.cli.declaration import CommandGroup
from ebbtide.cli.result import Exit
from ebbtide.cli.settings.options import SETTINGS_OPTIONS
from ebbtide.cli.terminal import plain
from ebbtide.errors import EbbtideError
from ebbtide.text.redaction import redact

_NAME = "ebbtide"


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        print_version()
        return

    for stream in (sys.stdout, sys.stderr):
        # A terminal or a pipe that cannot show a character gets one like it, and the rest of the text.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=plain_characters())
    raise SystemExit(_run())


def _run() -> int:
    try:
        return root.main(prog_name=_NAME, standalone_mode=False) or Exit.DONE
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = _NAME if context is None else context.command_path
        first, more = error.format_message(), [f"`{path} --help` shows how it is used."]
        code = Exit.BAD_INPUT
    except EbbtideError as error:
        first, *more = redact(str(error)).splitlines() or [""]
        code = Exit.BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        first, more, code = "interrupted", [], Exit.INTERRUPTED
    print(f"{_NAME}: {plain(first)}", *(f"  {plain(line)}" for line in more), sep="\n", file=sys.stderr)
    return code


def print_version() -> None:
    """Print the name and the version."""
    print(f"ebbtide {__version__}")


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


_ARCHIVE = CommandGroup(
    "archive",
    help="Check many runs into one file, and report on it.",
    places={
        "check": "ebbtide.cli.archive.check:check",
        "report": "ebbtide.cli.archive.report:report",
        "calibrate": "ebbtide.cli.archive.calibrate:calibrate",
    },
)
_DECISIONS = CommandGroup(
    "decisions",
    help="Record, find, review and exchange an agent's decisions.",
    places={
        "record": "ebbtide.cli.decisions.recording:record",
        "think": "ebbtide.cli.decisions.recording:think",
        "review": "ebbtide.cli.decisions.recording:review",
        "amend": "ebbtide.cli.decisions.recording:amend",
        "list": "ebbtide.cli.decisions.browsing:list_decisions",
        "show": "ebbtide.cli.decisions.browsing:show",
        "stats": "ebbtide.cli.decisions.browsing:stats",
        "verify": "ebbtide.cli.decisions.browsing:verify",
        "calibration": "ebbtide.cli.decisions.calibrating:calibration",
        "audit": "ebbtide.cli.decisions.cleaning:audit",
        "restore": "ebbtide.cli.decisions.cleaning:restore",
        "purge": "ebbtide.cli.decisions.cleaning:purge",
        "export": "ebbtide.cli.decisions.exchange:export",
        "import": "ebbtide.cli.decisions.exchange:import_files",
        "from": "ebbtide.cli.decisions.from_trace:from_trace",
        "label": "ebbtide.cli.decisions.teaching:label",
        "train": "ebbtide.cli.decisions.teaching:train",
    },
)
root = _Ebbtide(
    "ebbtide",
    help="Check the runs of AI agents: convergence, loops, decisions, cost.",
    places={
        "check": "ebbtide.cli.runs.check:check",
        "advice": "ebbtide.cli.runs.advice:advice",
        "archive": _ARCHIVE,
        "watch": "ebbtide.cli.runs.watch:watch",
        "run": "ebbtide.cli.wrapper.run:run",
        "acp": "ebbtide.cli.wrapper.acp:acp",
        "demo": "ebbtide.cli.runs.demo:demo",
        "loops": "ebbtide.cli.runs.loops:loops",
        "doctor": "ebbtide.cli.runs.doctor:doctor",
        "hooks": "ebbtide.cli.service.hooks:hooks",
        "serve": "ebbtide.cli.service.serve:serve",
        "mcp": "ebbtide.cli.service.serve:mcp",
        "statusline": "ebbtide.cli.service.statusline:statusline",
        "budgets": "ebbtide.cli.budgets:budgets",
        "trust": "ebbtide.cli.trust:trust",
        "score": "ebbtide.cli.rounds.score:score",
        "stop": "ebbtide.cli.rounds.stop:stop",
        "extract": "ebbtide.cli.rounds.extract:extract",
        "calibrate": "ebbtide.cli.rounds.calibrate:calibrate",
        "decisions": _DECISIONS,
        "formats": "ebbtide.cli.reference:formats",
        "schema": "ebbtide.cli.reference:schema",
    },
    params=[
        *SETTINGS_OPTIONS,
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version.",
        ),
    ],
)


_PLAIN_ERRORS = "ebbtide.plain"
# Columns of a curve by their height, marks, and the signs of a text.
_LIKE = str.maketrans(
    {
        "\u2581": "_",
        "\u2582": ".",
        "\u2583": ":",
        "\u2584": "-",
        "\u2585": "=",
        "\u2586": "+",
        "\u2587": "*",
        "\u2588": "#",
        "\u2502": "|",
        "\u2500": "-",
        "\u203e": "^",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2022": "*",
        "\u2026": "...",
        "\u2192": "->",
        "\u00b7": ".",
        "\u00d7": "x",
        "\u00a0": " ",
    }
)


def plain_characters() -> str:
    """The name of an error handler for encoding: it writes what a character is like, or a question mark."""
    codecs.register_error(_PLAIN_ERRORS, _replaced)
    return _PLAIN_ERRORS


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_LIKE)
    return "".join(character if character.isascii() else "?" for character in text), error.end
