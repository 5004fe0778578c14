"""Settings that a search came upon: what they may not say before somebody trusts their folder."""

import json
import socket
from pathlib import Path

import pytest

SERVE = "serve --idle 0 --port 0 --no-sessions --db runs.db"
STUCK = (Path(__file__).parents[2] / "examples/runs/stuck.jsonl").read_bytes()
BUDGETS = '[budgets]\nstore = "{}"\n[[budgets.limits]]\nscope = "all"\nlimit_usd = 5.0\n'


@pytest.fixture
def repository(here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cloned repository, in which one stands; beside it lies a file of somebody else."""
    repository = tmp_path / "cloned"
    (repository / ".git").mkdir(parents=True)
    (repository / "stuck.jsonl").write_bytes(STUCK)
    (tmp_path / "outside.toml").write_text("[limits]\ncost_usd = 1\n")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(repository)
    return repository


@pytest.mark.parametrize("file", ["ebbtide.toml", "pyproject.toml"])
@pytest.mark.parametrize("store", ["budgets.db", "../budgets.db", "HOME/budgets.db"])
def test_a_found_file_makes_no_store(here, repository: Path, file: str, store: str) -> None:
    """Nothing is made, wherever the store would be; after `ebbtide trust` it is."""
    text = BUDGETS.format(store.replace("HOME", str(repository.parent / "home")))
    (repository / file).write_text(
        text.replace("[budgets", "[tool.ebbtide.budgets") if "py" in file else text
    )
    before = sorted(repository.parent.rglob("*"))
    ended = here("budgets", "list")
    assert (ended.code, sorted(repository.parent.rglob("*"))) == (2, before)
    warning, *_ = ended.message.splitlines()
    assert warning.startswith(f"ebbtide: {file}: budgets ignored")
    assert warning.endswith("the file is not trusted yet. If it is yours: ebbtide trust")
    assert here("trust").code == 0
    ended = here("budgets", "list")
    assert (ended.code, ended.message) == (0, "")
    assert "all:total" in ended.output


def test_a_found_file_connects_to_nothing(here, repository: Path) -> None:
    """A server that it names hears nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        store = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        (repository / "ebbtide.toml").write_text(BUDGETS.format(store))
        assert here("budgets", "list").code == 2
        with pytest.raises(TimeoutError):
            server.accept()


def _table(repository: Path) -> None:
    (repository / "budgets.toml").write_text(BUDGETS.format("budgets.db"))


@pytest.mark.parametrize(
    ("text", "command", "named"),
    [
        ('limits = "../outside.toml"', "check stuck.jsonl", "limits"),
        ('limits = "OUTSIDE"', "check stuck.jsonl", "limits"),
        ('limits = "linked.toml"', "check stuck.jsonl", "limits"),
        ('prices = "../outside.toml"', "check stuck.jsonl", "prices"),
        ('tools = "../outside.toml"', "loops stuck.jsonl", "tools"),
        ('baseline = "../outside.toml"', "check stuck.jsonl", "baseline"),
        ('profile = "../outside.toml"', "check stuck.jsonl", "profile"),
        ('profile = "team.toml"', "check stuck.jsonl", "profile"),
        ('budgets = "budgets.toml"', "budgets list", "budgets"),
        ('alerts = "budgets.toml"', SERVE, "alerts"),
        ("[alerts]\ncommand = 'touch RAN'", SERVE, "alerts"),
    ],
)
def test_a_found_file_reaches_nothing_outside(
    here, repository: Path, text: str, command: str, named: str
) -> None:
    """The key is ignored and named, and the rest of the file holds."""
    (repository / "linked.toml").symlink_to("../outside.toml")
    (repository / "team.toml").write_text('[decisions]\nmodel = "../model.json"\n')
    _table(repository)
    text = text.replace("OUTSIDE", str(repository.parent / "outside.toml"))
    (repository / "ebbtide.toml").write_text(f'fail-on = "stuck"\n{text}\n')
    name, *options = command.split()
    more = ["list"] * (name == "budgets")
    shown = json.loads(here("--show-config", name, *more, "--json").output)["settings"]
    assert [row["name"] for row in shown if row["source"] == "ebbtide.toml"] == ["fail-on"]
    ended = here(name, *options)
    assert f"ebbtide.toml: {named} ignored" in ended.message.splitlines()[0]
    assert ended.code == {"check": 50, "loops": 30, "budgets": 2, "serve": 0}[name]


def test_a_path_inside_the_folder_is_taken(here, repository: Path) -> None:
    """As before, from a folder below, too; no word is said."""
    (repository / "own").mkdir()
    (repository / "own" / "limits.toml").write_text("cost_usd = 0.01\n")
    (repository / "ebbtide.toml").write_text('limits = "own/limits.toml"\nfail-on = "limit"\n')
    ended = here("check", "stuck.jsonl")
    assert (ended.code, "not taken" in ended.message) == (50, False)


def test_the_users_own_settings_may_say_anything(
    here, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is named, by option or variable, and what lies in the home folder itself."""
    (repository / "ebbtide.toml").write_text(BUDGETS.format("budgets.db"))
    assert here("--config", "ebbtide.toml", "budgets", "list").message == ""
    monkeypatch.setenv("EBBTIDE_CONFIG", "ebbtide.toml")
    assert here("budgets", "list").message == ""
    monkeypatch.delenv("EBBTIDE_CONFIG")
    home = repository.parent / "home"
    (home / "notes").mkdir()
    (home / "ebbtide.toml").write_text(BUDGETS.format("budgets.db"))
    monkeypatch.chdir(home / "notes")
    assert (here("budgets", "list").message, (home / "budgets.db").exists()) == ("", True)


@pytest.mark.parametrize("changed", ["ebbtide.toml", "budgets.toml"])
def test_a_change_needs_trust_again(here, repository: Path, changed: str) -> None:
    """Of the file, or of one that it names: the store may be another one now."""
    (repository / "ebbtide.toml").write_text('budgets = "budgets.toml"\n')
    _table(repository)
    here("trust")
    assert here("budgets", "list").code == 0
    with (repository / changed).open("a") as file:
        file.write("# changed\n")
    ended = here("budgets", "list")
    assert (ended.code, "has changed since it was trusted" in ended.message) == (2, True)
    here("trust")
    assert here("budgets", "list").code == 0


def test_trust_is_of_one_folder_and_can_be_undone(
    here, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder below it is that of the file; a copy elsewhere is another one."""
    (repository / "ebbtide.toml").write_text(BUDGETS.format("budgets.db"))
    (repository / "below").mkdir()
    monkeypatch.chdir(repository / "below")
    assert "If it is yours: ebbtide trust .." in here("budgets", "list").message
    here("trust")
    listed = json.loads(here("trust", "--list", "--json").output)["folders"]
    assert [(row["folder"], row["file"]) for row in listed] == [(str(repository), "ebbtide.toml")]
    (book,) = (repository.parent / "home").rglob("trusted.json")
    assert book.stat().st_mode & 0o777 == 0o600
    copy = repository.parent / "copy"
    copy.mkdir()
    (copy / ".git").mkdir()
    (copy / "ebbtide.toml").write_text(BUDGETS.format("budgets.db"))
    monkeypatch.chdir(copy)
    assert here("budgets", "list").code == 2
    monkeypatch.chdir(repository)
    assert here("budgets", "list").code == 0
    assert here("trust", "--undo").output == f"no longer trusted: {repository / 'ebbtide.toml'}\n"
    assert here("budgets", "list").code == 2
    assert here("trust", "--undo").output == "the folder was not trusted\n"


def test_a_broken_list_is_refused(here, repository: Path) -> None:
    """Nothing is trusted by it, and the message says what to do."""
    (repository / "ebbtide.toml").write_text(BUDGETS.format("budgets.db"))
    here("trust")
    (book,) = (repository.parent / "home").rglob("trusted.json")
    book.write_text("[]")
    for line in (["budgets", "list"], ["trust", "--list"]):
        ended = here(*line)
        assert (ended.code, "not a list of trusted folders: delete it" in ended.message) == (2, True)
