"""The eight loops of `examples/loops`: each runs as a process, and few of its lines are ours."""

import ast
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

LOOPS = Path(__file__).parents[1] / "examples" / "loops"
NAMES = sorted(path.stem for path in LOOPS.glob("*.py") if path.stem != "local_model")
IN_A_ROW = "search 4 times in a row, same arguments, same result; the loop continued after the first warning."
NOTE = "[ebbtide] The same call returned the same result again. Repeating it will not change it. "
READ = "done: After 3 calls I know: Buses left on Friday."


def run_of(name):
    command = [sys.executable, "-W", "error", LOOPS / f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def named(tree):
    """The names that are read or bound somewhere in a tree."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def bindings(tree):
    """What is bound to what in a tree: pairs of the new names, and the names that they are made of."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign():
                yield set().union(*map(named, node.targets)), named(node.value)
            case ast.AugAssign() | ast.NamedExpr():
                yield named(node.target), named(node.value)
            case ast.AnnAssign():
                yield (
                    named(node.target),
                    named(node.annotation) | (named(node.value) if node.value else set()),
                )
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                yield named(node.target), named(node.iter)
            case ast.withitem(optional_vars=ast.AST()):
                yield named(node.optional_vars), named(node.context_expr)
            case ast.ExceptHandler(name=str(), type=ast.AST()):
                yield {node.name}, named(node.type)
            case ast.arg(annotation=ast.AST()):
                yield {node.arg}, named(node.annotation)
            case ast.FunctionDef(returns=ast.AST()) | ast.AsyncFunctionDef(returns=ast.AST()):
                yield {node.name}, named(node.returns)


def ours_of(tree, known):
    """The names of ours in a tree, and what was made of them."""
    known = set(known)
    while True:
        more = set().union(*(new for new, source in bindings(tree) if source & known)) - known
        if not more:
            return known
        known |= more


def lines_of_ours(source):
    """The lines that mention a name of ours, or a variable made of one; an import is one line."""
    module = ast.parse(source)
    imports = [
        node for node in module.body if isinstance(node, ast.ImportFrom) and node.module.startswith("ebbtide")
    ]
    lines = {node.lineno for node in imports}
    known = {alias.asname or alias.name for node in imports for alias in node.names}
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    plain = ast.Module([node for node in module.body if node not in functions], [])
    known = ours_of(plain, known)
    known |= {node.name for node in functions if node.returns and named(node.returns) & known}
    for part in (plain, *functions):  # a variable of a function is known in that function
        ours = ours_of(part, known)
        lines |= {node.lineno for node in ast.walk(part) if isinstance(node, ast.Name) and node.id in ours}
        lines |= {node.lineno for node in ast.walk(part) if isinstance(node, ast.arg) and node.arg in ours}
    return sorted(lines)


def test_lines_of_ours_follow_what_is_made_of_a_name():
    source = """
from ebbtide import (
    Runs,
)
x = 1
runs = Runs()
def f(y, r: Runs):
    turn = r.before_model("a")
    note = turn.note
    if note:
        print(x)
        y.append(note)
def g(note):
    print(note)
    with runs as more:
        print(more)
"""
    assert lines_of_ours(source) == [2, 6, 7, 8, 9, 10, 12, 15, 16]


@pytest.mark.parametrize("name", NAMES)
def test_fewer_than_fifteen_lines_are_ours(name):
    assert 5 <= len(lines_of_ours((LOOPS / f"{name}.py").read_text(encoding="utf-8"))) < 15


def test_there_are_eight_and_the_page_lists_them():
    page = (LOOPS.parents[1] / "docs" / "runs.md").read_text(encoding="utf-8")
    assert len(NAMES) == 8
    assert sorted(re.findall(r"\.\./examples/loops/(\w+)\.py", page)) == sorted([*NAMES, "local_model"])


def test_a_plain_loop_ends_the_stuck_agent_alone():
    lines = run_of("sync_loop")
    assert lines[0] == f"busy: {READ}"
    assert lines[1].startswith(f"listening: {NOTE}")
    assert lines[2] == "listening: done: After 3 calls I know: No page has 'invoice 7'."
    assert lines[3].startswith(f"stuck: {NOTE}")
    assert lines[4:] == ["stuck: 10 messages kept", f"stuck: ended: {IN_A_ROW}"]


def test_of_two_runs_in_an_event_loop_the_stuck_one_ends():
    assert sorted(run_of("async_loop")) == [f"busy: {READ}", f"stuck: ended: {IN_A_ROW}"]


def test_the_money_of_all_threads_holds():
    *outcomes, sums = run_of("threads")
    counted, billed, limit = map(float, re.findall(r"\$([\d.]+)", sums))
    assert counted == pytest.approx(billed, abs=1.5e-6)  # both are rounded
    assert 0.7 * limit < billed <= limit
    ends = [re.sub(r"ended after \d calls: scope 'all' would .*", "ended", outcome) for outcome in outcomes]
    assert {end.split(": ", 1)[1] for end in ends} <= {READ, "ended"}
    assert 1 <= sum(end.endswith(": ended") for end in ends) <= 8
    assert len(ends) == 8


def test_a_stream_is_charged_what_it_produced():
    assert run_of("streaming") == [
        "7 words: After 0 calls I know: nothing yet",
        "charged: 22 tokens, $0.000086",
        "3 words: After 0 calls",
        "charged: 18 tokens, $0.000054",
    ]


def test_the_loop_of_a_reader_ends_its_own_conversation():
    lines = run_of("sub_agents")
    assert lines[:4] == [
        "enough, planner: done: After 0 calls I know: nothing yet",
        f"enough, busy reader: {READ}",
        f"enough, stuck reader: ended: {IN_A_ROW}",
        "enough: 9 requests of 20",
    ]
    assert lines[4] == "few, planner: done: After 0 calls I know: nothing yet"
    assert lines[7] == "few: 6 requests of 6"


def test_retries_are_limited_and_failures_cost():
    assert run_of("retries") == [
        "4 answers, 7 requests, 3 of them failed",
        "counted $0.002132, billed $0.000698",
        "counted $0.000698 with the bill",
        "ended: scope 'run' would be at 4 retries, and its limit is 3. End the run, or allow more.",
        "0 answers, 4 requests, 4 of them failed",
        "counted $0.002000, billed $0.000088",
        "counted $0.000088 with the bill",
    ]


def test_a_person_overrules_an_escalation_and_a_stop():
    lines = run_of("person_in_the_loop")
    assert lines[0].startswith("stuck: spending continued without new results: ")
    assert lines[1] == "stuck: the person says more"
    assert lines[2].startswith("stuck: spending continued without new results: ")
    assert lines[3:] == [
        "stuck: the person says no",
        "stuck: ended after 14 requests",
        f"patient: {IN_A_ROW}",
        "patient: the person says mended",
        "patient: done: After 5 calls I know: Invoice 7 is of 3 May.",
    ]


def test_a_worker_goes_on_after_it_was_terminated(tmp_path):
    command = [sys.executable, "-W", "error", LOOPS / "long_lived.py", tmp_path / "worker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        first = []
        for line in worker.stdout:
            first.append(line.rstrip())
            if line == "stuck: 5 messages\n":
                worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert first[-1] in {"stuck: 5 messages", "stuck: 7 messages"}
    again, once_more = (
        subprocess.run(command, capture_output=True, text=True, timeout=30, check=False) for _ in range(2)
    )
    second = again.stdout.splitlines()
    assert (again.returncode, again.stderr) == (0, "")
    assert second[:2] == [f"busy: {READ}", first[-1].replace("stuck: ", "stuck: begins with ")]
    # Four calls in both processes together, and a note.
    seen = [line for line in first + second if re.fullmatch(r"stuck: \d+ messages", line)]
    assert seen == [f"stuck: {number} messages" for number in (3, 5, 7, 10)]
    assert second[-1] == f"stuck: ended: {IN_A_ROW}"
    assert once_more.stdout.splitlines() == [f"busy: {READ}", f"stuck: ended: {IN_A_ROW}"]
