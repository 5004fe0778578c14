"""What reaches a terminal or a pipe: no blanks at the end of a line, and characters that can be shown."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.cli.app import plain_characters

EXAMPLES = Path(__file__).parents[2] / "examples"
STUCK, CHAT = "runs/stuck.jsonl", "conversations/design-review.json"
NARROW, WIDE = 60, 120

PRINTED = [
    "--help",
    "check --help",
    "decisions --help",
    "decisions record --help",
    f"check {STUCK}",
    f"check --all {CHAT}",
    "check runs conversations",
    "check --top 2 runs conversations",
    "check --json runs",
    "check --format github runs",
    "check --format markdown runs",
    "check --format junit runs",
    "check --format sarif runs",
    f"--show-config check {STUCK}",
    f"watch --until-end {STUCK}",
    f"loops {STUCK}",
    "doctor",
    f"score {CHAT}",
    f"score --explain {CHAT}",
    "score calibration",
    f"stop {CHAT}",
    "extract conversations/brainstorming.txt",
    "calibrate calibration/exact-repeat.json",
    "decisions from decisions/conversation.json",
    "formats",
    "schema",
]
CURVES = [f"score {CHAT}", f"check {CHAT}", f"loops {STUCK}", "score calibration", f"stop {CHAT}"]


@pytest.mark.parametrize("line", PRINTED)
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_no_line_ends_with_a_blank(here, monkeypatch: pytest.MonkeyPatch, line: str, width: int) -> None:
    """In a pipe, at any width; `decisions` and the rest are in the test of the exit codes."""
    monkeypatch.setenv("COLUMNS", str(width))
    printed = here(*line.split()).output
    assert printed
    assert not re.search(r"[ \t]$", printed, re.MULTILINE)


def process(line: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    settings = {"NO_COLOR": "1", "COLUMNS": "100"} | env
    return subprocess.run(
        [sys.executable, "-m", "ebbtide", *line.split()],
        cwd=EXAMPLES,
        capture_output=True,
        env={name: text for name, text in os.environ.items() if not name.startswith(("LC_", "PYTHON"))}
        | {"PYTHONPATH": os.pathsep.join(sys.path)}
        | settings,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("line", CURVES)
@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=["ascii", "C", "latin-1"],
)
def test_a_curve_has_characters_of_any_terminal(line: str, env: dict[str, str]) -> None:
    """Where an encoding has no blocks there are other signs of the same height, and no question marks."""
    narrow, full = process(line, **env), process(line, PYTHONIOENCODING="utf-8")
    assert narrow.returncode == full.returncode
    text = narrow.stdout.decode("latin-1")
    assert text.isascii()
    assert text.count("?") == full.stdout.decode().count("?")
    assert len(text.splitlines()) == len(full.stdout.decode().splitlines())


def test_heights_stay_apart() -> None:
    """Each of the eight heights has a sign of its own."""
    assert (
        len(set("\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588".encode("ascii", plain_characters()))) == 8
    )
    printed = process(f"score {CHAT}", PYTHONIOENCODING="ascii").stdout.decode()
    assert " 1.00 |###" in printed


@pytest.mark.parametrize(("top", "rows"), [(1, 1), (2, 2), (9, 2)])
def test_equal_reasons_stand_in_one_row(here, tmp_path: Path, top: int, rows: int) -> None:
    """The worst first, with how many runs there are of each, and what they cost together."""
    for number in range(3):
        shutil.copy(EXAMPLES / STUCK, tmp_path / f"stuck-{number}.jsonl")
        shutil.copy(EXAMPLES / "runs" / "healthy.jsonl", tmp_path / f"healthy-{number}.jsonl")
    (tmp_path / "notes.md").write_text("# Notes\n")
    printed = here("check", "--top", str(top), tmp_path).output
    lines = printed.splitlines()
    assert lines[0] == "6 runs: 3 STUCK, 3 HEALTHY; $6.24"
    table = [line for line in lines if line.startswith(("STUCK", "HEALTHY"))]
    assert len(table) == rows
    assert table[0].split(None, 3) == ["STUCK", "75", "$4.80", "stuck-0.jsonl and 2 more"]
    assert "web_search and web_fetch in turn, 11 times, same results (3 runs)." in " ".join(printed.split())
    assert ("and 3 runs in 1 more row" in lines) == (top == 1)
    assert "  notes.md: " in printed


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ebbtide ch", ["check"]),
        ("ebbtide decisions li", ["list"]),
        ("ebbtide check --fail", ["--fail-on"]),
        ("ebbtide check --format j", ["json", "junit"]),
        ("ebbtide watch --until", ["--until-end"]),
    ],
)
def test_bash_completes(tmp_path: Path, typed: str, expected: list[str]) -> None:
    """The line of the docs sets it up, and the function that it registers completes."""
    page = (EXAMPLES.parent / "docs" / "check.md").read_text(encoding="utf-8")
    (setup,) = re.findall(r"\| bash \| .* \| `(eval .*)` \|", page)
    command = tmp_path / "ebbtide"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ebbtide "$@"\n')
    command.chmod(0o755)
    words = " ".join(f"'{word}'" for word in typed.split())
    program = f"""
        PATH={tmp_path}:$PATH
        {setup}
        function=$(complete -p ebbtide | sed -E 's/.*-F ([^ ]+).*/\\1/')
        COMP_WORDS=({words}) COMP_CWORD=$(({len(typed.split())} - 1))
        $function ebbtide
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    shell = subprocess.run(
        ["bash", "--norc", "-c", program],
        cwd=EXAMPLES,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert shell.stdout.split() == expected, shell.stderr
