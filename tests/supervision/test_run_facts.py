"""What a summary says of calls beside loops, and of what was not recorded."""

from collections.abc import Iterable
from typing import Any

import pytest

from ebbtide.checking import check_events
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.report import wording
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.headline import Headline
from ebbtide.supervision.summary.run_summary import RunSummary

TOOLS = ToolPolicies.from_dict({"look": {"effect": "read"}, "edit": {"effect": "change"}})


def checked(events: Iterable[Event]) -> RunSummary:
    return check_events(list(events), RunOptions(tools=TOOLS))


def look(name: str = "a.txt", result: Any = "text") -> ToolCall:
    return ToolCall(name="look", args={"path": name}, result=result)


@pytest.mark.parametrize(
    ("call", "sentence", "word"),
    [
        (
            {"result": "ok"},
            "Arguments were not recorded for 24 of 24 calls, so loops cannot be judged.",
            "UNKNOWN",
        ),
        ({"args": {"n": 1}}, "Results were not recorded for 24 of 24 calls", None),
        (
            {"args": {"n": 1}, "result": "<app.Order object at 0x7f00>"},
            "The results of 24 of 24 calls are objects without a readable value",
            None,
        ),
    ],
)
def test_what_was_not_recorded_is_stated(call: dict[str, Any], sentence: str, word: str | None) -> None:
    """Unknown arguments, unknown answers and opaque ones; without arguments a run is never healthy."""
    summary = checked(ToolCall(name=f"tool {number}", **call) for number in range(24))
    stated = f"{summary.reason} {wording.missing(summary)}"
    assert sentence in stated
    assert (summary.headline is Headline.UNKNOWN) is (word == "UNKNOWN")


def test_a_few_calls_without_arguments_make_nothing_unknown() -> None:
    """Two calls are no loop, and of five calls two are not most."""
    few = checked([ToolCall(name="run", result="a"), ToolCall(name="run", result="b")])
    some = checked([look("a", "1"), look("b", "2"), look("c", "3"), *few_calls(2)])
    assert (few.headline, some.headline) == (Headline.HEALTHY, Headline.HEALTHY)
    assert wording.missing(few) is wording.missing(some) is None
    assert some.facts.coverage.without_arguments == 2


def few_calls(count: int) -> list[Event]:
    return [ToolCall(name="run", result=str(number)) for number in range(count)]


def test_a_run_without_words_or_events_is_unknown() -> None:
    """Nothing to judge is not healthy."""
    silent = checked(ModelCall() for _ in range(4))
    assert silent.headline is checked([]).headline is Headline.UNKNOWN
    assert silent.reason.startswith("What the model wrote was not recorded for 4 of 4 model calls")


def test_failed_calls_count_by_flag_and_by_what_they_say() -> None:
    """By tool, most first, with what the most frequent failure says."""
    denied = [
        ToolCall(name="write", args={"path": f"/{name}"}, result=f"cat: /{name}: Permission denied")
        for name in ("alpha", "beta", "gamma")
    ]
    summary = checked([look(), *denied, ToolCall(name="run", args={}, result="boom", error=True)])
    failures = summary.facts.failures
    assert [(tool.name, tool.count) for tool in failures.by_tool] == [("write", 3), ("run", 1)]
    assert failures.calls == 4
    assert wording.call_facts(summary)[0].startswith(
        "4 of 5 calls failed: write 3, run 1; 3 times with a message like \u201c"
    )
    assert "Permission denied" in wording.call_facts(summary)[0]


def test_a_look_that_finds_nothing_changed_counts_again() -> None:
    """Until something changes, or may have: a declared change and a tool of unknown effect alike."""
    change = ToolCall(name="edit", args={"path": "a.txt", "text": "new"}, result="done")
    unknown = ToolCall(name="surprise", args={}, result="fine")
    other = look("b.txt", "other")
    runs = {
        "again": [look(), other, look()],
        "changed": [look(), change, look()],
        "maybe": [look(), unknown, look()],
        "new answer": [look(), look(result="another text")],
    }
    counts = {name: checked(events).facts.lookups.calls for name, events in runs.items()}
    assert counts == {"again": 1, "changed": 0, "maybe": 0, "new answer": 0}
    lines = wording.call_facts(checked([look(), other, look(), other, look(), look("c", "3"), other]))
    assert lines == [
        (
            "4 calls repeated a look-up of unchanged data, most often look a.txt (2 more times), "
            "look b.txt (2 more times)"
        )
    ]


def test_time_in_calls_and_pauses_are_apart() -> None:
    """What passes before an answer is waiting; more than five minutes without any event is a pause."""
    events = [
        Message(text="go", ts=0.0),
        ModelCall(text="ok", ts=10.0),
        ToolCall(name="build", args={"n": 1}, result="built", ts=130.0),
        Message(text="thanks", ts=4130.0),
        ToolCall(name="test", args={"n": 1}, result="green", ts=4140.0),
    ]
    waiting = checked(events).facts.waiting
    assert (waiting.seconds, waiting.pauses, waiting.pause_seconds) == (130.0, 1, 4000.0)
    assert wording.call_facts(checked(events)) == [
        "2 min 10 s of 2 min 20 s passed in calls: build 2 min, test 10 s",
        "1 pause of more than 5 min, 1 h 6 min in all",
    ]
    assert wording.call_facts(checked(events[:2])) == []


def test_short_waits_add_up() -> None:
    """Forty calls of half a second are twenty seconds."""
    calls = [ToolCall(name="look", args={"path": f"{n}.txt"}, result=f"{n}", ts=n / 2) for n in range(41)]
    assert checked(calls).facts.waiting.seconds == 20.0
