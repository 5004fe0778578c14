"""A chat model that is left alone once it fails time after time."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from ebbtide.errors import SemanticError
from ebbtide.text.llm.chat_endpoint import ChatModel, ChatReply

_MOST_FAILURES = 4  # in a row


class CircuitBreaker:
    """Asks another model until it has failed four times in a row, and then no more. Threads may share it.

    Of a server that is down, or a key that is wrong, every further question would cost its time-outs and
    learn nothing.

    Args:
        chat_model: Who is asked.
    """

    def __init__(self, chat_model: ChatModel) -> None:
        self._chat_model = chat_model
        self._lock = threading.Lock()
        self._failures = 0

    @property
    def model(self) -> str:
        """Names the model."""
        return self._chat_model.model

    def chat(self, messages: Sequence[Mapping[str, str]]) -> ChatReply:
        """The answer to a conversation.

        Raises:
            ConfigError: The model cannot be asked as it is set up.
            SemanticError: There is no answer, or the model is not asked any more.
        """
        if self._failures >= _MOST_FAILURES:
            raise SemanticError(f"{self.model}: not asked any more after {_MOST_FAILURES} failures in a row")
        try:
            reply = self._chat_model.chat(messages)
        except SemanticError:
            with self._lock:
                self._failures += 1
            raise
        with self._lock:
            self._failures = 0
        return reply
