"""What counts as a failed call, what as refused or cancelled, and a batch that fails as one attempt."""

import pytest

from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.shell_words import has_one_status
from ebbtide.report.wording import call_facts
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary

TRACEBACK = "Traceback (most recent call last):\n  File 'a.py'\nValueError: no plugin\nready"
REJECTED = "The user doesn't want to proceed with this tool use."
SIBLING = "<tool_use_error>Sibling tool call errored</tool_use_error>"


def summary(*events: Event) -> RunSummary:
    """The summary of a run of these events."""
    run = RunRecorder(decisions=False)
    for event in events:
        run.record(event)
    return run.summary("run.jsonl", "ebbtide")


def bash(command: str, result: str, *, error: bool = False) -> ToolCall:
    """A call of the shell of Claude Code."""
    return ToolCall(name="Bash", args={"command": command}, result=result, error=error)


@pytest.mark.parametrize(
    ("call", "failed"),
    [
        (bash("python serve.py", TRACEBACK), 0),  # its status was 0
        (bash("python serve.py 2>&1 | tail -5", TRACEBACK), 1),  # that of `tail` says nothing
        (bash("make; echo done", "make: *** [all] Error 2\ndone"), 1),
        (bash("cat notes.txt", "error: this is what it printed\nand more\n" * 40), 0),
        (bash("grep -n foo a.py", "Exit code 1", error=True), 0),  # it found nothing
        (bash("pytest", "Exit code 1\nE  assert 1 == 2", error=True), 1),
        (bash("ls", REJECTED, error=True), 1),
        (bash("ls", SIBLING, error=True), 0),
        (ToolCall(name="Read", args={"file_path": "a.svg"}, result="     1\u2192404: Not Found"), 0),
    ],
)
def test_flag_and_status_come_before_words(call: ToolCall, failed: int) -> None:
    """Words of failure count where no status denies them, and where they are no content."""
    assert summary(call).facts.failures.calls == failed


def test_refused_and_cancelled_calls_and_errors_of_the_model_are_named() -> None:
    """Each is counted for what it is, with the time that it took."""
    calls = [bash(f"swift build {number}", REJECTED, error=True) for number in range(8)]
    error = [Notice(kind=NoticeKind.ERROR, text="API error 529", error=True, ts=at) for at in (60.0, 120.0)]
    run = summary(Message(text="Build it.", ts=0.0), *calls, bash("ls", SIBLING, error=True), *error)
    failures = run.facts.failures
    assert (failures.calls, failures.refused, failures.cancelled) == (8, 8, 1)
    assert (failures.model_errors, failures.model_error_seconds) == (2, 120.0)
    facts = "\n".join(call_facts(run))
    assert "8 calls were refused" in facts
    assert "2 model calls failed, 2 min" in facts


@pytest.mark.parametrize(
    ("line", "one"),
    [
        ("cd src && pytest -q 2>&1", True),
        ("cat > a.py <<'EOF'\nprint('a; b | c')\nEOF\npython a.py", True),
        ("make | tail", False),
        ("make || true", False),
        ("make; echo done", False),
        ("sleep 9 & wait", False),
    ],
)
def test_one_status_of_a_line_of_commands(line: str, one: bool) -> None:
    """Pipes and lists hide the status of a part."""
    assert has_one_status(line) is one


def test_a_batch_that_fails_is_one_attempt() -> None:
    """Ten calls of one message that fail in the same way are one try; ten messages are ten."""

    def call(number: int, batch: int) -> ToolCall:
        args = {"path": f"/data/part-{number}.csv"}
        return ToolCall(name="load", args=args, result="Error: disk quota exceeded", error=True, batch=batch)

    assert not find_loops([call(number, 1) for number in range(10)])
    assert find_loops([call(number, number) for number in range(10)])
    monitor = LoopMonitor()
    for number in range(9):
        assert not monitor.update(bash(f"ls {number}", SIBLING, error=True))


def test_what_ends_in_failures_has_not_recovered() -> None:
    """Neither failed calls nor one last answer prove it; answers up to the end do."""

    def said(*results: str) -> bool | None:
        looks = [ToolCall(name="look", args={"at": 0}, result="nothing here") for _ in range(8)]
        later = [ToolCall(name="find", args={"q": at}, result=text) for at, text in enumerate(results, 1)]
        return summary(*looks, *later).recovered

    assert said("red", "green", "blue") is True
    assert said("red", "green", "blue", "Error: no such table") is False
    assert said("Error: no such table", "Error: no such column", "red") is False


@pytest.mark.parametrize("cut", [0, 1, 7, 13])
def test_text_that_is_cut_while_it_repeats_is_a_loop(cut: int) -> None:
    """The limit may cut it in the middle of a word."""
    text = "Sure. " + "The quick brown fox jumps over it. " * 1420
    run = summary(Message(text="Write."), ModelCall(text=text[: len(text) - cut]))
    assert [finding.kind for finding in run.findings] == ["chanting"]
