"""`ebbtide calibrate` as a process: what it prints, what it writes, and how it ends."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibration"
SHARED = ["tea", "milk", "salt", "bread", "wool"]
OTHERS = ["amber", "black", "coral", "denim", "ebony", "flax", "green", "hazel", "ivory", "jade"]


def ebbtide(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=env, timeout=120, check=False)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """The same from a Jaccard of 3 in 7 on, different at 1 in 9; 30 of each, in three groups."""
    rows = []
    for n in range(30):
        left, right = OTHERS[n % 5], OTHERS[5 + n % 5]
        words = " ".join(SHARED[:3])
        rows.append(
            {
                "one": f"{words} {left} door",
                "two": f"{words} {right} roof",
                "equal": 1,
                "topic": n % 3,
            }
        )
        rows.append({"one": f"tea {left} door", "two": f"tea {right} roof", "equal": 0, "topic": n % 3})
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


FIELDS = ("--fields", "a=one,b=two,same=equal,group=topic")


@pytest.mark.clause("B07")
def test_fitted_profile_is_written_and_used(pairs: Path, tmp_path: Path) -> None:
    """The report says what there is now and what would be better; the profile can be scored with."""
    profile = tmp_path / "mine.toml"
    process = ebbtide("calibrate", pairs, *FIELDS, "--output", profile)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("Labelled pairs: 60, 30 the same, groups: 3; profile: default")
    assert "L1 stems: 0.6 becomes 0.428." in process.stdout
    assert "0.00 (0.00\u20130.11) of 30" in process.stdout
    assert tomllib.loads(profile.read_text())["novelty"] == {"jaccard_at_least": 0.428}
    scored = ebbtide("score", "--profile", profile, EXAMPLES / "exact-repeat.json")
    assert "profile mine" in scored.stdout


def test_report_says_how_to_keep_what_was_fitted(pairs: Path) -> None:
    """Where nothing is written, it says how."""
    printed = ebbtide("calibrate", pairs, *FIELDS).stdout
    assert "--output NAME.toml writes it, and --profile NAME.toml uses it." in printed


def test_json_has_the_whole_report(pairs: Path) -> None:
    """Everything that the table shows is in the JSON, with n and intervals."""
    report = json.loads(ebbtide("calibrate", pairs, *FIELDS, "--json").stdout)
    stems = next(item for item in report["measures"] if item["measure"] == "L1 stems")
    assert stems["current"]["recall"] == {"hits": 0, "n": 30, "rate": 0.0, "interval_95": [0.0, 0.1135]}
    assert stems["fit"]["held_out"]["f1"] == 1.0
    assert stems["proposed"] == 0.428
    assert len(stems["by_threshold"]) == 18


@pytest.mark.clause("B07")
def test_too_few_labels_write_nothing(tmp_path: Path) -> None:
    """Labelled conversations of ours are too few: it says so, writes nothing, and ends with 2."""
    profile = tmp_path / "mine.toml"
    process = ebbtide("calibrate", *sorted(EXAMPLES.glob("*.json")), "--output", profile)
    assert process.returncode == 2
    assert "1.00 (0.70\u20131.00) of 9" in process.stdout
    assert (
        "nothing fitted: 5 labels say stop and 4 continue; at least 30 of each are needed" in process.stdout
    )
    assert "not written: no better thresholds were found" in process.stderr
    assert not profile.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["PAIRS"], "pairs.jsonl:1: a: the pair has no such key. It has 'one', 'two', 'equal', 'topic'"),
        (["PAIRS", "--fields", "one"], "fields 'one': cannot read 'one'"),
        (["PAIRS", *FIELDS, "--precision-at-least", "2"], "2 is too large; the maximum is 1"),
        (["PAIRS", *FIELDS, "--profile", "mine"], "no profile 'mine'"),
        (["PAIRS", *FIELDS, "--embedder", "word2vec"], "embedder 'word2vec'"),
        (
            ["PAIRS", *FIELDS, "--output", "nowhere/mine.toml"],
            "nowhere/mine.toml: cannot be written: No such file",
        ),
        (["nowhere.jsonl"], "nowhere.jsonl: no such file"),
    ],
)
def test_bad_input(pairs: Path, arguments: list[str], message: str) -> None:
    """Bad input and bad options are told in one line, with exit code 2."""
    files = {"PAIRS": str(pairs)}
    process = ebbtide("calibrate", *(files.get(word, word) for word in arguments))
    assert process.returncode == 2
    assert message in process.stderr
    assert "Traceback" not in process.stderr
