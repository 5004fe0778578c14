"""A team keeps its records in the log: a public folder as it is, ten decisions later, and what git shows."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false")
#: Of each repository nine records that are in force, by their numbers.
WORK = {
    "alphagov/govuk-aws": "0003 0013 0005 0006 0007 0008 0009 0010 0012",
    "alphagov/govuk-infrastructure": "0001 0002 0003 0004 0005 0006 0007 0008 0010",
    "adr/madr": "0002 0004 0006 0007 0008 0009 0012 0013 0014",
}


def repository(data: Path, name: str) -> dict[str, bytes]:
    pages = {}
    with gzip.open(data / "decisions" / "adr.jsonl.gz", "rt", encoding="utf-8", newline="") as lines:
        for row in map(json.loads, lines):
            owner, _, page = row["id"].partition(":")
            if owner == name:
                pages[page] = row["markdown"].encode()
    return pages


class Shell:
    """Runs the command in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("EBBTIDE")}
        self.env |= {"NO_COLOR": "1", "HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "data")}

    def printed(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "ebbtide", "decisions", *arguments]
        process = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, timeout=120, check=False
        )
        assert process.returncode == 0, (arguments, process.stderr.decode())
        return process.stdout.decode()

    def json(self, *arguments: str) -> dict:
        return json.loads(self.printed(*arguments, "--json"))

    def ids(self, *arguments: str) -> set[str]:
        return {each["id"] for each in self.json("list", "--limit", "999", *arguments)["decisions"]}


def contents(folder: Path) -> dict[str, bytes]:
    return {page.name: page.read_bytes() for page in folder.glob("*.md")}


def git(folder: Path, *arguments: str) -> str:
    process = subprocess.run([*GIT, *arguments], cwd=folder, capture_output=True, check=True, timeout=60)
    return process.stdout.decode()


def changes(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """The lines that went out and came in, by page; empty ones do not count."""
    pages: dict[str, tuple[list[str], list[str]]] = {}
    name = ""
    for line in git(folder, "diff", "--unified=0", "--no-renames").splitlines():
        if line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/")
            pages[name] = ([], [])
        elif line.startswith(("-", "+")) and not line.startswith("---") and line[1:].strip():
            pages[name][line.startswith("+")].append(line[1:].rstrip())
    return pages


@pytest.mark.parametrize("name", WORK)
def test_a_team_keeps_its_records_in_the_log(name: str, data: Path, tmp_path: Path) -> None:
    """Import, eleven commands, export: the difference is what the commands said, and nothing else."""
    shell, folder = Shell(tmp_path), tmp_path / "records"
    folder.mkdir()
    pages = repository(data, name)
    for page, content in pages.items():
        (folder / page).write_bytes(content)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "as it is")
    numbers = WORK[name].split()
    files = [next(page for page in sorted(pages) if page.startswith(number)) for number in numbers]
    old, older, gone, refused, longer, problem, weighed, seen, linked = files

    shell.printed("import", "records")
    shell.printed("export", "records")
    assert git(folder, "status", "--porcelain") == ""

    log, nothing = [{"title": "The log", "pros": ["one history"]}, "A wiki"], {"title": "Do nothing"}
    (tmp_path / "new.json").write_text(json.dumps({"options": log}))
    (tmp_path / "weighed.json").write_text(json.dumps({"options": [{**nothing, "cons": ["it gets worse"]}]}))
    new = shell.json(
        *("record", "Keep each record in the decision log", "--file", "new.json"),
        *("--set", "context=Two tools number records", "--set", "choice=The log"),
        *("--set", "consequences=Numbers are given at export", "--set", "deciders=Ann Lee"),
        *("--link", f"supersedes={old}"),
    )["id"]
    later = ("record", "Review each record once a year", "--set", "standing=proposed", "--reason", "they age")
    other = shell.json(*later)["id"]
    for arguments in (
        ("amend", other, "--status", "accepted", "--why", "the meeting of March"),
        ("amend", new, "--link", f"supersedes={older}"),
        ("amend", gone, "--status", "deprecated"),
        ("amend", refused, "--status", "rejected", "--why", "nobody needs it"),
        ("amend", longer, "--set", "consequences=Good, because it can be undone"),
        ("amend", problem, "--set", "context=The problem is another one.", "--set", "deciders=Bo Chan"),
        ("amend", weighed, "--file", "weighed.json"),
        ("review", seen, "success", "--by", "Ann Lee", "--evidence", "a quiet year"),
        ("amend", linked, "--link", f"depends_on={seen}", "--why", "same network"),
    ):
        shell.printed(*arguments)
    shell.printed("export", "records")

    untracked = {line[3:] for line in git(folder, "status", "--porcelain").splitlines() if line[0] == "?"}
    assert len(untracked) == 3
    assert "numbers.json" in untracked
    (page,) = (folder / each for each in untracked if "keep-each-record" in each)
    difference = changes(folder)
    assert set(difference) == set(files)
    for each, word in (
        (old, "superseded by"),
        (older, "superseded by"),
        (gone, "deprecated"),
        (refused, "rejected"),
    ):
        out, into = difference[each]
        assert len(out) <= 1
        said = [line for line in into if "status" not in line.lower().strip("# ") or word in line.lower()]
        assert len(said) == 1
        assert word in said[0].lower()
        assert (page.name in said[0]) is (word == "superseded by")
    assert difference[longer][0] == []
    assert difference[longer][1][-1].endswith("Good, because it can be undone")
    out, into = difference[problem]
    assert "The problem is another one." in into
    assert sum("Bo Chan" in line for line in into) == 1
    assert {line.encode() for line in out} <= {line.rstrip() for line in pages[problem].split(b"\n")}
    assert difference[weighed][0] == []
    assert sum("Do nothing" in line for line in difference[weighed][1]) == 2
    assert difference[seen][0] == difference[linked][0] == []
    assert difference[seen][1][0] == "## Reviews"
    assert f"({seen}): same network" in difference[linked][1][-1]


@pytest.mark.parametrize("name", WORK)
def test_another_log_reads_the_same_folder(name: str, data: Path, tmp_path: Path) -> None:
    """What was exported twice, or imported into another log and exported from there, is the same folder."""
    shell = Shell(tmp_path)
    folder, pages = tmp_path / "records", repository(data, name)
    folder.mkdir()
    for page, content in pages.items():
        (folder / page).write_bytes(content)
    files = [next(page for page in sorted(pages) if page.startswith(number)) for number in WORK[name].split()]
    shell.printed("import", "records")
    new = shell.json("record", "Keep each record in the decision log", "--link", f"supersedes={files[0]}")[
        "id"
    ]
    shell.printed("amend", files[1], "--status", "rejected")
    shell.printed("amend", files[2], "--set", "consequences=It can be undone", "--set", "deciders=Ann Lee")
    shell.printed("export", "records")
    after, listed = contents(folder), shell.ids()
    assert new in listed
    shell.printed("export", "records")
    shell.printed("import", "records")
    assert (contents(folder), shell.ids()) == (after, listed)
    shell.printed("import", "records", "--log", "copy.db")
    assert shell.ids("--log", "copy.db") == listed
    shell.printed("export", "records", "--log", "copy.db")
    assert contents(folder) == after
