"""ADK's agents on a scripted model of its own base class."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.google_adk import EbbtideAdkPlugin

_APP = "trial"
_USER = "person"


class _ScriptedLlm(BaseLlm):
    """Answers as the script says, a part of the words first where it streams, and states tokens."""

    trial: Any

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002
    ) -> AsyncIterator[LlmResponse]:
        parts = [part for content in llm_request.contents for part in content.parts or ()]
        text = "\n".join(part.text or str(part.function_response or "") for part in parts)
        reply = self.trial.ask(text, has_tools=bool(llm_request.config.tools))
        answer = [types.Part.from_function_call(name=call.name, args=call.args) for call in reply.calls]
        if reply.text:
            answer.insert(0, types.Part(text=reply.text))
            if stream:
                yield LlmResponse(
                    content=types.Content(role="model", parts=[types.Part(text=reply.text[:4])]), partial=True
                )
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=INPUT_TOKENS,
            candidates_token_count=OUTPUT_TOKENS,
            total_token_count=TOTAL_TOKENS,
        )
        yield LlmResponse(content=types.Content(role="model", parts=answer), usage_metadata=usage)


class GoogleAdk(Harness):
    """An agent of ADK in a runner that keeps its sessions in memory."""

    adapter = EbbtideAdkPlugin

    def play(self, adapter: EbbtideAdkPlugin, trial: Trial, tools: Tools, mode: str) -> None:
        """One invocation."""
        model = _ScriptedLlm(model="scripted", trial=trial)
        agent = LlmAgent(name="finder", model=model, tools=list(tools))
        runner = InMemoryRunner(agent=agent, app_name=_APP, plugins=[adapter])
        session = asyncio.run(runner.session_service.create_session(app_name=_APP, user_id=_USER))
        task: Any = {
            "user_id": _USER,
            "session_id": session.id,
            "new_message": types.Content(role="user", parts=[types.Part(text=TASK)]),
        }
        if mode == "sync":
            events = list(runner.run(**task))
        else:
            if mode == "stream":
                task["run_config"] = RunConfig(streaming_mode=StreamingMode.SSE)
            events = asyncio.run(_events(runner, task))
        whole = [event for event in events if not event.partial]
        trial.answer = "".join(part.text or "" for part in whole[-1].content.parts)
        trial.steps = len(whole)
        usages = [event.usage_metadata for event in whole if event.usage_metadata]
        trial.tokens = sum(usage.total_token_count for usage in usages)


async def _events(runner: InMemoryRunner, task: Any) -> list[Any]:
    return [event async for event in runner.run_async(**task)]


HARNESS = GoogleAdk()
