"""An endpoint that speaks OpenAI's chat protocol, served here over HTTP."""

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from ebbtide.errors import ConfigError, SemanticError
from ebbtide.text.llm.chat_endpoint import API_KEY_ENV, ChatEndpoint, ChatUsage

ASKED = [{"role": "user", "content": "How are you?"}]


def endpoint(server: Any, **options: Any) -> ChatEndpoint:
    return ChatEndpoint(server.url, "small", **{"first_wait_s": 0.01, **options})


def status(code: int, body: str = "{}", **headers: str) -> Callable[[Any], None]:
    return lambda handler: handler.reply(code, body, **headers)


def silent(handler: Any) -> None:
    handler.server.closing.wait(10)


@pytest.mark.clause("B06")
def test_answer(chat_server: Any) -> None:
    """The text comes back, the tokens are counted, and what was asked is what was sent."""
    chat_server.script.append("Fine.")
    reply = endpoint(chat_server).chat(ASKED)
    assert reply.text == "Fine."
    assert reply.usage == ChatUsage(replies=1, input_tokens=100, output_tokens=20, cost_usd=None)
    request = chat_server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.sent == {"model": "small", "temperature": 0.0, "stream": False, "messages": ASKED}
    assert endpoint(chat_server).model == f"openai:{chat_server.url}#small"


def test_temperature_can_be_left_out(chat_server: Any) -> None:
    """A model that takes no temperature gets none."""
    chat_server.script.append("Fine.")
    endpoint(chat_server, temperature=None).chat(ASKED)
    assert "temperature" not in chat_server.requests[0].sent


@pytest.mark.parametrize("cost", [None, 0.0, 0.25])
def test_cost(chat_server: Any, cost: float | None) -> None:
    """The price is asked about the answer as it came; unknown stays unknown, and free is free."""
    answers: list[Any] = []
    chat_server.script.append("Fine.")
    usage = endpoint(chat_server, price=lambda wire: (answers.append(wire), cost)[-1]).chat(ASKED).usage
    assert usage.cost_usd == cost
    assert answers[0]["usage"] == {"prompt_tokens": 100, "completion_tokens": 20}


def test_temperature_that_is_refused_is_left_out(chat_server: Any) -> None:
    """A model that takes no temperature but its own is asked again without, from then on."""
    chat_server.script.extend([status(400, "Unsupported value: 'temperature'"), "Fine.", "Fine."])
    model = endpoint(chat_server)
    assert [model.chat(ASKED).text, model.chat(ASKED).text] == ["Fine.", "Fine."]
    assert ["temperature" in request.sent for request in chat_server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("message", "text"), [({"content": None}, ""), ({"refusal": "I can't."}, "I can't.")]
)
def test_answer_without_words_is_paid_for(chat_server: Any, message: dict[str, str], text: str) -> None:
    """A refusal, and an answer that is empty, is a reply whose tokens count."""
    body = {
        "choices": [{"message": {"content": None, **message}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    chat_server.script.append(status(200, json.dumps(body)))
    reply = endpoint(chat_server).chat(ASKED)
    assert (reply.text, reply.usage.replies, reply.usage.output_tokens) == (text, 1, 3)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, (None, None)),
        ("many", (None, None)),
        ({}, (None, None)),
        ({"prompt_tokens": 7}, (7, None)),
        ({"prompt_tokens": -1, "completion_tokens": True}, (None, None)),
        ({"prompt_tokens": 0, "completion_tokens": 1.5}, (0, None)),
    ],
)
def test_tokens_that_are_not_told_are_unknown(
    chat_server: Any, usage: object, tokens: tuple[int | None, int | None]
) -> None:
    """A reply without usage, or with nonsense in it, has unknown tokens and an unknown cost, not 0."""
    chat_server.script.append(lambda handler: handler.answer("Fine.", usage))
    found = endpoint(chat_server, price=lambda _: 1.0).chat(ASKED).usage
    assert (found.input_tokens, found.output_tokens) == tokens
    assert found.cost_usd is None


def test_usage_adds_up() -> None:
    """Sums know what both parts know, and nothing is the neutral element."""
    known = ChatUsage(replies=1, input_tokens=5, output_tokens=2, cost_usd=0.25)
    vague = ChatUsage(replies=1, input_tokens=5, output_tokens=None, cost_usd=None)
    assert ChatUsage() + known == known
    assert known + known == ChatUsage(replies=2, input_tokens=10, output_tokens=4, cost_usd=0.5)
    assert known + vague == ChatUsage(replies=2, input_tokens=10, output_tokens=None, cost_usd=None)
    assert vague == ChatUsage(replies=1, input_tokens=5, output_tokens=None, cost_usd=None)


@pytest.mark.parametrize(("key", "expected"), [(None, None), ("sk-test\n", "Bearer sk-test")])
def test_key_comes_from_the_environment(
    chat_server: Any, monkeypatch: pytest.MonkeyPatch, key: str | None, expected: str | None
) -> None:
    """The key is read from the named variable, and not sent where that is not set."""
    monkeypatch.delenv("MY_KEY", raising=False)
    if key:
        monkeypatch.setenv("MY_KEY", key)
    chat_server.script.append("Fine.")
    endpoint(chat_server, api_key_env="MY_KEY").chat(ASKED)
    assert chat_server.requests[0].headers.get("Authorization") == expected


def test_key_that_cannot_be_sent_is_refused(chat_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variable and does not show the key."""
    monkeypatch.setenv(API_KEY_ENV, "cl\u00e9")
    with pytest.raises(ConfigError, match=f"variable {API_KEY_ENV} holds no key") as error:
        endpoint(chat_server).chat(ASKED)
    assert "cl\u00e9" not in str(error.value)


@pytest.mark.parametrize(
    "faults",
    [
        [status(500)],
        [status(429)],
        [status(503), status(408)],
        [status(429, Retry_After="soon")],
        [lambda handler: handler.connection.close()],
    ],
)
def test_passing_failure_is_tried_again(chat_server: Any, faults: list[Callable[[Any], None]]) -> None:
    """A failure that may be over by the next attempt does not show, and its reply is not counted."""
    chat_server.script.extend([*faults, "Fine."])
    reply = endpoint(chat_server).chat(ASKED)
    assert (reply.text, reply.usage.replies) == ("Fine.", 1)
    assert len(chat_server.requests) == len(faults) + 1


def test_server_says_how_long_to_wait(chat_server: Any) -> None:
    """Retry-After goes before the waits of our own, up to a minute."""
    chat_server.script.extend([status(429, Retry_After="1"), "Fine."])
    start = time.monotonic()
    endpoint(chat_server).chat(ASKED)
    assert 1 <= time.monotonic() - start < 4
    chat_server.script.append(status(429, "used up", Retry_After="3600"))
    with pytest.raises(SemanticError, match=r"used up.*it asks to wait 3600 s"):
        endpoint(chat_server).chat(ASKED)


def test_slow_answer(chat_server: Any) -> None:
    """An answer within the time-out is waited for; silence is tried again, and then told."""
    chat_server.script.append(lambda handler: (time.sleep(0.2), handler.answer("Fine."))[-1])
    assert endpoint(chat_server, timeout_s=5).chat(ASKED).text == "Fine."
    chat_server.script.extend([silent, "Fine."])
    assert endpoint(chat_server, timeout_s=0.3).chat(ASKED).text == "Fine."
    chat_server.script.extend([silent] * 2)
    with pytest.raises(SemanticError, match=r"#small: no answer within 0\.3 s"):
        endpoint(chat_server, timeout_s=0.3, attempts=2).chat(ASKED)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (status(400, "too long"), "status 400: 'too long'"),
        (status(401, "no key"), f"the key is taken from the environment variable {API_KEY_ENV}"),
        (status(404, '{"error": "model not found"}'), "model not found"),
        (status(302, "", Location="http://127.0.0.1/"), "status 302"),
        (status(200, "<html>Welcome</html>"), "the answer holds no text: '<html>Welcome</html>'"),
        (status(200, "[]"), "the answer holds no text"),
        (status(200, '{"choices": []}'), "the answer holds no text"),
        (status(200, 'data: {"choices": [{"delta": {}}]}'), "the answer holds no text"),
        (lambda handler: handler.answer([{"type": "text"}]), "the answer holds no text"),
    ],
)
def test_refusal_is_not_tried_again(chat_server: Any, fault: Callable[[Any], None], told: str) -> None:
    """What will not get better by asking again is told at once."""
    chat_server.script.append(fault)
    with pytest.raises(SemanticError, match=told):
        endpoint(chat_server).chat(ASKED)
    assert len(chat_server.requests) == 1


def test_endpoint_that_is_down_is_told() -> None:
    """Where nobody listens, the message says which endpoint and asks the obvious."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(SemanticError, match=rf"openai:{url}#m: cannot be reached \(.*\): is it running\?"):
        ChatEndpoint(url, "m", attempts=2, first_wait_s=0.01).chat(ASKED)


@pytest.mark.parametrize(
    ("url", "options", "told"),
    [
        ("localhost:11434/v1", {}, "expected a URL"),
        ("http://me:pw@localhost/v1", {}, "expected a URL"),
        ("http://localhost/v1", {"attempts": 0}, "attempts = 0: expected a whole number, 1 or more"),
    ],
)
def test_arguments_that_cannot_be_used(url: str, options: dict[str, Any], told: str) -> None:
    """Bad arguments are refused before anything is sent."""
    with pytest.raises(ConfigError, match=told):
        ChatEndpoint(url, "m", **options)
