"""Answers to one call that differ in numbers: loops that a number only counts, and work that it measures."""

from collections.abc import Callable

import pytest

from ebbtide import Action, Supervisor, ToolCall

Answer = Callable[[int], str]
_WINDOW = [
    f"{word} = read({word!r})" for word in "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
]


def _bash(command: str) -> tuple[str, dict[str, object]]:
    return "Bash", {"command": command}


def _listing(first: int, lines: list[str]) -> str:
    return "\n".join(f"{first + place}:{line}" for place, line in enumerate(lines))


def _moved(number: int) -> str:
    return f"[File: a.py ({400 + number} lines total)]\n{_listing(200 + number, _WINDOW * 4)}"


def _grown(number: int) -> str:
    lines = ["def a():", *["import os", "import sys"] * number, *_WINDOW]
    return (
        f"[File: a.py ({30 + 2 * number} lines total)]\n{_listing(1, lines)}\n({5 + number} more lines below)"
    )


_EDIT = ("edit", {"path": "a.py", "text": "import os\nimport sys\n"})


def _words(call: tuple[str, dict[str, object]], answer: Answer, *, failed: bool = False) -> list[Action]:
    supervisor = Supervisor()
    name, args = call
    return [
        supervisor.record(
            ToolCall(name=name, args=args, result=answer(number), error=failed, ts=number * 6.0)
        ).action
        for number in range(1, 54)
    ]


@pytest.mark.parametrize(
    ("call", "answer", "nudge", "stop"),
    [
        # The line of a shell is noise: known failures, equal from the third.
        pytest.param(_bash("fix"), "bash: line {0}: fix: command not found", 3, 4, id="bash"),
        pytest.param(_bash("fix"), "/bin/sh: {0}: fix: not found", 3, 4, id="sh"),
        pytest.param(_bash("fix"), "zsh:{0}: command not found: fix", 3, 4, id="zsh"),
        pytest.param(_bash("fix"), "(eval):{0}: command not found: fix", 3, 4, id="eval"),
        # A number that is named after the repeats.
        pytest.param(("fetch", {"url": "x"}), "Timeout. retry_count={0}", 6, 7, id="a retry count"),
        pytest.param(("fetch", {"url": "x"}), '{{"ok": false, "attempts": {0}}}', 4, 16, id="attempts"),
        pytest.param(
            ("login", {"user": "x"}), "no entry ({0} failed attempts)", 4, 16, id="attempts, behind"
        ),
        pytest.param(("find", {"q": "x"}), '{{"hits": [], "request_id": {0}}}', 4, 16, id="a request"),
        pytest.param(("check", {"q": "x"}), "state=unchanged elapsed={0}.25", 4, 16, id="time that passed"),
        # One that rises in step with a call that may change something.
        pytest.param(("run", {"code": "df.shape"}), "Out[{0}]: (10, 3)", 5, 17, id="a cell"),
        pytest.param(("create_ticket", {"title": "x"}), "ticket {0} is open", 5, 17, id="a ticket"),
        pytest.param(("append", {"text": "abc"}), "the file has {0} bytes now", 14, 50, id="bytes"),
        # The same insertion again and again: changes that report that they were made are given twelve.
        pytest.param(_bash("echo x=1 >> conf; wc -l conf"), "{0} conf", 14, 50, id="lines of a file"),
        pytest.param(_EDIT, _moved, 14, 50, id="a window that moves"),
        pytest.param(_EDIT, _grown, 15, 51, id="a window that shows what was put in"),
        pytest.param(
            _bash("echo x=1 >> conf; cat conf"), lambda n: "y=2\n" + "x=1\n" * n, 14, 50, id="a file in full"
        ),
    ],
)
def test_a_number_that_only_counts_hides_no_loop(
    call: tuple[str, dict[str, object]], answer: str | Answer, nudge: int, stop: int
) -> None:
    """The loop is found as one of equal answers, one or two calls later, and stopped where it goes on."""
    words = _words(call, answer.format if isinstance(answer, str) else answer)
    first = next(place for place, word in enumerate(words, 1) if word is not Action.ALLOW)
    assert first <= nudge
    assert Action.STOP in words[:stop]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        pytest.param(_bash("pytest -q"), lambda n: f"{60 - n} failed, 80 passed", id="failed tests fall"),
        pytest.param(_bash("ruff check --fix"), lambda n: f"Found {160 - 2 * n} errors.", id="errors fall"),
        pytest.param(("state", {"job": 1}), lambda n: f"{9_000 - n * 100} bytes left", id="bytes left"),
        pytest.param(("state", {"job": 1}), lambda n: f"progress {n}%", id="percent"),
        pytest.param(("state", {"job": 1}), lambda n: f"epoch {n} loss 0.5", id="epochs"),
        pytest.param(("next_page", {}), lambda n: f"page {n} of 90", id="pages"),
        pytest.param(("migrate", {"size": 100}), lambda n: f"migrated {n * 100} rows", id="rows"),
        pytest.param(_bash("redis-cli llen q"), lambda n: f"{9_000 - 30 * n}", id="a queue that falls"),
        pytest.param(_bash("ls out | wc -l"), lambda n: f"{20 + n}", id="files that somebody else makes"),
        pytest.param(
            _bash("stat -c %s out.bin"), lambda n: f"{1_000 * n}", id="a file that somebody else fills"
        ),
        pytest.param(("attack", {"at": "orc"}), lambda n: f"orc hp {120 - 9 * n}", id="points that fall"),
        pytest.param(("job_log", {"id": 3}), lambda n: "begin\n" + "one more\n" * n, id="a log that grows"),
        pytest.param(("balance", {}), lambda n: f"balance {9_000 - 17 * n - n % 4}", id="a balance"),
    ],
)
def test_a_number_that_measures_is_news(call: tuple[str, dict[str, object]], answer: Answer) -> None:
    """Nothing is said where an answer says that less is to do, or more is there without the call's doing."""
    assert set(_words(call, answer)) == {Action.ALLOW}


def test_what_an_edit_moves_is_news() -> None:
    """A place that moves since something else was changed in between is looked up anew."""
    supervisor = Supervisor()
    for number in range(1, 30):
        look = ToolCall(name="Bash", args={"command": "grep -n def a.py"}, result=f"{20 + number}:def a():")
        args: dict[str, object] = {"file_path": "a.py", "old_string": f"a{number}", "new_string": "b"}
        edit = ToolCall(name="Edit", args=args, result="The file a.py has been updated.")
        assert supervisor.record(look).action is Action.ALLOW
        assert supervisor.record(edit).action is Action.ALLOW
