"""LiteLLM: any loop around ``completion`` and ``acompletion``, streams too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self, Unpack

import litellm
from litellm.types.utils import Choices, Delta, Message, ModelResponse, ModelResponseStream, StreamingChoices

from ebbtide.adapters.call_forms import Arguments, ChatCompletions
from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.adapters.watched_client import WatchedMethod
from ebbtide.errors import ConfigError

_TOOL_OPTIONS: Final = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")
_KEEP_TOOLS: Final = (
    "claude",
    "anthropic",
)  # refuse a conversation with calls of tools where none are offered


class EbbtideLiteLLM:
    """Watch of calls of models through LiteLLM: ``EbbtideLiteLLM().install()``, or its own ``completion``.

    LiteLLM knows calls, and no runs. A call belongs to the run that ``metadata={"ebbtide_run": name}`` names,
    else to the run whose messages it begins with. A call that is not to be made is answered with the reason,
    without calls of tools, so that the loop ends as usual.

    A logger of LiteLLM would not do: it can refuse and change asynchronous calls only, and learns of the
    others after the next one may have begun.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        self.watch = RunWatch(**options)
        self._completion = litellm.completion
        self._acompletion = litellm.acompletion
        self._watched = WatchedMethod(self._completion, _Completions(), self.watch, run_of=_named_run)
        self._watched_async = self._watched.twin(self._acompletion)

    def install(self) -> Self:
        """Puts the functions here in the place of LiteLLM's, for everything that looks them up there.

        Raises:
            ConfigError: They are watched already.
        """
        if getattr(litellm.completion, "__self__", None).__class__ is EbbtideLiteLLM:
            raise ConfigError("litellm.completion is watched already")
        litellm.completion = self.completion
        litellm.acompletion = self.acompletion
        return self

    def uninstall(self) -> None:
        """Puts LiteLLM's own functions back."""
        litellm.completion = self._completion
        litellm.acompletion = self._acompletion

    def completion(self, *places: Any, **call: Any) -> Any:
        """Watches ``litellm.completion``, with the same arguments and answer."""
        return self._watched(*places, **call)

    async def acompletion(self, *places: Any, **call: Any) -> Any:
        """Watches ``litellm.acompletion``, with the same arguments and answer."""
        return await self._watched_async(*places, **call)


class _Completions(ChatCompletions):
    """``litellm.completion``: OpenAI's form, with LiteLLM's own objects."""

    def without_tools(self, arguments: Arguments) -> Arguments:
        """Takes the tools away, or the choice of them from who refuses to do without."""
        if arguments.get("tools") and any(name in str(arguments["model"]).lower() for name in _KEEP_TOOLS):
            return {**arguments, "tool_choice": "none"}
        return {name: value for name, value in arguments.items() if name not in _TOOL_OPTIONS}

    def last_words(self, arguments: Arguments, text: str) -> Any:
        """Returns a ``ModelResponse`` with the text as its message."""
        choice = Choices(finish_reason="stop", message=Message(role="assistant", content=text))
        return ModelResponse(model=str(arguments.get("model", "")), choices=[choice])

    def stream_of(self, answer: Any) -> list[Any]:
        """Returns the answer as one ``ModelResponseStream``."""
        delta = Delta(role="assistant", content=answer.choices[0].message.content)
        choice = StreamingChoices(finish_reason="stop", delta=delta)
        return [ModelResponseStream(model=answer.model, choices=[choice])]

    def whole(self, parts: Sequence[Any]) -> Any:
        """Returns what LiteLLM makes of the parts; it counts tokens where the provider states none."""
        return litellm.stream_chunk_builder(list(parts))


def _named_run(arguments: Arguments) -> str | None:
    name = (arguments.get("metadata") or {}).get("ebbtide_run")
    return str(name) if name else None
