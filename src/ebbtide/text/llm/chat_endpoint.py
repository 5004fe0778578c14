"""Any endpoint that speaks OpenAI's chat protocol: OpenAI itself, Ollama, vLLM and others.

Source: rubric, v0.2 upgrades (clause B06).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ebbtide.errors import SemanticError
from ebbtide.text.json_endpoint import JsonEndpoint, shown

if TYPE_CHECKING:
    import httpx2


API_KEY_ENV = "EBBTIDE_CHAT_API_KEY"
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatUsage:
    """The tokens and cost of replies. A request without a reply adds nothing: its usage is not reported.

    Args:
        input_tokens: Tokens sent; None where a reply did not say.
        output_tokens: Tokens received; likewise.
        cost_usd: None where tokens or prices are unknown.
    """

    replies: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: ChatUsage) -> ChatUsage:
        """Both together; what one of them does not know is unknown."""
        return ChatUsage(
            replies=self.replies + other.replies,
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cost_usd=_sum(self.cost_usd, other.cost_usd),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The text of a model's reply, and its usage."""

    text: str
    usage: ChatUsage


class ChatModel(Protocol):
    """Answers messages."""

    @property
    def model(self) -> str:
        """Names the model."""

    def chat(self, messages: Sequence[Mapping[str, str]]) -> ChatReply:
        """The answer to a conversation.

        Args:
            messages: Each with ``role`` and ``content``.

        Raises:
            SemanticError: There is no answer.
        """


class ChatEndpoint:
    """Answers from ``POST {base_url}/chat/completions``; see `JsonEndpoint` for what is tried again.

    An attempt that timed out may be charged for all the same.

    Args:
        base_url: Such as ``https://api.openai.com/v1`` or ``http://localhost:11434/v1``.
        model: As the endpoint names it.
        api_key_env: Environment variable with the key; no key is sent if it is not set.
        temperature: As the endpoint takes it. None is not sent, for models that take none.
        timeout_s: Seconds of silence after which a request has failed.
        attempts: Times that a request is sent, 1 or more.
        first_wait_s: Seconds before the second attempt.
        price: Dollars for an answer, by its wire form; None where nobody knows. It is called for answers that
            state their tokens. Without it the cost is unknown.

    Raises:
        ConfigError: An argument cannot be used.
        SemanticError: A library is missing.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key_env: str = API_KEY_ENV,
        temperature: float | None = 0.0,
        timeout_s: float = 120.0,
        attempts: int = 3,
        first_wait_s: float = 0.5,
        price: Callable[[Mapping[str, Any]], float | None] | None = None,
    ) -> None:
        self.model = f"openai:{base_url.rstrip('/')}#{model}"
        self._price = price
        self._settings: dict[str, Any] = {"model": model, "stream": False}
        if temperature is not None:
            self._settings["temperature"] = temperature
        self._endpoint = JsonEndpoint(
            base_url,
            "chat/completions",
            name=self.model,
            api_key_env=api_key_env,
            timeout_s=timeout_s,
            attempts=attempts,
            first_wait_s=first_wait_s,
        )

    def chat(self, messages: Sequence[Mapping[str, str]]) -> ChatReply:
        """The answer to a conversation.

        Raises:
            ConfigError: The key cannot be sent.
            SemanticError: The endpoint did not answer, refused, or its answer holds no text.
        """
        with self._endpoint.connected() as post:
            try:
                reply = post({**self._settings, "messages": list(messages)})
            except SemanticError as error:
                # Models that reason take no temperature but their own, and say so with status 400.
                if "temperature" not in self._settings or "temperature" not in str(error):
                    raise
                self._settings = {key: it for key, it in self._settings.items() if key != "temperature"}
                reply = post({**self._settings, "messages": list(messages)})
        return self._read(reply)

    def _read(self, reply: httpx2.Response) -> ChatReply:
        try:
            wire = reply.json()
            message = wire["choices"][0]["message"]
            # A refusal, or all tokens spent on thoughts: an answer without words, which is paid for too.
            text = message["content"] if message["content"] is not None else message.get("refusal") or ""
        except (ValueError, LookupError, TypeError, AttributeError):
            wire, text = {}, None
        if not isinstance(text, str):
            raise SemanticError(f"{self.model}: the answer holds no text: {shown(reply.text)}")
        usage = wire.get("usage")
        tokens = [_count(usage, key) for key in ("prompt_tokens", "completion_tokens")]
        cost = None if self._price is None or None in tokens else self._price(wire)
        return ChatReply(
            text=text,
            usage=ChatUsage(replies=1, input_tokens=tokens[0], output_tokens=tokens[1], cost_usd=cost),
        )


def _count(usage: object, key: str) -> int | None:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return value if type(value) is int and value >= 0 else None


def _sum(left: _Number | None, right: _Number | None) -> _Number | None:
    return None if left is None or right is None else left + right


_MOST_FAILURES = 4  # in a row


class CircuitBreaker:
    """Asks another model until it has failed four times in a row, and then no more. Threads may share it.

    Of a server that is down, or a key that is wrong, every further question would cost its time-outs and
    learn nothing.
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
