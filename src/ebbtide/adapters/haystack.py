"""Haystack: the hooks of an ``Agent``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Unpack
from weakref import WeakKeyDictionary

from haystack.components.agents.state.state import State
from haystack.components.agents.state.state_utils import replace_values
from haystack.dataclasses import ChatMessage, ChatRole

from ebbtide.adapters.run_watch import RunWatch, WatchOptions
from ebbtide.errors import ConfigError

try:
    from haystack.hooks.protocol import VALID_HOOK_POINTS
except ImportError as error:
    raise ConfigError(f"haystack needs a later haystack-ai: {error}") from error


@dataclass(slots=True)
class _WatchedState:
    """Facts about the run whose state it is.

    Args:
        answer: Answer of the model that was recorded last.
        note: Note for the model with this call.
    """

    run_id: str
    answer: ChatMessage | None = None
    note: ChatMessage | None = None


class _HaystackHook:
    """A hook, for one point in the run."""

    def __init__(self, work: Callable[[State], None]) -> None:
        self._work = work

    def run(self, state: State) -> None:
        self._work(state)

    async def run_async(self, state: State) -> None:
        self._work(state)  # without a thread: it takes far less than the way to one


class EbbtideHaystackHooks(dict[str, list[Any]]):
    """Hooks that watch the runs of agents: ``Agent(chat_generator=generator, hooks=EbbtideHaystackHooks())``.

    A note is put before the next call of the model, for that call alone. A run that is to end stops with the
    exit reason ``ebbtide_stop`` or ``ebbtide_escalate``, and its reason as the last message.

    Args:
        others: Hooks of your own, by the points at which they run; at each they come after ours.

    Raises:
        ConfigError: This version of Haystack does not call hooks at all points that are needed.
    """

    def __init__(
        self, others: Mapping[str, list[Any]] | None = None, **options: Unpack[WatchOptions]
    ) -> None:
        points: dict[str, Callable[[State], None]] = {
            "before_run": self._begin,
            "before_llm": self._advise,
            "before_tool": self._record_answer,
            "after_tool": self._record_tools,
            "on_exit": self._record_answer,
            "after_run": self._end,
        }
        missing = sorted(set(points) - set(VALID_HOOK_POINTS))
        if missing:
            raise ConfigError(f"haystack needs a later haystack-ai: the hook point {missing[0]} is missing")
        super().__init__({point: [_HaystackHook(work)] for point, work in points.items()})
        for point, hooks in (others or {}).items():
            self.setdefault(point, []).extend(hooks)
        self.watch = RunWatch(**options)
        self._states: WeakKeyDictionary[State, _WatchedState] = WeakKeyDictionary()

    def _begin(self, state: State) -> None:
        run_id = self._of(state).run_id
        words = _last(state, lambda message: not message.is_from(ChatRole.ASSISTANT))
        for message in words:
            if message.is_from(ChatRole.USER):
                self.watch.record_message(run_id, message.texts)

    def _advise(self, state: State) -> None:
        here = self._of(state)
        advice = self.watch.advise(here.run_id)
        if advice.refusal:
            text = self.watch.last_words(here.run_id, advice)
            state.set("messages", [ChatMessage.from_assistant(text)])
            state.set("stop_run", f"ebbtide_{advice.verdict.action.value}")
            return
        if advice.note:
            here.note = ChatMessage.from_user(advice.note)
            state.set("messages", [here.note])
        if advice.without_tools:
            state.data["tools"].clear()  # the list that this step alone calls the model with

    def _record_answer(self, state: State) -> None:
        here = self._of(state)
        self._take_note_back(state, here)
        answers = _last(state, lambda message: message.is_from(ChatRole.ASSISTANT))
        if not answers or answers[-1] is here.answer:
            return
        here.answer = answers[-1]
        for message in answers:
            self.watch.record_answer(
                here.run_id,
                message.text or "",
                model=message.meta.get("model"),
                usage=message.meta.get("usage") or {},
            )

    def _record_tools(self, state: State) -> None:
        run_id = self._of(state).run_id
        for message in _last(state, lambda message: message.is_from(ChatRole.TOOL)):
            for answer in message.tool_call_results:
                self.watch.record_tool_call(
                    run_id,
                    answer.origin.tool_name,
                    answer.origin.arguments,
                    answer.result,
                    error=bool(answer.error),
                )

    def _end(self, state: State) -> None:
        here = self._of(state)
        self._take_note_back(state, here)
        self.watch.end(here.run_id)

    def _of(self, state: State) -> _WatchedState:
        here = self._states.get(state)
        if here is None:
            here = self._states[state] = _WatchedState(self.watch.new_run())
        return here

    @staticmethod
    def _take_note_back(state: State, here: _WatchedState) -> None:
        if here.note is not None:
            messages = [message for message in state.data["messages"] if message is not here.note]
            state.set("messages", messages, handler_override=replace_values)
            here.note = None


def _last(state: State, belongs: Callable[[ChatMessage], bool]) -> list[ChatMessage]:
    """Returns the messages at the end that belong together, in their order."""
    return list(takewhile(belongs, reversed(state.data["messages"])))[::-1]
