"""Repetition in the model's words: the same message again, or a text that ends in copies of itself.

A text is read while it streams, too.

A text chants when its last words are several copies of one block. Markup repeats by nature, so code between
fences, table rows, list items, headings, quotes and rules are left out and break a chant.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any
from zlib import crc32

from ebbtide.divergence.chain_memory import ChainMemory, Detector
from ebbtide.divergence.cycles import CycleDetector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.events.event import Event, ModelCall, ModelPart, Notice, NoticeKind, Stop
from ebbtide.events.identity import UNKNOWN, Key, key_of
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind

_WORD = re.compile(r"\w+")
_MARKUP = re.compile(r"\s*(?:[-*+•]\s|\d+[.)]\s|\||#|>|[-=_*~]{3,}\s*$)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ALTERNATING = 8  # messages in one turn of a monologue
_LINE = 1_000  # characters of one line that are kept while it streams
_LONGEST_WORD = 256  # characters from which what streams without a boundary is data: it breaks a chant
_END = 600  # characters at the end of a message that show whether to look for one
_LONGEST_READ = 100_000  # characters at the end of a message in which a chant is looked for
_ROWS = 20  # equal rows of markup at a limit of the output that are a chant: a list has not that many
_TELLS = ("I ", "I've ", "I\u2019ve ", "Address: ")  # how messages begin that may tell an action
_OPENING = 8  # characters of that which are kept: they tell whether it opens a fence


def may_tell(text: str | None, agent: str | None) -> bool:
    """True if a message may state an action, or be an order: a cheap look that hardly any message passes."""
    return (agent is not None and "->" in agent) or (text is not None and text.startswith(_TELLS))


class Chant:
    """Reads a text in pieces and says how many copies of a block it ends in.

    Args:
        rules: Of which size.
        with_markup: Whether markup counts as words.
    """

    __slots__ = ("_cycles", "_fenced", "_line", "_position", "_with_markup", "period", "words")

    def __init__(self, rules: LoopRules, *, with_markup: bool = False) -> None:
        self._with_markup = with_markup
        self._cycles = CycleDetector(max_period=rules.chant_period, copies=rules.chant_copies or 4)
        self.reset()

    def reset(self) -> None:
        """A new text begins."""
        self._cycles.reset()
        self._line = ""  # the line so far, for its first characters tell whether it is markup
        self._position = 0  # characters of it whose words were counted
        self._fenced = False
        self.period = 0
        self.words = 0

    def feed(self, piece: str, *, end: bool = False) -> int | None:
        """Read one more piece; copies of the block at the end, or None where there is no chant.

        Args:
            piece: The next characters of the text.
            end: Whether the text ends here, so that its last word is whole.
        """
        copies = None
        for line in piece.splitlines(keepends=True):
            self._line += line
            whole = self._line[-1] in "\r\n"
            copies = self._read_line(copies, whole=whole or end)
            if whole:
                self._line, self._position = "", 0
            elif len(self._line) - self._position > _LONGEST_WORD:
                self._cycles.reset()
                self._line, self._position = self._line[self._position :][:_OPENING], 0
            elif len(self._line) > _LINE:
                self._line, self._position = self._line[self._position :], 0
        return copies

    def _read_line(self, copies: int | None, *, whole: bool) -> int | None:
        line = self._line
        if _FENCE.match(line) and not self._with_markup:
            if whole:
                self._fenced = not self._fenced
                self._cycles.reset()
            return None
        if self._fenced or (_MARKUP.match(line) and not self._with_markup):
            self._cycles.reset()
            self._position = len(line)
            return None
        # The last word may go on in the next piece, and too short a line may yet turn out to be markup.
        end = len(line) if whole else len(line.rstrip()) and _last_boundary(line)
        for word in _WORD.finditer(line, self._position, end):
            period = self._cycles.push(crc32(word.group().lower().encode("utf-8", "surrogatepass")))
            copies = None
            if period is not None:
                self.period = period
                self.words = self._cycles.run(period)
                copies = self.words // period
        self._position = max(self._position, end)
        return copies

    def to_state(self) -> list[Any]:
        """All that later answers depend on."""
        return [list(self._cycles.recent), self._line, self._position, self._fenced]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        recent, line, position, fenced = state
        self._cycles.restore(recent)
        self._line, self._position, self._fenced = line, position, fenced


def _last_boundary(line: str) -> int:
    end = len(line)
    while end and (line[end - 1].isalnum() or line[end - 1] == "_"):
        end -= 1
    return end


def _may_chant(words: str, text: str, copies: int, longest: int) -> bool:
    """True if the end of a text may be copies of a block: a look at its last words, which clears most.

    Args:
        words: The words of the text in small letters.
        text: The text itself.
        copies: Copies of the block that make a chant.
        longest: Words that a block may have.
    """
    # The last word stands in each of the copies.
    last = _WORD.findall(words[-64:])
    if last and words.isascii() and words.count(last[-1]) < copies:
        return False
    # And each word of the last copies but one is the one a block before it, as far back as is looked.
    tail = [word.lower() for word in _WORD.findall(text[-_END:])]
    if len(text) > _END:
        del tail[:1]  # it may be cut
    end = len(tail)
    for period in range(1, min(longest, end - 1) + 1):
        if tail[-1 - period] == tail[-1]:
            run = min((copies - 1) * period, end - period)
            if tail[end - run :] == tail[end - run - period : end - period]:
                return True
    return end <= longest


class Speech(Detector):
    """Words of the model of one chain since something else happened, and condensations of its context."""

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self.chant: Chant | None = None
        self._messages = CycleDetector(max_period=_ALTERNATING, copies=3)
        self._recent: deque[tuple[Key, int]] = deque(
            maxlen=3 * _ALTERNATING
        )  # what was said, number of the event
        self._monologue: Key = UNKNOWN  # the monologue that is going on, or UNKNOWN
        self._chants = False
        self.condensed = 0  # condensations in a row

    def reset(self) -> None:
        """Something else happened: a call, or word from a person."""
        if self._recent:
            self._messages.reset()
            self._recent.clear()
            self._monologue = UNKNOWN
        if self.chant is not None:
            self.chant.reset()
            self._chants = False
        self.condensed = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take what the model says, or that its context was condensed."""
        event = moment.event
        if isinstance(event, ModelCall):
            if event.part is ModelPart.CHUNK:
                return self._stream(event.text, moment.number) if event.text else None
            if not moment.text or event.error:
                return None  # what stands in the place of an answer was said by nobody
            is_cut = event.stop is Stop.LENGTH
            return self._message(moment.key, moment.text, event.text or "", moment.number, is_cut=is_cut)
        if isinstance(event, Notice) and event.kind is NoticeKind.COMPACTION:
            return self._condensation(moment.number)
        return None

    def _condensation(self, event: int) -> Finding | None:
        """The context was condensed."""
        self.condensed += 1
        least = self._rules.condensations
        if least is None or self.condensed < least:
            return None
        return Finding(
            kind=LoopKind.CONDENSATION,
            key=key_of(LoopKind.CONDENSATION),
            count=self.condensed,
            at=least,
            calls=0,
            first_event=event,
            begins=self.condensed == least,
        )

    def _message(self, key: Key, words: str, text: str, event: int, *, is_cut: bool) -> Finding | None:
        """A whole message or thought.

        Args:
            key: Stands for its part of the call and its words.
            words: Its words in small letters, with a blank between.
            text: The text itself.
            event: Number of the event.
            is_cut: Whether the limit of its output cut it: then rows of markup that repeat are a chant too.
        """
        finding = self._take(key, self._rules.messages, event)
        if finding or len(text) < self._rules.chant_words // 2:  # fewer characters than words that it takes
            return finding
        most, longest = self._rules.chant_copies or 0, self._rules.chant_period
        # What a limit cut ends in the middle of a word, which is none of the copies.
        for end in dict.fromkeys((len(text), _last_boundary(text))):
            if end < len(text):
                words = words[: words.rfind(" ") + 1]
            if end and _may_chant(words, text[:end], most, longest):
                chant = Chant(self._rules)
                copies = chant.feed(text[max(0, end - _LONGEST_READ) : end], end=True)
                if copies is None and is_cut:
                    chant = Chant(self._rules, with_markup=True)
                    copies = chant.feed(text[max(0, end - _LONGEST_READ) : end], end=True)
                    copies = copies if copies is not None and copies >= _ROWS else None
                if copies is not None:
                    return self._chanting(chant, copies, self._rules.chant_words // 2, event)
        self._chants = False
        return None

    def _stream(self, piece: str, event: int) -> Finding | None:
        """A piece of a message."""
        if self.chant is None:
            self.chant = Chant(self._rules)
        return self._chanting(self.chant, self.chant.feed(piece), self._rules.chant_words, event)

    def _take(self, key: Key, least: int | None, event: int) -> Finding | None:
        self._recent.append((key, event))
        period = self._messages.push(key)
        if period is None or least is None:
            self._monologue = UNKNOWN
            return None
        run = self._messages.run(period)
        if run // period < least:
            return None
        turn = [message for message, _ in self._recent][-period:]
        loop = key_of(LoopKind.MONOLOGUE, *min(turn[start:] + turn[:start] for start in range(period)))
        goes_on, self._monologue = self._monologue == loop, loop
        return Finding(
            kind=LoopKind.MONOLOGUE,
            key=loop,
            count=run // period,
            at=least,
            calls=run,
            first_event=self._recent[-min(run, len(self._recent))][1],
            begins=not goes_on,
            period=period,
        )

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        recent = [[key.hex(), event] for key, event in self._recent]
        return [
            recent,
            self._monologue.hex(),
            self._chants,
            self.condensed,
            self.chant.to_state() if self.chant else None,
        ]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        recent, monologue, self._chants, self.condensed, chant = state
        self._monologue = bytes.fromhex(monologue)
        for key, event in recent:
            self._recent.append((bytes.fromhex(key), event))
            self._messages.push(bytes.fromhex(key))
        if chant is not None:
            self.chant = Chant(self._rules)
            self.chant.restore(chant)

    def _chanting(self, chant: Chant, copies: int | None, words: int, event: int) -> Finding | None:
        if copies is None or self._rules.chant_copies is None or chant.words < words:
            self._chants = False
            return None
        goes_on, self._chants = self._chants, True
        return Finding(
            kind=LoopKind.CHANTING,
            key=key_of(LoopKind.CHANTING, chant.period),
            count=copies,
            at=self._rules.chant_copies,
            calls=0,
            first_event=event,
            begins=not goes_on,
            period=chant.period,
            measure=Measurement(Unit.WORDS, chant.words, words),
        )


def known_monologue(_: int) -> Event:
    """An event of a run in which a model says one thing."""
    return ModelCall(text="I am waiting for your answer.")


def known_chant(_: int) -> Event:
    """An event of a run whose text ends in copies of itself."""
    lament = "I will mark the task as complete now, and then I am done with all of it. "
    return ModelCall(text=lament, part=ModelPart.CHUNK)


def known_condensation(_: int) -> Event:
    """An event of a run that only condenses its context."""
    return Notice(kind=NoticeKind.COMPACTION)
