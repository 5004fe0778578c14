"""What the benchmarks of decisions count, on a few made sentences, questions and calls."""

import json
from pathlib import Path

import pytest

from benchmarks.quality.decision_answers import kept_questions, labels, parted, scored
from benchmarks.quality.decision_deeds import calls_in_run, calls_in_session, kind_of, score
from ebbtide.events.event import ToolCall

np = pytest.importorskip("numpy")
sentences = pytest.importorskip("benchmarks.quality.decision_sentences")

ROW = {
    "id": "made-1",
    "genre": "made",
    "by": "agent",
    "speaker": "coder",
    "text": "We'll use SQLite in `store.py` instead of a server. The tests pass.",
    "label": "decision",
    "sentences": ["We'll use SQLite in `store.py` instead of a server."],
    "doubt": False,
}


class Letters:
    """Embeds a text as its counts of three letters."""

    model = "letters"
    dimensions = 3

    def embed(self, texts: list[str]) -> "np.ndarray":
        rows = np.array([[1.0 + text.count(letter) for letter in "xyz"] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_sentence_decides_where_it_overlaps_a_label() -> None:
    """The product keeps the first, and the second is none."""
    first, second = sentences.sentences_of(ROW, "open")
    assert (first.decides, first.kept, first.firm) == (True, True, True)
    assert (second.decides, second.kept) == (False, False)


def test_a_head_is_asked_about_a_genre_that_it_has_not_seen() -> None:
    """Where decisions of all genres sound the same, it finds them in each."""
    items = [
        sentences.LabelledSentence(
            part="open",
            genre=genre,
            turn=f"{genre} {number}",
            by=("user", "agent")[number // 10 % 2],
            text="xxxx" if number % 2 else "yyyy",
            decides=number % 2 == 1,
            firm=number > 3,
            kept=False,
            signs=(0.0,) * 9,
        )
        for genre in ("a", "b", "c")
        for number in range(40)
    ]
    rows = sentences.measure(items, Letters())
    found = {(row["set"], row["way"], row["by"], row["labels"]): row for row in rows}
    assert found["all genres", "rules", "both", "all"]["hits"] == 0
    every = found["all genres", "vectors", "both", "all"]
    assert (every["hits"], every["decisions"], every["right"], every["kept"]) == (60, 60, 60, 60)
    assert found["all genres", "vectors", "both", "firm"]["decisions"] == 54


def test_reviews_are_not_asked_of_a_head_that_learned_from_comments() -> None:
    """They are made of the same texts."""
    comment = sentences._more("comments", "user", "We use SQLite.", 1, decides=True)
    assert not sentences.is_known(comment, "reviews")
    assert sentences.is_known(comment, "coding_chats")


def test_a_deed_is_a_call_that_changes_what_a_sentence_names() -> None:
    """In a session of Claude Code, and in a run of mini-swe-agent; reading is no deed."""
    use = [{"type": "tool_use", "name": "Edit", "input": {"file_path": "src/store.py"}}]
    look = [{"type": "tool_use", "name": "Read", "input": {"file_path": "src/store.py"}}]
    body = "\n".join(json.dumps({"message": {"content": blocks}}) for blocks in (look, use))
    assert list(calls_in_session(body, {"line": 0})) == ["src/store.py"]
    says = "THOUGHT: so\n```bash\nsed -i s/a/b/ store.py\n```"
    run = json.dumps({"messages": [{"role": "assistant", "content": says}]})
    (call,) = calls_in_run(run, {"message": 0})
    first, second = sentences.sentences_of(ROW, "open")
    assert kind_of(first, [call, "sqlite store.py"]) == "carried out"
    assert kind_of(first, ["other.py"]) == "names without a deed"
    assert kind_of(second, [call]) == "no names"
    rows = {
        (row["rule"], row["labels"]): row for row in score([(first, "carried out"), (second, "no names")])
    }
    assert (rows["carried out", "all"]["right"], rows["no names", "all"]["right"]) == (1, 0)


def test_joined_answers_are_told_apart_by_their_options() -> None:
    """What a person wrote goes on to the next option that was offered."""
    offered = [["SQLite", "Redis"], ["One, two", "Three"], ["Yes", "No"]]
    assert parted("SQLite, One, two, No", offered) == ["SQLite", "One, two", "No"]
    assert parted("neither, to be honest, Three, Yes", offered) == ["neither, to be honest", "Three", "Yes"]
    assert parted("SQLite", offered) == ["SQLite", None, None]


def test_answers_are_scored_by_their_labels() -> None:
    """The gate keeps the choice of the first question; the second is about the talk."""
    asked = [
        {"question": "Which store?", "options": [{"label": "SQLite"}, {"label": "Redis"}]},
        {"question": "Ready to push?", "options": [{"label": "Yes"}, {"label": "No"}]},
    ]
    call = ToolCall(
        name="AskUserQuestion",
        args={"questions": asked},
        result='"Which store?"="SQLite", "Ready to push?"="Yes"',
    )
    assert kept_questions(call) == {0}
    firm = {"part": "made", "label": "decision", "doubt": False}
    rows = {
        (row["part"], row["labels"]): row
        for row in scored([(firm, True), (firm | {"doubt": True}, False), (firm | {"label": "none"}, True)])
    }
    assert (rows["made", "all"]["right"], rows["made", "all"]["kept"]) == (1, 2)
    assert (rows["made", "firm"]["decisions"], rows["all", "all"]["decisions"]) == (1, 2)


def test_labels_of_answers_name_their_place() -> None:
    """Each question once; no text of the data is in the file."""
    rows = labels()
    places = [(row["file"], row["call"], row["question"]) for row in rows]
    assert len(set(places)) == len(places) == 77
    assert {row["label"] for row in rows} == {"decision", "none"}
    assert all(not Path(row["file"]).is_absolute() for row in rows)
