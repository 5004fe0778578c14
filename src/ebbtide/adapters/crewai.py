"""CrewAI: the agents of crews, through their model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, Unpack
from weakref import WeakKeyDictionary

from crewai import BaseLLM, Crew
from crewai.types.usage_metrics import UsageMetrics

from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.errors import ConfigError

try:
    from crewai.hooks import HookAborted, InterceptionPoint
    from crewai.hooks.dispatch import register
except ImportError as error:
    raise ConfigError(f"crewai needs a later crewai: {error}") from error

_L = TypeVar("_L", bound=BaseLLM)
_REPEATED: Final = (
    "I tried reusing the same input"  # where CrewAI does not run a tool twice with the same input
)


class EbbtideCrewAI:
    """Watch of crews: ``Agent(llm=EbbtideCrewAI().attach(LLM(model=name)), role=role, goal=goal, ...)``.

    A kickoff of a crew is a run, and its agents are judged apart. A note is put before the next call of the
    model, for that call alone. An agent that is to end gets the reason as the model's last answer, so that
    its task ends as usual, and the crew goes on.
    """

    def __init__(self, **options: Unpack[WatchOptions]) -> None:
        self.watch = RunWatch(**options)

    def attach(self, llm: _L) -> _L:
        """Watches every crew whose agents use a model.

        Args:
            llm: The model, not its name.

        Returns:
            The same object.

        Raises:
            ConfigError: It is no model, or is watched already.
        """
        if not isinstance(llm, BaseLLM):
            raise ConfigError(f"{llm!r:.60}: expected a model of CrewAI, such as LLM(model=...)")
        if "call" in vars(llm):
            raise ConfigError(f"{llm.model} is watched already")
        calls = _WatchedCrewCalls(
            self, llm, llm.call, llm.acall, getattr(llm, "_track_token_usage_internal", None)
        )
        # The model is a pydantic model, which takes no other attributes than its fields.
        object.__setattr__(llm, "call", calls.call)
        object.__setattr__(llm, "acall", calls.acall)
        if calls.track is not None:
            object.__setattr__(llm, "_track_token_usage_internal", calls.track_usage)
        return llm


@dataclass(slots=True)
class _Kickoff:
    """One kickoff of a crew.

    Args:
        watch: Watch of the kickoff; None before the first call of a model that is watched.
        tasks: Tasks that were recorded.
        latest: The last call of a tool, by agent: its name and arguments, and its answer.
    """

    watch: RunWatch | None = None
    run_id: str = ""
    tasks: set[str] = field(default_factory=set)
    latest: dict[str, tuple[object, object]] = field(default_factory=dict)


_kickoffs: WeakKeyDictionary[Crew, _Kickoff] = WeakKeyDictionary()
_usage: ContextVar[list[Any] | None] = ContextVar("ebbtide_usage", default=None)


@dataclass(frozen=True, slots=True)
class _WatchedCrewCalls:
    """Calls of a model, and what they took."""

    adapter: EbbtideCrewAI
    llm: BaseLLM
    original: Any
    original_async: Any
    track: Any

    def call(self, messages: Any, *args: Any, **call: Any) -> Any:
        here = self._at(call)
        if here is None:
            return self.original(messages, *args, **call)
        messages, ending = here.prepared(messages, call)
        if ending is not None:
            return ending
        with here.recording() as answers:
            answers.append(self.original(messages, *args, **call))
        return answers[0]

    async def acall(self, messages: Any, *args: Any, **call: Any) -> Any:
        here = self._at(call)
        if here is None:
            return await self.original_async(messages, *args, **call)
        messages, ending = here.prepared(messages, call)
        if ending is not None:
            return ending
        with here.recording() as answers:
            answers.append(await self.original_async(messages, *args, **call))
        return answers[0]

    def track_usage(self, usage: Any, *args: Any, **others: Any) -> Any:
        reports = _usage.get()
        if reports is not None:
            reports.append(usage)
        return self.track(usage, *args, **others)

    def _at(self, call: dict[str, Any]) -> _CrewCall | None:
        agent = call.get("from_agent")
        crew = getattr(agent, "crew", None)
        kickoff = _kickoffs.get(crew) if isinstance(crew, Crew) else None
        if kickoff is None:
            return None
        if kickoff.watch is None:
            kickoff.watch = self.adapter.watch
            kickoff.run_id = kickoff.watch.new_run()
        return _CrewCall(kickoff.watch, kickoff, _name_of(agent), self.llm.model)


@dataclass(frozen=True, slots=True)
class _CrewCall:
    """One call of a model, by an agent of a crew."""

    watch: RunWatch
    kickoff: _Kickoff
    agent: str
    model: str

    def prepared(self, messages: Any, call: dict[str, Any]) -> tuple[Any, str | None]:
        """Returns the messages to send, and the answer in place of a call; changes the options in place."""
        run_id = self.kickoff.run_id
        self._record_task(call.get("from_task"))
        advice = self.watch.advise(run_id, agent=self.agent, model=self.model)
        if advice.refusal:
            text = self.watch.last_words(run_id, advice)
            if call.get("response_model") is not None or _is_typed(call.get("from_task")):
                raise HookAborted(reason=text, source="ebbtide")  # a text would be asked for again
            return messages, text if call.get("tools") else f"Thought: It is over.\nFinal Answer: {text}"
        if advice.note:
            words = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
            messages = [*words, {"role": "user", "content": advice.note}]
        if advice.without_tools:
            call["tools"] = None
        return messages, None

    @contextmanager
    def recording(self) -> Iterator[list[Any]]:
        """Records the answer that is put into the list, or the failure."""
        answers: list[Any] = []
        reports: list[Any] = []
        token = _usage.set(reports)
        try:
            with self.watch.calling(self.kickoff.run_id, agent=self.agent):
                yield answers
        finally:
            _usage.reset(token)
        self.watch.record_answer(
            self.kickoff.run_id,
            answers[0],
            agent=self.agent,
            model=self.model,
            usage=_usage_of(reports),
        )

    def _record_task(self, task: Any) -> None:
        if task is not None and str(task.id) not in self.kickoff.tasks:
            self.kickoff.tasks.add(str(task.id))
            self.watch.record_message(self.kickoff.run_id, task.description, agent=self.agent)


def _name_of(agent: Any) -> str:
    return str(getattr(agent, "role", "agent")).strip()


def _is_typed(task: Any) -> bool:
    """Returns True if something else than a text is to come of a task."""
    names = ("output_pydantic", "output_json", "response_model")
    return any(getattr(task, name, None) is not None for name in names)


def _usage_of(reports: list[Any]) -> dict[str, Any]:
    usages = [UsageMetrics.from_provider_dict(report) for report in reports if isinstance(report, dict)]
    if not any(usages):
        return {}
    total = UsageMetrics()
    for usage in usages:
        if usage is not None:
            total.add_usage_metrics(usage)
    cached = {
        "cached_tokens": total.cached_prompt_tokens,
        "cache_write_tokens": total.cache_creation_tokens,
    }
    return {
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "prompt_tokens_details": cached,
    }


def _begin(context: Any) -> None:
    if isinstance(context.crew, Crew):
        _kickoffs[context.crew] = _Kickoff()


def _record_tool(context: Any) -> None:
    kickoff = _kickoffs.get(context.crew) if isinstance(context.crew, Crew) else None
    if kickoff is None or kickoff.watch is None:
        return
    agent = _name_of(context.agent)
    args = dict(context.tool_input or {})
    call, answer = (context.tool_name, args), context.tool_result
    if str(answer).startswith(_REPEATED):
        # It did not run, since its answer is known: the one before. CrewAI's words differ from time to time.
        before = kickoff.latest.get(agent)
        answer = before[1] if before is not None and before[0] == call else None
    kickoff.latest[agent] = (call, answer)
    kickoff.watch.record_tool_call(kickoff.run_id, context.tool_name, args, answer, agent=agent)


def _end(context: Any) -> None:
    kickoff = _kickoffs.pop(context.crew, None) if isinstance(context.crew, Crew) else None
    if kickoff is not None and kickoff.watch is not None:
        kickoff.watch.end(kickoff.run_id)


# Hooks of CrewAI are those of the process; these act on crews whose model is watched.
register(InterceptionPoint.EXECUTION_START, _begin)
register(InterceptionPoint.POST_TOOL_CALL, _record_tool)
register(InterceptionPoint.EXECUTION_END, _end)
