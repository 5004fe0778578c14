"""Stretches in which nothing new comes, whatever moves: the words of the answers are all known.

Searches in ever new words that bring the same hits, ranges that overlap what was read, agents that hand a job back
and forth, promises that no call follows: what they have in common is a vocabulary that no longer grows. An answer
brings something new where it holds words or numbers that no answer held before, apart from those of the question and
from noise. A deed brings something new where its arguments do: a file that is written, a record that is changed.
A change that was made before, and undone in between, is none.

It is a suspicion: words can be known and still say something new together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from ebbtide.divergence.loop_registry import CARRIED_ON, Finding, LoopRegistry
from ebbtide.divergence.packing import pack_keys, pack_numbers, unpack_keys, unpack_numbers
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.divergence import LoopRules
from ebbtide.text.noise import is_generated, without_noise

_HEAD, _TAIL = 1_000, 300  # characters of a text that are read
_WORDS = 512  # that are known at least; there may be twice as many
_CHANGES = 16  # that are known again
_SHARE = 0.06  # of the words of an answer that have to be new
_ACKNOWLEDGEMENT = 16  # words up to which an answer may only say that something was done

_WORD = re.compile(r"[^\W\d_]{2,}|(?<![\d.])\d+(?![\d]*\w)")
_MIXED = re.compile(r"[A-Za-z]*\d\w*")
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
    return set(_WORD.findall(text.lower()))


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

    def to_state(self) -> list[str]:
        """All that later answers depend on."""
        return [pack_numbers(sorted(self._older)), pack_numbers(sorted(self._younger))]

    def restore(self, state: list[str]) -> None:
        """Take up what `to_state` gave."""
        self._older, self._younger = (set(unpack_numbers(words)) for words in state)


@dataclass(slots=True)
class Stretch:
    """The stretch that goes on."""

    count: int = 0  # calls, or messages that no call follows
    first_event: int = 0
    tools: dict[str, None] = field(default_factory=dict)


class Stagnation:
    """Follows what is new in the answers, deeds and messages of one chain.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("_changes", "_registry", "_rules", "_said", "is_deed", "stretch", "vocabulary")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self._rules = rules
        self._registry = registry
        self.vocabulary = Vocabulary()
        self._said = Vocabulary()
        self._changes: dict[Key, None] = {}
        self.stretch = Stretch()
        self.is_deed = False  # whether the latest call did something that was not done before

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.stretch = Stretch()
        self._changes.clear()

    def see(
        self,
        tool: str,
        key: Key,
        arguments: str,
        answer: str,
        *,
        looks: bool,
        changes: bool,
        is_empty: bool,
        is_failed: bool,
        now: int,
        event: int,
    ) -> Finding | None:
        """Take a call."""
        self.is_deed = False
        asked = words_of(arguments)
        words = words_of(answer)
        content = words - asked
        fresh = self.vocabulary.add(content)
        if not is_empty and fresh > _SHARE * len(words):
            self.stretch = Stretch()
            self._said.add(asked)
            return None
        if not looks and not is_empty and not is_failed and (changes or len(content) <= _ACKNOWLEDGEMENT):
            is_restored = key in self._changes
            if not is_restored and len(self._changes) >= _CHANGES:
                del self._changes[next(iter(self._changes))]
            was_last = next(reversed(self._changes), None) == key
            self._changes.pop(key, None)
            self._changes[key] = None
            if was_last and changes:
                return None
            if not is_restored and self._said.add(asked):
                self.is_deed = True
                self.stretch = Stretch()
                return None
        return self._count(tool, now, event)

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on."""
        stretch = self.stretch
        return {
            "words": self.vocabulary.to_state(),
            "said": self._said.to_state(),
            "changes": pack_keys(list(self._changes)),
            "stretch": [stretch.count, stretch.first_event, list(stretch.tools)],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.vocabulary.restore(state["words"])
        self._said.restore(state["said"])
        self._changes = dict.fromkeys(unpack_keys(state["changes"]))
        count, first_event, tools = state["stretch"]
        self.stretch = Stretch(count, first_event, dict.fromkeys(tools))

    def _count(self, tool: str, now: int, event: int) -> Finding | None:
        stretch = self.stretch
        stretch.count += 1
        if stretch.count == 1:
            stretch.first_event = event
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
