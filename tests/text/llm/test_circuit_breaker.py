"""A model that fails time after time is left alone."""

from typing import Any

import pytest

from ebbtide.errors import SemanticError
from ebbtide.text.llm.chat_endpoint import ChatEndpoint, CircuitBreaker

QUESTION = [{"role": "user", "content": "How are you?"}]


def breaker(server: Any) -> CircuitBreaker:
    return CircuitBreaker(ChatEndpoint(server.url, "small", attempts=1))


def test_server_that_is_down_is_asked_four_times(chat_server: Any) -> None:
    """After the fourth failure in a row nothing is sent, and the message says so."""
    chat_server.script.extend([lambda handler: handler.reply(500, "oh")] * 6)
    model = breaker(chat_server)
    for _ in range(4):
        with pytest.raises(SemanticError, match="status 500"):
            model.chat(QUESTION)
    for _ in range(3):
        with pytest.raises(SemanticError, match="#small: not asked any more after 4 failures in a row"):
            model.chat(QUESTION)
    assert len(chat_server.requests) == 4


def test_an_answer_begins_the_count_anew(chat_server: Any) -> None:
    """Failures count only in a row."""
    model = breaker(chat_server)
    for _ in range(3):
        chat_server.script.extend([lambda handler: handler.reply(500, "oh")] * 3 + ["Fine."])
        for _ in range(3):
            with pytest.raises(SemanticError, match="status 500"):
                model.chat(QUESTION)
        assert model.chat(QUESTION).text == "Fine."
