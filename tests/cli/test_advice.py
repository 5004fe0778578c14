"""`ebbtide advice`: made sessions with long answers, the list, a change on request, and what it has saved."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

DAY = 86_400.0
LIMIT = {"env": {"BASH_MAX_OUTPUT_LENGTH": "8000"}}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project; no variable moves the settings of an agent."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def session(
    name: str, project: Path, began: float, *, length: int = 28_000, calls: int = 30, tool: str = "Bash"
) -> Path:
    """A session of Claude Code whose first command answers in so many characters, read by all later calls."""
    size, growth = 20_000, 20_000
    common = {"sessionId": name, "cwd": str(project), "isSidechain": False, "version": "2.1.330"}
    records: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": "Test it."}}]
    for call in range(calls):
        usage = {
            "input_tokens": 5,
            "output_tokens": 50,
            "cache_read_input_tokens": size - growth,
            "cache_creation_input_tokens": growth,
        }
        use = {"type": "tool_use", "id": f"t{call}", "name": tool, "input": {"command": f"make test-{call}"}}
        message = {"id": f"{name}-{call}", "role": "assistant", "model": "claude-sonnet-4-5"}
        records.append({"type": "assistant", "message": {**message, "content": [use], "usage": usage}})
        answer = "line\n" * ((length if call == 0 else 400) // 5)
        result = {"type": "tool_result", "tool_use_id": f"t{call}", "content": answer}
        records.append({"type": "user", "message": {"role": "user", "content": [result]}})
        growth = len(answer) // 4 + 50
        size += growth
    path = Path.home() / ".claude" / "projects" / "-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for number, record in enumerate(records):
            at = datetime.fromtimestamp(began + number, UTC).isoformat().replace("+00:00", "Z")
            line = {**common, "uuid": f"{name}-{number}", "timestamp": at, **record}
            file.write(json.dumps(line) + "\n")
    os.utime(path, (began + len(records),) * 2)
    return path


def sessions(project: Path, count: int, *, ago: float, word: str = "s", **how: Any) -> None:
    for number in range(count):
        session(f"{word}{number}", project, time.time() - ago + number * 3_600, **how)


def listed(here: Any) -> list[dict[str, Any]]:
    return json.loads(here("advice", "--json").output)["advices"]


def test_from_a_list_to_a_realised_saving(here, project: Path) -> None:
    """Priced, applied on request, not known yet, then measured with an interval; undone byte for byte."""
    sessions(project, 12, ago=10 * DAY)
    text = here("advice").output
    assert text.startswith("12 Claude Code and Codex sessions in the last 30 days")
    (advice,) = listed(here)
    name = advice["name"]
    expected = advice["expected"]
    assert name.startswith("shell-output-")
    assert expected["usd_per_month"] > 1
    low, high = expected["interval_95"]
    assert low <= expected["usd_per_month"] <= high
    assert expected["sessions"] == 12
    assert (advice["key"], advice["before"], advice["after"]) == (
        ["env", "BASH_MAX_OUTPUT_LENGTH"],
        None,
        "8000",
    )
    assert "env.BASH_MAX_OUTPUT_LENGTH not set → '8000'" in " ".join(text.split())
    assert f"  not applied: ebbtide advice --apply {name}\n" in text
    settings = project / ".claude" / "settings.local.json"
    assert not settings.exists()  # nothing unasked

    done = here("advice", "--apply", name)
    assert done.code == 0, done.message
    assert json.loads(settings.read_text()) == LIMIT
    (applied,) = listed(here)
    assert (applied["state"], applied["realised"]["usd_per_month"]) == ("applied", None)
    assert "not enough sessions yet (0 of 10" in here("advice").output
    assert here("advice", "--apply", name).code == 2

    # From here on the agent cuts: what was to be saved is not spent.
    sessions(project, 12, ago=-60, word="after", length=2_400)
    (applied,) = listed(here)
    realised = applied["realised"]
    assert realised["sessions"] == 12
    low, high = realised["interval_95"]
    assert 0 < low <= realised["usd_per_month"] <= high
    assert 0 < realised["session_cost_ratio"] < 1
    assert f"expected ${expected['usd_per_month']:.2f} per month" in here("advice").output
    assert "realised $" in here("advice").output

    undone = here("advice", "--undo", name)
    assert undone.code == 0, undone.message
    assert not settings.parent.exists()
    assert here("advice", "--undo", name).code == 2


def test_a_setting_without_effect_saves_nothing(here, project: Path) -> None:
    """The answers are as long as ever: the interval is around zero, whatever was expected."""
    sessions(project, 12, ago=10 * DAY)
    (advice,) = listed(here)
    here("advice", "--apply", advice["name"])
    sessions(project, 12, ago=-60, word="after")
    (applied,) = listed(here)
    assert applied["expected"]["usd_per_month"] > 1
    low, high = applied["realised"]["interval_95"]
    assert low <= 0.0001
    assert high >= -0.0001
    assert abs(applied["realised"]["usd_per_month"]) < 0.01 * applied["expected"]["usd_per_month"]


def test_other_work_is_not_held_against_it(here, project: Path) -> None:
    """Sessions that change something have no like among those that only look: nothing is known."""
    sessions(project, 12, ago=10 * DAY)
    (advice,) = listed(here)
    here("advice", "--apply", advice["name"])
    sessions(project, 12, ago=-60, word="after", tool="Edit")
    (applied,) = listed(here)
    assert applied["realised"]["sessions"] == 0
    assert applied["realised"]["usd_per_month"] is None


def test_a_value_that_somebody_changed_is_left_alone(here, project: Path) -> None:
    """It is said, in the list and by --undo, and nothing is changed."""
    sessions(project, 12, ago=10 * DAY)
    name = listed(here)[0]["name"]
    here("advice", "--apply", name)
    settings = project / ".claude" / "settings.local.json"
    other = '{"env": {"BASH_MAX_OUTPUT_LENGTH": "20000"}}'
    settings.write_text(other)
    done = here("advice", "--undo", name)
    assert done.code == 2
    assert "somebody has changed it since; nothing was changed" in done.message
    assert settings.read_text() == other
    states = {item["state"] for item in listed(here)}
    assert states == {"changed since", "not applied"}
    assert "not measured: somebody has changed the setting since" in here("advice").output


def test_a_setting_that_is_there_already_is_no_advice(here, project: Path) -> None:
    """Of the user, or of the project, and smaller ones too."""
    sessions(project, 12, ago=10 * DAY)
    user = Path.home() / ".claude" / "settings.json"
    user.write_text('{"env": {"BASH_MAX_OUTPUT_LENGTH": "6000"}}')
    assert listed(here) == []
    assert "No other known setting would have saved $1 per month." in here("advice").output
    user.write_text('{"env": {"BASH_MAX_OUTPUT_LENGTH": "60000"}}')
    assert listed(here)[0]["before"] == "60000"
    user.write_text("{")
    (advice,) = listed(here)
    assert advice["before"] is None
    assert "is no JSON" in advice["problem"]


def test_few_sessions_are_no_reason(here, project: Path) -> None:
    """Four of a project say nothing of the next ones."""
    sessions(project, 4, ago=10 * DAY)
    assert listed(here) == []


def test_one_dear_session_is_no_reason(here, project: Path) -> None:
    """The interval of the saving reaches down to zero."""
    sessions(project, 11, ago=10 * DAY, length=400)
    session("dear", project, time.time() - DAY, calls=200)
    assert listed(here) == []


def test_a_project_that_is_gone_gets_none(here, project: Path) -> None:
    sessions(project, 12, ago=10 * DAY)
    project.rename(project.with_name("elsewhere"))
    assert listed(here) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--apply", "shell-output-000000"), "there is no advice 'shell-output-000000'"),
        (("--undo", "shell-output-000000"), "no advice 'shell-output-000000' is applied"),
        (("--apply", "a", "--undo", "a"), "--apply and --undo"),
    ],
)
def test_wrong_names_are_refused(here, project: Path, line: tuple[str, ...], words: str) -> None:
    sessions(project, 12, ago=10 * DAY)
    done = here("advice", *line)
    assert done.code == 2
    assert words in done.message


def test_a_slip_of_a_name_is_named(here, project: Path) -> None:
    sessions(project, 12, ago=10 * DAY)
    name = listed(here)[0]["name"]
    assert f"did you mean {name}?" in here("advice", "--apply", f"{name}x").message


def test_a_machine_without_sessions(here) -> None:
    """As `check` says it."""
    done = here("advice")
    assert done.code == 2
    assert "no coding agent session" in done.message


def test_a_state_that_cannot_be_written(here, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list needs none; a change is refused, and nothing is changed."""
    sessions(project, 12, ago=10 * DAY)
    (project / "file").write_text("")
    monkeypatch.setenv("EBBTIDE_STATE", str(project / "file" / "state"))
    name = listed(here)[0]["name"]
    done = here("advice", "--apply", name)
    assert (done.code, "Make it writable" in done.message) == (2, True)
    assert not (project / ".claude").exists()


def test_a_broken_state_is_named(here, project: Path) -> None:
    sessions(project, 12, ago=10 * DAY)
    name = listed(here)[0]["name"]
    here("advice", "--apply", name)
    (state,) = Path(os.environ["HOME"]).rglob("advice.json")
    state.write_text('{"schema": 1, "advices": [{}]}')
    done = here("advice")
    assert done.code == 2
    assert "advice.json cannot be read" in done.message


def test_a_copied_session_is_as_old_as_what_is_in_it(here, project: Path) -> None:
    """A file that was written today with calls of last year is not of the last 30 days."""
    sessions(project, 2, ago=10 * DAY)
    copied = session("copied", project, time.time() - 300 * DAY)
    os.utime(copied)
    assert here("advice").output.startswith("2 Claude Code and Codex sessions in the last 30 days")
