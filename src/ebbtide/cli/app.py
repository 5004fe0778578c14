"""Where the command line starts, and what becomes of its errors.

The version is printed before anything is imported that a call with options needs.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

_NAME = "ebbtide"


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        from ebbtide.cli.version import print_version

        print_version()
        return
    from ebbtide.cli.encoding import plain_characters

    for stream in (sys.stdout, sys.stderr):
        # A terminal or a pipe that cannot show a character gets one like it, and the rest of the text.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=plain_characters())
    raise SystemExit(_run())


def _run() -> int:
    import click

    from ebbtide.cli.command_table import root
    from ebbtide.cli.exits import Exit
    from ebbtide.cli.terminal import plain
    from ebbtide.errors import EbbtideError
    from ebbtide.text.redaction import redact

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
