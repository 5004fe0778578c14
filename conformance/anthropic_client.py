"""A loop by hand over the SDK of Anthropic, against a model server on this machine."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from anthropic import Anthropic, AsyncAnthropic, beta_tool

from conformance.harness import Harness, Tools, Trial
from conformance.model_server import ModelServer
from conformance.scripts import TASK
from ebbtide.adapters.watched_client import watch

_STEPS = 100
_MOST_TOKENS = 1_000


class AnthropicClient(Harness):
    """One watched client; every run is a list of messages of its own."""

    modes = (
        "sync",
        "async",
        "stream",
        "stream helper",
        "async stream helper",
        "beta",
        "beta stream helper",
        "tool runner",
    )

    def __init__(self) -> None:
        self._server = ModelServer()

    def adapter(self, **options: Any) -> Any:
        """The client."""
        return watch(Anthropic(base_url=self._server.url, api_key="none", max_retries=0), **options)

    def play(self, adapter: Any, trial: Trial, tools: Tools, mode: str) -> None:
        """A loop until the model asks for nothing more."""
        model = uuid.uuid4().hex
        self._server.runs[model] = trial
        by_name = {tool.__name__: tool for tool in tools}
        call: dict[str, Any] = {
            "model": model,
            "max_tokens": _MOST_TOKENS,
            "messages": [{"role": "user", "content": TASK}],
            "tools": [{"name": name, "input_schema": {"type": "object"}} for name in by_name],
        }
        if mode.startswith("async"):
            # A client belongs to one event loop; the registry serves both.
            client = AsyncAnthropic(base_url=str(adapter.base_url), api_key="none", max_retries=0)
            asyncio.run(
                _talk_async(
                    watch(client, runs=adapter.ebbtide.runs), call, by_name, trial, helps=mode != "async"
                )
            )
        elif mode == "tool runner":
            _run_tools(adapter, call, tools, trial)
        else:
            _talk(adapter.beta if "beta" in mode else adapter, call, by_name, trial, mode)


def _run_tools(client: Any, call: dict[str, Any], tools: Sequence[Callable[..., str]], trial: Trial) -> None:
    """The loop of the SDK itself."""
    runner = client.beta.messages.tool_runner(**{**call, "tools": [beta_tool(tool) for tool in tools]})
    for message in runner:
        trial.answer = next((block.text for block in message.content if block.type == "text"), "")
        trial.steps += 2


def _talk(
    client: Any, call: dict[str, Any], tools: dict[str, Callable[..., str]], trial: Trial, mode: str
) -> None:
    for _ in range(_STEPS):
        if mode == "stream":
            content = _joined(client.messages.create(**call, stream=True))
        elif mode.endswith("stream helper"):
            with client.messages.stream(**call) as stream:
                content = _blocks(stream.get_final_message())
        else:
            content = [
                block.model_dump(exclude_none=True) for block in client.messages.create(**call).content
            ]
        if not _go_on(content, call["messages"], tools, trial):
            return


async def _talk_async(
    client: Any, call: dict[str, Any], tools: dict[str, Callable[..., str]], trial: Trial, *, helps: bool
) -> None:
    async with client:
        for _ in range(_STEPS):
            if helps:
                async with client.messages.stream(**call) as stream:
                    answer = await stream.get_final_message()
            else:
                answer = await client.messages.create(**call)
            if not _go_on(_blocks(answer), call["messages"], tools, trial):
                return


def _blocks(answer: Any) -> list[dict[str, Any]]:
    kinds = {"text": ("type", "text"), "tool_use": ("type", "id", "name", "input")}
    return [{name: getattr(block, name) for name in kinds[block.type]} for block in answer.content]


def _go_on(
    content: list[Any], messages: list[Any], tools: dict[str, Callable[..., str]], trial: Trial
) -> bool:
    """Carry out what the model asks for; False where it asks for nothing."""
    messages.append({"role": "assistant", "content": content})
    results = [
        {
            "type": "tool_result",
            "tool_use_id": block["id"],
            "content": [{"type": "text", "text": tools[block["name"]](**block["input"])}],
        }
        for block in content
        if block["type"] == "tool_use"
    ]
    if results:
        messages.append({"role": "user", "content": results})
        return True
    trial.answer, trial.steps = content[0]["text"], len(messages)
    return False


def _joined(stream: Any) -> list[dict[str, Any]]:
    """The blocks that a stream makes."""
    blocks: list[dict[str, Any]] = []
    texts: dict[int, str] = {}
    for event in stream:
        if event.type == "content_block_start":
            blocks.append(event.content_block.model_dump(exclude_none=True))
        elif event.type == "content_block_delta":
            piece = event.delta.text if event.delta.type == "text_delta" else event.delta.partial_json
            texts[event.index] = texts.get(event.index, "") + piece
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            block["text"] = texts.get(index, "")
        else:
            block["input"] = json.loads(texts.get(index) or "{}")
    return blocks


HARNESS = AnthropicClient()
