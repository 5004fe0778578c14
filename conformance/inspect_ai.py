"""A ReAct agent of Inspect as the solver of samples, on a scripted model of its own base class."""

from __future__ import annotations

import inspect
import io
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from anyio import to_thread
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolDef

from conformance.harness import Harness, Tools, Trial
from conformance.scripts import INPUT_TOKENS, OUTPUT_TOKENS, TASK, TOTAL_TOKENS
from ebbtide.adapters.inspect_ai import EbbtideInspect

_TIMEOUT_S = 60.0


@modelapi(name="scripted")
class _ScriptedApi(ModelAPI):
    """Answers as the script says, and states tokens."""

    def __init__(self, model_name: str, *_: Any, trial: Trial, **__: Any) -> None:
        super().__init__(model_name)
        self.trial = trial

    async def generate(self, input: list[ChatMessage], tools: list[Any], **_: Any) -> ModelOutput:  # noqa: A002
        text = "\n".join(message.text for message in input)
        # A script may wait for that of another sample.
        reply = await to_thread.run_sync(lambda: self.trial.ask(text, has_tools=bool(tools)))
        output = ModelOutput.from_content("scripted", reply.text)
        calls = [ToolCall(id=call.id, function=call.name, arguments=call.args) for call in reply.calls]
        output.choices[0].message.tool_calls = calls or None
        output.usage = ModelUsage(
            input_tokens=INPUT_TOKENS,
            output_tokens=OUTPUT_TOKENS,
            total_tokens=TOTAL_TOKENS,
        )
        return output


def _tool(function: Callable[..., str]) -> Tool:
    names = list(inspect.signature(function).parameters)

    async def execute(**args: str) -> str:
        return function(**args)

    execute.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    execute.__annotations__ = dict(function.__annotations__)
    definition = ToolDef(
        execute,
        name=function.__name__,
        description=function.__doc__,
        parameters={name: name for name in names},
    )
    return definition.as_tool()


class Inspect(Harness):
    """Samples of an evaluation; of two that are asked for at the same time, both are in one."""

    modes = ("sync",)

    def __init__(self) -> None:
        self._pair = threading.Barrier(2)
        self._pending: list[tuple[Trial, Solver]] = []

    adapter = EbbtideInspect

    def play(self, adapter: EbbtideInspect, trial: Trial, tools: Tools, mode: str) -> None:
        """One sample."""
        with redirect_stdout(io.StringIO()):  # the first time, it prints a banner with the hooks
            model = get_model("scripted/model", trial=trial, memoize=False)
        agent = react(tools=[_tool(function) for function in tools], submit=False, model=model)
        work = (trial, adapter.attach(agent))
        if threading.current_thread() is threading.main_thread():
            _evaluate([work])
            return
        # A process makes one evaluation at a time.
        self._pending.append(work)
        if self._pair.wait(_TIMEOUT_S) == 0:
            _evaluate(self._pending)
            self._pending = []
        self._pair.wait(_TIMEOUT_S)


@solver
def _solver_of_each(solvers: list[Solver]) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await solvers[int(state.sample_id)](state, generate)

    return solve


def _evaluate(works: list[tuple[Trial, Solver]]) -> None:
    samples = [Sample(input=TASK, id=str(number)) for number in range(len(works))]
    task = Task(dataset=samples, solver=_solver_of_each([work for _, work in works]))
    with tempfile.TemporaryDirectory() as folder:
        log = evaluate(task, model="mockllm/model", display="none", log_dir=folder, log_format="json")[0]
    for sample in log.samples or ():
        if sample.error is not None:
            raise RuntimeError(sample.error.message)
        trial = works[int(sample.id)][0]
        trial.answer = sample.output.completion if sample.limit is None else sample.limit.reason or ""
        trial.steps = len(sample.messages)
        trial.tokens = sum(usage.total_tokens for usage in sample.model_usage.values())


HARNESS = Inspect()
