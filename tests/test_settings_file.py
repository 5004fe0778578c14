"""Settings in TOML files: what is read, and what an error says."""

from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import ConfigError
from ebbtide.settings_file import read_settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text('name = "café"\n[run]\nsteps = 3\n[other]\n', encoding="utf-8")
    return path


def test_the_whole_file_or_one_section_is_read(path: Path) -> None:
    """Text is UTF-8; the path may be a string."""
    assert read_settings(path, dict) == {"name": "café", "run": {"steps": 3}, "other": {}}
    assert read_settings(str(path), dict, section="run") == {"steps": 3}
    assert read_settings(path, dict, section="other") == {}


@pytest.mark.parametrize(
    ("content", "section", "message"),
    [
        (b"steps = ", None, "not a TOML file: Invalid value"),
        (b'name = "\xe9"', None, "not a TOML file: 'utf-8' codec"),
        (b"", "run", r"there is no table \[run\], only nothing$"),
        (b"[a]\n[b]\n", "run", r"there is no table \[run\], only \[a\], \[b\]$"),
        (b"run = 3", "run", "run = 3: expected a table$"),
    ],
)
def test_what_is_no_settings_file(tmp_path: Path, content: bytes, section: str | None, message: str) -> None:
    """The error begins with the name of the file."""
    path = tmp_path / "settings.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=f"settings.toml: {message}") as caught:
        read_settings(path, dict, section=section)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With what the system says, and no number of an error."""
    path = tmp_path / "absent.toml"
    with pytest.raises(ConfigError) as caught:
        read_settings(path, dict)
    assert str(caught.value) == f"{path}: No such file or directory"


def test_values_that_are_refused_are_reported_with_the_file(path: Path) -> None:
    """Errors of configuration get the name of the file; other errors of the maker stay what they are."""

    def refuse(table: Any) -> None:
        raise ConfigError(f"steps = {table['steps']}: expected more")

    with pytest.raises(ConfigError) as caught:
        read_settings(path, refuse, section="run")
    assert str(caught.value) == f"{path}: steps = 3: expected more"
    with pytest.raises(KeyError):
        read_settings(path, refuse)
