"""DSPy: a ReAct that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Unpack

import dspy

from ebbtide.adapters.run_watch import RunWatch, WatchOptions, require_parts

_HOOKS = ("_call_with_potential_trajectory_truncation", "_async_call_with_potential_trajectory_truncation")
_FINISH = "finish"
_ERROR = "Execution error in "  # begins what a tool that raised answers


@dataclass(slots=True)
class _WatchedTrajectory:
    """One run, and what became of it.

    Args:
        steps: Calls of tools that are recorded.
        is_last: True if the next call of the model is the one that was let through as the last.
        last_words: Reason of the end; None while it goes on.
    """

    run_id: str
    steps: int = 0
    is_last: bool = False
    last_words: str | None = None


_RUN: ContextVar[_WatchedTrajectory | None] = ContextVar("ebbtide_run", default=None)


class EbbtideReAct(dspy.ReAct):
    """A ``dspy.ReAct`` under watch: ``EbbtideReAct("question -> answer", tools=tools)``.

    A note is added to the trajectory for the next call of the model alone. A run that is to end finishes,
    and its outputs that are texts are the reason. The last call of a run with a limit is the one that
    extracts the answer.

    Raises:
        ConfigError: The framework has changed, or an option is wrong.
    """

    def __init__(
        self,
        signature: Any,
        tools: list[Callable[..., Any]],
        max_iters: int = 20,
        **options: Unpack[WatchOptions],
    ) -> None:
        require_parts(dspy.ReAct, _HOOKS, f"needs another dspy than {dspy.__version__}")
        super().__init__(signature, tools, max_iters)
        self.watch = RunWatch(**options)

    def forward(self, **inputs: Any) -> Any:  # noqa: D102
        with self._watched(inputs):
            return super().forward(**inputs)

    async def aforward(self, **inputs: Any) -> Any:  # noqa: D102
        with self._watched(inputs):
            return await super().aforward(**inputs)

    @contextmanager
    def _watched(self, inputs: Mapping[str, Any]) -> Iterator[None]:
        run = _WatchedTrajectory(self.watch.new_run())
        words = [inputs[name] for name in self.signature.input_fields if name in inputs]
        self.watch.record_message(run.run_id, words)
        token = _RUN.set(run)
        try:
            yield
        finally:
            _RUN.reset(token)
            self.watch.end(run.run_id)

    def _call_with_potential_trajectory_truncation(
        self, module: Any, trajectory: dict[str, Any], **inputs: Any
    ) -> Any:
        call = super()._call_with_potential_trajectory_truncation
        run = _RUN.get()
        if run is None:
            return call(module, trajectory, **inputs)
        answer, trajectory = self._before(run, module, trajectory)
        if answer is not None:
            return answer
        with self._recording(run, module) as answers:
            answers.append(call(module, trajectory, **inputs))
        return answers[0]

    async def _async_call_with_potential_trajectory_truncation(
        self, module: Any, trajectory: dict[str, Any], **inputs: Any
    ) -> Any:
        call = super()._async_call_with_potential_trajectory_truncation
        run = _RUN.get()
        if run is None:
            return await call(module, trajectory, **inputs)
        answer, trajectory = self._before(run, module, trajectory)
        if answer is not None:
            return answer
        with self._recording(run, module) as answers:
            answers.append(await call(module, trajectory, **inputs))
        return answers[0]

    def _before(
        self, run: _WatchedTrajectory, module: Any, trajectory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Returns an answer in place of the model's, or None; and the trajectory that the model is to see."""
        self._record_tools(run, trajectory)
        is_step = module is self.react
        if run.last_words is not None:
            return self._outputs(run.last_words), trajectory
        if run.is_last:
            return None, trajectory
        advice = self.watch.advise(run.run_id)
        if advice.refusal:
            run.last_words = self.watch.last_words(run.run_id, advice)
            return (_finished(run.last_words) if is_step else self._outputs(run.last_words)), trajectory
        if advice.without_tools and is_step:
            run.is_last = True
            return _finished(advice.note or ""), trajectory
        return None, {**trajectory, "note": advice.note} if advice.note else trajectory

    def _record_tools(self, run: _WatchedTrajectory, trajectory: Mapping[str, Any]) -> None:
        """Records what tools have answered since the last call of the model."""
        while (name := trajectory.get(f"tool_name_{run.steps}")) is not None:
            answer = trajectory.get(f"observation_{run.steps}")
            args = trajectory.get(f"tool_args_{run.steps}")
            is_error = isinstance(answer, str) and answer.startswith(_ERROR)
            run.steps += 1
            if name != _FINISH:
                self.watch.record_tool_call(run.run_id, name, args, answer, error=is_error)

    @contextmanager
    def _recording(self, run: _WatchedTrajectory, module: Any) -> Iterator[list[Any]]:
        """Records what the model says in here, and the tokens; the framework hands them on to who counts."""
        answers: list[Any] = []
        with dspy.track_usage() as tracker, self.watch.calling(run.run_id):
            yield answers
        with self.watch.guarded():
            usages = [(model, usage) for model, entries in tracker.usage_data.items() for usage in entries]
            text = answers[0].next_thought if module is self.react else str(dict(answers[0]))
            for model, usage in usages or [(None, None)]:
                self.watch.record_answer(run.run_id, text, model=model, usage=usage)

    def _outputs(self, text: str) -> Any:
        """Returns outputs that say why there is no answer; None if no text fits."""
        fields = self.signature.output_fields
        return dspy.Prediction(
            reasoning=text, **{name: text if fields[name].annotation is str else None for name in fields}
        )


def _finished(thought: str) -> Any:
    """Returns a step that ends the trajectory."""
    return dspy.Prediction(next_thought=thought, next_tool_name=_FINISH, next_tool_args={})
