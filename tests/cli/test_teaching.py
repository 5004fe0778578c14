"""`ebbtide decisions label` and `train` as processes: keys, resuming, and what the labels change."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import DecisionOutcome, Review
from ebbtide.decisions.candidate import Source

PROJECT = Path(__file__).parents[2]
CONVERSATION = PROJECT / "examples" / "decisions" / "conversation.json"
QUESTIONS = 6  # candidates of it, repeats left out
MEALS = "We will use the dumplings for table 8 instead of the salad."


class Teacher:
    """Runs the command in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("EBBTIDE")}
        self.env |= {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        self.env |= {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}

    def run(self, *arguments: str | Path, keys: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        process = subprocess.run(
            [sys.executable, "-m", "ebbtide", "decisions", *arguments],
            input="".join(f"{key}\n" for key in keys),
            capture_output=True,
            encoding="utf-8",
            env=self.env | env,
            cwd=self.folder,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in process.stderr, process.stderr
        return process

    def answer(self, keys: str, *arguments: str | Path) -> dict:
        return json.loads(self.run("label", *arguments, CONVERSATION, "--json", keys=keys).stdout)

    def labels(self) -> list[dict]:
        lines = (self.folder / "decision-labels.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def teacher(tmp_path: Path) -> Teacher:
    return Teacher(tmp_path)


def menu(folder: Path) -> Path:
    """Labels that go against the rules: what goes to which table is none."""
    rows = [
        {"text": f"We will use the {dish} for table {table} instead of the soup", "label": "none"}
        for dish in ("trout", "risotto", "lentils", "tart")
        for table in (3, 7, 9, 12, 15)
    ]
    rows += [
        {"text": f"Guests of the {name} are greeted in {language} from now on", "label": "decision"}
        for name in ("harbour hotel", "mountain lodge", "city hostel", "lake cabin")
        for language in ("French", "Italian", "German", "Dutch", "Polish")
    ]
    for number, row in enumerate(rows):
        row["document"] = f"day-{number % 7}"
    path = folder / "menu.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def conversation(folder: Path, text: str) -> Path:
    path = folder / "chat.json"
    turns = [{"role": "user", "content": "What is for lunch?"}, {"role": "assistant", "content": text}]
    path.write_text(json.dumps({"messages": turns}), encoding="utf-8")
    return path


def test_a_key_a_label_and_the_next_call_goes_on(teacher: Teacher) -> None:
    """Every answer is kept at once; nothing is asked twice, skipped ones neither."""
    first = teacher.answer("yns")
    assert (first["new"], first["open"]) == (3, QUESTIONS - 3)
    assert first["counts"] == {"decision": 1, "none": 1, "skipped": 1}
    assert [row["label"] for row in teacher.labels()] == ["decision", "none", "skipped"]
    assert [row["draw"] for row in teacher.labels()] == ["random", "uncertain", "random"]
    second = teacher.answer("yyyyyyyy")
    assert (second["new"], second["open"]) == (3, 0)
    texts = [row["text"] for row in teacher.labels()]
    assert len(set(texts)) == len(texts) == QUESTIONS
    third = teacher.answer("y")
    assert (third["new"], third["open"]) == (0, 0)


def test_stopping_changes_nothing_of_what_is_asked(tmp_path: Path) -> None:
    """In one go or one by one, the same candidates get the same answers."""
    at_once, one_by_one = (Teacher(tmp_path / name) for name in ("at-once", "one-by-one"))
    for each in (at_once, one_by_one):
        each.folder.mkdir()
    at_once.answer("ynynyn")
    for key in "ynynyn":
        one_by_one.answer(f"{key}q")
    assert at_once.labels() == one_by_one.labels()


def test_an_answer_can_be_taken_back(teacher: Teacher) -> None:
    """Also in a later call; where there is none to take back, it is said and the question stays."""
    process = teacher.run("label", CONVERSATION, keys="uynuuy")
    assert process.stdout.count("There is nothing to undo.") == 1
    assert [row["label"] for row in teacher.labels()] == ["decision"]
    before = teacher.labels()
    teacher.answer("un")
    assert [row["text"] for row in teacher.labels()] == [row["text"] for row in before]
    assert [row["label"] for row in teacher.labels()] == ["none"]


def test_other_keys_ask_again(teacher: Teacher) -> None:
    """An empty line and an unknown key are no answers; the end of the input is."""
    assert teacher.answer("x?")["new"] == 0
    assert not (teacher.folder / "decision-labels.jsonl").exists()
    assert teacher.answer("x y")["new"] == 1


def test_what_is_shown(teacher: Teacher) -> None:
    """Where it stands, who said it, why it is asked, and the lines around it; keys and passwords masked."""
    token = f"sk-proj-{'Ab1' * 16}"
    text = f"It is late.\n\nWe will use {token} instead of the old key.\n\nThen we eat."
    process = teacher.run("label", conversation(teacher.folder, text), keys="y")
    assert "chat.json turn-2-1, assistant, drawn at random" in process.stdout
    lines = process.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("> We will use"))
    assert (lines[at - 1], lines[at + 1]) == ("  It is late.", "  Then we eat.")
    assert "for an unbiased estimate" in process.stdout
    assert token not in process.stdout + json.dumps(teacher.labels())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_a_key_needs_no_return(teacher: Teacher) -> None:
    """The answer is a single key, and Ctrl-C ends it with the labels kept."""
    import pty

    for keys, code, labels in ((b"yq", 0, 1), (b"n\x03", 130, 2)):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "ebbtide", "decisions", "label", CONVERSATION],
            stdin=follower,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=teacher.env,
            cwd=teacher.folder,
            start_new_session=True,
        )
        assert process.stdout is not None
        for key in keys:
            seen = b""
            while not seen.endswith(b"quit:"):
                seen += os.read(process.stdout.fileno(), 1)
            time.sleep(0.5)  # what is typed before the terminal is switched to single keys is thrown away
            os.write(leader, bytes([key]))
        process.communicate(timeout=60)
        os.close(leader)
        os.close(follower)
        assert (process.returncode, len(teacher.labels())) == (code, labels)


def test_labels_change_what_from_keeps(teacher: Teacher) -> None:
    """Import labels, train, name the model in a profile: the verdict turns, and says by which labels."""
    chat = conversation(teacher.folder, f"Fine. {MEALS}")
    before = json.loads(teacher.run("from", chat, "--json").stdout)
    assert before["counts"]["kept"] == 1
    imported = json.loads(teacher.run("label", "--from", menu(teacher.folder), "--json").stdout)
    assert (imported["new"], imported["total"]) == (40, 40)
    again = json.loads(teacher.run("label", "--from", "menu.jsonl", "--json").stdout)
    assert (again["new"], again["total"]) == (0, 40)
    printed = teacher.run("train").stdout
    assert "40 labels: 20 decisions, 20 none, in 7 documents" in printed
    assert "written: decision-model.json" in printed
    assert 'model = "decision-model.json" under [decisions]' in printed
    (teacher.folder / "team.toml").write_text('[decisions]\nmodel = "decision-model.json"\n')
    (teacher.folder / "ebbtide.toml").write_text('profile = "team.toml"\n')
    after = json.loads(teacher.run("from", chat, "--json").stdout)
    assert after["counts"]["kept"] == 0
    (refused,) = after["candidates"]
    assert refused["rule"] == "learned"
    assert refused["reason"].startswith("By your labels: like 'We will use the")
    opened = json.loads(teacher.run("record", "Lunch for table 8?", "--open", "--json").stdout)["id"]
    process = teacher.run("record", MEALS, "--of", opened)
    assert process.returncode == 40
    assert "By your labels: like" in process.stdout
    assert "To use it" not in teacher.run("train").stdout


def test_train_says_what_it_brings(teacher: Teacher) -> None:
    """As JSON: rates with intervals, from 0 labels on."""
    teacher.run("label", "--from", menu(teacher.folder), "--labels", "mine.jsonl")
    report = json.loads(teacher.run("train", "--labels", "mine.jsonl", "-o", "ours.json", "--json").stdout)
    assert (teacher.folder / "ours.json").is_file()
    assert report["model"] == "ours.json"
    assert [point["labels"] for point in report["curve"]] == [0, 25, 28]
    assert report["curve"][0]["passed"]["rate"] == 1.0
    assert report["curve"][-1]["passed"]["rate"] < 0.5
    assert set(report["curve"][-1]["loss"]) == {"hits", "n", "rate", "interval_95"}
    assert report["honest"] is None


def test_reviews_in_the_log_are_labels(teacher: Teacher) -> None:
    """What was reviewed, restored or cleaned out; what the gate refused by itself is none."""
    path = teacher.folder / "log.db"
    with DecisionLog.open(path, agent="waiter") as log:
        work = Deliberation(log)
        ids = [
            work.record_decision(f"Use the {name} room for guests who come late").id
            for name in ("red", "blue", "green", "small")
        ]
        assert all(ids)
        for identifier, outcome in zip(
            ids,
            (DecisionOutcome.NOT_A_DECISION, DecisionOutcome.SUCCESS, DecisionOutcome.UNKNOWN),
            strict=False,
        ):
            log.review(str(identifier), Review(outcome=outcome, by="Ada", ts=log.clock()))
        refused = work.record_decision("Let me check the logs of the worker first.", source=Source.AUTO)
        back = work.record_decision("Done! The table is laid and the candles burn.", source=Source.AUTO)
        assert not refused.kept
        assert back.decision is not None
        log.restore(back.decision.id, by="Ada")
        noise = log.add(work_text("Let me look at the menu of the day first."))
        log.quarantine(noise.id, work.assess(noise.candidate), by="Ada")
    report = json.loads(teacher.run("train", "--log", path, "--json").stdout)
    assert (report["labels_of_file"], report["labels_of_log"]) == (0, 4)
    assert (report["decisions"], report["others"]) == (2, 2)
    asked = json.loads(teacher.run("label", "--log", path, "--json", keys="yy").stdout)
    assert asked["new"] == 2


def work_text(text: str):
    from ebbtide.decisions.candidate import Candidate

    return Candidate(description=text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train",), "there are no labels. `ebbtide decisions label FILE` collects labels"),
        (("train", "--profile", "spec"), "weighs = false"),
        (("train", "--log", "none.db"), "there is no decision log"),
        (("label",), "there is no decision log"),
        (("label", "--from", "none.jsonl"), "none.jsonl: cannot be read"),
        (("label", "none.json"), "none.json"),
        (("label", "--labels", "broken.jsonl", str(CONVERSATION)), "broken.jsonl:1"),
        (("train", "--labels", "good.jsonl", "-o", "no/folder.json"), "no/folder.json: cannot be written"),
        (("from", str(CONVERSATION), "--profile", "gone.toml"), "the trained model cannot be read"),
    ],
)
def test_what_cannot_be_done(teacher: Teacher, arguments: tuple[str, ...], message: str) -> None:
    """The exit code is 2, and the message says what to do."""
    (teacher.folder / "broken.jsonl").write_text("{}\n")
    (teacher.folder / "good.jsonl").write_text('{"text": "We use SQLite", "label": "decision"}\n')
    (teacher.folder / "gone.toml").write_text('[decisions]\nmodel = "gone.json"\n')
    process = teacher.run(*arguments)
    assert process.returncode == 2
    assert message in process.stderr


def test_without_the_extra(teacher: Teacher) -> None:
    """Labelling works; training says what to install, and watching goes on by the rules."""
    block = teacher.folder / "block"
    block.mkdir()
    for name in ("numpy", "onnxruntime"):
        (block / f"{name}.py").write_text("raise ImportError('it is not installed')\n")
    path = os.pathsep.join(filter(None, (str(block), os.environ.get("PYTHONPATH"))))
    teacher.run("label", "--from", menu(teacher.folder))
    assert teacher.run("label", CONVERSATION, keys="y", PYTHONPATH=path).returncode == 0
    process = teacher.run("train", PYTHONPATH=path)
    assert process.returncode == 2
    assert "pip install 'ebbtide[semantic]'" in process.stderr
    assert teacher.run("train").returncode == 0
    (teacher.folder / "team.toml").write_text('[decisions]\nmodel = "decision-model.json"\n')
    process = teacher.run("from", CONVERSATION, "--profile", "team.toml", PYTHONPATH=path)
    assert process.returncode == 2
    assert "pip install 'ebbtide[semantic]'" in process.stderr
    with_model = subprocess.run(
        [sys.executable, "-m", "ebbtide", "check", CONVERSATION, "--profile", "team.toml", "--json"],
        capture_output=True,
        encoding="utf-8",
        env=teacher.env | {"PYTHONPATH": path},
        cwd=teacher.folder,
        timeout=60,
        check=False,
    )
    assert with_model.returncode == 0, with_model.stderr
    assert "decisions were judged by the rules alone" in with_model.stdout


def test_nothing_heavy_is_loaded_without_a_model() -> None:
    """The gate without a trained model, and the commands until they train, load no numpy."""
    code = (
        "import sys; from ebbtide import Candidate, assess; import ebbtide.cli.app;"
        "import ebbtide.cli.decisions.teaching;"
        "assess(Candidate(description='We will use SQLite')); print('numpy' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert process.stdout.strip() == "False"
