"""Calls of a watched client find their run by their messages, also when one is sent again after it failed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ebbtide import watch

CALL = {"id": "c", "type": "function", "function": {"name": "web_search", "arguments": '{"q": "a"}'}}
ANSWER = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]}


class Completions:
    """The calls of a client, of which every other one fails."""

    def __init__(self) -> None:
        self.calls = 0

    def create(self, **_: Any) -> dict[str, Any]:
        self.calls += 1
        if self.calls % 2:
            raise OSError("busy")
        return ANSWER


def test_a_call_that_is_sent_again_goes_on_with_its_run() -> None:
    """The run is one, what a person said counts once, and the note comes in spite of the failures."""
    client: Any = watch(SimpleNamespace(chat=SimpleNamespace(completions=Completions())))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find it."}]
    for _ in range(3):
        with pytest.raises(OSError, match="busy"):
            client.chat.completions.create(model="m", messages=messages)
        answer = client.chat.completions.create(model="m", messages=messages)
        messages += [answer["choices"][0]["message"], {"role": "tool", "tool_call_id": "c", "content": "no"}]
    (standing,) = client.ebbtide.runs.standing()
    assert standing.events == 1 + 3 + 3 + 2  # the person, failures, answers, and two tools that were told
    assert client.ebbtide.faults == 0


class Responses:
    """Calls whose answer stands in several items, as those of models that think do."""

    def __init__(self) -> None:
        self.calls = 0

    def create(self, **_: Any) -> dict[str, Any]:
        self.calls += 1
        thought = {"type": "reasoning", "id": f"r{self.calls}", "summary": []}
        calls = [
            {"type": "function_call", "call_id": f"c{self.calls}{name}", "name": "read", "arguments": args}
            for name, args in (("a", f'{{"page": {self.calls}}}'), ("b", f'{{"page": {-self.calls}}}'))
        ]
        return {"id": f"resp{self.calls}", "output": [thought, *calls]}


def test_an_answer_in_several_items_is_one_answer() -> None:
    """A program that sends all items itself has one run, in which each call counts once."""
    client: Any = watch(SimpleNamespace(responses=Responses()))
    items: list[dict[str, Any]] = [{"role": "user", "content": "Read it."}]
    for _ in range(6):
        output = client.responses.create(model="m", input=items)["output"]
        items += output
        items += [
            {"type": "function_call_output", "call_id": call["call_id"], "output": call["arguments"]}
            for call in output[1:]
        ]
    (standing,) = client.ebbtide.runs.standing()
    assert standing.events == 1 + 6 + 2 * 5
    assert standing.action.value == "allow"
