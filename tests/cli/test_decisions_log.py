"""Which log is opened, and what is read from the command line."""

from pathlib import Path

import pytest

from ebbtide.cli.decisions.place import default_file, moment_of, past_moment_of
from ebbtide.cli.decisions.typed import typed_decision
from ebbtide.clock import system_clock
from ebbtide.decisions.candidate import Reason, ReasonKind
from ebbtide.errors import ConfigError


@pytest.mark.parametrize(
    ("folder", "under"), [("", ".local/share"), ("relative", ".local/share"), (None, ".local/share")]
)
def test_the_data_folder_of_the_user(monkeypatch, tmp_path: Path, folder: str | None, under: str) -> None:
    """XDG_DATA_HOME counts where it is an absolute path."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if folder is not None:
        monkeypatch.setenv("XDG_DATA_HOME", folder)
    assert default_file() == tmp_path / under / "ebbtide" / "decisions.db"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_file() == tmp_path / "data" / "ebbtide" / "decisions.db"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("2026-03-01", 1772323200.0),
        ("2026-03-01T10:00Z", 1772359200.0),
        (" 2026-03-01T11:00:00+01:00 ", 1772359200.0),
    ],
)
def test_moments(text: str | None, seconds: float | None) -> None:
    """Dates are UTC without a zone."""
    assert moment_of(text, "--since") == seconds


def test_spans() -> None:
    """So many hours, days, weeks, months or years from now, or before it."""
    now = system_clock()
    assert abs(moment_of("30d", "--review-by") - now - 30 * 86400) < 60
    assert abs(past_moment_of("2h", "--since") - now + 7200) < 60


@pytest.mark.parametrize("text", ["", "soon", "30", "d", "2026-13-01", "1e9"])
def test_moments_that_are_none(text: str) -> None:
    """The option and the text are named."""
    with pytest.raises(ConfigError, match=r"--since '.*': expected such as"):
        moment_of(text, "--since")


def test_reasons() -> None:
    """A kind before a colon is one where it is known."""
    typed = typed_decision(
        "x", reasons=["analysis: it is faster", "note: it is red", "Elimination:", "plain"]
    )
    assert typed.words["reasons"] == (
        Reason(text="it is faster", kind=ReasonKind.ANALYSIS),
        Reason(text="note: it is red"),
        Reason(text="Elimination:"),
        Reason(text="plain"),
    )
