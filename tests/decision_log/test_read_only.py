"""Where nothing can be written, and where the file is garbled: the answer is right, or the error clear."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.exchange import json_form  # noqa: F401 - as another user its source may be out of reach
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.errors import StoreError

MANY = 40
NOBODY = 65534
#: Writes and dies: with everything in the file, or with a write-ahead log and an index of words beside it.
WRITER = """
import os, sys
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.deliberation.deliberation import Deliberation
log = DecisionLog.open(sys.argv[1])
work = Deliberation(log)
for number in range(int(sys.argv[2])):
    work.record_decision(f"Use store {number} for part {number * 7} as it has room", session=f"s{number}")
if sys.argv[3] == "closed":
    log.close()
os._exit(0)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can read."""
    place = Path(tempfile.mkdtemp(prefix="ebbtide-read-"))
    place.chmod(0o755)
    yield place
    place.chmod(0o755)
    shutil.rmtree(place)


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """As a user whose rights count: root may write wherever it wants."""
    if os.name == "nt":
        pytest.skip("the rights of folders are of POSIX")
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def written(path: Path, end: str) -> None:
    subprocess.run([sys.executable, "-c", WRITER, str(path), str(MANY), end], check=True)


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("rights", [0o555, 0o777], ids=["folder-read-only", "file-read-only"])
@pytest.mark.parametrize("left", ["closed", "died", "copied"])
def test_a_place_that_cannot_be_written(folder, left, rights, read_only):
    """A log whose file or folder cannot be written answers everything, and says why it cannot record."""
    path = folder / "decisions.db"
    written(path, left)
    if left == "copied":  # without the index of the write-ahead log, as a backup has it
        Path(f"{path}-shm").unlink()
    assert Path(f"{path}-wal").exists() == (left != "closed")
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(rights)
    with without_rights(), DecisionLog.open(path, read_only=read_only) as log:
        decisions = log.list(limit=2 * MANY).decisions
        assert len(decisions) == MANY
        for question in ("store", "part 7", "room sto"):
            assert log.search(question, limit=2 * MANY)
        assert len(log.search("room", limit=2 * MANY)) == MANY
        assert log.get(decisions[0].id) == decisions[0]
        assert len(list(log.iterate())) == log.counts().kept == MANY
        assert log.verify().ok
        with pytest.raises(StoreError, match=r"may not be written|read_only") as raised:
            Deliberation(log).record_decision("Use a queue for the mails because bursts are long")
        assert raised.value.recorded is False
    assert path.stat().st_mode & 0o777 == 0o444


def test_words_that_are_not_in_the_index_yet(tmp_path):
    """What was recorded a moment ago is found while somebody else writes, and after the writer died."""
    path = tmp_path / "decisions.db"
    written(path, "died")
    with DecisionLog.open(path) as log, DecisionLog.open(path) as other:
        session = other.store.database.connect(write=True)
        session.begin(write=True)
        assert session.rows("SELECT count(*) FROM decision_unindexed")[0][0] > 0
        assert len(log.search("room", limit=2 * MANY)) == MANY
        assert len(log.search("store 7 nothing", limit=2 * MANY)) == MANY  # any of the words
        assert len(log.search("roo", limit=2 * MANY)) == MANY  # what words begin with
        assert [hit.decision.candidate.description[:12] for hit in log.search("store 39")] == ["Use store 39"]
        session.rollback()
        assert len(log.search("room", limit=2 * MANY)) == MANY
        assert session.rows("SELECT count(*) FROM decision_unindexed")[0][0] == 0
        session.close()
        assert_indexed(log, ["room", *map(str, range(MANY))])


def assert_indexed(log: DecisionLog, words: list[str]) -> None:
    """For each of the words, the index has the rows that have it, and no others."""
    log.store.index_words()
    texts = dict(log.store.read(lambda s: s.rows("SELECT n, search_text FROM decisions")))
    for word in words:
        rows = log.store.read(
            lambda s, w=word: s.rows(
                "SELECT rowid FROM decision_words WHERE decision_words MATCH ?", (f'"{w}"',)
            )
        )
        assert {row[0] for row in rows} == {n for n, text in texts.items() if word in text.split()}


def test_the_index_follows_every_change(tmp_path):
    """Recorded, changed, purged and rebuilt, indexed or not: the index has the words of the table."""
    with DecisionLog.open(tmp_path / "decisions.db") as log:
        work = Deliberation(log)
        for number in range(3 * MANY):
            answer = work.record_decision(f"Use store {number} as it has room", session=f"s{number}")
            if number % 5 == 0:
                log.redact(answer.id, by="ann")
            if number % 7 == 0:
                log.search("room")
        opened = work.start("agent", "Which queue for the mails?")
        work.finalize(opened, "Use one queue for the mails because bursts are long")
        assert [hit.decision.id for hit in log.search("bursts")] == [opened]
        for _ in range(2):
            assert len(log.search("room", limit=4 * MANY)) == 3 * MANY - len(range(0, 3 * MANY, 5))
            assert_indexed(log, ["room", "burst", *map(str, range(3 * MANY))])
            log.rebuild()
        assert log.verify().ok


HARMS = {
    "zeros": lambda page: bytes(len(page)),
    "noise": lambda page: bytes((7 * place) % 251 for place in range(len(page))),
    "middle": lambda page: page[:1000] + b"\xff" * 2000 + page[3000:],
    "text": lambda page: page[:2000] + b"x" * 600 + page[2600:],
    "bit": lambda page: page[:3500] + bytes([page[3500] ^ 4]) + page[3501:],
}


@pytest.mark.parametrize("harm", HARMS)
def test_garbled_pages_are_told(tmp_path, harm):
    """With any one page garbled every question is answered or says that the file is damaged."""
    path = tmp_path / "decisions.db"
    written(path, "closed")
    content, size = path.read_bytes(), 4096
    questions = {
        "list": lambda log: log.list(limit=2 * MANY).decisions,
        "iterate": lambda log: [decision.id for decision in log.iterate()],
        "search": lambda log: sorted(hit.decision.id for hit in log.search("room", limit=2 * MANY)),
        "counts": lambda log: log.counts(),
        "verify": lambda log: log.verify().ok,
    }
    with DecisionLog.open(path) as log:
        expected = {name: ask(log) for name, ask in questions.items()}
    messages: list[str] = []
    for start in range(0, len(content), size):
        path.write_bytes(
            content[:start] + HARMS[harm](content[start : start + size]) + content[start + size :]
        )
        answers = {}
        for name, ask in questions.items():
            try:
                with DecisionLog.open(path) as log:
                    answers[name] = ask(log)
            except StoreError as error:
                messages.append(str(error))
        wrong = {name for name, answer in answers.items() if answer != expected[name]}
        assert not wrong or answers.get("verify") is not True, (start // size, wrong)
    assert len(messages) > 5
    assert all(re.search(r"damaged|missing|half done", message) for message in messages)
