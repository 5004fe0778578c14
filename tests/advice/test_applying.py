"""An advice in the settings of its agent and out again: byte for byte, never over somebody else's value."""

import json
import os
from pathlib import Path

import pytest

from ebbtide.advice.applied_advice import AppliedAdvice, AppliedAdvices
from ebbtide.advice.applying import apply, is_in_force, undo
from ebbtide.advice.estimate import Estimate, Interval, PaidSession
from ebbtide.advice.kinds import KINDS
from ebbtide.advice.priced_advice import PricedAdvice
from ebbtide.advice.session_record import Work
from ebbtide.errors import ConfigError, StoreError
from ebbtide.service.file_lock import lock_file
from ebbtide.traces.sessions.agent_homes import CodingAgent

NOW = 1_795_000_000.0
JSON_FILES = {
    "empty": b"",
    "object": b"{}",
    "tabs": b'{\n\t"model": "opus",\n\t"env": {"A": "\xc3\xa4"}\n}',
    "comments": b'{\n  // of the team\n  "env": {\n    "A": "1", // one\n  },\n  /* no "env" */\n}\n',
    "mark": b'\xef\xbb\xbf{\r\n  "model": "opus"\r\n}\r\n',
    "another value": b'{"env": {"BASH_MAX_OUTPUT_LENGTH": "60000"}}\n',
}
TOML_FILES = {
    "empty": b"",
    "comments": b'# of the team\nmodel = "gpt-5" # ours\n\n[tools]\ntool_output_token_limit = 9\n',
    "windows": b'model = "gpt-5"\r\n[tools]\r\nweb_search = true\r\n',
    "another value": b'model = "gpt-5"\ntool_output_token_limit = 9000 # much\n[tools]\n',
}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and a state of their own."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EBBTIDE_STATE", str(tmp_path / "state"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def advice(project: Path | None, kind: str = "shell-output") -> PricedAdvice:
    """An advice of Claude Code for a project, of Codex for all of them."""
    agent = CodingAgent.CODEX if project is None else CodingAgent.CLAUDE
    return PricedAdvice(
        name=f"{kind}-1",
        project=None if project is None else str(project),
        kind=KINDS[agent, kind],
        expected=Estimate(
            usd=41.5, interval=Interval(12.0, 80.0), tokens=9, share=0.1, sessions=37, since=NOW - 9e5
        ),
        before=(PaidSession(Work.LOOKS, 1, 10),),
    )


def settings(project: Path, content: bytes) -> Path:
    path = project / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_bytes(content)
    return path


def applied_now(item: PricedAdvice) -> AppliedAdvice:
    """The entry of an advice that is applied, as another process reads it."""
    entry = apply(item, AppliedAdvices(), NOW)
    kept = AppliedAdvices().get(item.name)
    assert kept == entry
    return kept


@pytest.mark.parametrize("name", JSON_FILES)
def test_json_byte_for_byte(name: str, project: Path) -> None:
    """Comments, marks and ends of lines are there meanwhile, and nothing else is after undo."""
    before = JSON_FILES[name]
    path = settings(project, before)
    path.chmod(0o640)
    item = advice(project)
    entry = applied_now(item)
    assert item.kind.change.current(str(project)) == "8000"
    assert is_in_force(entry)
    for kept in (b"// of the team", b"// one", b'/* no "env" */', b"\xef\xbb\xbf{\r\n", b'"A": "\xc3\xa4"'):
        assert (kept in path.read_bytes()) == (kept in before)
    assert [file.name for file in path.parent.iterdir()] == [path.name]  # no copy in the project
    undo(entry, AppliedAdvices())
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o640
    assert AppliedAdvices().get(item.name) is None


@pytest.mark.parametrize("name", TOML_FILES)
def test_toml_byte_for_byte(name: str, tmp_path: Path) -> None:
    """Of Codex: the key outside of all tables, whatever a table calls its own."""
    path = tmp_path / "home" / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(TOML_FILES[name])
    item = advice(None)
    entry = applied_now(item)
    assert item.kind.change.current(None) == 2_000
    for kept in (b"# of the team", b"# ours", b"# much", b"limit = 9\n", b"web_search = true\r\n"):
        assert (kept in path.read_bytes()) == (kept in TOML_FILES[name])
    undo(entry, AppliedAdvices())
    assert path.read_bytes() == TOML_FILES[name]


def test_a_text_that_looks_like_the_key_is_not_changed(tmp_path: Path) -> None:
    """A text of several lines has a line like it: that is refused rather than guessed."""
    path = tmp_path / "home" / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    content = b"notes = '''\ntool_output_token_limit = 5\n'''\n"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be changed in place"):
        apply(advice(None), AppliedAdvices(), NOW)
    assert path.read_bytes() == content
    assert list(AppliedAdvices()) == []


def test_a_file_that_was_not_there_goes_again(project: Path) -> None:
    """With the folder that was made for it, but not with what somebody else put there."""
    entry = applied_now(advice(project))
    undo(entry, AppliedAdvices())
    assert list(project.iterdir()) == []
    entry = applied_now(advice(project))
    (project / ".claude" / "notes.md").write_text("mine")
    undo(entry, AppliedAdvices())
    assert [path.name for path in (project / ".claude").iterdir()] == ["notes.md"]


def test_what_others_change_later_stays(project: Path) -> None:
    """The one setting is taken out in place; so is the table that was made for it."""
    path = settings(project, b'{\n  "model": "opus"\n}\n')
    entry = applied_now(advice(project))
    path.write_text(path.read_text().replace("opus", "haiku"))
    undo(entry, AppliedAdvices())
    assert path.read_text() == '{\n  "model": "haiku"\n}\n'


def test_two_advices_in_one_file(project: Path) -> None:
    """Taken back in any order, both are out."""
    before = b'{\n  "model": "opus"\n}\n'
    path = settings(project, before)
    one, other = applied_now(advice(project)), applied_now(advice(project, "cache-hour"))
    assert json.loads(path.read_text())["promptCacheTtl"] == "1h"
    undo(one, AppliedAdvices())
    assert json.loads(path.read_text()) == {"model": "opus", "promptCacheTtl": "1h"}
    undo(other, AppliedAdvices())
    assert json.loads(path.read_text()) == {"model": "opus"}


@pytest.mark.parametrize("content", [b'{"env": {"BASH_MAX_OUTPUT_LENGTH": "20000"}}', b'{"env": 1}'])
def test_a_value_that_was_changed_meanwhile_is_left_alone(project: Path, content: bytes) -> None:
    """Also where it is gone, and another one stood there before."""
    path = settings(project, b'{"env": {"BASH_MAX_OUTPUT_LENGTH": "60000"}}')
    entry = applied_now(advice(project))
    path.write_bytes(content)
    assert not is_in_force(entry)
    with pytest.raises(ConfigError, match="somebody has changed it since; nothing was changed"):
        undo(entry, AppliedAdvices())
    assert path.read_bytes() == content
    assert AppliedAdvices().get(entry.name) == entry


def test_a_value_that_is_gone_already_is_forgotten(project: Path) -> None:
    """Somebody has put back by hand what stood there: undo has nothing to do."""
    path = settings(project, b"{}")
    entry = applied_now(advice(project))
    path.write_bytes(b'{"model": "opus"}')
    undo(entry, AppliedAdvices())
    assert path.read_bytes() == b'{"model": "opus"}'
    assert list(AppliedAdvices()) == []


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"env": []}', b"\xff"])
def test_a_file_of_another_shape_is_refused(project: Path, content: bytes) -> None:
    path = settings(project, content)
    with pytest.raises(ConfigError, match="nothing was changed"):
        apply(advice(project), AppliedAdvices(), NOW)
    assert path.read_bytes() == content
    assert list(AppliedAdvices()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(project: Path) -> None:
    """Written by renaming, it would become ours."""
    path = settings(project, b"{}")
    os.chown(path, 65534, 65534)
    with pytest.raises(ConfigError, match="belongs to another user"):
        apply(advice(project), AppliedAdvices(), NOW)
    assert path.read_bytes() == b"{}"
    os.chown(path, os.geteuid(), 0)
    entry = applied_now(advice(project))
    os.chown(path, 65534, 65534)
    content = path.read_bytes()
    with pytest.raises(ConfigError, match="belongs to another user"):
        undo(entry, AppliedAdvices())
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written(project: Path) -> None:
    """Nothing is kept of a change that was not made."""
    (project / ".claude").write_text("")
    with pytest.raises(ConfigError):
        apply(advice(project), AppliedAdvices(), NOW)
    assert list(AppliedAdvices()) == []


def test_a_link_into_nothing(project: Path, tmp_path: Path) -> None:
    """Likewise where the file can be read, as one that is not there, and not be written."""
    path = project / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.symlink_to(tmp_path / "absent" / "settings.json")
    with pytest.raises(ConfigError, match="cannot be written"):
        apply(advice(project), AppliedAdvices(), NOW)
    assert list(AppliedAdvices()) == []


def test_one_process_at_a_time(project: Path, tmp_path: Path) -> None:
    applied = AppliedAdvices()
    (tmp_path / "state").mkdir()
    handle = lock_file(tmp_path / "state" / "advice.lock")
    assert handle is not None
    try:
        with pytest.raises(StoreError, match="another process"):
            apply(advice(project), applied, NOW)
    finally:
        os.close(handle)
    assert list(project.iterdir()) == []


def test_a_link_stays_a_link(project: Path, tmp_path: Path) -> None:
    """Settings in a folder of dotfiles."""
    target = tmp_path / "dotfiles.json"
    target.write_bytes(JSON_FILES["comments"])
    path = project / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.symlink_to(target)
    entry = applied_now(advice(project))
    assert b"8000" in target.read_bytes()
    undo(entry, AppliedAdvices())
    assert path.is_symlink()
    assert target.read_bytes() == JSON_FILES["comments"]
