"""DSPy's ReAct on its dummy model."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import dspy
from dspy.clients.engines.dummy_engine import AsyncDummyEngine, DummyEngine
from dspy.lm15 import Usage
from dspy.utils import DummyLM

from conformance.harness import Answer, Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK
from ebbtide.adapters.dspy import EbbtideReAct

_MOST_STEPS = 100


class _ScriptedEngine(DummyEngine):
    """Answers as the script says.

    A model that has its answer calls `finish`, and words the answer in one more call. Both are one answer of
    the script, and one count of tokens.
    """

    def __init__(self, owner: DummyLM, trial: Trial) -> None:
        super().__init__(owner)
        self.trial = trial
        self.last: Answer | None = None

    def _complete_messages(self, messages: Any) -> Any:
        has_tools = "next_tool_name" in str(messages)
        tokens = (INPUT_TOKENS, OUTPUT_TOKENS) if self.last is None else (0, 0)
        reply = self.last or self.trial.ask(messages[-1]["content"], has_tools=has_tools)
        if not has_tools:
            fields = {"reasoning": "", "answer": reply.text}
        elif reply.calls:
            (call,) = reply.calls
            arguments = json.dumps(call.args)
            fields = {"next_thought": "", "next_tool_name": call.name, "next_tool_args": arguments}
        else:
            self.last = reply
            fields = {"next_thought": "", "next_tool_name": "finish", "next_tool_args": "{}"}
        self.owner.answers = iter([fields])
        response = super()._complete_messages(messages)
        usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
        return replace(response, usage=usage)


def _scripted_model(trial: Trial) -> DummyLM:
    model = DummyLM([])
    engine = _ScriptedEngine(model, trial)
    model._engine_spec = engine  # noqa: SLF001 - it makes one for itself alone
    model._async_engine_spec = AsyncDummyEngine(engine)  # noqa: SLF001
    return model


class DSPy(Harness):
    """The ReAct of DSPy."""

    adapter = dict  # the options of the module, which belongs to one signature and its tools
    modes = ("sync", "async")
    has_parallel_calls = False

    def play(self, adapter: dict[str, Any], trial: Trial, tools: Tools, mode: str) -> None:
        """One module, called."""
        module = EbbtideReAct("question -> answer", list(tools), _MOST_STEPS, **adapter)
        with dspy.context(lm=_scripted_model(trial), track_usage=True):
            answer = module(question=TASK) if mode == "sync" else asyncio.run(module.acall(question=TASK))
        trial.answer = str(answer.answer)
        trial.steps = sum(name.startswith("observation") for name in answer.trajectory)
        usages = (answer.get_lm_usage() or {}).values()
        trial.tokens = sum(usage["total_tokens"] for usage in usages)


HARNESS = DSPy()
