"""Opening and losing a store: clear errors, and nothing half done."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.store.connection import database_of
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import ConfigError, StoreError

TEXT = "Use SQLite for the log because there is one writer"


@pytest.fixture
def path(tmp_path) -> Path:
    """A file with one decision in it."""
    place = tmp_path / "decisions.db"
    with DecisionLog.open(place) as log:
        log.add(Candidate(description=TEXT))
    return place


@pytest.mark.parametrize("where", ["{}", "sqlite:///{}"])
def test_a_file_can_be_named_in_two_ways(path, where):
    """A path and a sqlite URL name the same file."""
    with DecisionLog.open(where.format(path)) as log:
        assert len(log.list().decisions) == 1


@pytest.mark.parametrize("where", ["mysql://host/name", "", "a\x00b"])
def test_places_that_are_none(where):
    """A URL of another database, and no path, are refused."""
    with pytest.raises(ConfigError, match="store"):
        database_of(where, timeout_s=1, read_only=False, durable=False)


def test_no_psycopg_is_a_clear_error(monkeypatch):
    """Without psycopg, a PostgreSQL URL says which extra to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"ebbtide\[postgres\]"):
        DecisionLog.open("postgresql://nobody@localhost/none")


def test_what_is_not_there(tmp_path):
    """A missing file, folder or server is named."""
    with pytest.raises(StoreError, match="no such file"):
        DecisionLog.open(tmp_path / "none.db", create=False)
    with pytest.raises(StoreError, match="no such file"):
        DecisionLog.open(tmp_path / "none.db", read_only=True)
    with pytest.raises(StoreError, match="folder has to exist"):
        DecisionLog.open(tmp_path / "no" / "none.db")
    assert not list(tmp_path.iterdir())


def test_read_only(path):
    """A log that is opened to read answers, and refuses to write."""
    with DecisionLog.open(path, read_only=True) as log:
        assert len(log.search("sqlite")) == 1
        with pytest.raises(StoreError, match="read_only"):
            log.add(Candidate(description=TEXT))


HOLDER = """
import sqlite3, sys, time
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
other.execute("ROLLBACK")
print("free", flush=True)
"""


@pytest.mark.parametrize(("held_s", "timeout_s"), [(0.6, 30.0), (30.0, 0.4)])
def test_a_locked_file(path, held_s, timeout_s):
    """Another process that writes is waited for, as long as was said; then the error says so."""
    command = [sys.executable, "-c", HOLDER, str(path), str(held_s)]
    with (
        DecisionLog.open(path, timeout_s=timeout_s) as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert other.stdout.readline() == "held\n"
        start = time.monotonic()
        assert len(log.list().decisions) == len(log.search("sqlite")) == 1  # readers do not wait
        assert time.monotonic() - start < held_s
        start = time.monotonic()
        if held_s > timeout_s:
            with pytest.raises(StoreError, match="another process is writing; try again") as raised:
                log.add(Candidate(description=TEXT))
            assert raised.value.recorded is False
            assert timeout_s <= time.monotonic() - start < held_s
            assert len(log.list().decisions) == 1
            other.kill()
            other.wait()
        log.add(Candidate(description=TEXT))
        assert len(log.list().decisions) == len(log.search("sqlite")) == 2
        assert log.verify().ok


def test_a_locked_file_is_opened(path):
    """A log that another process writes to is opened at once, to read and to write."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), "30"], stdout=subprocess.PIPE, text=True
    ) as other:
        other.stdout.readline()
        for read_only in (False, True):
            with DecisionLog.open(path, read_only=read_only, timeout_s=0.2) as log:
                assert len(log.list().decisions) == 1
        other.kill()


def test_a_full_file(path):
    """Where there is no room left, the error says so, and the log goes on when there is room again."""
    with DecisionLog.open(path) as log:
        limit = log.store._writer.alone(lambda s: s.rows("PRAGMA page_count"))[0][0] + 5
        log.store._writer.alone(lambda s: s.rows(f"PRAGMA max_page_count = {limit}"))
        work, kept = Deliberation(log), []

        def fill() -> None:
            for number in range(100):
                answer = work.record_decision(f"{number} " * 500 + TEXT, session=str(number))
                kept.append(answer.id)

        with pytest.raises(StoreError, match="no room left"):
            fill()
        assert kept
        log.store._writer.alone(lambda s: s.rows("PRAGMA max_page_count = 1000000"))
        kept.append(work.record_decision("Use the room that there is now, for there is some").id)
        assert set(kept) <= {decision.id for decision in log.iterate()}
        assert log.verify().ok


@pytest.mark.parametrize("harm", ["text", "header", "middle"])
def test_a_damaged_file(path, harm):
    """A file that is damaged, or no database, is named and left as it is."""
    for beside in ("-wal", "-shm"):
        Path(f"{path}{beside}").unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    if harm == "text":
        data = bytearray(b"these are notes and no database\n" * 200)
    else:
        start = 0 if harm == "header" else 4096
        data[start : start + 3000] = b"\xff" * 3000
    path.write_bytes(data)

    def use() -> None:
        with DecisionLog.open(path) as log:
            log.list()
            log.verify()
            log.add(Candidate(description=TEXT))

    with pytest.raises(StoreError, match="damaged or no SQLite file"):
        use()
    assert path.read_bytes()[:4096] == bytes(data[:4096])


def test_a_forked_process_is_told(path):
    """A log is not used on the other side of a fork."""
    log = DecisionLog.open(path)
    log.store._readers._process = log.store._writer._process = os.getpid() + 1
    with pytest.raises(StoreError, match="forked"):
        log.list()
    with pytest.raises(StoreError, match="forked"):
        log.add(Candidate(description=TEXT))
    log.close()


def test_a_server_that_goes_away(own_postgres):
    """While the server is gone every call says so; when it is back, the same log goes on."""
    with DecisionLog.open(own_postgres.url("postgres"), timeout_s=3) as log:
        work = Deliberation(log)
        first = work.record_decision(TEXT).id
        opened = work.start("agent", "Which queue for the mails?")
        own_postgres.stop()
        with pytest.raises(StoreError, match="cannot be reached") as raised:
            work.finalize(opened, description="Use a queue for the mails because bursts are long")
        assert raised.value.recorded is False
        with pytest.raises(StoreError, match="cannot be reached"):
            log.list()
        own_postgres.start()
        assert (
            work.finalize(opened, description="Use a queue for the mails because bursts are long") == opened
        )
        assert {first, opened} == {decision.id for decision in log.iterate()}
        assert log.verify().ok


def test_a_file_needs_the_standard_library_only(path, project):
    """A SQLite log is made, written, searched, cleaned and verified where no package is installed."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from ebbtide.decision_log.log.decision_log import DecisionLog; "
        "from ebbtide.decision_log.deliberation.deliberation import Deliberation; "
        "from ebbtide.decision_log.calibration.calibrate import calibrate_decisions; "
        "from ebbtide.decision_log.cleaning.cleanup import audit; "
        "from ebbtide.decision_log.exchange.folder import export_folder; "
        "from ebbtide.decision_log.exchange.reading import read_decisions; "
        "log = DecisionLog.open(sys.argv[2]); "
        "answer = Deliberation(log).record_decision('Use a queue for the mails because bursts are long'); "
        "assert [hit.decision.id for hit in log.search('queue')] == [answer.id]; "
        "audit(log); calibrate_decisions(log.iterate()); log.redact(answer.id, by='ann'); "
        "assert log.verify().ok; "
        "print(sorted(name for name in sys.modules if 'site-packages' in (getattr(sys.modules[name], "
        "'__file__', None) or '')))"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(project / "src"), str(path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.stdout, process.stderr) == ("[]\n", "")
