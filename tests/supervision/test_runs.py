"""The registry of runs: each by itself, put away and brought back, and what it answers before a call."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.limits import Limits
from ebbtide.errors import ConfigError, RunStopped, StoreError
from ebbtide.events.event import Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.profile import Profile
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.async_runs import AsyncRuns
from ebbtide.supervision.runs.run_store import MemoryRunStore, RunStanding, SQLiteRunStore, StoredRun
from ebbtide.supervision.runs.runs import Runs, RunSupervisor
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

LS = ToolCall(name="ls", args={"path": "."}, result="a b")


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def look(number: int) -> ToolCall:
    return ToolCall(name="read", args={"path": f"{number}.py"}, result=f"text {number}")


def loop(runs: Runs, run_id: str, calls: int, **how: Any) -> list[str]:
    """What stands before each call of the model that asks for the same thing for ever."""
    actions = []
    for _ in range(calls):
        actions.append(runs.before_model(run_id, **how).verdict.action.value)
        runs.record(run_id, LS)
    return actions


def test_one_loop_ends_and_the_run_beside_it_does_not() -> None:
    """Twelve requests that each read one file once are no loop; one that reads it for ever is."""
    runs = Runs()
    for number in range(12):
        assert runs.before_model(f"request {number}").verdict.action is Action.ALLOW
        runs.record(f"request {number}", LS)
    assert loop(runs, "stuck", 6) == ["allow", "allow", "allow", "nudge", "stop", "stop"]
    standing = runs.standing()
    assert [(run.run_id, run.action) for run in standing[:1]] == [("stuck", Action.STOP)]
    assert {run.action for run in standing[1:]} == {Action.ALLOW}


TURNS = [
    (Action.ALLOW, (False, False, False, False)),
    (Action.NUDGE, (True, False, False, False)),
    (Action.FINALIZE, (True, True, False, False)),
    (Action.ESCALATE, (False, False, True, False)),
    (Action.STOP, (False, False, False, True)),
]


@pytest.mark.parametrize(("action", "parts"), TURNS, ids=[action.value for action, _ in TURNS])
def test_a_turn_says_what_to_do(action: Action, parts: tuple[bool, ...]) -> None:
    """A note, a last call without tools, a question to a person, or the end."""
    runs = Runs()
    for _ in range(3):
        runs.before_model("a")
        verdict = runs.record("a", LS)
    facts = None if action is Action.ALLOW else verdict.facts
    turn = Advice(replace(verdict, action=action, facts=facts))
    assert (turn.note is not None, turn.without_tools, turn.ask is not None, turn.end is not None) == parts
    assert turn.note is None or turn.note.startswith("[ebbtide] ")


def test_equal_calls_of_one_turn_are_one() -> None:
    """Six at once are no loop, without any number from the caller."""
    runs = Runs()
    for number in range(4):
        assert runs.before_model("a").verdict.action is Action.ALLOW
        for _ in range(6):
            runs.record("a", look(number))
    assert runs.get("a").verdict().action is Action.ALLOW


def test_agents_that_work_at_the_same_time_are_chains() -> None:
    """Each loop is its own agent's; agents that take turns are seen together."""
    runs = Runs()
    actions: dict[str, list[str]] = {"fred": [], "anna": []}
    for number in range(5):
        for agent, call in (("fred", LS), ("anna", look(number))):
            actions[agent].append(runs.before_model("a", agent=agent).verdict.action.value)
            runs.record("a", replace(call, agent=agent))
    assert actions == {"fred": ["allow", "allow", "allow", "nudge", "stop"], "anna": ["allow"] * 5}
    for _ in range(6):
        for agent in ("fred", "anna"):
            turn = runs.before_model("b")
            runs.record("b", replace(LS, agent=agent))
    assert turn.end


def test_one_agent_need_not_be_named_in_its_events() -> None:
    """Several have to be: their loops would end nobody, and a warning says so."""
    runs = Runs()
    assert loop(runs, "a", 5, agent="x")[-1] == "stop"
    runs.before_model("b", agent="x")
    runs.before_model("b", agent="y")
    with pytest.warns(RuntimeWarning, match="events name none"):
        runs.record("b", LS)


def test_agents_that_ask_at_once_share_what_is_left() -> None:
    """A call that was let through counts, although nobody has recorded it yet."""
    runs = Runs(lambda _: Supervisor(limits=Limits(llm_calls=4)))
    agents = ("a", "b", "c")
    calls = 0
    for _ in range(6):
        asking = [agent for agent in agents if not runs.before_model("r", agent=agent).refusal]
        calls += len(asking)
        for agent in asking:
            runs.record("r", ModelCall(agent=agent, text="hm"))
    assert calls == 4


def test_questions_count_where_nobody_records_the_calls_of_the_model() -> None:
    """A limit of model calls holds although only the tools are recorded."""
    runs = Runs(lambda _: Supervisor(limits=Limits(llm_calls=3)))
    calls = 0
    while runs.before_model("r").refusal is None:
        calls += 1
        runs.record("r", look(calls))
    assert calls == 3


def test_calls_of_a_model_that_are_tried_again_are_retries() -> None:
    """After a failure, or where the harness says so."""
    runs = Runs(lambda _: Supervisor(limits=Limits(retries=2, warn_at=None)))
    events = [
        ModelCall(error=True),
        ModelCall(error=True),
        Notice(kind=NoticeKind.RETRY),
        ModelCall(text="a"),
        ModelCall(text="b"),
    ]
    actions = [runs.record("r", event).action.value for event in events]
    assert actions == ["allow", "allow", "allow", "stop", "stop"]


def test_our_own_note_is_nobodys_word() -> None:
    """A note that is recorded as a message does not take back what it is about."""
    runs = Runs()
    actions = []
    for _ in range(5):
        turn = runs.before_model("a")
        actions.append(turn.verdict.action.value)
        if turn.note:
            runs.record("a", Message(text=turn.note))
        runs.record("a", LS)
    assert actions == ["allow", "allow", "allow", "nudge", "stop"]


def test_a_context_holds_the_limits_of_a_run_that_the_registry_watches() -> None:
    """Loops are found over a restart, and the limits are asked before each call."""
    store = MemoryRunStore()

    def work(calls: int) -> None:
        with Runs(store=store) as runs:
            supervisor = RunSupervisor(runs, "a")
            with ExecutionContext(Limits(tool_calls=10), supervisor=supervisor, chain_id="") as context:
                ask = context.wrap_llm_call(lambda: "looking")
                tool = context.wrap_tool_call(lambda: "a b", name="ls")
                for _ in range(calls):
                    ask()
                    tool()
            runs.end("a")

    work(4)
    with pytest.raises(RunStopped, match="ls 4 times in a row"):
        work(1)


def test_limits_of_time_hold_by_the_clock_of_the_registry() -> None:
    """Events need no time; those that have one are not compared with another clock."""
    clock = Clock()
    runs = Runs(lambda _: Supervisor(limits=Limits(wall_s=60)), clock=clock)
    for run_id, ts in (("timed", None), ("own time", 7.0)):
        runs.before_model(run_id)
        runs.record(run_id, replace(LS, ts=ts))
    clock.now += 61
    assert runs.before_model("timed").end
    assert runs.before_model("own time").end is None
    assert runs.before_model("own time", now=68.0).end


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from("12")), max_size=40),
    st.sampled_from([1, 2]),
)
@settings(max_examples=30)
def test_runs_that_were_put_away_give_the_same_verdicts(steps: list[tuple[str, str, str]], most: int) -> None:
    """With room for one run or two at hand, three runs go on as if there were room for all."""
    registries = [Runs(most=size, clock=Clock()) for size in (most, 10)]
    for run_id, path, answer in steps:
        call = replace(LS, args={"path": path}, result=answer)
        few, every = (runs.before_model(run_id).verdict for runs in registries)
        assert few == every
        few, every = (runs.record(run_id, call) for runs in registries)
        assert few == every
    few, every = (runs.standing() for runs in registries)
    assert sorted(few, key=str) == sorted(every, key=str)
    assert len(registries[0]) <= most


def test_silent_runs_go_to_the_store() -> None:
    """An hour without a word, and the next run that is made sends them there."""
    clock, store = Clock(), MemoryRunStore()
    runs = Runs(store=store, clock=clock)
    loop(runs, "old", 4)
    clock.now += 3601
    runs.record("new", LS)
    assert len(runs) == 1
    assert store.load("old") is not None
    assert [run.run_id for run in runs.standing()] == ["old", "new"]
    assert loop(runs, "old", 1) == ["stop"]


def test_a_run_that_has_ended_is_written_and_may_come_again() -> None:
    """A session that is resumed goes on from where it was."""
    runs = Runs()
    loop(runs, "a", 4)
    ended = runs.end("a")
    assert (ended.ended, ended.events, ended.action) == (True, 4, Action.STOP)
    assert len(runs) == 0
    assert runs.standing() == [ended]
    assert loop(runs, "a", 1) == ["stop"]
    assert not runs.standing()[0].ended
    runs.forget("a")
    assert runs.standing() == []
    assert loop(runs, "a", 1) == ["allow"]


def test_a_listener_hears_of_changes_alone() -> None:
    """Once a rung, and that it is lifted; it may ask, and what it raises is counted."""
    changes: list[str] = []

    def hear(run_id: str, verdict: Verdict) -> None:
        changes.append(f"{run_id} {verdict.action} {runs.get(run_id).events}")
        if verdict.action is Action.STOP:
            raise ValueError("deaf")

    runs = Runs(listener=hear)
    with pytest.warns(RuntimeWarning, match="without its listener: ValueError: deaf"):
        loop(runs, "a", 8)
    assert changes == ["a nudge 3", "a stop 4"]
    runs.record("a", Notice(kind=NoticeKind.RUN_START))
    runs.record("a", look(1))
    assert changes[2:] == ["a allow 9"]
    assert runs.faults == {"listener": 1}


def test_a_person_lets_a_run_go_on() -> None:
    """By a word of consent, or by some more turns."""
    runs = Runs()
    assert loop(runs, "a", 5)[-1] == "stop"
    runs.extend("a", 2)
    assert loop(runs, "a", 3) == ["allow", "allow", "stop"]
    runs.acknowledge("a")
    assert runs.before_model("a").end is None


def test_sixty_four_threads_share_one_registry() -> None:
    """No event is lost, whoever comes first, and whatever is put away meanwhile."""
    made: list[str] = []

    def make(run_id: str) -> Supervisor:
        made.append(run_id)
        return Supervisor()

    runs = Runs(make, most=5)

    def work(number: int) -> None:
        for step in range(30):
            run_id = f"run {(number + step) % 16}"
            runs.before_model(run_id)
            runs.record(run_id, look(number * 100 + step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(run.events for run in runs.standing()) == 64 * 30
    assert len(runs) <= 5


def test_a_task_that_waits_for_the_store_does_not_hold_up_the_others() -> None:
    """Reading takes place in a thread."""

    class Slow(MemoryRunStore):
        def load(self, run_id: str, /) -> StoredRun | None:
            time.sleep(0.2 if run_id == "slow" else 0)
            return super().load(run_id)

    async def go() -> list[str]:
        order = []

        async def work(run_id: str, calls: int) -> None:
            for _ in range(calls):
                await runs.before_model(run_id)
                await runs.record(run_id, LS)
            order.append(run_id)

        async with AsyncRuns(Runs(store=Slow())) as runs:
            await asyncio.gather(work("slow", 1), work("fast", 4))
            assert (await runs.before_model("fast")).end
            await runs.acknowledge("fast")
            await runs.extend("fast", 1)
            assert (await runs.before_tool("slow", LS)).end is None
            assert (await runs.get("slow")).events == 1
            assert (await runs.end("slow")).ended
            await runs.forget("slow")
            assert [run.run_id for run in await runs.standing()] == ["fast"]
        return order

    assert asyncio.run(go()) == ["fast", "slow"]


def test_what_is_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    """Verdicts, money and chains; another registry goes on from there."""
    path = tmp_path / "runs.db"
    with Runs(store=SQLiteRunStore(path)) as runs:
        loop(runs, "a", 4)
        runs.record("a", ModelCall(usage=Usage(cost_usd=0.5)))
        runs.end("a")
        loop(runs, "b", 2)
    again = Runs(store=SQLiteRunStore(path))
    assert [(run.run_id, run.events, run.cost_usd, run.ended) for run in again.standing()] == [
        ("b", 2, None, False),
        ("a", 5, 0.5, True),
    ]
    assert loop(again, "a", 1) == ["stop"]
    assert loop(again, "b", 3) == ["allow", "nudge", "stop"]


_KILLED = """
import os, sys, time
from ebbtide import Runs, SQLiteRunStore, ToolCall
runs = Runs(store=SQLiteRunStore(sys.argv[1]), save_every_s=0.05)
for _ in range(4):
    runs.before_model("a")
    runs.record("a", ToolCall(name="ls", args={}, result=""))
while not any(run.events == 4 for run in SQLiteRunStore(sys.argv[1]).standings()):
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""


def test_after_a_crash_a_run_goes_on(tmp_path: Path) -> None:
    """What is written in the background outlives a process that is killed."""
    path = tmp_path / "runs.db"
    process = subprocess.run([sys.executable, "-c", _KILLED, str(path)], timeout=60, check=False)
    assert process.returncode == -signal.SIGKILL
    assert Runs(store=SQLiteRunStore(path)).before_model("a").end


_TERMINATED = """
import signal, sys
from ebbtide import Runs, SQLiteRunStore, ToolCall
runs = Runs(store=SQLiteRunStore(sys.argv[1]), save_every_s=1000)
{handler}
number = 0
while True:
    number += 1
    runs.before_model("a")
    runs.record("a", ToolCall(name="read", args={{"path": str(number)}}, result=str(number)))
    if number == 500:
        print("ready", flush=True)
"""
HANDLERS = {
    "saves": (
        "def stop(*_):\n    runs.save()\n    import os\n    os._exit(0)\nsignal.signal(signal.SIGTERM, stop)"
    ),
    "exits": "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))",
}


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_a_process_that_is_asked_to_end_writes_its_runs(tmp_path: Path, handler: str) -> None:
    """In a handler of the signal, which may come in the middle of anything, or on the way out."""
    for attempt in range(5):
        path = tmp_path / f"{attempt}.db"
        script = _TERMINATED.format(handler=handler)
        with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.terminate()
            assert process.wait(timeout=30) == 0
        assert Runs(store=SQLiteRunStore(path)).get("a").events >= 500


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on_writing(tmp_path: Path) -> None:
    """Workers that are forked after the registry was made write their runs too."""
    path = tmp_path / "runs.db"
    runs = Runs(store=SQLiteRunStore(path), save_every_s=0.05)
    runs.record("parent", LS)
    child = os.fork()
    if not child:
        runs.record("child", LS)
        for _ in range(200):
            time.sleep(0.05)
            if any(run.run_id == "child" for run in SQLiteRunStore(path).standings()):
                break
        os._exit(0)
    os.waitpid(child, 0)
    assert "child" in {run.run_id for run in SQLiteRunStore(path).standings()}
    runs.close()


def test_what_is_older_does_not_replace_what_is_newer(tmp_path: Path) -> None:
    """Whoever comes too late with an older state changes nothing."""
    for store in (MemoryRunStore(), SQLiteRunStore(tmp_path / "runs.db")):
        runs = Runs()
        loop(runs, "a", 1)
        standing = runs.standing()[0]
        store.save([StoredRun(standing, 5, b"new")])
        store.save([StoredRun(standing, 4, b"old")])
        assert store.load("a") == StoredRun(standing, 5, b"new")
        store.delete("a")
        assert (store.load("a"), list(store.standings())) == (None, [])


def test_the_memory_store_forgets_the_run_that_was_saved_first() -> None:
    """And counts it, where it had not ended."""
    store = MemoryRunStore(most=2)
    runs = Runs(store=store, most=1)
    for run_id in "abcd":
        runs.record(run_id, LS)
    assert ([run.run_id for run in store.standings()], store.forgotten) == (["b", "c"], 1)


def test_runs_that_are_long_over_are_deleted(tmp_path: Path) -> None:
    """After thirty days without a word, unless told otherwise."""
    for keep_s, left in ((60.0, ["new"]), (None, ["new", "old"])):
        store = SQLiteRunStore(tmp_path / f"{keep_s}.db", keep_s=keep_s)
        for run_id, age in (("old", 61), ("new", 0)):
            runs = Runs(store=store, clock=lambda age=age: time.time() - age)  # type: ignore[misc]
            runs.record(run_id, LS)
            runs.end(run_id)
            store._swept = 0.0
        assert sorted(run.run_id for run in store.standings()) == left


class Broken(MemoryRunStore):
    """A store whose disk is full."""

    def save(self, runs: Sequence[StoredRun], /) -> None:
        raise StoreError("disk full")


def test_a_store_that_fails_costs_no_run() -> None:
    """Runs stay at hand, and the fault is counted and warned of once."""
    runs = Runs(store=Broken(), most=1)
    loop(runs, "a", 4)
    with pytest.warns(RuntimeWarning, match="without its store: StoreError: disk full"):
        loop(runs, "b", 4)
    loop(runs, "c", 4)
    assert {run_id: loop(runs, run_id, 1) for run_id in "abc"} == {run_id: ["stop"] for run_id in "abc"}
    assert runs.faults["store"] >= 2
    assert runs.end("a").ended


def test_a_state_that_cannot_be_read() -> None:
    """Without limits the run starts from zero, with a word; with limits it is refused."""
    standing = RunStanding(
        run_id="a", action=Action.ALLOW, kind=None, reason="", events=3, cost_usd=1.0, tokens=None, latest=1.0
    )
    store = MemoryRunStore()
    store.save([StoredRun(standing, 3, b"broken")])
    runs = Runs(store=store)
    with pytest.warns(RuntimeWarning, match="without its store"):
        assert loop(runs, "a", 1) == ["allow"]
    limited = Runs(lambda _: Supervisor(limits=Limits(steps=9)), store=store)
    with pytest.raises(ConfigError, match="what it took so far cannot be read"):
        limited.record("a", LS)
    limited.forget("a")
    assert loop(limited, "a", 1) == ["allow"]


def test_a_run_that_had_limits_does_not_come_back_without() -> None:
    """Else a restart would lift them."""
    store = MemoryRunStore()
    with Runs(lambda _: Supervisor(limits=Limits(steps=2)), store=store) as runs:
        loop(runs, "a", 3)
        runs.end("a")
    data = store.load("a")
    assert data is not None
    with pytest.raises(ConfigError, match="saved with a limit of steps"):
        Supervisor.from_bytes(data.state)
    with Runs(lambda _: Supervisor(limits=Limits(steps=2)), store=store) as runs:
        verdict = runs.before_model("a").verdict
        assert (verdict.action, verdict.cause) == (Action.STOP, Cause.LIMIT)


MISUSES = {
    "run id": (lambda: Runs().record(7, LS), TypeError, "run_id = 7"),  # type: ignore[arg-type]
    "make": (lambda: Runs("x"), TypeError, "make = 'x'"),  # type: ignore[arg-type]
    "asyncio": (lambda: AsyncRuns(cast("Any", Supervisor)), TypeError, "runs: expected"),
    "made": (lambda: Runs(cast("Any", lambda _: None)).get("a"), TypeError, "gave NoneType"),
    "most": (lambda: Runs(most=0), ConfigError, "most = 0"),
    "idle": (lambda: Runs(idle_s=0), ConfigError, "idle_s = 0"),
}


@pytest.mark.parametrize(("use", "error", "words"), MISUSES.values(), ids=MISUSES)
def test_misuse_is_an_error_at_once(use: Any, error: type[Exception], words: str) -> None:
    """It says what was expected."""
    with pytest.raises(error, match=words):
        use()


def test_other_files_are_not_taken_for_runs(tmp_path: Path) -> None:
    """Nor is anything written to them."""
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE t (x)")
    before = other.read_bytes()
    with pytest.raises(StoreError, match="not a file of runs"):
        SQLiteRunStore(other)
    assert other.read_bytes() == before
    with pytest.raises(StoreError, match="unable to open"):
        SQLiteRunStore(tmp_path / "missing" / "runs.db")
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(StoreError, match="not a database"):
        SQLiteRunStore(tmp_path / "text")


def test_an_end_stays_one_while_others_save() -> None:
    """The thread that saves once a second may write the run at the moment in which it ends."""

    class Racing(MemoryRunStore):
        def save(self, runs: Sequence[StoredRun], /) -> None:
            super().save(runs)
            if runs[0].standing.ended and not self.has_raced:
                self.has_raced = True
                registry.save()

        has_raced = False

    store = Racing()
    registry = Runs(store=store)
    registry.record("run 1", ToolCall(name="ls"))
    registry.end("run 1")
    assert store.has_raced
    assert [run.ended for run in store.standings()] == [True]
    registry.record("run 1", ToolCall(name="ls"))
    assert [run.ended for run in registry.standing()] == [False]


def test_an_agent_that_is_no_text_is_recorded() -> None:
    """Whatever an adapter puts there, the event is taken, as one that names no agent."""
    runs = Runs()
    runs.before_model("a", agent="b")
    for agent in (5, [1], {"a": 1}, True):
        event = ToolCall(name="ls", args={}, result="a", agent=agent)  # type: ignore[arg-type]
        assert runs.record("a", event).action is Action.ALLOW


def test_public_prices_are_used_where_they_are_installed() -> None:
    """A call that states tokens and a known model costs something, with nobody naming a price."""
    pytest.importorskip("genai_prices")
    runs = Runs()
    usage = Usage(model="gpt-4o", input_tokens=1_000_000)
    runs.record("run 1", ModelCall(text="Paris.", usage=usage))
    assert runs.get("run 1").tally.cost


def test_a_false_report_is_corrected_once_a_turn() -> None:
    """Until a person speaks again; a report that holds may end."""
    runs = Runs()
    runs.record("a", ToolCall(name="Bash", args={"command": "pytest -q"}, result="3 failed, 9 passed in 1s"))
    note = runs.before_end("a", "All tests pass.")
    assert note is not None
    assert note.startswith('[ebbtide] Your report says "All tests pass."')
    assert runs.before_end("a", "All tests pass.") is None
    runs.record("a", Message(text="Go on."))
    assert runs.before_end("a", "Done, but 3 tests fail.") is None
    assert runs.before_end("a", "All tests pass.") is not None


def test_a_profile_switches_the_check_of_reports_off() -> None:
    profile = replace(Profile.DEFAULT, supervision=replace(Profile.DEFAULT.supervision, check_claims=False))
    runs = Runs(lambda _: Supervisor(profile))
    runs.record("a", ToolCall(name="Bash", args={"command": "pytest -q"}, result="3 failed, 9 passed in 1s"))
    assert runs.before_end("a", "All tests pass.") is None
