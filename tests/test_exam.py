"""The exam: who speaks in which run, what that is worth, and that anybody can enter."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.exam.__main__ import chosen
from benchmarks.exam.cases import SETS, Case, Record, Truth, deadline
from benchmarks.exam.entrants import Entrant, first_word, from_file, table
from benchmarks.exam.grading import grade, mark
from benchmarks.exam.table import markdown
from benchmarks.loop_peers import Watcher
from benchmarks.quality.alarms import equal_calls
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall

PROJECT = Path(__file__).parent.parent
FOLDER = PROJECT / "benchmarks" / "exam"
THREE = Entrant("three", lambda: equal_calls(3))
OURS = table()["Ebbtide, first word"]
START = 1_767_225_600  # 2026-01-01T00:00:00Z


def look(at: int = 0, *, chain: str = "", failed: bool = False) -> ToolCall:
    return ToolCall(name="ls", args={"at": at}, result=f"{at}.txt", error=failed, chain_id=chain)


def wire(at: int, number: int = 0) -> dict[str, Any]:
    return {"kind": "tool", "name": "ls", "args": {"at": at}, "result": f"{at}.txt", "ts": START + number}


def pack(path: Path, rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def dump(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One stuck or failed case, and a healthy one, in every set."""
    loop, work = [wire(1, n) for n in range(8)], [wire(n, n) for n in range(8)]
    folder = tmp_path / "data"
    rows = [{"id": "bad", "family": "a", "role": "bad", "main": "run.jsonl"}]
    rows[0]["by"] = {"time": "2026-01-01T00:00:02Z", "line": 3}
    rows += [
        {"id": "good", "family": "a", "role": "healthy", "main": "run.jsonl"},
        {"id": "c", "family": "c"},
    ]
    dump(folder / "incidents" / "expectations.json", rows)
    pack(folder / "incidents" / "bad" / "run.jsonl", loop)
    pack(folder / "incidents" / "good" / "run.jsonl", work)
    said = [{"kind": "llm", "text": "I will look at the table of prices once more."}] * 12
    sources = {"pos-x": loop, "neg-x": work, "text-pos-x": said, "text-neg-x": said[:1], "pos-thr-x": loop}
    scenarios = [
        {
            "id": name,
            "source": "s",
            "expect": "stuck" if "pos" in name else "ok",
            "events": events,
            "why": "w",
        }
        for name, events in sources.items()
    ]
    dump(folder / "loops" / "scenarios.json", scenarios)
    step = {"action": "ls", "action_sha1": "a", "observation": "x", "observation_sha1": "b", "reward": 0}
    episodes = [
        {"id": name, "env": "bash", "model": "m", "steps": [{**step, "reward": reward}] * count}
        for name, reward, count in (("failed", 0, 5), ("solved", 1, 1))
    ]
    pack(folder / "loops" / "intercode.jsonl.gz", episodes)
    think = {"thought": "t", "action": "Search[x]", "observation": "none"}
    questions = [{"id": name, "status": name, "steps": [think] * 4} for name in ("HALTED", "CORRECT")]
    pack(folder / "loops" / "hotpotqa_react_base.jsonl.gz", questions)
    pack(folder / "loops" / "swe_transitions.jsonl.gz", [])
    dump(folder / "traces" / "openai_messages" / "tau_airline_20.json", [])
    dump(folder / "runs" / "mini_swe_agent" / "outcomes.json", [])
    outcomes = {"kept": {"fate": "landed, kept"}, "gone": {"fate": "landed, gone"}}
    outcomes["poor"] = {"adjudicated": {"functional_completion": False}}
    for name, outcome in outcomes.items():
        dump(folder / "sessions" / "p" / f"{name}.json", {"id": name, "outcome": outcome})
        pack(folder / "sessions" / "p" / f"{name}.jsonl.gz", loop if name == "poor" else work)
    return folder


def command(*options: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.exam", *map(str, options)],
        cwd=PROJECT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_an_entrant_of_a_file_sits_every_set(data: Path, tmp_path: Path) -> None:
    """The file that the page shows runs as it stands, beside a name of the table."""
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    file = tmp_path / "three_failures.py"
    file.write_text(example[1], encoding="utf-8")
    done = command("--data", data, "--entrants", "3 equal calls", file, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert list(result["sets"]) == list(SETS)
    assert result["entrants"] == {"3 equal calls": None, "three failures": None}
    rows = {name: values["entrants"]["3 equal calls"] for name, values in result["sets"].items()}
    told = {
        name: (row["told"]["count"], row["told"]["of"], row["accused"]["of"]) for name, row in rows.items()
    }
    assert told == {
        "incidents": (1, 1, 1),
        "scenarios": (1, 1, 1),
        "texts": (0, 1, 1),
        "episodes": (1, 1, 1),
        "runs": (1, 1, 1),
        "sessions": (1, 1, 1),
    }
    assert rows["incidents"]["in_time"]["count"] == 1
    assert rows["texts"]["wrong"]["missed"] == ["text-pos-x"]
    assert rows["runs"]["wrong"]["accused"] == ["questions: CORRECT"]
    assert "not written" in done.stderr


def test_a_set_without_its_data_says_where_that_comes_from(data: Path) -> None:
    (data / "loops" / "intercode.jsonl.gz").unlink()
    done = command("--data", data, "--sets", "scenarios", "episodes", "--entrants", "3 equal calls")
    assert done.returncode == 0, done.stderr
    assert f"skipped: episodes: {data} has no loops/intercode.jsonl.gz" in done.stdout
    assert "princeton-nlp/intercode" in done.stdout
    nothing = command("--data", data / "nowhere", "--entrants", "3 equal calls")
    assert nothing.returncode == 2
    assert all(f"skipped: {name}: " in nothing.stdout for name in SETS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nobody", None, "nobody: no entrant of the table and no Python file"),
        ("empty.py", "", "an entrant needs a function `watcher`"),
        ("broken.py", "import nowhere_at_all", "ModuleNotFoundError"),
    ],
)
def test_what_is_no_entrant_is_refused(name: str, text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = command("--data", tmp_path, "--entrants", tmp_path / name)
    assert (done.returncode, message in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_whoever_is_not_installed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "other.py"
    file.write_text('PACKAGE = "no-such-package-here"\ndef watcher(): ...\n', encoding="utf-8")
    assert chosen([str(file)]) == (
        [],
        {"no-such-package-here": "not installed: pip install no-such-package-here"},
    )


def test_each_agent_of_a_run_has_a_watcher() -> None:
    """Calls of another agent in between end no row; a new run of the same agent begins one."""
    between: list[Event] = [
        look(chain="a"),
        look(chain="b"),
        look(chain="a"),
        look(chain="b"),
        look(chain="a"),
    ]
    assert first_word(THREE, between) == 5
    anew = Notice(kind=NoticeKind.RUN_START)
    assert first_word(THREE, [look(), look(), anew, look(), look()]) is None


def test_an_answer_at_the_end_counts_at_the_last_event() -> None:
    """Words that the record contradicts are heard of when the run is over."""
    run = [
        Message(text="Run the tests."),
        ToolCall(
            name="Bash", args={"command": "pytest -q"}, result="3 failed, 2 passed in 0.10s", error=True
        ),
        ModelCall(text="All tests pass."),
    ]
    assert first_word(OURS, run) == 3
    run[1] = ToolCall(name="Bash", args={"command": "pytest -q"}, result="5 passed in 0.10s")
    assert first_word(OURS, run) is None


@pytest.mark.parametrize(("second", "place"), [(-1, 0), (0, 1), (2, 3), (99, 4)])
def test_the_deadline_is_an_event(second: int, place: int) -> None:
    """Events without a time of their own have that of the one before; without any time, messages count."""
    times = (0, 1, None, 3)
    events = [Message(text="m", ts=None if time is None else START + time) for time in times]
    hour = "2025-12-31T23:59:59Z" if second < 0 else f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
    assert deadline(events, {"time": hour, "line": 2}) == place
    assert deadline([Message(text="m")] * 4, {"time": hour, "message": 2}) == 2


def test_late_is_told_and_wrong() -> None:
    """Each kind of wrong answer names its cases; silence about a failed run is none."""
    loop = tuple(look() for _ in range(6))
    cases = [
        Case("in time", "g", Truth.STUCK, (Record(loop, 3),)),
        Case("late", "g", Truth.STUCK, (Record(loop, 2),)),
        Case("missed", "g", Truth.STUCK, (Record((look(1), look(2)), 2),)),
        Case("second", "g", Truth.STUCK, (Record(loop[:2], 2), Record(loop, 3))),
        Case("failed", "g", Truth.FAILED, (Record((look(1),)),)),
        Case("accused", "h", Truth.HEALTHY, (Record(loop),)),
        Case("fine", "h", Truth.HEALTHY, (Record((look(1),)),)),
    ]
    row = grade([mark(THREE, case) for case in cases])
    counts = [(row[key]["count"], row[key]["of"]) for key in ("told", "in_time", "accused")]
    assert counts == [(3, 5), (2, 5), (1, 2)]
    assert row["wrong"] == {"missed": ["missed"], "late": ["late"], "accused": ["accused"]}
    assert row["calls_after"] == round(9 / 23, 4)


def test_an_entrant_that_breaks_is_silent_and_named() -> None:
    def watcher() -> Watcher:
        def see(event: Event) -> bool:
            return 1 / 0 > 0

        return see

    broken = Entrant("broken", watcher)
    row = grade([mark(broken, Case("one", "g", Truth.STUCK, (Record((look(),)),)))])
    assert (row["told"]["count"], row["wrong"]["missed"]) == (0, ["one"])
    assert row["errors"] == {"one": "ZeroDivisionError: division by zero"}


def test_every_file_of_a_package_is_an_entrant() -> None:
    """Each says which distribution it needs, and is in the table."""
    files = [from_file(path) for path in sorted((FOLDER / "packages").glob("*.py"))]
    assert files
    assert all(entrant.package for entrant in files)
    assert {entrant.name for entrant in files} <= table().keys()


def test_the_page_shows_the_committed_result() -> None:
    """The table of the documents, cell by cell, and the numbers of cases that the rules name."""
    path = PROJECT / "benchmarks" / "results" / "exam.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    assert markdown(result) in (PROJECT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name, values in result["sets"].items():
        row = next(iter(values["entrants"].values()))
        line = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert all(f"{row[key]['of']:,}" in line for key in ("told", "accused")), name
    assert list(result["sets"]) == list(SETS)
    assert list(result["entrants"]) == list(table())
