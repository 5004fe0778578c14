"""`ebbtide decisions` as a process: recording, browsing, and what is said of bad input."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decisions.candidate import Candidate

CHOICE = "Use SQLite for the decision log because there is one writer"
OTHER = "Cache rendered pages in the reverse proxy instead of the application"


class Shell:
    """Runs the command with a data folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("EBBTIDE")}
        self.env |= {
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PYTHONIOENCODING": "utf-8",
            "HOME": str(folder / "home"),
            "XDG_DATA_HOME": str(folder / "data"),
        }

    def run(
        self, *arguments: str | bytes | Path, stdin: bytes = b"", **env: str
    ) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "ebbtide", "decisions", *arguments]
        process = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            env=self.env | env,
            cwd=self.folder,
            timeout=120,
            check=False,
        )
        assert b"Traceback" not in process.stderr, process.stderr.decode()
        return process

    def json(self, *arguments: str | Path, **options) -> dict:
        return json.loads(self.run(*arguments, "--json", **options).stdout)

    def printed(self, *arguments: str | Path, **options) -> str:
        process = self.run(*arguments, **options)
        assert process.returncode == 0, process.stderr.decode()
        return process.stdout.decode()

    @property
    def default(self) -> Path:
        return self.folder / "data" / "ebbtide" / "decisions.db"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_life_of_a_decision(shell: Shell) -> None:
    """Opened, thought about, finalized, found, reviewed, superseded; the chain verifies."""
    start = shell.json("record", "Where does the log live?", "--open", "--agent", "coder", "--session", "s1")
    assert start["verdict"] == "opened"
    shell.run("think", start["id"], "there is one writer")
    final = shell.json(
        "record", CHOICE, "--of", start["id"], "--reason", "analysis: no server", "--confidence", "0.8"
    )
    assert (final["verdict"], final["id"]) == ("kept", start["id"])
    assert final["decision"]["candidate"]["reasons"] == [{"text": "no server", "kind": "analysis"}]
    newer = shell.json(
        "record", OTHER, "--agent", "coder", "--set", "prediction=fewer queries", "--review-by", "2020-01-01"
    )
    assert start["id"] in shell.printed("list")
    assert [hit["decision"]["id"] for hit in shell.json("list", "proxy")["hits"]] == [newer["id"]]
    assert [late["id"] for late in shell.json("list", "--overdue")["decisions"]] == [newer["id"]]
    shell.run("review", newer["id"], "success", "--by", "ana", "--evidence", "the dashboard")
    assert shell.json("list", "--overdue")["decisions"] == []
    shell.run("amend", newer["id"], "--link", f"supersedes={start['id']}", "--why", "no log any more")
    lines = shell.printed("show", start["id"], "--events")
    for expected in ("superseded", "one writer", "asked", "coder, s1", "finalized"):
        assert expected in lines
    assert shell.printed("verify").startswith("verified")
    assert shell.default.is_file()


@pytest.mark.clause("Q05", "Q13", "Q14")
def test_the_gate_refuses_with_40(shell: Shell) -> None:
    """The reason, the quarantine, and the way back; a duplicate names its original."""
    refusal = shell.run("record", "done")
    assert refusal.returncode == 40
    assert b"too short" in refusal.stdout
    decision = shell.json("record", CHOICE)
    again = shell.run("record", CHOICE)
    assert again.returncode == 40
    assert decision["id"].encode() in again.stdout
    assert shell.run("record", "Move a file somewhere else", "--open", "--set", "frame=task").returncode == 40
    quarantined = shell.json("list", "--status", "quarantined")["decisions"]
    assert len(quarantined) == 2
    assert shell.run("record", "done", "--force").returncode == 0
    stats = shell.json("stats")
    assert stats["refused"] == 2
    assert {"quality.too-short", "duplicate.fingerprint"} <= set(stats["by_rule"])
    assert "quality.too-short" in shell.printed("stats")
    assert "ebbtide_decision_rules_total" in shell.printed("stats", "--prometheus")
    sample = shell.json("stats", "--sample", "20")
    assert set(sample["refused"]) >= {row["id"] for row in quarantined}
    assert shell.json("restore", quarantined[0]["id"])["restored"] == [quarantined[0]["id"]]


def test_a_reversal_is_asked_about(shell: Shell) -> None:
    """It is kept, and the earlier decision is named."""
    shell.run("record", "Enable retries for the billing client")
    process = shell.run("record", "Disable retries for the billing client")
    assert process.returncode == 0
    assert b"Does it replace" in process.stdout


def test_a_machine_is_a_signal(shell: Shell) -> None:
    """What was measured is told from what a person says."""
    decision = shell.json("record", CHOICE)["id"]
    process = shell.json(
        "review", decision, "failure", "--observed", "--by", "ci", "--evidence", "3 of 9 checks fail"
    )
    assert (process["reviews"][0]["by"], process["reviews"][0]["observed"]) == ("signal:ci", True)


def test_texts_from_everywhere(shell: Shell) -> None:
    """As an argument, from standard input, from a file; right to left, too."""
    text = "لنستخدم قاعدة بيانات SQLite للسجل لأن هناك كاتبًا واحدًا"
    (shell.folder / "said.txt").write_text(f"{text}\n", encoding="utf-8")
    rows = shell.json("record", "-", stdin=f"{CHOICE}\n".encode())["decision"]["candidate"]["description"]
    assert rows == CHOICE
    rows = shell.json("record", "--file", "said.txt")["decision"]["candidate"]["description"]
    assert rows == text


def test_a_decision_from_a_file(shell: Shell) -> None:
    """Front matter above the text and JSON state the same fields; options of the command stand over them."""
    fields = {
        "reasons": ["analysis: no server"],
        "stakes": "high",
        "category": "tooling",
        "context": "Many runs",
    }
    page = "\n".join(
        ["---", *(f"{name}: {json.dumps(value)}" for name, value in fields.items()), "---", CHOICE]
    )
    (shell.folder / "one.md").write_text(page)
    one = shell.json("record", "--file", "one.md", "--confidence", "0.8")["decision"]
    assert one["candidate"] | {"source": "explicit"} == {
        "description": CHOICE,
        "frame": "decision",
        "source": "explicit",
        "reasons": [{"text": "no server", "kind": "analysis"}],
        "stakes": "high",
        "category": "tooling",
        "confidence": 0.8,
    }
    assert one["particulars"] == {"context": "Many runs"}
    text = json.dumps({**fields, "description": CHOICE, "confidence": 0.1}).encode()
    two = shell.json("record", "--file", "-", "--confidence", "0.8", "--force", stdin=text)["decision"]
    assert (two["candidate"], two["particulars"]) == (one["candidate"], one["particulars"])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "not JSON"),
        (
            '{"reasons": "it is there", "description": "Use a queue"}',
            "reasons = 'it is there': expected a list",
        ),
        ('{"description": 7}', "description: expected a text"),
        ('{"confidence": 7, "description": "Use a queue"}', "expected a number from 0 to 1"),
        ('{"options": [{"pros": []}], "description": "Use a queue"}', "options[0]: expected a text"),
        ("---\nwhen: 1\n---\nUse a queue", "when: no field of a decision"),
    ],
)
def test_files_of_a_decision_that_cannot_be_read(shell: Shell, content: str, expected: str) -> None:
    """The field is named, and no log is begun."""
    process = shell.run("record", "--file", "-", stdin=content.encode())
    assert (process.returncode, expected in process.stderr.decode()) == (2, True), process.stderr
    assert not shell.default.exists()


def test_where_the_log_is(shell: Shell) -> None:
    """--log stands over EBBTIDE_LOG, and that over the user's data folder."""
    shell.run("record", CHOICE, "--log", "here.db", EBBTIDE_LOG="there.db")
    assert not (shell.folder / "there.db").exists()
    shell.run("record", CHOICE, EBBTIDE_LOG="there.db")
    assert not shell.default.exists()
    assert len(shell.json("list", EBBTIDE_LOG="there.db")["decisions"]) == 1
    assert len(shell.json("list", "--log", "here.db", "--tenant", "other")["decisions"]) == 0


def test_narrow_terminals_and_escape_sequences(shell: Shell) -> None:
    """A list fits, and nothing that a terminal would obey comes through."""
    shell.run(
        "record",
        "-",
        stdin=b"Use \x1b]0;owned\x07 \x1b[31mred\x1b[0m lines in the log because they stand out",
    )
    for columns in ("40", "200"):
        printed = shell.printed("list", COLUMNS=columns)
        assert "\x1b" not in printed
        assert all(len(line) <= int(columns) for line in printed.splitlines())
    identifier = shell.json("list")["decisions"][0]["id"]
    assert "\x1b" not in shell.printed("show", identifier)


BAD_TEXTS = {
    "empty": b"",
    "white space": b" \n\t ",
    "zero byte": b"Use a queue\x00 for uploads because it is there",
    "lone surrogate": b"Use a queue \xed\xa0\x80 for uploads because it is there",
    "no UTF-8": b"Use a queue \xff for uploads because it is there",
    "emoji": "🚢🚢🚢🚢".encode(),
    "1 MB": b"Use a queue for uploads because it is there. " * 23_000,
}


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_odd_descriptions(shell: Shell, text: bytes) -> None:
    """They are kept, refused with a reason or said to be unusable; the log stays whole."""
    process = shell.run("record", "-", stdin=text)
    assert process.returncode in {0, 2, 40}
    assert process.stdout or process.stderr.startswith(b"ebbtide: ")
    if shell.default.exists():
        assert shell.json("verify")["ok"]


def test_a_surrogate_as_an_argument(shell: Shell) -> None:
    """Bytes that are no UTF-8 are told with their place."""
    process = shell.run("record", b"Use a queue \xed\xa0\x80")
    assert (process.returncode, b"0xed at byte 12" in process.stderr) == (2, True)


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan", "high"])
def test_confidence_out_of_range(shell: Shell, value: str) -> None:
    """It is a number from 0 to 1."""
    process = shell.run("record", CHOICE, f"--confidence={value}")
    assert process.returncode == 2
    assert b"confidence" in process.stderr
    assert not shell.default.exists()


BAD_USES = [
    (["list"], "there is no decision log"),
    (["record"], "pass one description"),
    (["record", "x", "--file", "y"], "no such file"),
    (["record", "--open", CHOICE, "--reason", "it is there"], "--open takes only a text and a frame"),
    (["record", CHOICE, "--set", "stake=high"], "did you mean stakes?"),
    (["record", CHOICE, "--set", "stakes=huge"], "'huge' is not one of low"),
    (["record", CHOICE, "--set", "stakes"], "expected NAME=TEXT"),
    (["list", "--meaning"], "--meaning needs WORDS"),
    (["list", "writer", "--category", "tooling"], "--category applies to the whole list"),
    (["audit", "--yes"], "need --plan FILE"),
    (["record", "--file", "missing.txt"], "no such file"),
    (["record", CHOICE, "--review-by", "soon"], "expected such as 2026-03-01"),
    (["record", CHOICE, "--profile", "lenient"], "no profile 'lenient'"),
    (["record", CHOICE, "--tenant", ""], "tenant = ''"),
    (["record", CHOICE, "--agent", "a\x1bb"], "no control characters"),
    (["record", CHOICE, "--log", "missing/folder/d.db"], "missing"),
    (["record", CHOICE, "--log", "mysql://x"], "mysql"),
    (["restore"], "name the decisions to restore by their ids, or pass --plan FILE"),
    (["audit", "--plan", "missing.json"], "cannot be read"),
    (["import", "missing.jsonl"], "no such file"),
    (["import", "-", "--fields", "x"], "cannot read 'x'"),
    (["from", "missing.json"], "no such file"),
    (["verify", "--heads", "missing.json", "--log", "log.db"], "cannot be read"),
    (["show", "XYZ", "--log", "log.db"], "no decision 'XYZ'"),
    (["show", "", "--log", "log.db"], "no decision ''"),
    (["review", "01", "success", "--observed", "--log", "log.db"], "--evidence"),
    (["export", "--format", "madr", "--log", "log.db"], "name a folder for the pages"),
]


USES = [" ".join(arguments)[:50] for arguments, _ in BAD_USES]


@pytest.mark.parametrize(("arguments", "expected"), BAD_USES, ids=USES)
def test_bad_use_gets_a_message(shell: Shell, arguments: list[str], expected: str) -> None:
    """What is wrong, with exit code 2."""
    if "log.db" in arguments:
        with DecisionLog.open(shell.folder / "log.db") as log:
            log.add(Candidate(description=CHOICE))
    process = shell.run(*arguments)
    assert process.returncode == 2
    assert expected in process.stderr.decode()


def test_a_database_that_is_none(shell: Shell) -> None:
    """A file of something else is not touched."""
    path = shell.folder / "log.db"
    path.write_bytes(b"this is no database, " * 100)
    for command in (["list"], ["record", CHOICE], ["import", "-"]):
        process = shell.run(*command, "--log", "log.db", stdin=b'{"description": "x"}\n')
        assert (process.returncode, b"log.db" in process.stderr) == (2, True)
    assert path.read_bytes().startswith(b"this is no database")


def test_a_damaged_database(shell: Shell) -> None:
    """Pages of rubbish in the middle end in a message, not in a traceback."""
    shell.run("record", CHOICE, "--log", "log.db")
    path = shell.folder / "log.db"
    content = bytearray(path.read_bytes())
    content[4096:-4096] = b"\xde\xad" * (len(content[4096:-4096]) // 2)
    path.write_bytes(content)
    for command in (["list"], ["record", OTHER], ["verify"]):
        assert shell.run(*command, "--log", "log.db").returncode in {2, 41}


def test_a_log_that_was_tampered_with(shell: Shell) -> None:
    """verify ends with 41 and names the event; noted heads show a tail that was cut off."""
    shell.run("record", CHOICE, "--log", "log.db")
    shell.run("verify", "--log", "log.db", "--write-heads", "heads.json")
    assert shell.run("verify", "--log", "log.db", "--heads", "heads.json").returncode == 0
    with closing(sqlite3.connect(shell.folder / "log.db")) as db, db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        events = next(name for name in tables if name.endswith("events"))
        db.execute(f"UPDATE {events} SET body = replace(body, 'SQLite', 'MySQL')")  # noqa: S608 - a name of ours
    db.close()
    process = shell.run("verify", "--log", "log.db", "--heads", "heads.json")
    assert process.returncode == 41
    assert b"FAULT" in process.stdout


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everything")
def test_a_read_only_database(shell: Shell) -> None:
    """Writing is refused with a message; reading goes on."""
    shell.run("record", CHOICE, "--log", "log.db")
    (shell.folder / "log.db").chmod(0o444)
    shell.folder.chmod(0o555)
    try:
        assert shell.run("record", OTHER, "--log", "log.db").returncode == 2
    finally:
        shell.folder.chmod(0o755)


def test_links(shell: Shell) -> None:
    """Given with a decision, or added later; a wrong one is refused before anything is written."""
    first = shell.json("record", CHOICE)["id"]
    second = shell.json("record", OTHER, "--link", f"depends-on={first}")
    assert second["decision"]["links"] == [{"relation": "depends_on", "to": first, "why": ""}]
    link = f"contradicts={second['id']}"
    amended = shell.json("amend", first, "--link", link, "--why", "two writers")
    assert amended["links"] == [{"relation": "contradicts", "to": second["id"], "why": "two writers"}]
    assert shell.json("amend", first, "--link", link)["links"] == amended["links"]
    third = shell.json("amend", second["id"], "--link", f"supersedes={first}")
    assert third["links"][-1]["relation"] == "supersedes"
    assert shell.json("show", first)["superseded_by"] == second["id"]
    for wrong, what in (
        (f"supersedes={first}", "it is superseded, not kept"),
        (f"replaces={first}", "expected KIND=ID"),
        ("depends_on", "expected KIND=ID"),
        ("depends_on=ZZZZ", "ZZZZ"),
    ):
        process = shell.run("record", "Use a table for the mails, they are few", "--link", wrong)
        assert (process.returncode, what in process.stderr.decode()) == (2, True)
    process = shell.run("amend", second["id"], "--link", f"depends_on={second['id']}")
    assert (process.returncode, "to itself" in process.stderr.decode()) == (2, True)
    assert len(shell.json("list")["decisions"]) == 2


RECORD = (
    *(
        "--set",
        "context=Readers ask for one run of many",
        "--set",
        "choice=SQLite",
        "--set",
        "standing=proposed",
    ),
    *("--set", "consequences=Backups copy one file", "--set", "deciders=Ann Lee", "--file", "weighed.json"),
)
WEIGHED = [{"title": "SQLite", "pros": ["no server"]}, {"title": "Files: on a disk", "cons": ["slow"]}]


def test_what_a_record_says(shell: Shell) -> None:
    """Context, options with arguments, choice, consequences and deciders: recorded, amended, accepted."""
    (shell.folder / "weighed.json").write_text(json.dumps({"options": WEIGHED}))
    one = shell.json("record", CHOICE, *RECORD)["decision"]
    assert one["particulars"] == {
        "standing": "proposed",
        "context": "Readers ask for one run of many",
        "choice": "SQLite",
        "options": WEIGHED,
        "consequences": ["Backups copy one file"],
        "deciders": ["Ann Lee"],
    }
    assert "proposed" in shell.printed("list")
    more = {"options": [{"title": "SQLite", "cons": ["one writer"]}, "S3"]}
    amended = shell.json(
        "amend", one["id"], "--file", "-", "--set", "deciders=Bo Chan", stdin=json.dumps(more).encode()
    )
    assert amended["candidate"]["options"] == ["SQLite", "Files: on a disk", "S3"]
    assert amended["particulars"]["options"][0] == {
        "title": "SQLite",
        "pros": ["no server"],
        "cons": ["one writer"],
    }
    accepted = shell.json("amend", one["id"], "--status", "accepted", "--why", "the vote of March")
    assert accepted["particulars"]["standing"] == "accepted"
    assert '"why": "the vote of March"' in shell.printed("show", one["id"], "--events")
    assert shell.json("amend", one["id"], "--status", "deprecated")["status"] == "kept"
    shell.printed("amend", one["id"], "--status", "rejected")
    assert "rejected" in shell.printed("list")
    shell.printed("export", "records")
    page = shell.folder / "records" / "0001-use-sqlite-for-the-decision-log-because-there-is-one-writer.md"
    text = page.read_text(encoding="utf-8")
    for expected in (
        'status: "rejected"',
        'decision-makers: ["Ann Lee", "Bo Chan"]',
        'Chosen option: "SQLite"',
        "### Files: on a disk\n\n* Bad, because slow",
    ):
        assert expected in text
    assert shell.json("import", "records", "--log", "copy.db")["created"] == [one["id"]]
    copy = shell.json("show", one["id"], "--log", "copy.db")["particulars"]
    assert copy["deciders"] == ["Ann Lee", "Bo Chan"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--set", "stakes=high"), "stakes: a recorded decision cannot change"),
        (("--set", "options="), "expected NAME=TEXT"),
        (("--set", "context= "), "expected NAME=TEXT"),
        (("--set", "context=late", "--at-version", "7"), "has version 1 now, not 7"),
        ((), "nothing to amend: pass"),
    ],
)
def test_amendments_that_cannot_be(shell: Shell, arguments: tuple[str, ...], expected: str) -> None:
    """The message says what was expected, and nothing is written."""
    one = shell.json("record", CHOICE, "--option", "SQLite")["decision"]
    process = shell.run("amend", one["id"], *arguments)
    assert (process.returncode, expected in process.stderr.decode()) == (2, True), process.stderr
    assert shell.json("show", one["id"])["version"] == one["version"]


def test_search_by_meaning(shell: Shell) -> None:
    """Marked where only the meaning fits; the vectors go with what is purged; without the extra a hint."""
    shell.printed("record", CHOICE)
    other = shell.json("record", OTHER)["id"]
    nothing = shell.run("list", "webpages")
    assert b"--meaning" in nothing.stderr
    hits = shell.json("list", "keeping copies of web pages near the user", "--meaning", "--limit", "1")[
        "hits"
    ]
    assert [(hit["decision"]["id"], hit["found_by"]) for hit in hits] == [(other, ["meaning"])]
    assert "by its meaning" in shell.printed("list", "webpages", "--meaning")
    vectors = shell.default.with_name("decisions.db.vectors")
    assert vectors.is_file()
    shell.printed("purge", "--before", "1d", "--yes")
    assert not vectors.exists()
    blocked = shell.folder / "blocked" / "onnxruntime"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ImportError('not here')", encoding="utf-8")
    path = os.pathsep.join([str(blocked.parent), os.environ.get("PYTHONPATH", "")])
    process = shell.run("list", "proxy", "--meaning", PYTHONPATH=path)
    assert (process.returncode, other.encode() in process.stdout) == (0, True)
    assert b"only the words are compared" in process.stderr
    assert b"pip install 'ebbtide[semantic]'" in process.stderr


def test_no_command_without_help(shell: Shell) -> None:
    """Each command of the list says what it does."""
    help_text = shell.printed("--help")
    names = (
        "record think review amend list show stats verify calibration audit restore purge export import from "
        "label train"
    ).split()
    for name in names:
        assert f" {name} " in help_text
