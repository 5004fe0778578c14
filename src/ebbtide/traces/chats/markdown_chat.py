"""Chats of agents that were exported as markdown: by SpecStory, Cursor, and exporters of many chats.

What a person says is a message, what a model says a call of a model, and a use of a tool a call of that tool,
as far as the export shows it. Thoughts are kept apart (`ModelPart.THOUGHT`): they are said to nobody, make no
round and decide nothing. A sub-agent ("Agent - sidechain") is a chain of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Role, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.markdown_tool_uses import ShownCall, Words, parts_of, words_of
from ebbtide.traces.chats.markdown_turns import MarkdownTurn, SpeakerLine, TurnRole, turns_in
from ebbtide.traces.records.fields import seconds
from ebbtide.traces.records.injected_words import is_injected

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?[ ]?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
_MODEL = re.compile(r"(?:model:?[ ]+)?(?P<model>[A-Za-z][\w.:/@+-]{1,80})(?:,.*)?$", re.ASCII)


class MarkdownChatReader:
    """Reads a whole chat, which is one record."""

    duplicates = 0

    def __init__(self) -> None:
        self._asides = 0
        self._aside_ts: float | None = None
        self._is_aside = False

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events of a chat."""
        turns = turns_in(value) if isinstance(value, str) else []
        models = {turn.opening.name.lower() for turn in turns if turn.opening.speaker is TurnRole.MODEL}
        return [event for turn in turns for event in self._events(turn, has_several=len(models) > 1)]

    def finish(self) -> Sequence[Event]:
        """Nothing: no event stays open."""
        return ()

    def _events(self, turn: MarkdownTurn, *, has_several: bool) -> list[Event]:
        opening = turn.opening
        ts, model = _time_and_model(opening.note)
        common: dict[str, Any] = {"ts": ts, "chain_id": self._chain(opening, ts, model)}
        if opening.is_aside:
            common["agent"] = common["chain_id"]
        elif has_several and opening.speaker is TurnRole.MODEL:
            common["agent"] = opening.name
        if opening.speaker is TurnRole.TOOL:
            text = "\n".join(turn.lines).strip()
            return [ToolCall(name=opening.note or "tool", result=text, **common)]
        is_asked = opening.speaker is not TurnRole.MODEL or (opening.is_aside and model is None)
        if is_asked:
            return [_asked(words.text, opening.speaker, common) for words in words_of(turn.lines)]
        return [_done(part, model, common) for part in parts_of(turn.lines)]

    def _chain(self, opening: SpeakerLine, ts: float | None, model: str | None) -> str:
        """The chain of a turn. A sub-agent begins with what it is asked, or where the time goes back."""
        if not opening.is_aside:
            self._is_aside, self._aside_ts = False, None
            return ""
        goes_back = ts is not None and self._aside_ts is not None and ts < self._aside_ts
        if not self._is_aside or model is None or goes_back:
            self._asides += 1
        self._is_aside, self._aside_ts = True, ts
        return f"sidechain {self._asides}"


def _asked(text: str, speaker: TurnRole, common: dict[str, Any]) -> Event:
    if is_injected(text):
        return Notice(kind=NoticeKind.NOTE, text=text, **common)
    role = Role.SYSTEM if speaker is TurnRole.SYSTEM else Role.USER
    return Message(text=text, role=role, **{**common, "agent": None})


def _done(part: Words | ShownCall, model: str | None, common: dict[str, Any]) -> Event:
    if isinstance(part, ShownCall):
        return ToolCall(name=part.name, args=part.args, result=part.result, error=part.error, **common)
    usage = Usage(model=model) if model else None
    kind = ModelPart.THOUGHT if part.is_thought else ModelPart.WHOLE
    return ModelCall(text=part.text, part=kind, usage=usage, **common)


def _time_and_model(note: str) -> tuple[float | None, str | None]:
    """The seconds of a time, and the model, of what stands in brackets behind a name."""
    moment = _TIME.search(note)
    ts = seconds(moment[0].replace(" Z", "Z")) if moment else None
    rest = (note[: moment.start()] + note[moment.end() :]).strip(" ,|\u00b7") if moment else note.strip()
    model = _MODEL.match(rest)
    return ts, model["model"] if model else None
