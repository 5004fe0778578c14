"""Search by meaning: words and vectors in one list, and what says which found what."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.log.meaning import search_by_meaning
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Status
from ebbtide.decision_log.record.results import FoundBy
from ebbtide.decisions.candidate import Candidate

WORDS, MEANING = FoundBy.WORDS, FoundBy.MEANING
np = pytest.importorskip("numpy")


class Topics:
    """A model of three topics: a text is as near to each as it has words of it."""

    model, dimensions = "topics", 4
    topics = (("login", "password", "token"), ("cache", "redis", "memory"), ("mail", "letter", "post"))

    def embed(self, texts: Sequence[str]):
        rows = [[*(sum(map(text.lower().count, topic)) for topic in self.topics), 0.1] for text in texts]
        vectors = np.asarray(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def log():
    with DecisionLog.open(":memory:") as log:
        for text in ("Use tokens for the login", "Cache pages in Redis", "Send each letter by post"):
            log.add(Candidate(description=text))
        yield log


def found(log: DecisionLog, text: str, **options) -> list[tuple[str, tuple[FoundBy, ...]]]:
    hits = search_by_meaning(log, text, Topics(), **options)
    return [(hit.decision.candidate.description, hit.found_by) for hit in hits]


def test_the_nearest_is_found_without_its_words(log: DecisionLog) -> None:
    """Where no decision has the words, the nearest one comes first, and says that it is found by meaning."""
    assert log.search("password") == ()
    assert found(log, "password")[0] == ("Use tokens for the login", (MEANING,))
    assert found(log, "memory", limit=1) == [("Cache pages in Redis", (MEANING,))]


def test_words_and_meaning_together_come_first(log: DecisionLog) -> None:
    """A hit of both lists stands above those of one."""
    log.add(Candidate(description="Write the word mail on each page"))
    both = found(log, "mail page")
    assert both[0] == ("Write the word mail on each page", (WORDS, MEANING))
    assert {hit[1] for hit in both[1:]} == {(MEANING,)}


def test_a_context_is_meant_as_well(log: DecisionLog) -> None:
    """What stands beside a decision says what it is about."""
    one = log.add(Candidate(description="Take the second offer"))
    log.amend(one.id, Particulars(context="Nobody remembers a password, and each password is a ticket"))
    assert found(log, "password password", limit=1)[0][0] == "Take the second offer"


def test_what_is_not_searched(log: DecisionLog) -> None:
    """States, the bound, blank texts and other tenants."""
    assert found(log, "password", status=Status.QUARANTINED) == []
    assert len(search_by_meaning(log, "password", Topics(), most=1)) == 1
    assert found(log, "  ") == []
    assert found(log.scope(tenant="other"), "password") == []


def test_vectors_are_kept_beside_the_log(tmp_path: Path) -> None:
    """The shipped model finds a paraphrase; its vectors are in a file, and a second search makes none."""
    pytest.importorskip("onnxruntime")
    from ebbtide.text.embedding.embedder import open_embedder

    cache = tmp_path / "log.db.vectors"
    with DecisionLog.open(tmp_path / "log.db") as log:
        for text in ("Rent a managed cache", "Sign in by passkeys", "Publish once a month"):
            log.add(Candidate(description=text))
        (hit,) = search_by_meaning(log, "How do people authenticate?", open_embedder(cache=cache), limit=1)
        assert hit.decision.candidate.description == "Sign in by passkeys"
        assert hit.to_dict()["found_by"] == ["meaning"]
        with sqlite3.connect(cache) as connection:
            assert connection.execute("SELECT count(*) FROM embedding").fetchone() == (4,)
        search_by_meaning(log, "How do people authenticate?", open_embedder(cache=cache))
        with sqlite3.connect(cache) as connection:
            assert connection.execute("SELECT count(*) FROM embedding").fetchone() == (4,)
