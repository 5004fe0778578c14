"""LangChain's agents on a fake chat model of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from conformance.harness import Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, Script
from ebbtide.adapters.langchain import EbbtideMiddleware

_CONFIG: Any = {"recursion_limit": 400}


class _ScriptedModel(BaseChatModel):
    """Answers as the script says, and states tokens."""

    trial: Any
    script: Any
    has_tools: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self.model_copy(update={"has_tools": bool(tools)})

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = "\n".join(str(message.content) for message in messages)
        reply = self.trial.ask(self.script, text, has_tools=self.has_tools)
        number = len(self.trial.inputs)
        calls = [
            {"name": name, "args": dict(args), "id": f"call_{number}_{place}"}
            for place, (name, args) in enumerate(reply.calls)
        ]
        usage: Any = {
            "input_tokens": INPUT_TOKENS,
            "output_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        message = AIMessage(reply.text, tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


class LangChain:
    """Agents of LangChain, which LangGraph runs."""

    modes = ("sync", "async", "stream")
    calls = 4
    takes_tools_away = True
    counts_tokens = True
    has_parallel_calls = True

    def adapter(self, **options: Any) -> EbbtideMiddleware:
        """The middleware."""
        return EbbtideMiddleware(**options)

    def run(
        self, adapter: EbbtideMiddleware, script: Script, tools: Sequence[Callable[..., str]], mode: str
    ) -> Trial:
        """One agent, invoked."""
        trial = Trial()
        model = _ScriptedModel(trial=trial, script=script)
        agent: Any = create_agent(model, list(tools), middleware=[adapter])
        task = {"messages": [("user", TASK)]}
        if mode == "sync":
            state = agent.invoke(task, _CONFIG)
        elif mode == "async":
            state = asyncio.run(agent.ainvoke(task, _CONFIG))
        else:
            *_, state = agent.stream(task, _CONFIG, stream_mode="values")
        messages = state["messages"]
        trial.answer = messages[-1].text
        trial.steps = len(messages)
        trial.tokens = sum(
            (message.usage_metadata or {}).get("total_tokens", 0)
            for message in messages
            if isinstance(message, AIMessage)
        )
        return trial


HARNESS = LangChain()
