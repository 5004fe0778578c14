"""Loops of the harness: it puts the same words in again and again, and nothing is done between.

A stop hook that is never satisfied, a goal that cannot be met, an autopilot without a task, a program that
sends one prompt: the model answers in ever new words, or looks at what it knows, and cannot end it. What
ends it for this rule is anything that bears witness to work since the words came last: an answer that was not
known, of a call that did not fail. So a goal that is worked on, or a hook that is satisfied after some
rounds, is none. A glance bears no such witness: one or two looks at something small, in a round that did
nothing else; only the same words have to come once more.

The words are the same where most of them are, numbers aside, and they name nothing that was generated since:
a report of another job is about another job. Words of a person count only where they are long and come
again to the letter, as a program sends them.
"""

from __future__ import annotations

import re
from typing import Final
from zlib import crc32

from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Role
from ebbtide.events.identity import key_of
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.text.noise import is_generated

_READ: Final = 2_000  # characters of an injected text that are compared
_LONG: Final = 80  # characters from which nobody types a text again to the letter
_WORD: Final = re.compile(r"\w+")
_NUMBERED: Final = re.compile(r"\b[A-Za-z]{1,20}[-_#]?\d{2,12}\b")  # a thing that is one of many
#: How injected texts name what puts them in, the most exact first.
_AUTHORS: Final = (
    re.compile(r"hook_run_id=\"([^\"]{1,60})\""),
    re.compile(r"\A[\w ]{0,30}hook[\w ]{0,30}:?\s{0,3}\[([^\]\n]{1,60})\]", re.IGNORECASE),
    re.compile(r"\A\s{0,9}<\w{1,40} source=\"([^\"]{1,60})\""),
    re.compile(r"\A\s{0,9}<([\w-]{1,40})"),
    re.compile(r"\A([\w ]{0,30}hook)\b", re.IGNORECASE),
)
_GLANCES: Final = 2  # calls of a round that only looks to see whether anything has changed
_NAMED: Final = 40  # characters of the words where nothing names their author


class Injections(Detector):
    """Counts how often the same words were put in with nothing done since the last time."""

    _words: frozenset[int] = frozenset()
    _names: frozenset[int] = frozenset()
    _count: int = 0
    _first: int = 0
    _said: int = 0  # what a person said last
    _witnessed: int = 0
    _deeds: int = 0
    _calls: int = 0
    _glanced: bool = False
    _has_answered: bool = False
    _goes_on: bool = False

    def see(self, moment: Moment) -> Finding | None:
        """Take what a model said, or what was put in."""
        event = moment.event
        if isinstance(event, ModelCall):
            self._has_answered = self._has_answered or event.part is ModelPart.WHOLE
            return None
        least, text = self._rules.injections, _injected(event)
        if least is None or not text:
            self._hear(event)
            return None
        if not self._goes_on_with(text, moment.number):
            return None
        least += self._glanced
        if self._count < least:
            return None
        goes_on, self._goes_on = self._goes_on, True
        author = author_of(text)
        return Finding(
            kind=LoopKind.INJECTION,
            key=key_of(LoopKind.INJECTION, author),
            count=self._count,
            at=least,
            calls=0,
            first_event=self._first,
            begins=not goes_on,
            tools=(author,),
        )

    def _hear(self, event: Event) -> None:
        """Take words that nothing put in: a person who says something new begins afresh."""
        if not isinstance(event, Message) or event.role is not Role.USER or not event.text:
            return
        said = _number(event.text)
        if said != self._said:
            self.reset()
            self._said = said

    def _goes_on_with(self, text: str, number: int) -> bool:
        """Count an injected text; returns True if it is the one before, and nothing was done in between."""
        tokens = {word for word in _WORD.findall(text[:_READ].lower()) if not word.isdigit()}
        words = frozenset(map(_number, tokens))
        generated = [word for word in tokens if is_generated(word)]
        names = frozenset(map(_number, (*generated, *_NUMBERED.findall(text[:_READ]))))
        is_same = bool(words) and share(words, self._words) >= self._rules.shared_words
        is_same = is_same and names <= self._names
        memory = self._memory
        witnessed, self._witnessed = self._witnessed, memory.witnessed
        deeds, self._deeds = self._deeds, memory.deeds
        calls, self._calls = self._calls, memory.repetition.calls
        if is_same and not self._has_answered:
            return False  # one thing said in two lines
        self._has_answered = False
        self._words, self._names = words, names
        is_idle = witnessed == self._witnessed
        is_glance = deeds == self._deeds and self._calls - calls <= _GLANCES
        if is_same and (is_idle or is_glance):
            self._count += 1
            self._glanced = self._glanced or not is_idle
            return True
        self._count, self._first, self._goes_on, self._glanced = 1, number, False, False
        return True


def _injected(event: Event) -> str | None:
    """The words that a harness put in, or a program in the name of a person; else None."""
    if isinstance(event, Notice):
        # What reports an error answers an attempt: the model can make another.
        return event.text if event.kind is NoticeKind.NOTE and not event.error else None
    if isinstance(event, Message) and event.role is Role.USER and event.text and len(event.text) >= _LONG:
        return event.text
    return None


def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


def author_of(text: str) -> str:
    """Returns the name of what puts a text in, as far as the text says it; else its first words.

    >>> author_of('<hook_prompt hook_run_id="stop:1:~/.codex/hooks.json">Not yet.</hook_prompt>')
    'stop:1:~/.codex/hooks.json'
    >>> author_of("Stop hook feedback: [node stop.mjs]: no test run"), author_of("Keep going until it is.")
    ('node stop.mjs', '"Keep going until it is."')
    """
    if (author := named_author(text)) is not None:
        return author
    words = " ".join(text[:_READ].split())
    return f'"{words}"' if len(words) <= _NAMED else f'"{words[:_NAMED]}\u2026"'


def named_author(text: str) -> str | None:
    """Returns the name of what puts a text in; None where the text does not say it."""
    matches = (pattern.search(text[:_READ]) for pattern in _AUTHORS)
    return next((match[1] for match in matches if match is not None), None)


def known_injection(number: int) -> Event:
    """An event of a run in which a hook never lets the model stop."""
    if number % 2:
        return Notice(kind=NoticeKind.NOTE, text="Stop hook feedback: the report is not complete.")
    return ModelCall(text=f"It is complete, as said {number} lines above.")
