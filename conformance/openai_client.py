"""A loop by hand over the SDK of OpenAI, against a model server on this machine."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI, OpenAI

from conformance.harness import Harness, Tools, Trial
from conformance.model_server import ModelServer
from conformance.scripts import TASK
from ebbtide.adapters.watched_client import watch

_STEPS = 100


class OpenAIClient(Harness):
    """One watched client; every run is a list of messages of its own."""

    modes = (
        "sync",
        "async",
        "stream",
        "stream without usage",
        "stream helper",
        "responses",
        "responses stream",
        "responses stream helper",
        "responses conversation",
    )

    def __init__(self) -> None:
        self._server = ModelServer()

    def adapter(self, **options: Any) -> Any:
        """The client."""
        return watch(OpenAI(base_url=f"{self._server.url}/v1", api_key="none", max_retries=0), **options)

    def play(self, adapter: Any, trial: Trial, tools: Tools, mode: str) -> None:
        """A loop until the model asks for nothing more."""
        model = uuid.uuid4().hex
        self._server.runs[model] = trial
        by_name = {tool.__name__: tool for tool in tools}
        if mode.startswith("responses"):
            _respond(adapter, model, by_name, trial, mode)
        elif mode == "async":
            # A client belongs to one event loop; the registry serves both.
            client = AsyncOpenAI(base_url=str(adapter.base_url), api_key="none", max_retries=0)
            asyncio.run(_chat_async(watch(client, runs=adapter.ebbtide.runs), model, by_name, trial))
        else:
            _chat(adapter, model, by_name, trial, mode)


def _chat(client: Any, model: str, tools: dict[str, Callable[..., str]], trial: Trial, mode: str) -> None:
    call: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": TASK}]}
    call["tools"] = _schemas(tools)
    if mode in ("stream", "stream helper"):
        call["stream_options"] = {"include_usage": True}
    total = 0
    for _ in range(_STEPS):
        if mode.startswith("stream") and mode != "stream helper":
            answer, used = _joined(client.chat.completions.create(**call, stream=True))
        else:
            if mode == "stream helper":
                with client.chat.completions.stream(**call) as stream:
                    completion = stream.get_final_completion()
            else:
                completion = client.chat.completions.create(**call)
            answer = completion.choices[0].message.model_dump(exclude_none=True, exclude={"parsed"})
            used = completion.usage.total_tokens if completion.usage else 0
        total += used
        if not _go_on(answer, call["messages"], tools):
            trial.answer, trial.steps, trial.tokens = answer["content"], len(call["messages"]), total or None
            return


async def _chat_async(client: Any, model: str, tools: dict[str, Callable[..., str]], trial: Trial) -> None:
    async with client:
        call: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": TASK}]}
        for _ in range(_STEPS):
            completion = await client.chat.completions.create(**call, tools=_schemas(tools))
            answer = completion.choices[0].message.model_dump(exclude_none=True)
            if not _go_on(answer, call["messages"], tools):
                trial.answer, trial.steps = answer["content"], len(call["messages"])
                return


def _go_on(answer: dict[str, Any], messages: list[Any], tools: dict[str, Callable[..., str]]) -> bool:
    """Carry out what the model asks for; False where it asks for nothing."""
    messages.append(answer)
    for call in answer.get("tool_calls") or ():
        result = tools[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return bool(answer.get("tool_calls"))


def _joined(stream: Any) -> tuple[dict[str, Any], int]:
    """The message that a stream makes, and its tokens."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    total = 0
    for chunk in stream:
        total += chunk.usage.total_tokens if chunk.usage else 0
        for choice in chunk.choices:
            message["content"] += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                message.setdefault("tool_calls", []).append(call.model_dump(exclude={"index"}))
    return message, total


def _respond(client: Any, model: str, tools: dict[str, Callable[..., str]], trial: Trial, mode: str) -> None:
    """The provider keeps the history: each call names the answer before it, or their conversation."""
    news: Any = TASK
    previous: str | None = None
    schemas = [{"type": "function", **schema["function"]} for schema in _schemas(tools)]
    for _ in range(_STEPS):
        more: dict[str, Any] = {"previous_response_id": previous} if previous else {}
        if mode.endswith("conversation"):
            more = {"conversation": {"id": f"conv_{model}"}}
        call: dict[str, Any] = {"model": model, "input": news, "tools": schemas, **more}
        if mode.endswith("helper"):
            with client.responses.stream(**call) as stream:
                answer = stream.get_final_response()
        elif mode.endswith("stream"):
            *_, last = client.responses.create(**call, stream=True)
            answer = last.response
        else:
            answer = client.responses.create(**call)
        news = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": tools[call.name](**json.loads(call.arguments)),
            }
            for call in answer.output
            if call.type == "function_call"
        ]
        trial.steps += 2
        if not news:
            trial.answer = answer.output_text
            return
        previous = answer.id


def _schemas(tools: dict[str, Callable[..., str]]) -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in tools
    ]


HARNESS = OpenAIClient()
