"""The commands that README and docs show do what the page says.

Every block marked ``console`` is run by bash, from the top of the page to its end, in one folder that
holds a copy of ``examples/``:

    $ ebbtide stop examples/calibration/exact-repeat.json
    SHIP
    ...
    $ echo $?
    10

- ``$ `` starts a command, ``> `` continues it.
- Output under a command is what it prints, errors included; a line ``...`` stands for any number of lines.
  Where no output is shown, none is compared.
- A command that does not end with 0 is followed by ``$ echo $?`` and its exit code.
- What must not run here, such as ``make test`` or a loop around one's own agent, is marked ``sh``.

Blocks marked ``python`` are one script, from the top of the page to its end, in a folder of the same kind;
those marked ``py`` are shown and not run, since they need what is not here; those with ``>>>`` are doctests.
A block marked ``text`` right under one marked ``python`` is what that prints.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"^```python\n((?!>>>).*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```python\n(?:(?!```).*\n)*```\n\n```text\n((?:(?!```).*\n)*)```$", re.MULTILINE)
TABLE = re.compile(r"^\|.*\n\|[-| :]+\|\n(?:\|.*\n)*", re.MULTILINE)
EXIT_CODE = re.compile(r"\n<exit code (\d+)>\n")


@dataclass(kw_only=True)
class Command:
    line: int
    text: str
    output: list[str] = field(default_factory=list)


def commands(page: str) -> list[Command]:
    """The commands of a page, each with the output shown under it."""
    page_commands: list[Command] = []
    for block in BLOCK.finditer(page):
        first = page.count("\n", 0, block.start()) + 2
        for number, line in enumerate(block[2].splitlines(), start=first):
            line_text = line.removeprefix(block[1]).rstrip()
            if line_text.startswith("$ "):
                page_commands.append(Command(line=number, text=line_text[2:]))
            elif line_text.startswith("> ") and not page_commands[-1].output:
                page_commands[-1].text += f"\n{line_text[2:]}"
            else:
                page_commands[-1].output.append(line_text)
    return page_commands


def run(page_commands: list[Command], folder: Path) -> list[tuple[str, int]]:
    """What each command printed, and its exit code."""
    # One shell for the page: variables, the folder and $? reach the next command.
    report = r"code=$?; printf '\n<exit code %d>\n' $code; (exit $code)"
    process = subprocess.run(
        ["bash", "-c", "".join(f"{command.text}\n{report}\n" for command in page_commands)],
        cwd=folder,
        env=os.environ
        | {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "TERM": "dumb",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    parts = EXIT_CODE.split(process.stdout)
    return [(output, int(code)) for output, code in zip(parts[:-1:2], parts[1::2], strict=True)]


def same(page_commands: list[str], printed: str) -> bool:
    """Whether that was printed, but for the lines that ``...`` stands for."""
    expected = "\n".join(page_commands).rstrip().split("\n")
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected)
    lines = [line.rstrip() for line in printed.rstrip().split("\n")]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def problems(page: str, folder: Path) -> list[str]:
    """What the page says that is not so."""
    page_commands = commands(page)
    results = run(page_commands, folder)
    faults = []
    if len(results) < len(page_commands):
        faults.append(f"line {page_commands[len(results)].line}: the shell ended before this command")
    for at, (command, (printed, code)) in enumerate(zip(page_commands, results, strict=False)):
        says_code = at + 1 < len(page_commands) and page_commands[at + 1].text == "echo $?"
        if code and not says_code:
            faults.append(f"line {command.line}: exit code {code} of: {command.text}\n{printed}")
        if any(command.output) and not same(command.output, printed):
            faults.append(f"line {command.line}: this is what it prints: {command.text}\n{printed}")
    return faults


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(PROJECT))) for page in PAGES])
def test_page(page: Path, tmp_path: Path) -> None:
    """Every command of the page runs, and prints what the page shows."""
    shutil.copytree(PROJECT / "examples", tmp_path / "examples")
    faults = problems(page.read_text(encoding="utf-8"), tmp_path)
    assert not faults, "\n\n".join(faults)


SCRIPTS = [page for page in PAGES if SCRIPT.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(PROJECT))) for page in SCRIPTS])
def test_script_of_a_page(page: Path, tmp_path: Path) -> None:
    """The Python of the page runs from its top to its end."""
    shutil.copytree(PROJECT / "examples", tmp_path / "examples")
    text = page.read_text(encoding="utf-8")
    script = "\n".join(SCRIPT.findall(text))
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert [block for block in PRINTED.findall(text) if block not in process.stdout] == [], process.stdout


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        (["$ echo one", "one", "", "$ echo two", "two"], True),
        (["$ echo one", "two"], False),
        (["$ echo one"], True),
        (["$ printf '1\\n2\\n3\\n'", "1", "...", "3"], True),
        (["$ printf '1\\n2\\n'", "1", "...", "2"], True),
        (["$ printf '1\\n2\\n3\\n'", "1", "3"], False),
        (["$ echo one; echo two >&2", "one", "two"], True),
        (["$ for n in 1 2; do", ">   echo $n", "> done", "1", "2"], True),
        (["$ false"], False),
        (["$ (exit 10)", "$ echo $?", "10"], True),
        (["$ (exit 10)", "$ echo $?", "20"], False),
        (["$ exit 0", "$ true"], False),
        (["$ word=one", "$ echo $word", "one"], True),
    ],
)
def test_console_blocks(lines: list[str], right: bool, tmp_path: Path) -> None:
    """A block is right or wrong as the rules above say."""
    page = "\n".join(["A page.", "", "```console", *lines, "```", "", "The end."])
    assert (not problems(page, tmp_path)) is right


def test_console_block_in_a_list(tmp_path: Path) -> None:
    """A block may be indented, and its lines are numbered as on the page."""
    page = "1. First:\n\n   ```console\n   $ echo one\n   two\n   ```\n"
    assert problems(page, tmp_path) == ["line 4: this is what it prints: echo one\none\n"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_rows_of_a_table_have_equal_cells(page: Path) -> None:
    """A row of another length loses a cell, or is shown as text; a bar in code is none."""
    for table in TABLE.findall(page.read_text(encoding="utf-8")):
        rows = re.sub(r"\\\||`[^`\n]*`", "", table).splitlines()
        assert {row.count("|") for row in rows} == {rows[0].count("|")}, table[:200]
