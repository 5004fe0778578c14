"""Settings of a project: which file is taken, what wins, what is shown, and what is refused."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
STUCK, HEALTHY = EXAMPLES / "stuck.jsonl", EXAMPLES / "healthy.jsonl"
MODEL = {"kind": "llm", "name": "message", "model": "own-1", "input_tokens": 1_000_000}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a stuck and a healthy run, two folders deep."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "one" / "two"
    folder.mkdir(parents=True)
    (folder / "stuck.jsonl").write_bytes(STUCK.read_bytes())
    (folder / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    return folder


def ebbtide(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"} | env
    command = [sys.executable, "-m", "ebbtide", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", env=env, timeout=120, check=False
    )


def shown(
    folder: Path, *arguments: str, before: Sequence[str] = (), **env: str
) -> dict[str, tuple[object, str, int | None]]:
    """Value, source and line of each setting that is set."""
    process = ebbtide(folder, *before, "--show-config", "check", "--json", *arguments, **env)
    assert process.returncode == 0, process.stderr
    return {
        item["name"]: (item["value"], item["source"].replace(os.sep, "/"), item["line"])
        for item in json.loads(process.stdout)["settings"]
        if item["source"] != "default"
    }


def test_a_file_above_holds_and_the_command_line_wins(folder: Path) -> None:
    """What both set is that of the command line; what ignores adds up."""
    (folder.parent / "ebbtide.toml").write_text(
        'fail-on = "stuck"\nprofile = "spec"\n[limits]\ncost_usd = 1\nsteps = 50\n'
        '[ignore]\nrules = ["cycle"]\n'
    )
    file = "../ebbtide.toml"
    assert shown(folder) == {
        "fail-on": (["stuck"], file, 1),
        "profile": ("spec", file, 2),
        "limits.cost_usd": (1, file, 3),
        "limits.steps": (50, file, 3),
        "ignore": (["cycle"], file, 6),
    }
    changed = shown(
        folder, "-p", "default", "--max-steps", "9", "--fail-on", "cost=2", "--ignore", "monotony"
    )
    assert changed == {
        "fail-on": (["cost=2"], "command line", None),
        "profile": ("default", "command line", None),
        "limits.cost_usd": (1, file, 3),
        "limits.steps": (9, "command line", None),
        "ignore": (["monotony"], "command line", None),
    }
    assert shown(folder, before=["--no-config"]) == {}


def test_the_settings_do_what_the_options_do(folder: Path) -> None:
    """A check with settings is the check with the options."""
    (folder / "ebbtide.toml").write_text('fail-on = ["cost=5"]\n[limits]\ncost_usd = 1\n')
    by_file = ebbtide(folder, "check", "--json", "stuck.jsonl")
    by_option = ebbtide(folder, "--no-config", "check", "--json", "--max-cost", "1", "stuck.jsonl")
    assert "limit" in [finding["kind"] for finding in json.loads(by_file.stdout)["findings"]]
    assert by_file.stdout == by_option.stdout
    (folder / "ebbtide.toml").write_text('fail-on = ["stuck"]\n')
    assert ebbtide(folder, "check", "stuck.jsonl").returncode == 50
    assert ebbtide(folder, "--no-config", "check", "stuck.jsonl").returncode == 0
    assert ebbtide(folder, "check", "--fail-on", "cost=5", "stuck.jsonl").returncode == 0


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"one/ebbtide.toml": 'profile = "spec"', "one/two/ebbtide.toml": 'fail-on = "stuck"'}, "fail-on"),
        ({"one/two/pyproject.toml": '[tool.ebbtide]\nprofile = "spec"'}, "profile"),
        ({"one/two/pyproject.toml": "[tool.other]", "one/ebbtide.toml": 'profile = "spec"'}, "profile"),
        ({"one/two/pyproject.toml": "not toml", "one/ebbtide.toml": 'profile = "spec"'}, "profile"),
        (
            {
                "one/pyproject.toml": '[tool.ebbtide]\nprofile = "spec"',
                "one/ebbtide.toml": 'fail-on = "stuck"',
            },
            "fail-on",
        ),
        ({"ebbtide.toml": 'profile = "spec"'}, "profile"),
        ({"one/.git/HEAD": "", "ebbtide.toml": 'profile = "spec"'}, None),
        ({"one/two/pyproject.toml": '[project]\nname = "uses-ebbtide"'}, None),
    ],
    ids=[
        "nearest",
        "pyproject",
        "other tool",
        "not ours",
        "own first",
        "at the root",
        "beyond",
        "named only",
    ],
)
def test_which_file_is_taken(folder: Path, files: dict[str, str], expected: str | None) -> None:
    """The nearest up to the root of the repository; a pyproject.toml only where it has our table."""
    for name, text in files.items():
        path = folder.parents[1] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert list(shown(folder)) == ([] if expected is None else [expected])


def test_home_is_the_last_place(folder: Path) -> None:
    """What lies above is somebody else's."""
    (folder.parents[1] / ".git").rmdir()
    (folder.parents[1] / "ebbtide.toml").write_text('profile = "spec"')
    assert list(shown(folder, HOME=str(folder.parents[1]))) == ["profile"]
    assert shown(folder, HOME=str(folder.parent)) == {}


def test_a_file_can_be_named(folder: Path) -> None:
    """By the option, which wins, or by the environment."""
    (folder / "ebbtide.toml").write_text('profile = "spec"')
    (folder / "a.toml").write_text('fail-on = "stuck"')
    (folder / "b.toml").write_text("[limits]\nsteps = 3")
    assert list(shown(folder, before=["--config", "a.toml"])) == ["fail-on"]
    assert list(shown(folder, EBBTIDE_CONFIG="b.toml")) == ["limits.steps"]
    assert list(shown(folder, before=["--config", "a.toml"], EBBTIDE_CONFIG="b.toml")) == ["fail-on"]
    assert shown(folder, before=["--no-config"], EBBTIDE_CONFIG="b.toml") == {}
    for order in (["--config", "a.toml", "--no-config"], ["--no-config", "--config", "a.toml"]):
        process = ebbtide(folder, *order, "check", "stuck.jsonl")
        assert process.returncode == 2
        assert "say one of them" in process.stderr


def test_settings_stand_before_the_command(folder: Path) -> None:
    """Elsewhere they are refused with how it is written, and so is showing those of a command without any."""
    process = ebbtide(folder, "budgets", "list", "--config", "a.toml")
    assert process.returncode == 2
    assert "It belongs before the command: ebbtide --config ... budgets list" in process.stderr
    process = ebbtide(folder, "--show-config", "formats")
    assert (process.returncode, "no setting is about this command" in process.stderr) == (2, True)


def test_files_and_tables(folder: Path) -> None:
    """Tools and prices may be files, named from the folder of the settings, or tables in it."""
    (folder / "run.jsonl").write_text(json.dumps(MODEL))
    (folder.parent / "my.toml").write_text(
        '[prices.own-1]\ninput = 7.0\n[tools.web_search]\nexempt = "yes"\n'
    )
    (folder.parent / "ebbtide.toml").write_text('prices = "my.toml"\n')
    assert json.loads(ebbtide(folder, "check", "--json", "run.jsonl").stdout)["spent"]["cost_usd"] == 7.0
    (folder.parent / "ebbtide.toml").unlink()
    (folder.parent / "pyproject.toml").write_text("[tool.ebbtide.prices.own-1]\ninput = 9.0\n")
    assert json.loads(ebbtide(folder, "check", "--json", "run.jsonl").stdout)["spent"]["cost_usd"] == 9.0
    (folder.parent / "pyproject.toml").write_text('[tool.ebbtide]\ntools = "my.toml"\n')
    process = ebbtide(folder, "loops", "stuck.jsonl")
    assert process.returncode == 2
    assert "my.toml: tools.web_search.exempt = 'yes'" in process.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limts = {}", "limts: no such setting; did you mean limits? There are profile, tools, prices, "),
        ("colour = 1", "colour: no such setting; there are profile, tools, "),
        ("fail_on = 'stuck'", "fail_on: no such setting; did you mean fail-on?"),
        ("profile = 3", "profile = 3: expected a text"),
        ("tools = 3", "tools = 3: expected a file, or a table"),
        ("fail-on = 3", "fail-on = 3: expected a list of texts"),
        ("fail-on = [3]", "fail-on: 3: expected a text"),
        ("fail-on = 'stcuk'", "fail-on 'stcuk': expected stuck, limit, "),
        ("ignore = ['cycle']", "ignore = ['cycle']: expected a table"),
        (
            "ignore.rule = ['cycle']",
            "ignore.rule: no such setting; did you mean rules? There are rules, tools, runs",
        ),
        ("ignore.rules = ['cylce']", "ignore.rules: no rule 'cylce'; did you mean cycle? There are repeat, "),
        ("ignore.runs = 'x'", "ignore.runs = 'x': expected a list of texts"),
        ("limits.stpes = 3", "limits.stpes: no such limit; did you mean steps?"),
        ("limits.steps = -3", "steps = -3"),
        ("profile = ", "not a TOML file"),
    ],
)
def test_what_is_refused(folder: Path, text: str, message: str) -> None:
    """The error names the file and the key, ends with 2, and nothing is checked."""
    (folder / "ebbtide.toml").write_text(text)
    process = ebbtide(folder, "check", "healthy.jsonl")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("ebbtide: ebbtide.toml: ")
    assert message in process.stderr


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: path.symlink_to("absent")], ids=["folder", "link"]
)
def test_a_file_that_cannot_be_read_is_no_missing_one(folder: Path, make: object) -> None:
    """It is named, and nothing is checked."""
    make(folder / "ebbtide.toml")  # type: ignore[operator]
    process = ebbtide(folder, "check", "healthy.jsonl")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("ebbtide: ebbtide.toml: ")


def test_settings_of_other_commands_do_no_harm(folder: Path) -> None:
    """A command takes what it has an option for; one without any reads no file."""
    (folder / "ebbtide.toml").write_text(
        'fail-on = "stuck"\nprices = "absent.toml"\n'
        '[ignore]\nrules = ["cycle"]\nruns = ["*"]\n[limits]\nsteps = 1\n'
    )
    (folder / "talk.txt").write_text("Ana: We should cache it.\nBen: Yes, let us cache it.\n")
    assert ebbtide(folder, "stop", "talk.txt").returncode in (0, 10, 20)
    assert ebbtide(folder, "decisions", "from", "talk.txt").returncode == 0
    assert ebbtide(folder, "doctor").returncode == 0
    (folder / "ebbtide.toml").write_text("broken = ")
    assert ebbtide(folder, "formats").returncode == 0
    assert ebbtide(folder, "stop", "talk.txt").returncode == 2


def test_rules_tools_and_runs_are_ignored(folder: Path) -> None:
    """They are counted, and what ignores them is named; the verdict and the exit code do not know them."""
    (folder / "ebbtide.toml").write_text(
        'fail-on = "nudge"\n[ignore]\nrules = ["cycle", "spend_without_news", "burn_without_progress"]\n'
    )
    process = ebbtide(folder, "check", "stuck.jsonl")
    assert process.returncode == 0
    assert process.stdout.startswith("HEALTHY")
    assert "3 findings ignored by ebbtide.toml\n" in process.stdout
    (folder / "ebbtide.toml").unlink()
    process = ebbtide(folder, "check", "--ignore", "tool=web_*", "stuck.jsonl")
    assert process.stdout.startswith("NOISY")
    assert "1 finding ignored by --ignore\n" in process.stdout
    watched = ebbtide(folder, "watch", "--until-end", "--ignore", "tool=web_*", "stuck.jsonl")
    assert "1 finding ignored by --ignore\n" in watched.stdout
    assert "STOP" not in watched.stdout


@pytest.mark.parametrize(
    ("pattern", "ignored"),
    [
        ("stuck.jsonl", ["stuck.jsonl"]),
        ("*.jsonl", ["healthy.jsonl", "stuck.jsonl"]),
        ("two/*", ["healthy.jsonl", "stuck.jsonl"]),
        ("two/s*", ["stuck.jsonl"]),
        ("one/two/*", []),
    ],
)
def test_runs_are_left_out_by_their_path(folder: Path, pattern: str, ignored: list[str]) -> None:
    """From the folder of the settings; a pattern without a slash is about the name."""
    (folder.parent / "ebbtide.toml").write_text(f'fail-on = "stuck"\nignore.runs = ["{pattern}"]\n')
    process = ebbtide(folder, "check", "--json", ".")
    wire = [json.loads(line) for line in process.stdout.splitlines()]
    skipped = [item["source"] for item in wire if item.get("skipped") == f"ignored by ..{os.sep}ebbtide.toml"]
    assert [Path(name).name for name in skipped] == ignored
    assert process.returncode == (0 if "stuck.jsonl" in ignored else 50)


def test_only_check_leaves_runs_out(folder: Path) -> None:
    """Whoever watches one run has named it."""
    process = ebbtide(folder, "loops", "--ignore", "run=*", "stuck.jsonl")
    assert process.returncode == 2
    assert "only `ebbtide check` leaves runs out" in process.stderr
    for text in ("rnu=*", "tool=", "cylce"):
        assert ebbtide(folder, "check", "--ignore", text, "stuck.jsonl").returncode == 2
