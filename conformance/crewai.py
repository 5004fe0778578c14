"""A crew of one agent on a scripted model of CrewAI's base class, which calls tools natively."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

# Else it writes home at each step.
os.environ.update(
    CREWAI_DISABLE_TELEMETRY="true",
    CREWAI_DISABLE_VERSION_CHECK="true",
    CREWAI_TRACING_ENABLED="false",
    OTEL_SDK_DISABLED="true",
)

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK
from ebbtide.adapters.crewai import EbbtideCrewAI

logging.getLogger(BaseLLM.__module__).setLevel(logging.ERROR)  # it warns that it guesses tokens beforehand


class _ScriptedCrewLLM(BaseLLM):
    """Answers as the script says, and states tokens."""

    trial: Any = None

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, tools: Any = None, *_: Any, **__: Any) -> Any:
        text = "\n".join(str(message.get("content")) for message in messages)
        reply = self.trial.ask(text, has_tools=bool(tools))
        self._track_token_usage_internal({"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS})
        return reply.openai_calls or reply.text

    async def acall(self, *args: Any, **others: Any) -> Any:
        return _ScriptedCrewLLM.call(self, *args, **others)


class CrewAI(Harness):
    """A crew with one agent and one task."""

    adapter = EbbtideCrewAI
    modes = ("sync", "async")
    has_parallel_calls = False  # CrewAI itself ends a run that makes five equal calls, also at once

    def play(self, adapter: EbbtideCrewAI, trial: Trial, tools: Tools, mode: str) -> None:
        """One kickoff."""
        llm = adapter.attach(_ScriptedCrewLLM(model="scripted", trial=trial))
        agent = Agent(
            role="finder",
            goal="Find it.",
            backstory="None.",
            llm=llm,
            tools=[tool(function.__name__)(function) for function in tools],
            max_iter=100,
        )
        task = Task(description=TASK, expected_output="A number.", agent=agent)
        crew = Crew(agents=[agent], tasks=[task], cache=False)
        output = asyncio.run(crew.akickoff()) if mode == "async" else crew.kickoff()
        trial.answer = output.raw
        trial.steps = len(output.tasks_output[0].messages)
        trial.tokens = output.token_usage.total_tokens


HARNESS = CrewAI()
