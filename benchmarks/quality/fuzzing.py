"""What escapes from 100,000 odd events, objects and states: nothing but `EbbtideError` and `TypeError` may.

    python -m benchmarks.quality.fuzzing [--cases N] [--seed S] [--jobs N]

A third each: sequences of events whose fields hold anything, calls of public constructors and verbs with
arguments of any class, and states that were mutated, as they are and sealed again by somebody who knows how.
What was restored from a state is used afterwards. An exception of another class that leaves a public call is
an escape; a case that takes more than a second is a failure too.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import json
import pickle
import random
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any

import ebbtide
from benchmarks.measure import setup, write_result
from ebbtide.engine_state import sealed
from ebbtide.errors import EbbtideError, error_text
from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Phase,
    Role,
    ToolCall,
)

SLOW_S = 1.0
_EVENTS = 12  # of one case
_PART = 250  # cases that a process takes at once
_HANGS_S = 3.0  # of the processor, after which a case is cut off: a busy machine makes no hang
_WAITS_S = 60.0  # of a clock on the wall, after which it waits for something that does not come


class _HangError(BaseException):
    """A case was cut off."""


class Hostile:
    """An object whose every method fails."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError("hostile")

    __eq__ = __hash__ = __str__ = __repr__ = __len__ = __iter__ = __bool__ = __lt__ = __format__ = _fail
    __getitem__ = __contains__ = __int__ = __float__ = __index__ = items = keys = values = _fail


class Endless(dict[str, Any]):
    """A mapping that never ends."""

    def items(self) -> Any:
        """Keys and values, without an end."""
        number = 0
        while True:
            number += 1
            yield f"k{number}", number

    def __iter__(self) -> Iterator[str]:
        while True:
            yield "k"

    def __len__(self) -> int:
        return 1 << 40


class EndlessMapping(Mapping[str, Any]):
    """Likewise, no dict."""

    __iter__ = Endless.__iter__
    __len__ = Endless.__len__

    def __getitem__(self, key: str) -> Any:
        return self


class LoudText(str):
    """A text whose text form fails."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("loud")

    __repr__ = __str__


class LoudError(Exception):
    """An exception whose text form fails."""

    def __str__(self) -> str:
        raise RuntimeError("loud")

    __repr__ = __str__


class Number(int):
    """A whole number that compares with nothing."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("number")

    __hash__ = int.__hash__


def _recursive() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def _laughs() -> list[Any]:
    items: list[Any] = ["ha"]
    for _ in range(60):
        items = [items, items]
    return items


def _deep(levels: int) -> list[Any]:
    items: list[Any] = []
    for _ in range(levels):
        items = [items]
    return items


def _generator() -> Iterator[int]:
    while True:
        yield 1


# Made anew for each case, but for the large ones.
ODD: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: True,
    lambda: 0,
    lambda: -1,
    lambda: 1 << 80,
    lambda: 10**6000,
    lambda: 1.5,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -1e300,
    lambda: "",
    lambda: "x",
    lambda: "started",
    lambda: "\ude00\ud83d \ud800",  # halves of characters that JSON does not join: joined they are another id
    lambda: "a\0b",
    lambda: "'" * 5_000 + " at 0x1",
    lambda: "<a at 0x1>" * 2_000,
    lambda: "1. one thing\n" * 300,
    lambda: b"\xff\0",
    lambda: bytearray(b"x"),
    lambda: memoryview(b"x"),
    list,
    dict,
    lambda: (),
    lambda: {1, "a", None},
    lambda: {1: "a", "b": 2, None: 3, (1, 2): 4},
    lambda: {"a": {"b": [1, 2.0, None, True, {"c": "d"}]}},
    lambda: {"x" * 3000: "y"},
    lambda: ["unhashable"],
    lambda: Decimal("1.0"),
    lambda: 1j,
    lambda: range(10**12),
    object,
    lambda: object,
    lambda: len,
    Hostile,
    lambda: {"a": Hostile()},
    lambda: [Hostile(), Hostile()],
    lambda: LoudText("loud"),
    LoudError,
    lambda: Number(3),
    _recursive,
    partial(_deep, 500),
    _generator,
    lambda: ToolCall(name="ls"),
    lambda: ebbtide.Usage(input_tokens=1, cost_usd=0.5),
    lambda: ebbtide.Limits(steps=3),
    lambda: ebbtide.Round(number=1, claims=("a b c",)),
    lambda: ebbtide.Profile.SPEC,
)
# Large ones are rare: each takes a good part of a second.
_LARGE_TEXT = "word " * 2_000_000
_LARGE_TABLE = {f"key{number}": number for number in range(100_000)}
LARGE: tuple[Callable[[], Any], ...] = (
    lambda: _LARGE_TEXT,
    lambda: _LARGE_TABLE,
    lambda: {"content": _LARGE_TEXT},
    lambda: {"rows": [_LARGE_TABLE]},
    lambda: list(range(200_000)),
    lambda: [["a", {"b": 1}]] * 100_000,
    lambda: 10**100_000,
    _LARGE_TEXT.encode,
    _laughs,
    Endless,
    EndlessMapping,
    lambda: {"a": EndlessMapping()},
    partial(_deep, 50_000),
    lambda: {"it": dict.fromkeys(range(50000), object)},
)
NAMES = ("ls", "read", "bash", "edit", "mcp__fs__read_file")


def odd(chance: random.Random) -> Any:
    """Any value."""
    return chance.choice(LARGE if chance.random() < 0.003 else ODD)()


def odd_event(chance: random.Random) -> Event:
    """An event with good fields and one to three odd ones."""
    good: dict[str, Any] = {
        "chain_id": chance.choice(("", "a", "b")),
        "ts": chance.choice((None, chance.random() * 100)),
        "agent": chance.choice((None, "ann")),
    }
    kind = chance.choice((ToolCall, ToolCall, ToolCall, ModelCall, Message, Notice))
    if kind is ToolCall:
        good |= {
            "name": chance.choice(NAMES),
            "args": chance.choice(({"path": "a"}, {"command": "ls -l"}, {"q": "x", "n": 2}, {})),
            "result": chance.choice(("ok", "", None, {"rows": [1]}, "Error: no such file")),
            "error": chance.random() < 0.2,
            "phase": chance.choice((Phase.FINISHED, Phase.FINISHED, Phase.STARTED)),
        }
    elif kind is Notice:
        good |= {"kind": chance.choice(tuple(NoticeKind)), "text": "note"}
    elif kind is ModelCall:
        good |= {"text": "Let me look at the file.", "part": chance.choice(tuple(ModelPart))}
    else:
        good |= {"text": "Please go on.", "role": chance.choice(tuple(Role))}
    event: Event = kind(**good)
    names = [name for each in reversed(kind.__mro__) for name in getattr(each, "__slots__", ())]
    for name in chance.sample(names, chance.randint(0, 3)):
        if name == "usage" and chance.random() < 0.7:
            usage = ebbtide.Usage()
            for field in chance.sample(tuple(usage.__slots__), 2):
                setattr(usage, field, odd(chance))
            event.usage = usage
        elif chance.random() < 0.03:
            delattr(event, name)
        else:
            setattr(event, name, odd(chance))
    return event


def timed(verb: Callable[[Any], Any], event: Event) -> None:
    """Call a verb, and note how long the slowest call of the case took."""
    start = time.perf_counter()
    try:
        verb(event)
    finally:
        SLOWEST[0] = max(SLOWEST[0], time.perf_counter() - start)


SLOWEST = [0.0]


def use(thing: Any, chance: random.Random, events: list[Event]) -> None:
    """Feed a supervisor, monitor or meter with events, and ask it everything."""
    if isinstance(thing, ebbtide.Supervisor):
        for event in events:
            timed(thing.record, event)
            if isinstance(event, ToolCall) and chance.random() < 0.3:
                timed(thing.check_before_tool, event)
            if chance.random() < 0.2:
                thing.check_before_model()
        thing.verdict().to_dict()
        json.dumps(thing.snapshot().to_dict(), allow_nan=False)
        copy.copy(thing).snapshot()
        json.dumps(thing.to_state())
    elif isinstance(thing, ebbtide.LoopMonitor):
        for event in events:
            timed(thing.update, event)
            if isinstance(event, ToolCall):
                timed(thing.loop_of, event)
        json.dumps(thing.snapshot().to_dict(), allow_nan=False)
        ebbtide.LoopMonitor.from_state(json.loads(json.dumps(thing.to_state())))
    elif isinstance(thing, ebbtide.ConvergenceMeter):
        for number in range(90, 93):
            thing.update(ebbtide.Round(number=number, claims=(f"The index {number} is stale.",)))
        thing.score().to_dict()
        thing.to_bytes()


def case_of_events(chance: random.Random) -> None:
    """A watch that meets odd events."""
    limits = ebbtide.Limits(steps=9, retries=2, cost_usd=9, wall_s=50, when_unknown="allow")
    thing = chance.choice(
        (partial(ebbtide.Supervisor, limits=limits), ebbtide.Supervisor, ebbtide.LoopMonitor)
    )()
    use(thing, chance, [odd_event(chance) for _ in range(_EVENTS)])
    if chance.random() < 0.1:
        twin = copy.copy(thing) if chance.random() < 0.5 else pickle.loads(pickle.dumps(thing))  # noqa: S301
        use(twin, chance, [odd_event(chance)])


# What they are given are paths, or results and states that nobody makes.
NOT_CALLED = {"open_trace", "check", "Trace", "NodeSignature", "SQLiteRunStore", "load", "restore"}
PUBLIC = sorted(
    name
    for name in ebbtide.__all__
    if not name.startswith("_")
    and name not in NOT_CALLED
    and not (
        isinstance(getattr(ebbtide, name), type)
        and issubclass(getattr(ebbtide, name), (BaseException, StrEnum))
    )
)
VERBS = {
    "Supervisor": ebbtide.Supervisor,
    "LoopMonitor": ebbtide.LoopMonitor,
    "ConvergenceMeter": ebbtide.ConvergenceMeter,
    "ExecutionGraph": ebbtide.ExecutionGraph,
    "Tally": ebbtide.Tally,
    "Prices": ebbtide.Prices,
    "ToolPolicies": ebbtide.ToolPolicies,
}


def _arguments(function: Callable[..., Any], chance: random.Random) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [odd(chance)], {}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        if each.default is not each.empty and chance.random() < 0.6:
            continue
        if each.kind is each.KEYWORD_ONLY or named:
            named[each.name] = odd(chance)
        elif len(positional) == parameters.index(each):
            positional.append(odd(chance))
        else:
            named[each.name] = odd(chance)
    return positional, named


def case_of_objects(chance: random.Random) -> None:
    """A public constructor, function or verb that is called with anything."""
    if chance.random() < 0.5:
        function = getattr(ebbtide, chance.choice(PUBLIC))
    else:
        name = chance.choice(tuple(VERBS))
        thing = VERBS[name]()
        verbs = [verb for verb in dir(thing) if not verb.startswith("_") and verb not in NOT_CALLED]
        function = getattr(thing, chance.choice(verbs))
        if not callable(function):
            return
    positional, named = _arguments(function, chance)
    # Going through what never ends, or fails by itself, is what a program asks for with these.
    if any(isinstance(value, Endless | EndlessMapping) for value in (*positional, *named.values())) or (
        function in (ebbtide.find_loops, ebbtide.check_events) and isinstance(positional[0], Hostile)
    ):
        return
    timed(lambda _: function(*positional, **named), Event())


def _states() -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    chance = random.Random(7)
    limits = ebbtide.Limits(steps=60, retries=5)
    supervisor, monitor = ebbtide.Supervisor(limits=limits), ebbtide.LoopMonitor()
    for number in range(40):
        event = ToolCall(
            name=chance.choice(NAMES),
            args={"path": f"f{number % 5}", "page": number},
            result=chance.choice(("same", f"line {number}", "Error: no")),
            error=number % 7 == 0,
            chain_id=chance.choice(("", "b")),
            ts=float(number),
            batch=number // 3,
            usage=ebbtide.Usage(model="m", input_tokens=10, cost_usd=0.01),
        )
        monitor.update(event)
        supervisor.record(event)
        supervisor.record(ModelCall(text=f"The index {number} is stale. Next: rebuild it.", agent="ann"))
    supervisor.settle()
    meter = ebbtide.ConvergenceMeter()
    for number in range(1, 6):
        meter.update(ebbtide.Round(number=number, claims=("The cache is cold.", f"Fact {number} is new.")))
    return [
        (partial(ebbtide.Supervisor.from_state, limits=limits), supervisor.to_state()),
        (ebbtide.LoopMonitor.from_state, monitor.to_state()),
        (ebbtide.ConvergenceMeter.from_state, meter.to_state()),
    ]


STATES = _states()
_LEAVES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1 << 70,
    1.5,
    float("nan"),
    "",
    "x",
    "zz!",
    [],
    {},
    [[]],
    "00",
    [1, 2],
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _places(item, (*path, key))


_PLACES = [list(_places(json.loads(json.dumps(state)))) for _, state in STATES]
_TEXTS = [json.dumps(state) for _, state in STATES]


def mutated(index: int, chance: random.Random) -> Any:
    """A state with one to three leaves or branches changed."""
    state = json.loads(_TEXTS[index])
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(_PLACES[index])
        try:
            parent = state
            for key in path[:-1]:
                parent = parent[key]
            key, way = path[-1], chance.random()
            if way < 0.15:
                del parent[key]
            elif way < 0.25 and isinstance(parent, list):
                parent.append(parent[key])
            elif way < 0.35 and isinstance(parent[key], str):
                parent[key] = parent[key][:-3]
            elif way < 0.45 and isinstance(parent[key], int):
                parent[key] = -parent[key] - 1
            elif way < 0.5:
                parent[key] = odd(chance)
            else:
                parent[key] = copy.deepcopy(chance.choice(_LEAVES))
        except Exception:  # noqa: BLE001, S112 - an earlier change left something else there
            continue
    return state


def case_of_states(chance: random.Random) -> None:
    """A state that is no longer what it was."""
    index = chance.randrange(len(STATES))
    make, _ = STATES[index]
    way = chance.random()
    if way < 0.1:
        make(odd(chance))
        return
    if way < 0.3:
        case_of_bytes(index, chance)
        return
    state = mutated(index, chance)
    if way < 0.8:
        with suppress(Exception):  # it may be no plain data any more
            state = sealed(state)
    timed(make, state)
    thing = make(state)
    use(thing, chance, [odd_event(chance) for _ in range(3)])


def case_of_bytes(index: int, chance: random.Random) -> None:
    """Bytes that were cut, or changed somewhere."""
    kind = (ebbtide.Supervisor, ebbtide.LoopMonitor, ebbtide.ConvergenceMeter)[index]
    data = bytearray(_BYTES[index])
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    kind.from_bytes(bytes(data[: chance.choice((None, chance.randrange(len(data))))]))


_BYTES = [make(state).to_bytes() for make, state in STATES]
CASES = {"events": case_of_events, "objects": case_of_objects, "states": case_of_states}


def cut_off(*_: object) -> None:
    """End a case that takes too long."""
    raise _HangError


def run_case(case: Callable[[random.Random], None], seed: str) -> tuple[str, float, str]:
    """What came out of one case: the outcome, the seconds of its slowest call, and the words of an escape."""
    chance = random.Random(seed)
    SLOWEST[0] = 0.0
    outcome, words = "nothing", ""
    signal.setitimer(signal.ITIMER_PROF, _HANGS_S)
    signal.setitimer(signal.ITIMER_REAL, _WAITS_S)
    try:
        case(chance)
    except EbbtideError as error:
        outcome = type(error).__name__
    except TypeError as error:
        outcome, words = "TypeError", error_text(error)
    except _HangError:
        outcome = "hang"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        outcome, words = f"ESCAPE {type(error).__name__}", error_text(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return outcome, SLOWEST[0], words


def run_cases(task: tuple[str, int, range]) -> tuple[Counter[str], float, list[dict[str, Any]]]:
    """The outcomes of some cases, the slowest call, and what failed."""
    name, base, numbers = task
    warnings.simplefilter("ignore")
    for number_of_signal in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number_of_signal, cut_off)
    outcomes: Counter[str] = Counter()
    failures = []
    slowest = 0.0
    for number in numbers:
        seed = f"{base} {name} {number}"
        outcome, seconds, words = run_case(CASES[name], seed)
        outcomes[outcome] += 1
        slowest = max(slowest, seconds)
        if seconds > SLOW_S or outcome == "hang" or outcome.startswith("ESCAPE"):
            failures.append({"seed": seed, "outcome": outcome, "seconds": round(seconds, 2), "words": words})
    return outcomes, slowest, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    each = -(-options.cases // len(CASES))
    rows, failures = [], []
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in CASES:
            parts = [range(start, min(start + _PART, each)) for start in range(0, each, _PART)]
            results = list(pool.map(run_cases, [(name, options.seed, part) for part in parts]))
            outcomes = sum((counts for counts, _, _ in results), Counter[str]())
            failed = [failure for _, _, some in results for failure in some]
            failures += failed
            rows.append(
                {
                    "case": name,
                    "cases": outcomes.total(),
                    "escaped": sum(outcomes[label] for label in outcomes if label.startswith("ESCAPE")),
                    "hung": outcomes["hang"],
                    "calls_over_a_second": sum(failure["seconds"] > SLOW_S for failure in failed),
                    "slowest_s": round(max(slowest for _, slowest, _ in results), 3),
                    "outcomes": dict(outcomes.most_common()),
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    for failure in failures[:40]:
        print(json.dumps(failure))
    write_result(
        "fuzzing", {"setup": setup(), "seed": options.seed, "rows": rows, "failures": failures[:100]}
    )


if __name__ == "__main__":
    main()
