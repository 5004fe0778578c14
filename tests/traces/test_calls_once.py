"""Model calls count once, wherever a session writes them down: in lines, progress, results, masked ids."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.events.event import ModelCall
from ebbtide.events.usage import COUNTS, Usage
from ebbtide.traces.reading import Trace
from ebbtide.traces.records.calls_once import CallsOnce

Line = dict[str, Any]


def answer(
    second: int, name: str | None, output: int, *, read: int = 100, request: str | None = "r", **others: Any
) -> Line:
    """A line of an answer."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": read, "output_tokens": output}
    message: Line = {"role": "assistant", "model": "claude-opus-4-6", "usage": usage, "content": []}
    if name is not None:
        message["id"] = name
    line = {"type": "assistant", "uuid": f"u{second}-{name}-{output}", "sessionId": "s", "message": message}
    if request is not None:
        line["requestId"] = f"{request}-{name}"
    return {**line, "timestamp": f"2026-05-01T10:00:{second:02}Z", **others}


def progress(agent: str, line: Line) -> Line:
    """The same line, as a sub-agent reports it to its parent."""
    held = {key: line[key] for key in ("type", "message", "timestamp", "requestId", "uuid") if key in line}
    data = {"type": "agent_progress", "agentId": agent, "message": held}
    return {"type": "progress", "data": data, "timestamp": line["timestamp"], "sessionId": "s"}


def agent_result(second: int, agent: str, output: int, *, read: int, **others: Any) -> Line:
    """What a parent gets of a sub-agent."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": read, "output_tokens": output}
    block = {"type": "tool_result", "tool_use_id": f"t{second}", "content": "done"}
    result = {"agentId": agent, "usage": usage, "totalTokens": sum(usage.values()), **others}
    return {
        "type": "user",
        "uuid": f"user{second}",
        "sessionId": "s",
        "timestamp": f"2026-05-01T10:00:{second:02}Z",
        "message": {"role": "user", "content": [block]},
        "toolUseResult": result,
    }


def read(lines: Iterable[Line]) -> tuple[int, int, int]:
    """Calls of models, output tokens and tokens read from the cache."""
    events = list(Trace.of("\n".join(map(json.dumps, lines)).encode()))
    usages = [event.usage for event in events if getattr(event, "usage", None) is not None]
    calls = sum(isinstance(event, ModelCall) for event in events)
    return calls, *(
        sum(getattr(u, key) or 0 for u in usages) for key in ("output_tokens", "cache_read_tokens")
    )


_CASES: dict[str, tuple[list[Line], tuple[int, int, int]]] = {
    "lines that grow": ([answer(1, "m", 1), answer(2, "m", 9), answer(3, "m", 40)], (1, 40, 100)),
    "the last line states less": ([answer(1, "m", 40), answer(2, "m", 9)], (1, 40, 100)),
    "two requests under one message": (
        [answer(1, "m", 5, request="a"), answer(2, "m", 5, request="b")],
        (2, 10, 200),
    ),
    "a sub-agent in progress lines": (
        [
            answer(1, "m", 5),
            progress("a", answer(2, "n", 1, read=7)),
            progress("a", answer(3, "o", 2, read=8)),
        ],
        (3, 8, 115),
    ),
    "progress lines, then the sub-agent's own": (
        [
            answer(1, "m", 5),
            progress("a", answer(2, "n", 1, read=7)),
            answer(2, "n", 30, read=7, isSidechain=True, agentId="a"),
        ],
        (2, 35, 107),
    ),
    "a last call that only the result states": (
        [progress("a", answer(2, "n", 1, read=7)), agent_result(4, "a", 50, read=9)],
        (2, 51, 16),
    ),
    "a last call that a line states too": (
        [answer(2, "n", 50, read=9, isSidechain=True, agentId="a"), agent_result(4, "a", 50, read=9)],
        (1, 50, 9),
    ),
    "results of two agents with equal prompts": (
        [agent_result(4, "a", 50, read=9), agent_result(5, "b", 50, read=9)],
        (2, 100, 18),
    ),
    "masked ids": (
        [answer(n, "msg_REDACTED", 10 + n, read=100 + n) for n in range(4)],
        (4, 46, 406),
    ),
    "masked ids with lines that grow": (
        [
            answer(1, "x", 1),
            answer(1, "x", 8),
            answer(5, "x", 1, read=150),
            answer(6, "x", 20, read=150),
        ],
        (2, 28, 250),
    ),
    "no ids, one moment": (
        [
            answer(1, None, 4, request=None),
            answer(1, None, 4, request=None),
            answer(2, None, 4, request=None),
        ],
        (2, 8, 200),
    ),
}


@pytest.mark.parametrize(("lines", "expected"), _CASES.values(), ids=_CASES)
def test_a_call_counts_once_wherever_it_stands(lines: list[Line], expected: tuple[int, int, int]) -> None:
    """Calls, output tokens and tokens from the cache are those of distinct calls."""
    found = read([answer(0, "first", 0, read=0), *lines])
    assert (found[0] - 1, *found[1:]) == expected


def test_a_copy_after_twenty_thousand_calls_is_still_a_copy() -> None:
    """No call is forgotten: the whole session once more adds nothing."""
    once = CallsOnce()
    usage = Usage(input_tokens=1, output_tokens=2)
    assert all(once.sight(f"m{number}", usage).is_new for number in range(20_000))
    again = [once.sight(f"m{number}", usage) for number in range(20_000)]
    assert not any(sighting.is_new or sighting.growth.has_tokens for sighting in again)


_USAGES = st.builds(
    Usage,
    input_tokens=st.just(5),
    output_tokens=st.none() | st.integers(0, 50),
    cache_read_tokens=st.none() | st.just(7),
)


@given(st.lists(st.tuples(st.sampled_from("abc"), _USAGES), max_size=12), st.randoms())
def test_the_order_of_records_does_not_matter(records: list[tuple[str, Usage]], random: Any) -> None:
    """Records of some calls, in any order and repeated, sum up to the largest of each call."""

    def sums(order: list[tuple[str, Usage]]) -> dict[str, int]:
        once = CallsOnce()
        grown = [once.sight(name, usage).growth for name, usage in order]
        return {key: sum(getattr(usage, key) or 0 for usage in grown) for key in COUNTS}

    shuffled = [*records, *records]
    random.shuffle(shuffled)
    largest = {
        key: sum(
            max((getattr(usage, key) or 0 for name, usage in records if name == one), default=0)
            for one in "abc"
        )
        for key in COUNTS
    }
    assert sums(records) == sums(shuffled) == largest


def test_calls_of_one_answer_share_a_batch_and_masked_ones_do_not(read_data: Callable[..., Any]) -> None:
    """Equal calls under equal ids are two calls where the ids are masked."""
    block = {"type": "tool_use", "name": "ls", "input": {}}
    lines = [answer(n, "x", 5, read=100 + n) for n in range(2)]
    for number, line in enumerate(lines):
        line["message"]["content"] = [{**block, "id": f"t{number}"}]
    _, events = read_data("\n".join(map(json.dumps, lines)).encode())
    batches = [event.batch for event in events if hasattr(event, "batch")]
    assert len(set(batches)) == len(batches) == 2
