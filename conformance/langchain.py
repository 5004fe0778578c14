"""LangChain's agents on a fake chat model of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.langchain import EbbtideMiddleware

_CONFIG: Any = {"recursion_limit": 400}


class _ScriptedModel(BaseChatModel):
    """Answers as the script says, and states tokens."""

    trial: Any
    has_tools: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self.model_copy(update={"has_tools": bool(tools)})

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = "\n".join(str(message.content) for message in messages)
        reply = self.trial.ask(text, has_tools=self.has_tools)
        calls = [{"name": call.name, "args": call.args, "id": call.id} for call in reply.calls]
        usage: Any = {
            "input_tokens": INPUT_TOKENS,
            "output_tokens": OUTPUT_TOKENS,
            "total_tokens": TOTAL_TOKENS,
        }
        message = AIMessage(reply.text, tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


class LangChain(Harness):
    """Agents of LangChain, which LangGraph runs."""

    adapter = EbbtideMiddleware

    def play(self, adapter: EbbtideMiddleware, trial: Trial, tools: Tools, mode: str) -> None:
        """One agent, invoked."""
        model = _ScriptedModel(trial=trial)
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


HARNESS = LangChain()
