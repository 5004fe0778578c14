"""Chat histories of aider: ``.aider.chat.history.md``.

``#### `` stands before each line of what the person says, ``> `` before what aider itself says, such as the
model and what an answer cost; all other lines are the model's. Each start of aider is a run. Edits and
commands are not calls of tools here: the history shows that there was one, and not what was in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.markdown_tool_uses import code_lines
from ebbtide.traces.input.document import Document
from ebbtide.traces.records.fields import dollars, seconds

_START, _PERSON, _HARNESS, _MODEL_SAYS = "start", "person", "harness", "model"
_BEGINS = re.compile(r"# aider chat started at (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_FIRST = re.compile(rb"\s*# aider chat started at \d")
_NAMES_MODEL = re.compile(r"(?:Main )?[Mm]odels?: (?P<model>[\w./:@+-]{2,100})")
_TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]{1,12}[kM]?) sent(?:, [\d.,]{1,12}[kM]? cache (?:write|hit))*, "
    r"(?P<received>[\d.,]{1,12}[kM]?) received\."
    r"(?: Cost: \$(?P<cost>[\d.]{1,12}) message)?"
)
_TIMES = {"k": 1_000, "M": 1_000_000}


def refuse(document: Document) -> str | None:
    """Returns why plain text is no history of aider; None if it is."""
    return None if _FIRST.match(document.data) else "it does not begin with '# aider chat started at'"


class AiderReader:
    """Reads a whole history, which is one record."""

    duplicates = 0

    def __init__(self) -> None:
        self._model: str | None = None

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events of a history."""
        events: list[Event] = []
        for kind, words in _parts(value) if isinstance(value, str) else ():
            events += self._event(kind, words, events)
        return events

    def finish(self) -> Sequence[Event]:
        """Nothing: no event stays open."""
        return ()

    def _event(self, kind: str, words: str, events: Sequence[Event]) -> Sequence[Event]:
        if kind == _START:
            begins = _BEGINS.match(words)
            ts = seconds(begins["time"]) if begins else None
            return (Notice(kind=NoticeKind.RUN_START if events else NoticeKind.NOTE, text=words, ts=ts),)
        if kind == _PERSON:
            return (Message(text=words),)
        if kind == _MODEL_SAYS:
            return (ModelCall(text=words, usage=Usage(model=self._model) if self._model else None),)
        if match := _NAMES_MODEL.search(words):
            self._model = match["model"]
        if (price := _TOKENS.search(words)) and (call := _latest_call(events)):
            call.usage = Usage(
                model=self._model,
                input_tokens=_count(price["sent"]),
                output_tokens=_count(price["received"]),
                cost_usd=dollars(price["cost"]),
            )
        return (Notice(kind=NoticeKind.NOTE, text=words),)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Runs of lines of one speaker, without their marks."""
    lines = text.replace("\r\n", "\n").split("\n")
    in_code = code_lines(lines)
    # Aider ends the lines of the person with two blanks, which tells them from headings of an answer.
    has_ends = any(line.startswith("#### ") and line.endswith("  ") for line in lines)
    kinds = [
        _MODEL_SAYS if inside else _kind(line, has_ends=has_ends)
        for line, inside in zip(lines, in_code, strict=True)
    ]
    for kind, group in groupby(zip(kinds, lines, strict=True), key=lambda pair: pair[0]):
        texts = [line if kind in (_MODEL_SAYS, _START) else line.lstrip("#>").strip() for _, line in group]
        if words := "\n".join(texts).strip():
            yield kind, words


def _kind(line: str, *, has_ends: bool) -> str:
    if line.startswith("# ") and _BEGINS.match(line):
        return _START
    if line.startswith("####") and line[4:5] in ("", " ") and (not has_ends or line.endswith("  ")):
        return _PERSON
    return _HARNESS if line.startswith(">") else _MODEL_SAYS


def _latest_call(events: Sequence[Event]) -> ModelCall | None:
    return next((event for event in reversed(events) if isinstance(event, ModelCall)), None)


def _count(amount: str) -> int | None:
    number = amount.rstrip("kM").replace(",", "")
    try:
        return round(float(number) * _TIMES.get(amount[-1], 1))
    except ValueError:
        return None
