"""What the calls of one chain lead to: the rules that look at outcomes and not at equality.

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
from enum import IntEnum
from typing import Any, NamedTuple

from ebbtide.divergence.command_effects import Command
from ebbtide.divergence.detectors.near_duplicates import argument_text
from ebbtide.divergence.detectors.readback import ReadBack
from ebbtide.divergence.detectors.recurrence import AttemptRow, Recurrences
from ebbtide.divergence.detectors.stagnation import Stagnation
from ebbtide.divergence.detectors.undone import Undone
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.engine_state import pack_keys, unpack_keys
from ebbtide.events.effect import Effect
from ebbtide.events.identity import Answer, Key, canonical, key_of, settled, settled_answer
from ebbtide.events.outcome import CallOutcome, Ending
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules
from ebbtide.text.noise import is_generated, without_fresh_names, without_noise

_KEPT = 24  # calls that are read when a probe finds nothing new
_TEXT = 1_000  # characters of an answer, and of its arguments, that are kept
_PENDING = 64  # deeds that are kept until they matter
_ANSWER_WORD = re.compile(r"[^\W\d_]{4,}")
_ARGUMENT_WORD = re.compile(r"\w{3,}|\w*\d\w*")
_COMPARED = 12  # calls before a probe in which its words are looked for
_READ = 600  # characters of each that are
_STALE = 3  # probes in a row that find nothing new before the calls are read
_SAMPLE = 6  # words that are looked for
_LEAST = 2  # of them that have to be new, where there are as many
_SHORT = 120  # characters up to which an answer may only acknowledge, so that its arguments are what is new


class Call(NamedTuple):
    """A call whose answer is known, as far as a stretch without news needs it."""

    tool: str
    key: Key
    arguments: str
    text: str
    effect: Effect | None
    lazy: Command | None  # a command whose effect is not known yet
    is_empty: bool
    is_failed: bool
    is_repeat: bool
    now: int
    event: int


class Outcomes:
    """Attempts that end alike, answers without a new word, and changes that do not show or are undone.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = (
        "_calls",
        "_calm",
        "_changes",
        "_deeds",
        "_is_close",
        "_least",
        "_rest",
        "_stale",
        "read_back",
        "recurrences",
        "stagnation",
        "undone",
    )

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self.recurrences = Recurrences(rules, registry)
        self.stagnation = Stagnation(rules, registry)
        self.read_back = ReadBack(rules, registry)
        self.undone = Undone(rules, registry)
        self._least = rules.nothing_new
        self._calls: deque[Call] = deque(maxlen=_KEPT)
        self._is_close = False  # whether every call is read
        self._calm = 0  # calls in a row that were read and brought something
        self._rest = 0  # calls before the next probe
        self._stale = 0  # probes in a row that found nothing new
        # Deeds matter where something is looked at again, or changed again.
        self._deeds: deque[object] = deque(maxlen=_PENDING)
        self._changes: deque[tuple[str, Key, object, int, int]] = deque(maxlen=_PENDING)

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.recurrences.reset()
        self.stagnation.reset()
        self.read_back.reset()
        self.undone.reset()
        self._calls.clear()
        self._deeds.clear()
        self._changes.clear()
        self._is_close = False
        self._rest = self._stale = 0

    def see(  # noqa: PLR0917
        self,
        tool: str,
        key: Key,
        answer: Answer,
        args: object,
        text: str,
        outcome: CallOutcome | None,
        policy: ToolPolicy | None,
        effect: Effect | None,
        lazy: Command | None,
        now: int,
        event: int,
        *,
        failed: bool,
        times: int,
    ) -> Finding | None:
        """Take a call whose answer is known, and say what it shows.

        Args:
            tool: Its name.
            key: Key of the call.
            answer: Key of the answer.
            args: Its arguments.
            text: Its answer.
            outcome: What the answer says of how it ended.
            policy: What is declared about the tool.
            effect: What the call does; None where that is not known, or not yet.
            lazy: A command whose effect is not known yet, with its policy.
            now: Place among the counted calls.
            event: Number of the event.
            failed: Whether it failed.
            times: Times that it gave this answer; 0 where it came for the first time.
        """
        finding = None
        least = self._least
        if least is not None:
            call = Call(
                tool=tool,
                key=key,
                arguments=argument_text(args)[:_TEXT],
                text=text[:_TEXT],
                effect=effect,
                lazy=lazy,
                is_empty=outcome is not None and outcome.ending is Ending.EMPTY,
                is_failed=failed,
                is_repeat=times > 1,
                now=now,
                event=event,
            )
            finding = self._follow(call, least, has_outcome=outcome is not None)
        if outcome is not None:
            head = tool if policy is None else policy.head(tool, args)
            recurrence = self.recurrences.see(tool, head, args, outcome, now, event)
            finding = finding or recurrence
        elif self.recurrences.heads:
            self.recurrences.succeeded(tool if policy is None else policy.head(tool, args))
        if failed:
            return finding
        if lazy is not None or (policy is not None and policy.is_command(args)):
            return finding
        if effect is Effect.CHANGE:
            self._deeds.append(args)
            self._changes.append((tool, key, args, now, event))
            if times:
                undone = self._settle_changes()
                finding = finding or undone
        elif effect is not Effect.ACKNOWLEDGE:
            if effect is not Effect.READ:
                self._deeds.append(args)
            if times:
                self._settle_deeds()
                unseen = self.read_back.look(tool, settled(key), args, settled_answer(answer), now, event)
                finding = finding or unseen
        return finding

    def _follow(self, call: Call, least: int, *, has_outcome: bool) -> Finding | None:
        """Read a call where nothing new has come for some; else look at some of its words now and then."""
        self._calls.append(call)
        if self._is_close:
            return self._read(call, least)
        self._rest -= 1
        searches = not has_outcome and self.recurrences.searches
        if self._rest > 0 and not searches:
            return None
        if self._is_fresh(call):
            self._rest, self._stale = least - _STALE, 0
            if searches and len(call.text) > _SHORT:
                self.recurrences.found()
            return None
        if self._rest > 0:
            return None
        self._stale += 1
        if self._stale < min(_STALE, least):
            return None
        self._is_close, self._calm = True, 0
        finding = None
        for earlier in tuple(self._calls):
            finding = self._read(earlier, least)
        return finding

    def _read(self, call: Call, least: int) -> Finding | None:
        """Read a call word by word."""
        stagnation = self.stagnation
        effect = _effect_of(call)
        if effect is Effect.ACKNOWLEDGE:
            finding = stagnation.think(call.tool, call.arguments, call.now, call.event)
        else:
            finding = stagnation.see(
                call.tool,
                settled(call.key),
                call.arguments,
                call.text,
                effect,
                is_empty=call.is_empty,
                is_failed=call.is_failed,
                is_repeat=call.is_repeat,
                now=call.now,
                event=call.event,
            )
            if stagnation.has_found:
                self.recurrences.found()
        self._calm = 0 if stagnation.stretch.count else self._calm + 1
        if self._calm > least:
            self._is_close, self._rest, self._stale = False, least - _STALE, 0
        return finding

    def _is_fresh(self, call: Call) -> bool:
        """Whether words of a call are in none of those before it."""
        if call.is_repeat or call.is_failed or call.is_empty:
            return False
        before = list(self._calls)[-1 - _COMPARED : -1]
        words = [word for word in _sample(call.text, _ANSWER_WORD) if word not in call.arguments]
        if words and _are_new(words, [earlier.text for earlier in before], _LEAST):
            return True
        is_seen = call.effect is Effect.READ and any(call.text == earlier.text for earlier in before)
        if words and (is_seen or len(call.text) > _SHORT):
            return False
        return _are_new(_sample(call.arguments, _ARGUMENT_WORD), [earlier.arguments for earlier in before], 1)

    def _settle_deeds(self) -> None:
        while self._deeds:
            self.read_back.change(self._deeds.popleft())

    def _settle_changes(self) -> Finding | None:
        finding = None
        while self._changes:
            finding = self.undone.change(*self._changes.popleft())
        return finding

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on."""
        return {
            "attempts": [[head, attempts.to_state()] for head, attempts in self.recurrences.heads.items()],
            "stagnation": self.stagnation.to_state(),
            "read_back": self.read_back.to_state(self._deeds),
            "undone": self.undone.to_state(self._changes),
            "watch": [self._is_close, self._calm, self._rest, self._stale],
            "calls": [
                [call.tool, settled(call.key).hex(), *call[2:4], _effect_of(call), *call[6:]]
                for call in self._calls
            ],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.recurrences.heads = {head: AttemptRow.restored(attempts) for head, attempts in state["attempts"]}
        self.stagnation.restore(state["stagnation"])
        self.read_back.restore(state["read_back"])
        self.undone.restore(state["undone"])
        self._is_close, self._calm, self._rest, self._stale = state["watch"]
        for tool, key, arguments, text, name, *rest in state["calls"]:
            effect = None if name is None else Effect(name)
            self._calls.append(Call(tool, bytes.fromhex(key), arguments, text, effect, None, *rest))


def _effect_of(call: Call) -> Effect | None:
    if call.lazy is None:
        return call.effect
    policy, args = call.lazy
    return policy.effect_of(args)


def _are_new(words: list[str], before: list[str], least: int) -> bool:
    """Whether at least so many of some words, or all, are in none of the texts before."""
    others = "\n".join([text[:_READ] for text in before])
    count = 0
    for word in words:
        if word not in others and not is_generated(word):
            count += 1
            if count >= least or count == len(words):
                return True
    return False


def _sample(text: str, pattern: re.Pattern[str]) -> list[str]:
    """Words from the middle and from the end of a text, where answers of one kind differ."""
    middle = len(text) // 2
    near = text if len(text) <= _READ // 2 else f"{text[middle : middle + 80]} {text[-80:]}"
    words = list(dict.fromkeys(pattern.findall(near)))
    return words[-_SAMPLE:]


_TEXTS_KEPT = 48  # answers that are kept
_HEAD, _TAIL = 1_500, 1_000  # characters of one


class Likeness(IntEnum):
    """How far two answers are the same."""

    NONE = 0  #: they say different things
    FRESH_NAMES = 1  #: they differ in generated names, which could mean something
    NOISE = 2  #: they differ in times, durations and the like, which mean nothing


class AnswerTexts:
    """The latest answers of the calls that came last.

    An answer is kept as it is until it has to be compared, since taking the noise out costs more than
    everything else that is done with a call.
    """

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        # A text, or what stands for it without noise, and without fresh names.
        self._texts: dict[Key, str | tuple[Key, Key]] = {}

    def put(self, call: Key, answer: str) -> None:
        """Keep the answer of a call."""
        texts = self._texts
        if call not in texts and len(texts) >= _TEXTS_KEPT:
            del texts[next(iter(texts))]
        texts[call] = answer if len(answer) <= _HEAD + _TAIL else f"{answer[:_HEAD]}\n{answer[-_TAIL:]}"

    def compare(self, call: Key, answer: str) -> Likeness:
        """How far an answer of a call is the one before; it takes that one's place."""
        before = self._texts.get(call)
        self.put(call, answer)
        if before is None:
            return Likeness.NONE
        cut = self._texts[call]
        new = self._texts[call] = _keys(cut) if isinstance(cut, str) else cut
        old = _keys(before) if isinstance(before, str) else before
        if old[0] == new[0]:
            return Likeness.NOISE
        return Likeness.FRESH_NAMES if old[1] == new[1] else Likeness.NONE

    def to_state(self) -> list[str]:
        """All that later comparisons depend on."""
        keys: list[Key] = []
        for call, text in self._texts.items():
            keys += settled(call), *(_keys(text) if isinstance(text, str) else text)
        return pack_keys(keys)

    def restore(self, state: list[str]) -> None:
        """Take up what `to_state` gave."""
        keys = unpack_keys(state)
        self._texts = {
            call: (noise, names) for call, noise, names in zip(keys[::3], keys[1::3], keys[2::3], strict=True)
        }


def _keys(text: str) -> tuple[Key, Key]:
    quiet = without_noise(text)
    return key_of(quiet), key_of(without_fresh_names(quiet))


def text_of(result: object) -> str | None:
    """An answer that is no text, as one; None where it is not known."""
    return None if result is None else canonical(result)
