"""Bad data in an event counts as not known, is counted, and is warned of once."""

import threading
import time
import warnings
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from benchmarks.quality.fuzzing import Endless, EndlessMapping, Hostile, LoudError, LoudText, Number, _laughs
from ebbtide import (
    ConvergenceMeter,
    DegradedEventWarning,
    LoopMonitor,
    Message,
    ModelCall,
    Notice,
    NoticeKind,
    Round,
    Supervisor,
    ToolCall,
    Usage,
)
from ebbtide.errors import error_text, shown
from ebbtide.events.event import LARGEST, Event, Phase, is_plain_event
from ebbtide.events.plain_event import plain_event
from ebbtide.events.plain_value import UNREADABLE, plain_value


@pytest.mark.parametrize(
    ("field", "value", "plain", "faults"),
    [
        ("chain_id", 7, "7", 1),
        ("chain_id", ["un", 1], '["un",1]', 1),
        ("chain_id", UUID(int=7), "00000000-0000-0000-0000-000000000007", 1),
        ("chain_id", Hostile(), "", 1),
        ("chain_id", object(), "", 1),
        ("chain_id", LoudText("a"), "a", 0),
        ("agent", b"ann", "b'ann'", 1),
        ("agent", None, None, 0),
        ("name", None, "", 1),
        ("seq", "1", None, 1),
        ("seq", Number(3), 3, 0),
        ("seq", True, None, 1),
        ("ts", "now", None, 1),
        ("waited_s", Hostile(), None, 1),
        ("batch", ("a", 1), '["a",1]', 1),
        ("batch", 10**6000, None, 1),
        ("status", "500", None, 1),
        ("phase", "started", Phase.STARTED, 0),
        ("phase", "later", Phase.FINISHED, 1),
        ("error", "it failed", True, 0),
        ("error", Hostile(), False, 1),
        ("usage", {"input_tokens": 3}, None, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_field_of_another_type_degrades(field: str, value: Any, plain: Any, faults: int) -> None:
    """An id counts by its text form, a subclass by its plain form, the rest is unknown."""
    event = ToolCall(name="ls", args={})
    setattr(event, field, value)
    assert is_plain_event(event) is (value is None and field == "agent")
    copy, words = plain_event(event)
    assert (getattr(copy, field), type(getattr(copy, field))) == (plain, type(plain))
    assert len(words) == faults
    assert all(field in text for text in words)
    assert is_plain_event(copy)


def test_a_field_that_was_never_set_degrades() -> None:
    """An event that was made past its constructor, or lost a field, is read as far as it goes."""
    event = ToolCall.__new__(ToolCall)
    event.name = "ls"
    copy, faults = plain_event(event)
    assert copy.name == "ls"
    assert faults


@pytest.mark.parametrize(
    "event",
    [
        ModelCall(text=["blocks"]),  # type: ignore[arg-type]
        Message(text=5),  # type: ignore[arg-type]
        Notice(kind="strange"),  # type: ignore[arg-type]
        Notice(kind=NoticeKind.HANDOFF, source=Hostile(), target=3),  # type: ignore[arg-type]
        Event(agent=Hostile()),  # type: ignore[arg-type]
        ModelCall(text="x", usage=Usage(model=["m"], input_tokens=Hostile())),  # type: ignore[arg-type]
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("kind", [Supervisor, LoopMonitor])
def test_every_kind_of_event_degrades_and_is_saved(event: Event, kind: Any) -> None:
    """What was taken can be stored and restored, and is in the count."""
    thing = kind()
    with pytest.warns(DegradedEventWarning):
        (thing.record if kind is Supervisor else thing.update)(event)
    assert thing.snapshot().degraded == 1
    assert kind.from_bytes(thing.to_bytes()).snapshot().degraded == 1


def test_the_first_degraded_event_warns_once_at_the_line_of_the_caller() -> None:
    """The warning says what, and where the rest is; a restored watch that has warned does not repeat it."""
    supervisor = Supervisor()
    with pytest.warns(DegradedEventWarning, match=r"chain_id = 7: expected str.*snapshot") as warned:
        supervisor.record(ToolCall(name="ls", args={}, chain_id=7))  # type: ignore[arg-type]
    assert [item.filename for item in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        supervisor.record(ToolCall(name="ls", args={}, chain_id=7))  # type: ignore[arg-type]
        Supervisor.from_bytes(supervisor.to_bytes()).record(ToolCall(name=5, args={}))  # type: ignore[arg-type]
    assert supervisor.snapshot().degraded == 2


def _recursive() -> list[Any]:
    items: list[Any] = []
    items += [items, items]
    return items


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        {"a": Hostile()},
        Endless(),
        EndlessMapping(),
        _recursive(),
        object(),
        LoudError(),
        iter("a"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_read_equals_nothing(value: Any) -> None:
    """An object that fails, never ends or says nothing is no loop, however often it comes."""
    assert plain_value(value) is UNREADABLE
    monitor = LoopMonitor()
    for _ in range(8):
        assert not monitor.update(ToolCall(name="ls", args=value, result="same"))
    assert sum(chain.unreadable for chain in monitor.snapshot().chains) == 8


LARGE: dict[str, Callable[[], Any]] = {
    "a text of 100 MB": lambda: "word " * 20_000_000,
    "a text of 100 MB as an argument": lambda: {"content": "word " * 20_000_000},
    "a million keys": lambda: {f"key{number}": number for number in range(1_000_000)},
    "a hundred thousand keys below": lambda: {
        "rows": {f"key{number}": str(number) for number in range(100_000)}
    },
    "a number of a million bits": lambda: {"n": 1 << 1_000_000},
    "100 MB of bytes": lambda: {"data": bytes(100_000_000)},
}


@pytest.mark.parametrize("name", LARGE)
def test_large_arguments_and_answers_are_known_again(name: str) -> None:
    """They cost a bounded time and memory, the same ones are a loop, and others are not."""
    value = LARGE[name]()
    monitor = LoopMonitor()
    slowest = 0.0
    signals: list[Any] = []
    for _ in range(3):
        start = time.perf_counter()
        signals += monitor.update(ToolCall(name="ls", args=value, result="a b"))
        slowest = max(slowest, time.perf_counter() - start)
    assert signals
    assert slowest < 3  # seconds; a tenth on an idle machine
    assert len(monitor.to_bytes()) < 20_000
    assert len(str(plain_value(value))) <= LARGEST
    other = {**value, "n": 2} if isinstance(value, dict) else value + "."
    assert plain_value(other) != plain_value(value)


def test_data_that_is_shared_many_times_over_is_refused_in_time() -> None:
    """A small object that would print 2**60 words is not printed."""
    start = time.perf_counter()
    assert plain_value(_laughs()) is UNREADABLE
    assert time.perf_counter() - start < 3


def test_plain_data_is_not_copied() -> None:
    """What is plain already is used as it is."""
    for value in ({"a": 1, "b": ["x", {"c": None}]}, "text", None, [1.5, True], {}):
        assert plain_value(value) is value


def test_texts_of_errors_and_values_never_fail_and_are_short() -> None:
    """Whatever a text form does, there are words, and few."""
    assert error_text(LoudError()) == "LoudError"
    assert len(error_text(ValueError("x" * 10**7))) <= 200
    for value in (Hostile(), LoudText("x"), 10**6000, "x" * 10**7, _laughs(), _recursive()):
        assert len(shown(value)) <= 60


@pytest.mark.filterwarnings("ignore::ebbtide.errors.DegradedEventWarning")
def test_a_fault_is_never_long() -> None:
    """The latest fault is a line, whatever it was about."""
    supervisor = Supervisor()
    supervisor.record(ToolCall(name="ls", args={}, chain_id=["x" * 10**6], agent=["y" * 10**6]))  # type: ignore[arg-type]
    fault = supervisor.snapshot().last_fault
    assert fault is not None
    assert len(fault) <= 200


def test_a_round_of_another_shape_is_refused() -> None:
    """A round whose lists hold no texts is an error with its place."""
    from ebbtide import TranscriptError

    with pytest.raises(TranscriptError, match="claims"):
        ConvergenceMeter().update(Round(number=1, claims=(None,)))  # type: ignore[arg-type]


def test_threads_may_copy_while_others_record() -> None:
    """A copy that is taken while events come in is whole."""
    supervisor = Supervisor()
    stop = threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            supervisor.record(ToolCall(name="read", args={"n": number}, result=str(number)))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            assert Supervisor.from_bytes(supervisor.to_bytes()).to_bytes()
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("name", ["stop", "text", "part", "error", "usage"])
def test_a_call_of_a_model_may_lack_any_field(name: str) -> None:
    """A field that was deleted is one that was not stated."""
    event = ModelCall(text="Let me look.")
    delattr(event, name)
    assert plain_event(event)[0].stop is None
