"""The command line in this process: fast, and with everything that the command `ebbtide` does."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ebbtide.cli.app import main

EXAMPLES = Path(__file__).parents[2] / "examples"


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    output: str
    message: str


Here = Callable[..., Ended]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Here:
    """Runs a command line in the folder of examples, with a home and a decision log of its own."""
    home = tmp_path / "home"
    home.mkdir()
    settings = {
        "HOME": home,
        "XDG_DATA_HOME": home / "data",
        "XDG_STATE_HOME": home / "state",
        "NO_COLOR": 1,
        "COLUMNS": 100,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))
    for name in ("EBBTIDE_LOG", "EBBTIDE_CONFIG", "EBBTIDE_STATE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(EXAMPLES)

    def run(*arguments: str | Path, stdin: str = "") -> Ended:
        monkeypatch.setattr(sys, "argv", ["ebbtide", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        output, message = capsys.readouterr()
        assert "Traceback" not in message
        return Ended(code, output, message)

    return run
