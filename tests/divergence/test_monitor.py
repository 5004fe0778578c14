"""The monitor as users hold it: online, bounded, restartable, and never in the way of what it watches."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbtide.budget.tally import Tally
from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.divergence.signals import LoopSignal
from ebbtide.engine_state import sealed
from ebbtide.errors import ConfigError
from ebbtide.events.effect import Effect
from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Phase,
    ToolCall,
)
from ebbtide.events.event_json import read_event
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.events.usage import Usage
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind

pytestmark = pytest.mark.filterwarnings("ignore::ebbtide.errors.DegradedEventWarning")
TOOLS = ToolPolicies(
    {
        "poll": ToolPolicy(effect=Effect.POLL),
        "edit": ToolPolicy(effect=Effect.CHANGE),
        "now": ToolPolicy(effect=Effect.CLOCK),
        "job": ToolPolicy(volatile_fields=("ms",), key_fields=("id",), group="work"),
    }
)
LS = ToolCall(name="ls", args={"path": "."}, result="a b")
RULES = Profile.DEFAULT.divergence

results = st.none() | st.sampled_from(
    [
        "",
        "ok",
        "no match",
        "503 busy",
        '{"ms": 1, "x": 2}',
        '{"status": "running"}',
        "Traceback (most recent call last)\nKeyError: 'a'",
        "2 failed, 3 passed in 0.11s",
        "2 failed, 3 passed in 0.25s",
        "receipt x2k4q",
        "receipt x7m9q",
        "a longer answer, which tells things",
    ]
)
arguments = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["a", "a b", "b a", "a b c " * 20]),
        "line": st.integers(0, 3),
        "of": st.sampled_from([[1], {"b": 1, "a": 2}, b"x"]),
        "command": st.sampled_from(["pytest", "sed -i s/a/b/ f", "sleep 30", "sleep 5; cat log", "ls"]),
    },
)
tool_calls = st.builds(
    ToolCall,
    name=st.sampled_from(["read", "read_v2", "poll", "edit", "now", "job", "Bash"]),
    args=arguments,
    result=results,
    error=st.booleans(),
    chain_id=st.sampled_from(["", "other"]),
    agent=st.none() | st.sampled_from("ab"),
    ts=st.none() | st.floats(0, 2000),
    waited_s=st.none() | st.sampled_from([0.1, 10.0, 400.0]),
    batch=st.none() | st.just("b"),
    usage=st.none()
    | st.builds(
        Usage,
        cost_usd=st.none() | st.sampled_from([0.0, 0.4, 9.0]),
        output_tokens=st.none() | st.integers(0, 90_000),
    ),
    phase=st.sampled_from([Phase.FINISHED, Phase.FINISHED, Phase.STARTED]),
)
texts = st.none() | st.sampled_from(["hello", "on and on and on and " * 4, "- a\n- b\n", "```x\n"])
words = st.builds(ModelCall, part=st.sampled_from(ModelPart), text=texts) | st.builds(Message, text=texts)
notices = st.builds(
    Notice,
    kind=st.sampled_from(
        [
            NoticeKind.HANDOFF,
            NoticeKind.COMPACTION,
            NoticeKind.RETRY,
            NoticeKind.RUN_START,
            NoticeKind.OTHER,
        ]
    ),
    source=st.none() | st.sampled_from("ab"),
    target=st.none() | st.sampled_from("ab"),
)
blocks = st.lists(
    st.tuples(st.lists(tool_calls | tool_calls | words | notices, min_size=1, max_size=4), st.integers(1, 6)),
    max_size=6,
)
runs = blocks.map(lambda parts: [call for block, times in parts for call in block * times])


def told(monitor: LoopMonitor, calls: list[Event]) -> list[LoopSignal]:
    return [signal for call in calls for signal in monitor.update(call)]


@given(runs)
def test_batch_is_the_fold_of_online(run: list[Event]) -> None:
    """Looking at a recorded run says what watching it said."""
    assert find_loops(run, tools=TOOLS) == told(LoopMonitor(tools=TOOLS), run)


@settings(max_examples=300)
@given(runs, st.integers(0, 80), st.booleans())
def test_a_restart_changes_nothing(run: list[Event], at: int, as_bytes: bool) -> None:
    """A monitor that was stored and read again, at any event, says the same and has the same state."""
    straight, restarted = LoopMonitor(tools=TOOLS), LoopMonitor(tools=TOOLS)
    for place, call in enumerate(run):
        if place == at:
            if as_bytes:
                restarted = LoopMonitor.from_bytes(restarted.to_bytes(), tools=TOOLS)
            else:
                restarted = LoopMonitor.from_state(json.loads(json.dumps(restarted.to_state())), tools=TOOLS)
        assert straight.update(call) == restarted.update(call)
    assert straight.snapshot() == restarted.snapshot()
    assert straight.to_state() == restarted.to_state()
    fault = straight.snapshot().last_fault
    assert fault is None or "the time stands still" in fault


@given(runs)
def test_reading_changes_nothing(run: list[Event]) -> None:
    """Asking for the snapshot, the state, or the loop of a call between events leaves no trace."""
    asking, silent = LoopMonitor(tools=TOOLS), LoopMonitor(tools=TOOLS)
    for call in run:
        asking.snapshot().to_dict()
        asking.to_bytes()
        if isinstance(call, ToolCall):
            asking.loop_of(call)
        assert asking.update(call) == silent.update(call)
    assert asking.to_state() == silent.to_state()


@given(runs)
def test_events_that_come_twice_count_once(run: list[Event]) -> None:
    """Delivering each numbered event twice, or again later, says what delivering it once says."""
    numbered = [replace(call, seq=place) for place, call in enumerate(run)]
    twice = [
        copy for place, call in enumerate(numbered) for copy in (call, call, numbered[max(0, place - 5)])
    ]
    assert find_loops(numbered, tools=TOOLS) == find_loops(twice, tools=TOOLS)


def test_a_loop_is_reported_as_it_goes_on_and_never_forgotten() -> None:
    """Three calls in a row where it is proven, and then again each time the count has doubled."""
    signals = told(LoopMonitor(), [LS] * 100)
    assert [(signal.report, signal.copies) for signal in signals] == [
        (1, 3),
        (2, 4),
        (3, 5),
        (4, 10),
        (5, 20),
        (6, 40),
        (7, 80),
    ]
    assert len({signal.id for signal in signals}) == 1


def test_a_loop_that_comes_back_is_reported_again() -> None:
    """It is reported when it has ended and returned, as a relapse, and not as a loop of its own."""
    other = [ToolCall(name="read", args={"path": str(n)}, result=f"text {n}") for n in range(5)]
    signals = told(LoopMonitor(), [*[LS] * 3, *other[:2], *[LS] * 3, *other[2:], *[LS] * 3])
    assert [(signal.report, signal.relapses) for signal in signals if signal.kind is LoopKind.REPEAT] == [
        (1, 0),
        (2, 1),
        (3, 2),
    ]


def test_a_call_that_would_go_on_with_a_loop_is_known_before_it_is_made() -> None:
    """Once a loop went on after it had been reported, its next call is recognised; asking changes nothing."""
    monitor = LoopMonitor()
    start = replace(LS, phase=Phase.STARTED)
    assert told(monitor, [start, LS] * 3)[-1].report == 1
    assert monitor.loop_of(start) is None
    assert told(monitor, [start, LS])[-1].report == 2
    assert [monitor.loop_of(start).report for _ in range(3)] == [2, 2, 2]
    assert monitor.loop_of(replace(start, args={"path": "elsewhere"})) is None
    assert monitor.loop_of(replace(start, chain_id="another")) is None


def test_both_partners_of_a_pair_go_on_with_their_cycle() -> None:
    """Of a cycle, every call is recognised, and none any more when something new has come."""
    pair = [ToolCall(name=name, args={"path": name}, result="same") for name in ("ls", "read")]
    monitor = LoopMonitor()
    assert told(monitor, pair * 4)[-1].report == 2
    for call in pair:
        assert monitor.loop_of(call).kind is LoopKind.CYCLE
    told(monitor, [ToolCall(name="read", args={"path": "new"}, result="something new")])
    assert monitor.loop_of(pair[0]) is None


def test_a_signal_names_the_loop() -> None:
    """Period, turns, calls, first and last event, tools, money and tokens inside it, and the latest call."""
    spent = Usage(cost_usd=0.5, input_tokens=100, cache_read_tokens=1000)
    before = ToolCall(name="plan", args={}, result="a plan", usage=Usage(cost_usd=7.0))
    pair = [ToolCall(name=name, args={"path": name}, result="same", usage=spent) for name in ("ls", "read")]
    patient = Profile(name="patient", divergence=replace(RULES, usd_without_news=None))
    (signal,) = told(LoopMonitor(patient), [before, *pair * 3])
    assert signal == LoopSignal(
        id=signal.id,
        kind=LoopKind.CYCLE,
        report=1,
        chain_id="",
        tools=("ls", "read"),
        period=2,
        copies=3,
        threshold=3,
        calls=6,
        relapses=0,
        first_event=2,
        last_event=7,
        cost_usd=3.0,
        tokens=6600,
        is_proof=True,
        latest_call="read read",
    )


def test_the_id_is_that_of_the_loop_wherever_it_began() -> None:
    """Rotations of one cycle, and the same cycle in another monitor, have one id."""
    trio = [ToolCall(name=name, args={}, result="same") for name in "abc"]
    ids = {find_loops((trio * 5)[start:])[0].id for start in range(3)}
    assert len(ids) == 1


def test_signals_do_not_depend_on_the_process() -> None:
    """Another process with another hash seed tells the same signals, and stores the same bytes."""
    program = (
        "from ebbtide.events.event import ToolCall\n"
        "from ebbtide.divergence.monitor import LoopMonitor\n"
        "m = LoopMonitor()\n"
        "for n in range(600):\n"
        "    a = {'q': f'x {n * n % 7}', 'of': {'b': n % 2, 'a': 1}}\n"
        "    a = a if n % 3 else {'page': n % 5, 'path': 'p'}\n"
        "    print(m.update(ToolCall(name='t', args=a, result=f'{n * n % 7} is it')))\n"
        "print(m.to_bytes().hex())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1


_LONG_CHAIN = """
import gc, sys, tracemalloc
from ebbtide.events.event import ModelCall, ModelPart, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.divergence.monitor import LoopMonitor

def feed(monitor, numbers):
    for n in numbers:
        name = f"tool number {n} of the server"
        args = {"path": f"file {n}" * 3, "page": n, "size": n % 9, "text": f"word {n}"}
        usage = Usage(cost_usd=0.001 * n, output_tokens=n)
        answer = {"result": f"failed {n}", "error": n % 3 == 0, "ts": float(n)}
        monitor.update(ToolCall(name=name, args=args, usage=usage, **answer))
        monitor.update(ModelCall(part=ModelPart.CHUNK, text=f"word {n} and more"))

monitor = LoopMonitor()
feed(monitor, range(2_000))
sizes = [len(monitor.to_bytes())]
LoopMonitor.from_bytes(monitor.to_bytes())  # the way to read one is worked out once, and no part of it
gc.collect()
tracemalloc.start()
monitor = LoopMonitor.from_bytes(monitor.to_bytes())
feed(monitor, range(2_000, 20_000))
gc.collect()
memory, _ = tracemalloc.get_traced_memory()
print(memory, max(*sizes, len(monitor.to_bytes())))
"""


def test_a_chain_of_any_length_stays_small() -> None:
    """Under 410 KB in memory and 26 KB as bytes, also ten times as long, with a new name at every call."""
    # In a process of its own: what other tests have left behind would be counted.
    process = subprocess.run(
        [sys.executable, "-c", _LONG_CHAIN],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},  # dicts take a little more or less by it
    )
    memory, as_bytes = map(int, process.stdout.split())
    assert as_bytes < 26_000
    assert memory < 410_000


def test_the_chain_that_was_silent_longest_makes_room() -> None:
    """No more chains than allowed are watched, and what was dropped is counted."""
    monitor = LoopMonitor(max_chains=3)
    for chain in ("a", "b", "c", "a"):
        monitor.update(replace(LS, chain_id=chain))
    with pytest.warns(RuntimeWarning, match="more than 3 chains"):
        monitor.update(replace(LS, chain_id="d"))
    snapshot = monitor.snapshot()
    assert [chain.chain_id for chain in snapshot.chains] == ["c", "a", "d"]
    assert snapshot.dropped_chains == 1


def test_sixty_four_threads_at_once() -> None:
    """Calls of many threads are all counted, and each chain gets its own signals."""
    monitor, signals = LoopMonitor(max_chains=64), []

    def run(chain: str) -> None:
        for _ in range(50):
            signals.extend(monitor.update(replace(LS, chain_id=chain)))

    threads = [threading.Thread(target=run, args=(str(n),)) for n in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    snapshot = monitor.snapshot()
    assert snapshot.degraded == 0
    assert [chain.calls for chain in snapshot.chains] == [50] * 64
    assert sum(signal.kind is LoopKind.REPEAT for signal in signals) == 64 * 6


endless: list[Any] = []
endless.append(endless)


@pytest.mark.parametrize(
    ("bad", "degraded", "unreadable", "faults"),
    [
        pytest.param({"usage": Usage(cost_usd=float("nan"))}, 0, 0, 1, id="a cost that is no number"),
        pytest.param({"usage": Usage(cost_usd=-1.0)}, 0, 0, 1, id="a negative cost"),
        pytest.param({"usage": Usage(cost_usd=float("inf"))}, 0, 0, 1, id="an infinite cost"),
        pytest.param({"usage": Usage(input_tokens=-5)}, 0, 0, 1, id="negative tokens"),
        pytest.param({"usage": Usage(cost_usd="much")}, 0, 0, 1, id="a cost in words"),  # type: ignore[arg-type]
        pytest.param({"usage": "much"}, 1, 0, 0, id="usage in words"),
        pytest.param({"ts": float("nan")}, 1, 0, 0, id="a time that is no number"),
        pytest.param({"ts": float("inf")}, 1, 0, 0, id="an infinite time"),
        pytest.param({"ts": -5.0}, 1, 0, 0, id="a clock that goes back"),
        pytest.param({"waited_s": -5.0}, 1, 0, 0, id="a negative wait"),
        pytest.param({"seq": "first"}, 1, 0, 0, id="a number in words"),
        pytest.param({"seq": 1 << 80}, 1, 0, 0, id="a number that no state can carry"),
        pytest.param({"args": endless}, 0, 1, 0, id="arguments that contain themselves"),
        pytest.param({"result": endless}, 0, 1, 0, id="an answer that contains itself"),
        pytest.param({"args": {"of": object()}}, 0, 1, 0, id="an object as an argument"),
        pytest.param({"args": {"content": "x" * 10_000_000}}, 0, 0, 0, id="ten megabytes of arguments"),
        pytest.param({"result": b"\xff\x00" * 50}, 0, 0, 0, id="an answer in bytes"),
        pytest.param({"result": {"rows": [1, 2]}}, 0, 0, 0, id="an answer that is no text"),
        pytest.param({"name": "読む📖" * 50}, 0, 0, 0, id="a long name in another script"),
        pytest.param({"name": None}, 1, 0, 0, id="no name"),
        pytest.param(
            read_event({"kind": "memory_read", "name": "ls", "args": {"path": "."}, "result": "a b"}),
            0,
            0,
            0,
            id="an unknown kind",
        ),
        pytest.param(Notice(kind=NoticeKind.HANDOFF), 0, 0, 0, id="a hand-off without ends"),
        pytest.param(
            read_event({"kind": "system", "name": "handoff", "args": "ab"}), 0, 0, 0, id="ends in words"
        ),
        pytest.param(ModelCall(text="\ud800" * 30), 0, 0, 0, id="a lone surrogate"),
    ],
)
def test_bad_input_has_a_stated_outcome(
    bad: Event | dict[str, Any], degraded: int, unreadable: int, faults: int
) -> None:
    """No event raises: each counts where it belongs, and the loop around it is found all the same."""
    monitor = LoopMonitor()
    monitor.update(replace(LS, ts=0.0, args={"path": "elsewhere"}))
    monitor.update(replace(LS, **bad) if isinstance(bad, dict) else bad)
    assert told(monitor, [LS] * 3)
    snapshot = monitor.snapshot()
    assert snapshot.degraded == degraded
    assert bool(snapshot.last_fault) == bool(degraded)
    assert sum(chain.unreadable for chain in snapshot.chains) == unreadable
    assert sum(chain.spend_faults for chain in snapshot.chains) == faults
    json.dumps(snapshot.to_dict(), allow_nan=False)
    LoopMonitor.from_bytes(monitor.to_bytes())


def test_what_is_no_event_at_all_is_refused() -> None:
    """Something else than an event is a mistake of the program: it is refused at once, and counts nowhere."""
    monitor = LoopMonitor()
    with pytest.raises(TypeError, match="event: expected Event, not str: 'ls'"):
        monitor.update("ls")  # type: ignore[arg-type]
    assert monitor.snapshot().degraded == 0


def test_starts_and_finishes_may_be_missing_or_doubled() -> None:
    """A finish without a start counts; starts without a finish, or twice, count nothing."""
    monitor = LoopMonitor()
    assert told(monitor, [replace(LS, phase=Phase.STARTED)] * 20) == []
    assert [signal.copies for signal in told(monitor, [LS] * 3)] == [3]


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"schema": 99},
        {"schema": 1},
        {"schema": 1, "chains": [{}], "tally": Tally().to_state(), "across": [False, []], "counts": []},
        {"schema": 1, "chains": [], "tally": [], "across": [False, []], "counts": [0, None, 0, 0]},
    ],
)
def test_a_state_of_another_version_is_refused(state: Any) -> None:
    """A state that this version cannot read is an error, not an empty monitor."""
    with pytest.raises(ConfigError):
        LoopMonitor.from_state(state)


@pytest.mark.parametrize("value", [None, "x", [], -1.5])
def test_a_damaged_state_is_refused(value: Any) -> None:
    """A value that stands for a table, and is none, is no error of the code that reads it."""
    monitor = LoopMonitor()
    for _ in range(4):
        monitor.update(LS)
    state = json.loads(json.dumps(monitor.to_state()))
    for key in ("detectors", "batch", "repetition", "registry"):
        chains = [
            [name, {**chain, "memory": {**chain["memory"], key: value}, key: value}]
            for name, chain in state["chains"]["chains"]
        ]
        with pytest.raises(ConfigError, match="not the state of a monitor"):
            LoopMonitor.from_state(sealed({**state, "chains": {**state["chains"], "chains": chains}}))


@pytest.mark.parametrize("data", [None, "text", 7, b"", b"EBBL\x03x", b"EBBL\x01broken", b"something else"])
def test_bytes_of_another_version_are_refused(data: bytes) -> None:
    """Bytes that this version cannot read are an error."""
    with pytest.raises(ConfigError):
        LoopMonitor.from_bytes(data)


def test_at_least_one_chain_is_watched() -> None:
    """A monitor of no chain is an error."""
    with pytest.raises(ConfigError):
        LoopMonitor(max_chains=0)


def test_thresholds_come_from_the_profile() -> None:
    """A profile with other numbers has another outcome, and None switches a rule off."""
    later = Profile(name="later", divergence=replace(RULES, copies=5))
    assert [signal.copies for signal in find_loops([LS] * 5, later)] == [5]
    off = Profile(name="off", divergence=LoopRules(messages=None))
    assert find_loops([ModelCall(text="again")] * 9, off) == []


@pytest.mark.parametrize("bad", [{"copies": 2}, {"polls": 0}, {"shared_words": 2}, {"pause_s": float("nan")}])
def test_thresholds_that_make_no_sense_are_refused(bad: dict[str, Any]) -> None:
    """Two copies, no polls, a share above one or a pause that is no number are errors."""
    with pytest.raises(ConfigError):
        LoopRules(**bad)


def test_a_state_of_another_kind_is_refused_before_it_is_unpacked() -> None:
    """Only what the first bytes name is read: whole states under another name, and text, are not."""
    whole = LoopMonitor().to_bytes()
    assert LoopMonitor.from_bytes(bytearray(whole)).to_bytes() == whole
    others: list[Any] = [b"EBBX" + whole[4:], whole[:4] + b"\x63" + whole[5:], whole.decode("latin-1")]
    for data in others:
        with pytest.raises(ConfigError, match="not the state of"):
            LoopMonitor.from_bytes(data)


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz"), st.sampled_from("12")), max_size=60)
)
def test_chains_that_are_packed_go_on_as_if_they_were_not(steps: list[tuple[str, str, str]]) -> None:
    """With room for two chains at hand, five chains give the signals that they give with room for all."""
    monitors = [LoopMonitor(live_chains=live) for live in (2, 64)]
    for chain, path, answer in steps:
        event = replace(LS, chain_id=chain, args={"path": path}, result=answer)
        few, all_of_them = (monitor.update(event) for monitor in monitors)
        assert few == all_of_them
    few, all_of_them = (sorted(monitor.snapshot().chains, key=str) for monitor in monitors)
    assert few == all_of_them


@pytest.mark.parametrize(("back_s", "faults"), [(0.002, 0), (1.0, 0), (1.5, 1)])
def test_times_of_two_writers_differ_a_little(back_s: float, faults: int) -> None:
    """A time that is a few milliseconds before the latest is read in full; more than a second is a fault."""
    monitor = LoopMonitor()
    monitor.update(ToolCall(name="a", args={}, result="1", ts=100.0))
    monitor.update(ToolCall(name="b", args={}, result="2", ts=100.0 - back_s))
    assert monitor.degraded == faults
