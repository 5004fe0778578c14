"""What is erased is looked for in the bytes, not in the tables."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import DecisionOutcome, Relation, Review, Status
from ebbtide.decision_log.store.connection import Store
from ebbtide.errors import StoreError

#: Words that nothing else has, each for one place of a decision; no six letters of one are in another text.
SECRETS = (
    "kzquorvax",
    "wyjqumpha",
    "bxqophide",
    "vljeqtuno",
    "gwzarqobi",
    "hqyxedomu",
    "pfjuqivask",
    "mzwoqegri",
)
PIECES = tuple(word[at : at + 6] for word in SECRETS for at in range(len(word) - 5))
FILLER = "The queue of the mails is long because bursts come in the morning. "


def write(log: DecisionLog) -> list[str]:
    """Decisions with secret words in every place that takes words, short and long, among many others."""
    work, ids = Deliberation(log), []
    question, text, thought, reason, option, expected, evidence, why = SECRETS
    for number in range(60):
        work.record_decision(
            f"Use store {number} for part {number} because of one writer", session=f"o{number}"
        )
    for number, length in enumerate((1, 40, 400)):
        session = f"s{number}"
        opened = work.start("coder", f"Which {question}{number}?", "decision", session)
        work.think(opened, f"{thought}{number} {FILLER * length}")
        kept = work.finalize(
            opened,
            f"Use {text}{number} for the log because there is one writer. {FILLER * length}",
            reasons=[f"{reason}{number}"],
            options=[f"{option}{number} {FILLER * length}"],
            prediction=f"{expected}{number}",
        )
        assert kept == opened
        log.review(
            kept, Review(outcome=DecisionOutcome.SUCCESS, by="ann", evidence=f"{evidence}{number}", ts=1.0)
        )
        log.link(kept, Relation.RELATED_TO, log.list(limit=2).decisions[-1].id, why=f"{why}{number}")
        # A duplicate has its words in its own record and in that of its original.
        again = work.record_decision(log.get(kept).candidate.description, session=session, reasons=[reason])
        assert again.verdict.value == "duplicate"
        ids += [kept, again.id]
    for number in range(60, 90):
        work.record_decision(
            f"Use store {number} for part {number} because of one writer", session=f"o{number}"
        )
    return ids


def pieces_in(paths: Iterable[Path]) -> set[str]:
    """The pieces of secret words that stand in the bytes of some files, in any case."""
    data = b"\n".join(path.read_bytes().lower() for path in paths if path.exists())
    assert data
    return {piece for piece in PIECES if piece.encode() in data or piece.encode("utf-16-le") in data}


def files_of(path: Path) -> list[Path]:
    return [path, Path(f"{path}-wal"), Path(f"{path}-shm"), Path(f"{path}-journal")]


def copies_of(path: Path, folder: Path) -> list[Path]:
    """Copies of an open log in every way that people make one."""
    folder.mkdir()
    for part in files_of(path):
        if part.exists():
            shutil.copy(part, folder)
    with contextlib.closing(sqlite3.connect(path)) as source:
        with contextlib.closing(sqlite3.connect(folder / "backup.db")) as target:
            source.backup(target)
        source.execute("VACUUM INTO ?", (str(folder / "vacuum.db"),))
        (folder / "dump.sql").write_text("\n".join(source.iterdump()), encoding="utf-8")
    return sorted(folder.iterdir())


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "decisions.db"


def redact(log: DecisionLog, ids: list[str]) -> None:
    for decision_id in ids:
        log.redact(decision_id, by="ann", why="on request")


def purge(log: DecisionLog, ids: list[str]) -> None:
    states = (Status.KEPT, Status.QUARANTINED, Status.SUPERSEDED)
    assert set(ids) <= set(log.purge(before=log.clock() + 1, status=states, by="ann"))


@pytest.mark.parametrize("erase", [redact, purge])
def test_no_byte_of_a_file_has_the_words(path, tmp_path, erase):
    """After erasing, neither the open files nor a copy of them have a piece of a word; the rest is whole."""
    with DecisionLog.open(path, agent="coder") as log:
        ids = write(log)
        assert pieces_in(files_of(path)) >= set(PIECES[:4])
        assert log.search(SECRETS[1] + "0")
        erase(log, ids)
        assert pieces_in(files_of(path)) == set()
        assert pieces_in(copies_of(path, tmp_path / "copies")) == set()
        assert {log.get(each).status for each in ids} == {Status.PURGED}
        assert log.search(SECRETS[1] + "0") == ()
        assert log.verify().ok
        if erase is redact:
            assert len(log.search("store 75 writer")) >= 1
    assert pieces_in(files_of(path)) == set()


def test_a_killed_program_leaves_no_words_either(path):
    """A program that redacted and was killed leaves files without the words."""
    with DecisionLog.open(path, agent="coder") as log:
        ids = write(log)
    program = (
        "import os, signal, sys; from ebbtide.decision_log.log.decision_log import DecisionLog; "
        "log = DecisionLog.open(sys.argv[1]); "
        "[log.redact(each, by='ann') for each in sys.argv[2:]]; os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path), *ids], check=False).returncode == -9
    assert pieces_in(files_of(path)) == set()


def test_a_reader_that_keeps_the_words_is_named(path):
    """While somebody reads an older state the error says so; the next time, nothing is left."""
    with DecisionLog.open(path, agent="coder", timeout_s=0.1) as log:
        ids = write(log)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM decisions").fetchone()
            with pytest.raises(StoreError, match="still reads") as raised:
                log.redact(ids[0], by="ann")
            assert raised.value.recorded is True
            assert log.get(ids[0]).status is Status.PURGED
            with pytest.raises(StoreError, match="still reads"):
                purge(log, ids)
        assert pieces_in(files_of(path))
        assert log.purge(before=log.clock() + 1, by="ann") == ()
        assert pieces_in(files_of(path)) == set()


def test_what_a_server_promises(postgres_url, postgres_server, tmp_path):
    """On a server no dump has the words, and no file of a table once that is rewritten."""
    import psycopg

    dump = [str(postgres_server._bin / "pg_dump"), postgres_url]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        oid = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
        folder = postgres_server.data / "base" / str(oid[0])

        def files() -> list[Path]:
            connection.execute("CHECKPOINT")
            return [path for path in folder.iterdir() if path.is_file()]

        with DecisionLog.open(postgres_url, agent="coder") as log:
            ids = write(log)
            assert pieces_in(files()) >= set(PIECES[:4])
            redact(log, ids)
            dump_text = subprocess.run(dump, capture_output=True, check=True).stdout
            (tmp_path / "dump.sql").write_bytes(dump_text)
            assert b"part 75" in dump_text
            assert pieces_in([tmp_path / "dump.sql"]) == set()
            assert log.search(SECRETS[1] + "0") == ()
            # Old row versions stay until the tables are rewritten and nobody may see them any more.
            end = time.monotonic() + 30
            while pieces_in(files()) and time.monotonic() < end:
                connection.execute("VACUUM FULL")
            assert pieces_in(files()) == set()
            assert log.verify().ok


def test_a_store_that_erases_nothing_is_noticed(path, monkeypatch):
    """The look into the bytes sees what stays where the store does not clean its files."""
    with DecisionLog.open(path, agent="coder") as log:
        ids = write(log)
        monkeypatch.setattr(Store, "erase", lambda _: None)
        redact(log, ids)
        assert pieces_in(files_of(path))
