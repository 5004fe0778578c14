"""The command line as a whole: what it imports, how it helps, and what it makes of a slip."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ebbtide.cli.app import root

EXAMPLE = Path(__file__).parents[2] / "examples" / "calibration" / "exact-repeat.json"
RUN = Path(__file__).parents[2] / "examples" / "runs" / "stuck.jsonl"
ENV = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
IMPORTED = re.compile(r"import time:[ \d]+\|[ \d]+\| +(\S+)")


def run(command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=ENV | env, timeout=60, check=False
    )


def ebbtide(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=ENV | env, timeout=60, check=False
    )


def packages(*arguments: str | Path) -> set[str]:
    """The top-level packages that a command imports."""
    process = ebbtide(*arguments, PYTHONPROFILEIMPORTTIME="1")
    return {name.partition(".")[0] for name in IMPORTED.findall(process.stderr)}


def commands(group: click.Group = root, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


COMMANDS = dict(commands())


def test_the_version_needs_nothing() -> None:
    """`--version` imports neither the engines nor what draws."""
    assert ebbtide("--version").stdout.startswith("ebbtide ")
    assert packages("--version") & {"rich", "pydantic", "msgspec"} == set()


@pytest.mark.parametrize(
    "arguments", [("stop", EXAMPLE), ("stop", "--json", EXAMPLE), ("check", RUN), ("check", "--json", RUN)]
)
def test_a_pipe_waits_for_nothing_that_draws(arguments: tuple[str | Path, ...]) -> None:
    """Where nothing is coloured, nothing is imported that draws, computes meanings or waits."""
    assert packages(*arguments) & {"rich", "pygments", "pydantic", "typer", "asyncio", "onnxruntime"} == set()


def test_colour_is_forced() -> None:
    """FORCE_COLOR colours a pipe, as other commands have it; NO_COLOR is stronger."""
    coloured = ebbtide("stop", EXAMPLE, FORCE_COLOR="1", NO_COLOR="", TERM="xterm-256color").stdout
    assert "\x1b[1;32mSHIP" in coloured
    assert "\x1b[3" not in ebbtide("stop", EXAMPLE, FORCE_COLOR="1").stdout


@pytest.mark.parametrize("command", COMMANDS.values(), ids=map(" ".join, COMMANDS))
def test_every_command_explains_itself(command: click.Command) -> None:
    """Each command, each argument and each option has a sentence."""
    assert command.help
    for parameter in command.params:
        assert parameter.help, parameter.name  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [(("chekc",), "check"), (("stop", "--jsn", EXAMPLE), "--json"), (("decisions", "lst"), "list")],
)
def test_a_slip_gets_a_suggestion(arguments: tuple[str | Path, ...], suggestion: str) -> None:
    """What was probably meant is named, and the exit code is that of bad usage."""
    process = ebbtide(*arguments)
    assert process.returncode == 2
    assert f"Did you mean '{suggestion}'?" in process.stderr


def test_nothing_asked_shows_the_help() -> None:
    """Without a command there is the list of commands, and exit code 2."""
    process = ebbtide()
    assert process.returncode == 2
    assert "Commands:" in process.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ebbtide ch", "plain,check"),
        ("ebbtide check --fail", "plain,--fail-on"),
        ("ebbtide decisions li", "plain,list"),
        ("ebbtide stop --round ", "plain,circle"),
        ("ebbtide check --ignore mono", "plain,monotony"),
        ("ebbtide stop exa", "file,exa"),
    ],
)
def test_tab_completion(words: str, expected: str) -> None:
    """Commands, options, the words of an option, and files."""
    env = {"_EBBTIDE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    program = "import sys; sys.argv[0] = 'ebbtide'; from ebbtide.cli.app import main; main()"
    process = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        env=ENV | env,
        timeout=60,
        check=False,
    )
    assert expected in process.stdout.splitlines()


def test_the_help_shows_defaults_by_their_words() -> None:
    """A default reads as it is written on the command line."""
    assert "[default: turn]" in ebbtide("stop", "--help").stdout
