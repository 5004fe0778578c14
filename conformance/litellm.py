"""A loop around LiteLLM's functions, on a provider of one's own."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else importing it asks the network

import litellm
from litellm.llms.custom_llm import CustomLLM
from litellm.types.utils import Choices, Message, ModelResponse, Usage

from conformance.harness import Answer, Harness, Tools, Trial
from conformance.scripts import OPENAI_USAGE, TASK
from ebbtide.adapters.litellm import EbbtideLiteLLM


class _ScriptedProvider(CustomLLM):
    """Answers each model of its own as its script says, and states tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.trials: dict[str, Trial] = {}

    def _reply(self, model: str, messages: list[Any], options: dict[str, Any]) -> Answer:
        trial = self.trials[model.rpartition("/")[2]]
        text = "\n".join(str(message.get("content")) for message in messages)
        return trial.ask(text, has_tools=bool(options.get("tools")))

    def completion(
        self, model: str, messages: list[Any], *_: Any, optional_params: Any, **__: Any
    ) -> ModelResponse:
        reply = self._reply(model, messages, optional_params)
        message = Message(role="assistant", content=reply.text or None, tool_calls=_calls(reply) or None)
        usage = Usage(**OPENAI_USAGE)
        return ModelResponse(model=model, choices=[Choices(message=message)], usage=usage)

    async def acompletion(self, *args: Any, **others: Any) -> ModelResponse:
        return self.completion(*args, **others)

    def streaming(
        self, model: str, messages: list[Any], *_: Any, optional_params: Any, **__: Any
    ) -> Iterator[Any]:
        reply = self._reply(model, messages, optional_params)
        part = {"text": "", "tool_use": None, "is_finished": False, "finish_reason": "", "usage": None}
        for place, call in enumerate(_calls(reply)):
            yield {**part, "tool_use": {**call, "index": place}, "index": 0}
        reason = "tool_calls" if reply.calls else "stop"
        yield {**part, "text": reply.text, "index": 0}
        yield {**part, "is_finished": True, "finish_reason": reason, "usage": OPENAI_USAGE, "index": 0}

    async def astreaming(self, *args: Any, **others: Any) -> AsyncIterator[Any]:
        for part in self.streaming(*args, **others):
            yield part


def _calls(reply: Answer) -> list[Any]:
    """The calls, with ids that are drawn: one provider serves all runs."""
    return [{**call, "id": f"call_{uuid.uuid4().hex}"} for call in reply.openai_calls]


_PROVIDER = _ScriptedProvider()
litellm.suppress_debug_info = True  # it does not know the provider, and says so
logging.getLogger("LiteLLM").setLevel(logging.ERROR)  # and warns of each new event loop


class LiteLLM(Harness):
    """A plain loop around LiteLLM's functions."""

    adapter = EbbtideLiteLLM

    def play(self, adapter: EbbtideLiteLLM, trial: Trial, tools: Tools, mode: str) -> None:
        """One loop."""
        name = uuid.uuid4().hex
        _PROVIDER.trials[name] = trial
        litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": _PROVIDER}]
        messages: list[Any] = [{"role": "user", "content": TASK}]
        functions = {function.__name__: function for function in tools}
        call: dict[str, Any] = {
            "model": f"scripted/{name}",
            "messages": messages,
            "tools": [_described(function) for function in tools],
        }
        while True:
            message = _message(adapter, call, mode)
            messages.append(message)
            if not message.get("tool_calls"):
                break
            for request in message["tool_calls"]:
                function = request["function"]
                content = functions[function["name"]](**json.loads(function["arguments"]))
                messages.append({"role": "tool", "tool_call_id": request["id"], "content": content})
        trial.answer = str(message["content"])
        trial.steps = len(messages)


def _message(adapter: EbbtideLiteLLM, call: dict[str, Any], mode: str) -> Any:
    if mode == "sync":
        answer = adapter.completion(**call)
    elif mode == "async":
        answer = asyncio.run(adapter.acompletion(**call))
    else:
        answer = litellm.stream_chunk_builder(list(adapter.completion(**call, stream=True)))
    return answer.choices[0].message.model_dump()


def _described(function: Callable[..., str]) -> Any:
    names = list(inspect.signature(function).parameters)
    parameters = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return {
        "type": "function",
        "function": {
            "name": function.__name__,
            "description": function.__doc__,
            "parameters": parameters,
        },
    }


HARNESS = LiteLLM()
