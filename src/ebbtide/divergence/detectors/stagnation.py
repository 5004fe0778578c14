"""Stretches in which nothing new comes, whatever moves: the answers hold no new word.

Searches in ever new words that bring the same hits, agents that hand a job back and forth, promises that no
call follows: what they have in common is a vocabulary that no longer grows. An answer brings something new
where it holds words or numbers that no answer held before, apart from those of the question and from noise. A
deed brings something new where its arguments do: a file that is written, a record that is changed. A change
that was made before, and undone in between, is none.

A sweep is no stagnation: one call after the other for another name each, with an answer that is mostly the
same, is how things are checked one by one. Each step takes back one call of the stretch.

It is a suspicion: words can be known and still say something new together.

Reading every answer word by word costs ten times what everything else does, and most calls bring
something new. So calls are only *probed*, and not all of them: where words of a call were in none of
those before, it brought something, and no stretch without news can reach over it. The next probe is due
before such a stretch could be full. Where a probe finds nothing new, the calls that are kept are read
after all, and so are those that follow, until news comes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from zlib import crc32

from ebbtide.divergence.chain_memory import ChainMemory, Detector, probe_call
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.engine_state import pack_keys, unpack_keys
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of, settled
from ebbtide.events.outcome import states_deed
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.text.noise import is_generated, without_noise

_HEAD, _TAIL = 1_000, 300  # characters of a text that are read
_WORDS = 512  # that are known at least; there may be twice as many
_ANSWERS = 64  # short answers that are known again
_CHANGES = 16  # that are known again
_SHARE = 0.06  # of the words of an answer that have to be new
_ALIKE = 0.75  # of the words of two answers from which they are nearly the same
_UNSEEN = 0.2  # of the lines of an answer up to which they were seen before
_RECENT = 6  # answers that one is compared with
_TOOLS = 8  # whose latest arguments are known, and that a stretch names
_ACKNOWLEDGEMENT = 16  # words up to which an answer may only say that something was done

_WORD = re.compile(r"[^\W\d_]{2,}|(?<![\d.])\d++(?!\w)")
# The same in small letters of ASCII, in a quarter of the time.
_ASCII_WORD = re.compile(r"[a-z]{2,}|[0-9](?<![0-9.][0-9])[0-9]*+(?![0-9a-z_])")
_BREAK = re.compile(r"\n|[{}\[\];]|(?<=[.!?]) |, \"")
_PLACE = re.compile(r"^\s*(?:[\w./-]+:)?\d+\s*[:\t|\u2192-]\s*")
_KEPT = 24  # calls that are read when a probe finds nothing new
_ANSWER_WORD = re.compile(r"[^\W\d_]{4,}")
_ARGUMENT_WORD = re.compile(r"\w{3,}|\w*\d\w*")
_COMPARED = 12  # calls before a probe in which its words are looked for
_SEEN = 600  # characters of each that are
_STALE = 3  # probes in a row that find nothing new before the calls are read
_SAMPLE = 6  # words that are looked for
_LEAST = 2  # of them that have to be new, where there are as many
_BRIEF = 120  # characters up to which an answer may only acknowledge, so that its arguments are what is new
_PIECE = 8  # characters from which a piece says something
_MIXED = re.compile(r"(?<![A-Za-z])(?=\w{5})[A-Za-z]*+\d\w*")  # shorter ones are not generated
#: Fields of JSON that are about the answer and not in it.
_ENVELOPE = re.compile(
    r"\"\w*(?:took|elapsed|duration|latency|response_?time|time_?stamp|_ms|request_?id|request|trace|span_?id|query_?id|"
    r"cursor|token|nonce|etag|score|age_s|created_?at|updated_?at|fetched_?at|session|seed)\w*\"\s*:\s*"
    r"(?:\"[^\"]{0,80}\"|[\d.]+)",
    re.IGNORECASE,
)


def words_of(text: str) -> set[str]:
    """The words and numbers of a text, without noise and generated names."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    text = without_noise(text)
    if '":' in text:
        text = _ENVELOPE.sub(" ", text)
    text = _MIXED.sub(_generated, text)
    text = text.lower()
    return set((_ASCII_WORD if text.isascii() else _WORD).findall(text))


def pieces_of(text: str) -> set[str]:
    """The lines of a text without numbers and places; of a text of few lines, its sentences and fields."""
    text = text[:_HEAD]
    pieces = text.splitlines() if text.count("\n") > 1 else _BREAK.split(text)
    return {piece for line in pieces if len(piece := _PLACE.sub("", line).strip()) >= _PIECE}


def _generated(match: re.Match[str]) -> str:
    word = match.group()
    return " " if is_generated(word) else word


class Vocabulary:
    """Words that came before, in two generations, so that memory is bounded."""

    __slots__ = ("_older", "_younger")

    def __init__(self) -> None:
        self._younger: set[int] = set()
        self._older: set[int] = set()

    def add(self, words: set[str]) -> int:
        """Add words; how many of them were not known."""
        codes = {crc32(word.encode("utf-8", "surrogatepass")) for word in words}
        fresh = codes - self._younger
        if not fresh:
            return 0
        if len(self._younger) >= _WORDS:
            self._older, self._younger = self._younger, set()
        self._younger |= fresh
        return len(fresh - self._older)

    def to_state(self) -> list[list[str]]:
        """All that later answers depend on."""
        return [_packed(self._older), _packed(self._younger)]

    def restore(self, state: list[list[str]]) -> None:
        """Take up what `to_state` gave."""
        self._older, self._younger = (
            {int.from_bytes(code) for code in unpack_keys(words)} for words in state
        )


def _packed(codes: set[int]) -> list[str]:
    return pack_keys([code.to_bytes(4) for code in sorted(codes)])


@dataclass(slots=True)
class StaleStretch:
    """The stretch that goes on."""

    count: int = 0  # calls, or messages that no call follows
    first_event: int = 0
    tools: dict[str, None] = field(default_factory=dict)


class Stagnation(Detector):
    """Follows what is new in the answers, deeds and messages of one chain."""

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self._calls: deque[Moment] = deque(maxlen=_KEPT)
        self._is_close = False  # whether every call is read
        self._calm = 0  # calls in a row that were read and brought something
        self._rest = 0  # calls before the next probe
        self._stale = 0  # probes in a row that found nothing new
        self.vocabulary = Vocabulary()
        self._arguments = Vocabulary()
        self._pieces = Vocabulary()
        self._answers: dict[Key, None] = {}
        self._changes: dict[Key, None] = {}
        self.stretch = StaleStretch()
        self._recent: deque[set[str]] = deque(maxlen=_RECENT)
        self._latest: dict[str, list[str]] = {}  # tool -> the terms of its latest arguments
        self.has_found = False  # whether the latest answer held something new

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.stretch = StaleStretch()
        self._changes.clear()
        self._calls.clear()
        self._is_close = False
        self._rest = self._stale = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take a call: read it where nothing new has come for some; else probe one now and then."""
        least = self._rules.nothing_new
        if least is None or moment.text is None:
            return None
        self._calls.append(moment)
        if self._is_close:
            return self._read(moment, moment, least)
        self._rest -= 1
        searches = moment.outcome is None and self._memory.searches
        if self._rest > 0 and not searches:
            return None
        if self._is_fresh(moment):
            self._rest, self._stale = least - _STALE, 0
            if searches and len(moment.text) > _BRIEF:
                moment.has_found = True
            return None
        if self._rest > 0:
            return None
        self._stale += 1
        if self._stale < min(_STALE, least):
            return None
        self._is_close, self._calm = True, 0
        finding = None
        for earlier in tuple(self._calls):
            finding = self._read(earlier, moment, least)
        return finding

    def _read(self, call: Moment, moment: Moment, least: int) -> Finding | None:
        """Read a call word by word, at the moment of the latest."""
        if call.whole_effect is Effect.ACKNOWLEDGE:
            finding = self._think(call)
        else:
            finding = self._look(call)
            moment.has_found = moment.has_found or self.has_found
        self._calm = 0 if self.stretch.count else self._calm + 1
        if self._calm > least:
            self._is_close, self._rest, self._stale = False, least - _STALE, 0
        return finding

    def _is_fresh(self, call: Moment) -> bool:
        """True if a call has words that are in none of those before it."""
        if call.times > 1 or call.has_failed or call.is_empty:
            return False
        before = list(islice(reversed(self._calls), 1, 1 + _COMPARED))
        text = call.beginning
        texts = [earlier.text or "" for earlier in before]  # of calls that are kept, the beginning alone
        may_acknowledge = len(text) <= _BRIEF and not (call.effect is Effect.READ and text in texts)
        # New arguments are enough then, and are found sooner than new words of the answer.
        if may_acknowledge and _asks_anew(call, before):
            return True
        arguments = call.arguments
        words = [word for word in _sample(text, _ANSWER_WORD) if word not in arguments]
        if words:
            return _are_new(words, texts, _LEAST)
        return not may_acknowledge and _asks_anew(call, before)

    def _look(self, call: Moment) -> Finding | None:
        """Take a call by the words of its answer."""
        tool, key, arguments, answer = call.name, settled(call.key), call.arguments, call.beginning
        effect, is_empty, is_failed, is_repeat = (
            call.whole_effect,
            call.is_empty,
            call.has_failed,
            call.times > 1,
        )
        now, event = call.now, call.number
        looks, changes = effect is Effect.READ, effect is Effect.CHANGE
        question, words = words_of(arguments), words_of(answer)
        content = words - question
        fresh = self.vocabulary.add(content)
        is_alike, is_covered = self._is_alike(content), self._is_covered(answer)
        is_step = self._is_step(tool, arguments)
        has_new_words = self._arguments.add(question) > 0
        self.has_found = fresh > _SHARE * len(words) and not is_empty and not is_failed
        if fresh > _SHARE * len(words) and not is_empty:
            self._bring_news()
            return None
        if not looks and not is_failed and states_deed(answer):
            self._bring_news()
            return None
        if is_failed or is_empty:
            return self._count(tool, now, event) if is_alike and not is_step else None
        if looks and is_repeat:
            return self._count(tool, now, event)
        if not content and looks:
            return None  # it repeats what it was asked
        is_short = len(content) <= _ACKNOWLEDGEMENT
        if not looks and (changes or is_short):
            is_again, is_latest = self._is_repeated(key)
            if not is_again:
                self._bring_news()
                return None
            if is_latest and changes:
                return None
        if is_short and self._is_new(answer):
            self._ease()
            return None
        if looks and ((has_new_words and is_step) or not (is_alike or is_covered)):
            self._ease()
            return None
        if not looks and not is_short and not (is_alike or is_covered):
            self._ease()
            return None
        return self._count(tool, now, event)

    def _think(self, call: Moment) -> Finding | None:
        """Take a call whose answer only acknowledges what the model says in its arguments, such as a plan."""
        words = words_of(call.arguments)
        if self._arguments.add(words) > _SHARE * len(words):
            self._bring_news()
            return None
        return self._count(call.name, call.now, call.number)

    def _is_repeated(self, key: Key) -> tuple[bool, bool]:
        """Returns whether a deed was done before, and whether it was the latest one.

        It is the latest from now on.
        """
        is_again = key in self._changes
        is_latest = is_again and next(reversed(self._changes)) == key
        if not is_again and len(self._changes) >= _CHANGES:
            del self._changes[next(iter(self._changes))]
        self._changes.pop(key, None)
        self._changes[key] = None
        return is_again, is_latest

    def _bring_news(self) -> None:
        """A call found or did something new."""
        self.stretch = StaleStretch()

    def _ease(self) -> None:
        """A call that may have brought something takes back one that did not."""
        self.stretch.count = max(self.stretch.count - 1, 0)

    def _is_new(self, answer: str) -> bool:
        """True if a short answer never came before, in the order of its words; it has come from now on."""
        key = key_of(without_noise(answer[:_HEAD]))
        if key in self._answers:
            return False
        if len(self._answers) >= _ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._answers[key] = None
        return True

    def _is_covered(self, answer: str) -> bool:
        """True if most lines of an answer, or parts of one line, came before, wherever that was."""
        pieces = pieces_of(answer)
        fresh = self._pieces.add(pieces)
        return len(pieces) > 1 and fresh <= _UNSEEN * len(pieces)

    def _is_alike(self, content: set[str]) -> bool:
        """True if an answer is nearly one of the latest; it is one of them from now on."""
        alike = any(len(content & other) >= _ALIKE * len(content | other) for other in self._recent)
        self._recent.append(content)
        return alike

    def _is_step(self, tool: str, arguments: str) -> bool:
        """True if a call asks for another name what the latest call of the tool asked for one."""
        terms = arguments[:_HEAD].split()
        before = self._latest.pop(tool, None)
        if len(self._latest) >= _TOOLS:
            del self._latest[next(iter(self._latest))]
        self._latest[tool] = terms
        if before is None or len(before) != len(terms):
            return False
        others = [term for term, old in zip(terms, before, strict=True) if term != old]
        return 0 < len(others) <= max(1, len(terms) // 6) and not any(term.isdigit() for term in others)

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on."""
        stretch = self.stretch
        return {
            "words": self.vocabulary.to_state(),
            "arguments": self._arguments.to_state(),
            "pieces": self._pieces.to_state(),
            "answers": pack_keys(list(self._answers)),
            "changes": pack_keys(list(self._changes)),
            "recent": [sorted(words) for words in self._recent],
            "latest": self._latest,
            "stretch": [stretch.count, stretch.first_event, list(stretch.tools)],
            "watch": [self._is_close, self._calm, self._rest, self._stale],
            "calls": [call.to_state() for call in self._calls],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.vocabulary.restore(state["words"])
        self._arguments.restore(state["arguments"])
        self._pieces.restore(state["pieces"])
        self._answers = dict.fromkeys(unpack_keys(state["answers"]))
        self._changes = dict.fromkeys(unpack_keys(state["changes"]))
        self._recent.extend(map(set, state["recent"]))
        self._latest = dict(state["latest"])
        count, first_event, tools = state["stretch"]
        self.stretch = StaleStretch(count, first_event, dict.fromkeys(tools))
        self._is_close, self._calm, self._rest, self._stale = state["watch"]
        self._calls.extend(map(Moment.restored, state["calls"]))

    def _count(self, tool: str, now: int, event: int) -> Finding | None:
        stretch = self.stretch
        stretch.count += 1
        if stretch.count == 1:
            stretch.first_event = event
        if len(stretch.tools) < _TOOLS:
            stretch.tools[tool] = None
        least = self._rules.nothing_new
        if least is None or stretch.count < least:
            return None
        key = key_of(LoopKind.STAGNATION)
        if stretch.count != least and self._registry.carry(key, stretch.count, now, event):
            return CARRIED_ON
        return Finding(
            kind=LoopKind.STAGNATION,
            key=key,
            count=stretch.count,
            at=least,
            calls=stretch.count,
            first_event=stretch.first_event,
            begins=stretch.count == least,
            tools=tuple(stretch.tools),
            is_proof=False,
        )


def _asks_anew(call: Moment, before: list[Moment]) -> bool:
    """Returns True if a word of the arguments is in none of those of the calls before."""
    return _are_new(_sample(call.arguments, _ARGUMENT_WORD), [earlier.arguments for earlier in before], 1)


def _are_new(words: list[str], before: list[str], least: int) -> bool:
    """True if `least` of some words, or all, are in none of the texts before; generated ones do not count."""
    count = 0
    for word in words:
        for text in before:  # the latest first: most words that are known stand in it
            if word in text and (len(text) <= _SEEN or word in text[:_SEEN]):
                break
        else:
            if is_generated(word):
                continue
            count += 1
            if count >= least or count == len(words):
                return True
    return False


def _sample(text: str, pattern: re.Pattern[str]) -> list[str]:
    """Words from the middle and from the end of a text, where answers of one kind differ."""
    middle = len(text) // 2
    near = text if len(text) <= _SEEN // 2 else f"{text[middle : middle + 80]} {text[-80:]}"
    words = list(dict.fromkeys(pattern.findall(near)))
    return words[-_SAMPLE:]


def known_stagnation(number: int) -> ToolCall:
    """An event of a run that reads the same seven files in turn."""
    return probe_call(number, f"text of file {number % 7}", path=f"file {number % 7}")
