"""`ebbtide decisions import | audit | restore | export | calibration | purge | from` as processes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "decisions"
FIELDS = "description=what,time=when,agent=who,reasons=why"


class Shell:
    """Runs the command on a log in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess:
        env = os.environ | {
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PYTHONIOENCODING": "utf-8",
            "EBBTIDE_LOG": str(self.folder / "log.db"),
        }
        command = [sys.executable, "-m", "ebbtide", "decisions", *map(str, arguments)]
        process = subprocess.run(
            command, input=stdin, capture_output=True, env=env, cwd=self.folder, timeout=120, check=False
        )
        assert b"Traceback" not in process.stderr, process.stderr.decode()
        return process

    def json(self, *arguments: str | Path, **options) -> dict:
        return json.loads(self.run(*arguments, "--json", **options).stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def old_log(tmp_path_factory) -> Path:
    """A folder with a log, and the example of an old one in it."""
    shell = Shell(tmp_path_factory.mktemp("old"))
    process = shell.run("import", EXAMPLES / "old-log.jsonl", "--fields", FIELDS)
    assert process.returncode == 2
    assert process.stdout.decode() == "8 imported\n"
    assert "old-log.jsonl:9: not JSON" in process.stderr.decode()
    return shell.folder


@pytest.fixture
def imported(shell: Shell, old_log: Path) -> Shell:
    """A copy of that log."""
    shutil.copytree(old_log, shell.folder, dirs_exist_ok=True)
    return shell


@pytest.mark.clause("Q15")
def test_an_old_log_is_cleaned(imported: Shell) -> None:
    """Planned, shown, done, refused the second time, undone."""
    plan = imported.json("audit", "--output", "plan.json")
    reasons = {row["description"][:9]: row["rule"] for row in plan["rows"]}
    assert reasons.pop("Store the") == "duplicate.fingerprint"
    assert set(reasons) == {"done", "Let me ch", "Great, th"}
    assert len(plan["reversals"]) == 1
    preview = imported.run("audit", "--plan", "plan.json")
    assert (preview.returncode, b"Nothing has changed yet" in preview.stdout) == (0, True)
    assert len(imported.json("list")["decisions"]) == 8
    stays = plan["rows"][0]["id"]
    assert len(imported.json("audit", "--plan", "plan.json", "--yes", "--except", stays)["quarantined"]) == 3
    assert len(imported.json("list")["decisions"]) == 5
    again = imported.run("audit", "--plan", "plan.json", "--yes")
    assert (again.returncode, b"changed since the plan was made" in again.stderr) == (2, True)
    assert len(imported.json("restore", "--plan", "plan.json")["restored"]) == 3
    assert len(imported.json("list")["decisions"]) == 8
    assert imported.json("verify")["ok"]


def test_a_changed_plan_is_refused(imported: Shell) -> None:
    """What is applied is what was looked at."""
    imported.run("audit", "--output", "plan.json")
    path = imported.folder / "plan.json"
    path.write_text(path.read_text().replace('"done"', '"not done"'))
    process = imported.run("audit", "--plan", "plan.json", "--yes")
    assert (process.returncode, b"was changed after it was made" in process.stderr) == (2, True)


def test_an_import_twice_adds_nothing(imported: Shell) -> None:
    """Nor does reading it from a compressed copy; --dry-run touches nothing."""
    import gzip

    copy = imported.folder / "copy.jsonl.gz"
    copy.write_bytes(gzip.compress((EXAMPLES / "old-log.jsonl").read_bytes()))
    process = imported.json("import", copy, "--fields", FIELDS)
    assert (process["created"], process["present"], len(process["broken"])) == ([], 8, 1)
    preview = imported.json(
        "import", "-", "--dry-run", "--fields", "description=decision,time=date,category=team",
        stdin=(EXAMPLES / "old-log.csv").read_bytes(),
    )  # fmt: skip
    assert len(preview["created"]) == 2
    assert len(imported.json("list")["decisions"]) == 8


def test_records_of_another_tool(shell: Shell) -> None:
    """A folder comes back as it was, the rejected record too; a change is the only difference."""
    records = Path(__file__).parents[1] / "decision_log" / "adr"
    assert len(shell.json("import", records / "nygard")["created"]) == 3
    assert shell.json("export", "out")["changed"] == 3
    out = shell.folder / "out"
    before = {path.name: path.read_bytes() for path in (records / "nygard").glob("*.md")}
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    decisions = {each["document"]["name"]: each["id"] for each in shell.json("list")["decisions"]}
    shell.run("review", decisions["002-retire-the-mail-relay.md"], "success", "--by", "Ann")
    assert shell.json("export", "out")["changed"] == 1
    assert shell.json("import", "out")["present"] == 3


def test_what_a_record_says_is_shown(shell: Shell) -> None:
    """Deciders, status and the sides of each option, in the words of the record."""
    records = Path(__file__).parents[1] / "decision_log" / "adr"
    (first, _) = shell.json("import", records / "madr-3")["created"]
    screen = " ".join(shell.run("show", first).stdout.decode().split())
    for text in (
        "record 0001-sign-releases.md",
        "status there accepted",
        "deciders Ann Lee, Bo Chan",
        "informed everyone who packages us",
        "pro A service that signs: nobody keeps a key",
        "neutral Keys of the maintainers: each has another tool",
        "consequence Bad, because keys get lost",
    ):
        assert text in screen


def test_pages_out_and_in_again(imported: Shell) -> None:
    """The pages of an export are the decisions that they were made of."""
    process = imported.json("export", "pages")
    assert (process["new"], process["changed"]) == (8, 8)
    assert imported.json("export", "pages")["changed"] == 0
    before = imported.json("export")["decisions"]
    other = Shell(imported.folder / "other")
    other.folder.mkdir()
    assert len(other.json("import", imported.folder / "pages")["created"]) == 8
    after = other.json("export")["decisions"]
    for row in (*before, *after):
        del row["version"]
    assert sorted(after, key=json.dumps) == sorted(before, key=json.dumps)


def test_what_stands_beside_the_records_is_left_alone(imported: Shell) -> None:
    """A read-me and a template of a folder are named, and are no failure."""
    imported.run("export", "pages")
    for name in ("README.md", "index.md", "adr-template.md"):
        (imported.folder / "pages" / name).write_text("# Our records\n\nSee below.\n")
    process = imported.run("import", "pages")
    assert process.returncode == 0
    assert process.stderr.decode().count("its name is not that of a record") == 3
    process = imported.run("import", "pages/README.md")
    assert (process.returncode, b"no record of a decision" in process.stderr) == (2, True)


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_files_out_and_in_again(imported: Shell, kind: str) -> None:
    """So are those of a file; standard output and standard input will do."""
    text = imported.run("export", "--format", kind).stdout
    other = Shell(imported.folder / "other")
    other.folder.mkdir()
    process = other.json("import", "-", stdin=text)
    assert (len(process["created"]), process["broken"]) == (8, [])


def test_one_agent_of_a_log(imported: Shell) -> None:
    """A view of one agent exports and cleans that one only."""
    assert len(imported.json("export", "--agent", "planner")["decisions"]) == 4
    plan = imported.json("audit", "--agent", "coder", "--output", "plan.json")
    assert plan["examined"] == 4
    other = imported.run("audit", "--plan", "plan.json", "--agent", "planner", "--yes")
    assert (other.returncode, b"agent 'coder'" in other.stderr) == (2, True)


def test_calibration_of_a_log(imported: Shell) -> None:
    """Two of eight say something: the rest is counted by reason; each bin is a row."""
    calibration = imported.json("calibration")
    assert (calibration["decisions"], calibration["n"]) == (8, 2)
    printed = imported.run("calibration").stdout.decode()
    assert "Brier score" in printed
    assert "0.70 to 0.80" in printed
    assert "Left out of 8" in printed


def test_purge_needs_yes(imported: Shell) -> None:
    """Texts of what was refused go for good, when asked twice; the chain verifies."""
    imported.run("audit", "--output", "plan.json")
    imported.run("audit", "--plan", "plan.json", "--yes")
    assert len(imported.json("purge", "--before", "0d")["ids"]) == 4
    assert imported.json("verify")["purged"] == 0
    assert len(imported.json("purge", "--before", "0d", "--yes")["ids"]) == 4
    assert imported.json("list", "--status", "quarantined")["decisions"] == []
    verification = imported.json("verify")
    assert verification["ok"]
    assert verification["purged"] > 0


def test_a_conversation_through_the_gate(shell: Shell) -> None:
    """What would be kept, what not, and why; users are left out unless asked for."""
    answer = shell.json("from", EXAMPLES / "conversation.json")
    assert answer["counts"] == {"kept": 5, "refused": 1, "duplicate": 1, "proposed": 0}
    assert answer["reversals"] == 1
    printed = shell.run("from", EXAMPLES / "conversation.json").stdout.decode()
    assert "already said in turn 4" in printed
    assert "Does it replace what was said in turn 8?" in printed
    assert "in 8 turns of agents; 2 turns of users not searched" in " ".join(printed.split())
    assert "for an hour" not in printed
    everyone = shell.run("from", EXAMPLES / "conversation.json", "--users").stdout.decode()
    assert "for an hour" in everyone
    assert "in 10 turns" in everyone
    assert not (shell.folder / "log.db").exists()


def test_a_conversation_is_recorded_once(shell: Shell) -> None:
    """With its speakers as agents, its file as session, and the source auto."""
    assert shell.json("from", EXAMPLES / "conversation.json", "--save")["saved"] == {"new": 5, "present": 0}
    assert shell.json("from", EXAMPLES / "conversation.json", "--save")["saved"] == {"new": 0, "present": 5}
    rows = shell.json("list", "--agent", "coder")["decisions"]
    assert {(row["session"], row["candidate"]["source"]) for row in rows} == {("conversation.json", "auto")}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02", "description"),
        (b"what,when\nx,1\n", "there is no column 'description'"),
        (b'{"kind": "ebbtide.decisions", "schema": 2}', "schema 2 is not known"),
        (b"\x1f\x8b\x08\x00broken", "gzip"),
    ],
)
def test_files_that_cannot_be_read(shell: Shell, content: bytes, expected: str) -> None:
    """A message, and no log is begun for nothing."""
    process = shell.run("import", "-", stdin=content)
    assert process.returncode == 2
    assert expected in process.stderr.decode()
    assert not (shell.folder / "log.db").exists()


def test_a_named_key_that_no_row_has_imports_nothing_and_begins_no_log(shell):
    process = shell.run("import", EXAMPLES / "old-log.jsonl", "--fields", f"{FIELDS},session=sesion")
    assert (process.returncode, process.stdout) == (2, b"")
    assert "no row has 'sesion'; the keys are " in process.stderr.decode()
    assert "nothing was imported" in process.stderr.decode()
    assert shell.run("list").returncode == 2


def test_decisions_that_were_imported_are_not_said_to_be_none(imported: Shell) -> None:
    """The gate has judged none of them, and that alone is what the first line says."""
    first, *rest = imported.run("stats").stdout.decode().splitlines()
    assert first == "The gate has judged no candidates yet"
    assert any("kept" in line for line in rest)
