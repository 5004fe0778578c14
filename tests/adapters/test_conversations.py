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


class Numbered:
    """Completions whose calls have ids that count from 0 in each conversation."""

    def create(self, *, messages: list[Any], **_: Any) -> dict[str, Any]:
        asked = sum(message["role"] == "assistant" for message in messages)
        call = {"id": f"functions.look:{asked}", "type": "function"}
        function = {"name": "look", "arguments": f'{{"page": {asked}}}'}
        return {
            "choices": [{"message": {"role": "assistant", "tool_calls": [{**call, "function": function}]}}]
        }


def _talk(client: Any, messages: list[dict[str, Any]], window: int | None = None) -> None:
    """Makes one call and answers it; of a window, the beginning and the latest messages are sent."""
    sent = messages if window is None else [*messages[:1], *messages[1:][-window:]]
    message = client.chat.completions.create(model="m", messages=sent)["choices"][0]["message"]
    answer = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": f"{len(messages)}"}
    messages += [message, answer]


def test_users_with_equal_ids_of_calls_have_runs_of_their_own() -> None:
    client: Any = watch(SimpleNamespace(chat=SimpleNamespace(completions=Numbered())))
    users: list[list[dict[str, Any]]] = [[{"role": "user", "content": f"user {n}"}] for n in range(4)]
    for _ in range(3):
        for messages in users:
            _talk(client, messages)
    standings = client.ebbtide.runs.standing()
    assert sorted(standing.events for standing in standings) == [1 + 3 + 2] * 4


@pytest.mark.parametrize("window", [2, 4, 6])
def test_a_window_that_drops_the_middle_is_one_run(window: int) -> None:
    client: Any = watch(SimpleNamespace(chat=SimpleNamespace(completions=Numbered())))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read all."}]
    for _ in range(10):
        _talk(client, messages, window)
    (standing,) = client.ebbtide.runs.standing()
    assert standing.events == 1 + 10 + 9


class Servers:
    """A chat that streams, whose server may not know how to state usage."""

    def __init__(self, *, knows: bool) -> None:
        self.knows = knows
        self.asked: list[bool] = []

    def create(self, *, stream_options: Any = None, **_: Any) -> Any:
        self.asked.append(stream_options is not None)
        if stream_options is not None and not self.knows:
            error = OSError("unknown option")
            error.status_code = 400  # type: ignore[attr-defined]
            raise error
        delta = {"choices": [{"delta": {"role": "assistant", "content": "done"}}]}
        usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
        return iter([delta, usage] if stream_options else [delta])


@pytest.mark.parametrize("knows", [True, False])
def test_a_stream_is_asked_for_its_usage_where_its_server_knows_how(knows: bool) -> None:
    """Its reader sees what the program asked for; a server that refuses the option is not asked again."""
    server = Servers(knows=knows)
    client: Any = watch(SimpleNamespace(chat=SimpleNamespace(completions=server)), run_id="r")
    for words in ("Go.", "Go on."):
        call = {"model": "m", "messages": [{"role": "user", "content": words}], "stream": True}
        assert len(list(client.chat.completions.create(**call))) == 1
    (standing,) = client.ebbtide.runs.standing()
    assert standing.tokens == (14 if knows else None)
    assert server.asked == ([True, True] if knows else [True, False, False])


def test_embeddings_count_in_the_run_that_is_named() -> None:
    """What they cost is known; nobody can say whose they are where the client has no run."""
    answer = {"model": "text-embedding-3-small", "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    completions = SimpleNamespace(create=lambda **_: ANSWER)
    for name, runs in (("r", 1), (None, 0)):
        embeddings = SimpleNamespace(create=lambda **_: answer)
        client: Any = SimpleNamespace(chat=SimpleNamespace(completions=completions), embeddings=embeddings)
        client = watch(client, run_id=name)
        assert client.embeddings.create(input="a", model="m") is answer
        standings = client.ebbtide.runs.standing()
        assert [standing.tokens for standing in standings] == [7] * runs
