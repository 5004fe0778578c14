"""Usage, words and calls in the answers of providers: recorded ones, broken ones, and what is none."""

import dataclasses
import json
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.events.event import ModelCall, Phase, ToolCall
from ebbtide.events.provider_usage import SHAPES
from ebbtide.events.usage import CLASSES, Usage
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.traces.chats.chat_events import reply_usage

CASES = json.loads(Path(__file__).with_name("provider_answers.json").read_text(encoding="utf-8"))
WHOLE = [case for case in CASES if isinstance(case["answer"], dict)]
STREAMS = [case for case in CASES if isinstance(case["answer"], list) and case["sdk"] != "pydantic_ai"]


def names(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in cases]


def expected(case: dict[str, Any], *, model: bool = True) -> Usage:
    usage = Usage(**case["usage"])
    cost = None if usage.cost_usd == "any" else usage.cost_usd
    return dataclasses.replace(usage, cost_usd=cost, model=usage.model if model else None)


def as_object(value: Any) -> Any:
    """Dicts as objects with attributes, all the way down; arguments of calls stay dicts."""
    if isinstance(value, list):
        return [as_object(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = ("args", "input", "input_token_details")
    return SimpleNamespace(**{key: item if key in plain else as_object(item) for key, item in value.items()})


@pytest.mark.parametrize("case", names(WHOLE))
def test_recorded_answers(case: dict[str, Any]) -> None:
    """What a provider sent and what its SDK made of it state the same usage, as dicts and as objects."""
    usage = expected(case)
    answers = [case["recorded"]] if case["sdk"] == "pydantic_ai" else [case["answer"], case["recorded"]]
    for answer in answers:
        assert Usage.of(answer) == usage
        assert Usage.of(as_object(answer)) == usage
        if case["sdk"] != "pydantic_ai":
            for form in (answer, as_object(answer)):
                assert ModelCall.of(form).text == case["text"]
                calls = ToolCall.started_in(form)
                assert [[call.name, call.args] for call in calls] == case["calls"]
                assert all(call.phase is Phase.STARTED for call in calls)


@pytest.mark.parametrize("case", names([case for case in WHOLE if case["sdk"] != "pydantic_ai"]))
def test_usage_alone(case: dict[str, Any]) -> None:
    """The part of an answer that is its usage is enough; it names no model."""
    for answer in (case["answer"], case["recorded"]):
        report = next(
            (answer[key] for key in ("usage", "usage_metadata", "usageMetadata") if key in answer), answer
        )
        assert Usage.of(report) == expected(case, model=False)


@pytest.mark.parametrize("case", names(STREAMS))
@pytest.mark.parametrize("source", ["answer", "recorded"])
def test_streams(case: dict[str, Any], source: str) -> None:
    """As a meter it counts a stream: items without usage are none, and of each number the last one counts."""
    with ExecutionContext() as context:
        model = context.wrap_llm_call(lambda: iter(case[source]), usage=Usage.of, stream=True, name="model")
        assert list(model()) == case[source]
        report = context.report()
    assert report.spent.tokens == expected(case).tokens
    assert not report.faults


@pytest.mark.parametrize("case", names([case for case in WHOLE if case["sdk"] in ("openai", "anthropic")]))
def test_traces_read_the_same(case: dict[str, Any]) -> None:
    """A recorded answer counts in a trace as it does while the run goes on."""
    usage, live = reply_usage(case["answer"]), Usage.of(case["answer"])
    assert live is not None
    if case["name"] != "openrouter, own key":  # A trace has the cost that the provider states.
        assert usage == live


def test_traces_know_anthropic_by_its_keys() -> None:
    """Anthropic breaks its output down as OpenAI does, and its cached tokens still stand beside the input."""
    report = {"input_tokens": 5_000, "output_tokens": 10, "cache_read_input_tokens": 100}
    answer = {"usage": {**report, "output_tokens_details": {"thinking_tokens": 3}}}
    assert (
        reply_usage(answer)
        == Usage.of(answer)
        == Usage(input_tokens=5_000, output_tokens=10, cache_read_tokens=100, reasoning_tokens=3)
    )


def test_readers_wait_for_their_use() -> None:
    """Who never reads an answer does not import the tables for it."""
    program = "import sys, ebbtide.events.event; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "ebbtide.events.usage" in modules.stdout.split()
    assert not {"ebbtide.events.provider_usage", "ebbtide.events.provider_answer"} & set(
        modules.stdout.split()
    )


def test_the_shapes_are_told_apart_by_their_keys() -> None:
    """No key tells two shapes."""
    keys = [key for shape in SHAPES for key in shape.keys]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    "report",
    [
        {"prompt_tokens": 50, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 80}},
        {
            "input_tokens": 5,
            "output_tokens": 2,
            "input_token_details": {"cache_read": 4, "cache_creation": 4},
        },
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": "9", "completion_tokens": True},
        {"input_tokens": -4, "output_tokens": -1},
        {"input_tokens": 10**13, "output_tokens": 1},
        {"input_tokens": 9, "cache_read_tokens": 0, "unmeasured_requests": 1},
        {"prompt_tokens": None, "cost_usd": 1e13},
        {"usage": {}, "model": "m"},
        {"model": "m"},
        {},
        None,
        "usage",
        b"usage",
        7,
        [{"prompt_tokens": 5}],
    ],
    ids=repr,
)
def test_what_is_not_known(report: Any) -> None:
    """Contradictions, zeros alone, wrong types and no report at all are unknown, not small."""
    assert Usage.of(report) is None
    assert Usage.of({"usage": report, "model": "m"}) is None


@pytest.mark.parametrize(
    ("report", "usage"),
    [
        ({"prompt_tokens": 9.0, "completion_tokens": 2}, Usage(input_tokens=9, output_tokens=2)),
        ({"output_tokens": 7}, Usage(output_tokens=7)),
        ({"inputTokens": 7, "cacheReadInputTokens": 90}, Usage(input_tokens=7, cache_read_tokens=90)),
        ({"prompt_tokens": 9, "cost": -1}, Usage(input_tokens=9)),
        ({"prompt_tokens": 9, "cost": float("inf")}, Usage(input_tokens=9)),
        (
            {"prompt_tokens": 0, "completion_tokens": 0, "cost": 0.5},
            Usage(input_tokens=0, output_tokens=0, cost_usd=0.5),
        ),
        (
            dataclasses.asdict(Usage(input_tokens=2, cache_read_tokens=9)),
            Usage(input_tokens=2, cache_read_tokens=9),
        ),
        (
            {
                "total_input_tokens": 9,
                "total_cached_tokens": 4,
                "total_output_tokens": 2,
                "total_thought_tokens": 3,
            },
            Usage(input_tokens=5, output_tokens=5, cache_read_tokens=4, reasoning_tokens=3),
        ),
        (
            {"input_tokens": 9, "output_tokens": 1, "input_token_details": {"flex_cache_read": 4, "flex": 5}},
            Usage(input_tokens=5, output_tokens=1, cache_read_tokens=4),
        ),
    ],
    ids=repr,
)
def test_odd_reports(report: Any, usage: Usage) -> None:
    """Less usual reports are read by the keys that they have."""
    assert Usage.of(report) == usage


def test_the_model_that_is_stated_counts() -> None:
    """A model of one's own replaces the one of the answer, so that it is in one's own price table."""
    answer = {"model": "gpt-4.1-2025-04-14", "usage": {"prompt_tokens": 5}}
    assert Usage.of(answer, model="gpt-4.1") == Usage(model="gpt-4.1", input_tokens=5)
    assert Usage.of(Usage(input_tokens=5), model="small") == Usage(model="small", input_tokens=5)
    assert Usage.of({"model": "m" * 1_000, "usage": {"prompt_tokens": 5}}) == Usage(input_tokens=5)


class AnswersEverything:
    def __getattr__(self, name: str) -> Any:
        return 7


class AnswersWithItself:
    def __getattr__(self, name: str) -> Any:
        return self


class Raises:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class RaisesOnUse:
    @property
    def usage(self) -> Any:
        raise RuntimeError


class RaisingDict(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise RuntimeError


def recursive() -> dict[str, Any]:
    answer: dict[str, Any] = {}
    answer.update(
        dict.fromkeys(("usage", "response", "message", "metadata", "data", "raw", "content"), answer)
    )
    return answer


def wide() -> Any:
    answer: Any = {}
    for _ in range(8):
        answer = {"content": [answer] * 1_000}
    return answer


def deep() -> Any:
    answer: Any = {"prompt_tokens": 5}
    for _ in range(100_000):
        answer = {"response": [answer], "content": [answer]}
    return answer


@pytest.mark.parametrize(
    "make",
    [
        MagicMock,
        AnswersEverything,
        AnswersWithItself,
        Raises,
        RaisesOnUse,
        RaisingDict,
        recursive,
        deep,
        wide,
        object,
        lambda: dict.fromkeys(range(1_000_000)),
        lambda: {"content": ["x"] * 1_000_000, "usage": ["x"] * 1_000_000},
    ],
)
def test_hostile_answers(make: Callable[[], Any]) -> None:
    """Objects that answer to every name, raise, contain themselves or are huge state nothing, and soon."""
    answer = make()
    start = time.perf_counter()
    assert Usage.of(answer) is None
    assert ModelCall.of(answer).usage is None
    assert not ToolCall.started_in(answer)
    with pytest.raises(TypeError, match="expected a call of a tool"):
        ToolCall.of(answer)
    assert time.perf_counter() - start < 0.5


def test_what_is_no_answer_at_all() -> None:
    """A call that nobody awaited, a generator, a function and a class are mistakes in a program."""

    async def create() -> None:
        """Nothing."""

    unawaited = create()
    for thing in (unawaited, (item for item in ()), create, unawaited.close, Usage().checked, Usage):
        with pytest.raises(TypeError, match="expected the answer of a provider"):
            Usage.of(thing)
    unawaited.close()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [key for shape in SHAPES for key in (*shape.keys, *shape.details)]
                    + "usage response model cost cached_tokens content tool_calls name".split()
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_data(value: Any) -> None:
    """Whatever is given, a usage comes out that can be, or none."""
    usage = Usage.of(value)
    if usage is not None:
        assert usage.checked() is usage
        assert any(getattr(usage, name) is not None for name in (*CLASSES, "cost_usd"))
    assert ModelCall.of(value).usage == usage
    ToolCall.started_in(value)


Report = namedtuple("Report", "prompt_tokens completion_tokens")  # noqa: PYI024 - as others make them


@dataclasses.dataclass(slots=True)
class Slotted:
    prompt_tokens: int = 5
    completion_tokens: int = 2


class PlainSlots:
    __slots__ = ("completion_tokens", "prompt_tokens")

    def __init__(self) -> None:
        self.prompt_tokens, self.completion_tokens = 5, 2


class Struct(msgspec.Struct):
    prompt_tokens: int = 5
    completion_tokens: int = 2


@pytest.mark.parametrize("make", [lambda: Report(5, 2), Slotted, PlainSlots, Struct])
def test_classes_of_every_make(make: Callable[[], Any]) -> None:
    """Fields are found wherever a class keeps them."""
    assert Usage.of(make()) == Usage(input_tokens=5, output_tokens=2)
    assert Usage.of(SimpleNamespace(usage=make())) == Usage(input_tokens=5, output_tokens=2)


@pytest.mark.parametrize(
    ("first", "later", "usage"),
    [
        (
            Usage(input_tokens=5, output_tokens=1),
            Usage(output_tokens=9),
            Usage(input_tokens=5, output_tokens=9),
        ),
        (Usage(model="m", input_tokens=5), Usage(input_tokens=3), Usage(model="m", input_tokens=3)),
        (Usage(cost_usd=1.0, input_tokens=5), Usage(input_tokens=9), Usage(input_tokens=9)),
        (Usage(input_tokens=5), Usage(cost_usd=1.0), Usage(cost_usd=1.0, input_tokens=5)),
        (Usage(cost_usd=1.0), Usage(model="m"), Usage(cost_usd=1.0, model="m")),
    ],
)
def test_later_items(first: Usage, later: Usage, usage: Usage) -> None:
    """Of each number the last one counts; a cost goes with the tokens that it was stated with."""
    assert first.updated(later) == usage


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"n": 3}'}},
        {"type": "function_call", "call_id": "c", "id": "fc", "name": "look", "arguments": '{"n": 3}'},
        {"id": "c", "function": {"name": "look", "arguments": {"n": 3}}},
        {"type": "tool_use", "id": "c", "name": "look", "input": {"n": 3}},
        {"function_call": {"name": "look", "args": {"n": 3}}},
        {"functionCall": {"name": "look", "args": {"n": 3}}},
        {"name": "look", "args": {"n": 3}},
        {"toolUse": {"toolUseId": "c", "name": "look", "input": {"n": 3}}},
        {"name": "look", "args": {"n": 3}, "id": "c", "type": "tool_call"},
        {"part_kind": "tool-call", "tool_name": "look", "args": '{"n": 3}', "tool_call_id": "c"},
        {"method": "tools/call", "params": {"name": "look", "arguments": {"n": 3}}},
        {"type": "custom", "id": "c", "custom": {"name": "look", "input": '{"n": 3}'}},
    ],
    ids=repr,
)
def test_calls_of_tools(call: Any) -> None:
    """A call is read in every notation, as a dict and as an object, and takes its answer beside it."""
    event = ToolCall(name="look", args={"n": 3}, result="a page", agent="reader", batch=4)
    for form in (call, as_object(call)):
        read = ToolCall.of(form, result="a page", agent="reader", batch=4)
        if isinstance(read.args, SimpleNamespace):
            read.args = vars(read.args)
        assert read == event


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ('{"n": 3', '{"n": 3'),
        ("", {}),
        ("{}", {}),
        ("plain words", "plain words"),
        (None, None),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=["cut off", "empty", "none", "words", "unknown", "deep"],
)
def test_arguments_of_calls(arguments: Any, args: Any) -> None:
    """Arguments that are no JSON stay as they are; those that are not there are not known."""
    assert ToolCall.of({"function": {"name": "look", "arguments": arguments}}).args == args


def test_calls_need_a_tool() -> None:
    """What names no tool is no call, and a field that a call has not is refused."""
    for thing in ({"role": "assistant", "content": "No."}, {"name": ""}, {"name": 3}, None, "look"):
        with pytest.raises(TypeError, match="expected a call of a tool"):
            ToolCall.of(thing)
    with pytest.raises(TypeError, match="colour"):
        ToolCall.of({"name": "look"}, colour="red")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("words", "words"),
        ({"choices": [{"message": {"content": None, "refusal": "I can't."}}]}, "I can't."),
        ({"choices": [{"message": {"content": ""}}]}, ""),
        ({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}, "one\n\ntwo"),
        ({"output": "Done.", "usage": {"input_tokens": 3}}, "Done."),
        ({"nothing": 1}, None),
        (None, None),
    ],
    ids=repr,
)
def test_words(answer: Any, text: str | None) -> None:
    """Words are joined; an answer without any is empty, and what is no answer is not known."""
    assert ModelCall.of(answer, agent="writer") == ModelCall(
        text=text, usage=Usage.of(answer), agent="writer"
    )
