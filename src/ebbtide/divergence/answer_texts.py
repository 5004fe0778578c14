"""The latest answers of the calls of one chain, and how far two of them are the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ebbtide.codec import State
from ebbtide.divergence.number_series import (
    Numbers,
    Skeleton,
    is_progress,
    only_count,
    skeleton_of,
    steps_between,
    tallies_of,
)
from ebbtide.engine_state import pack_keys, unpack_keys
from ebbtide.events.identity import UNKNOWN, Key, canonical, key_of, settled
from ebbtide.text.noise import without_fresh_names, without_noise

_TEXTS_KEPT = 48  # answers that are kept
_HEAD, _TAIL = 1_500, 1_000  # characters of one


class Likeness(IntEnum):
    """Degree to which two answers are the same."""

    NONE = 0  #: they say different things
    FRESH_NAMES = 1  #: they differ in generated names, which could mean something
    NOISE = 2  #: they differ in times, durations and the like, which mean nothing
    COUNTS = 3  #: they differ in numbers that only count how often the call was made
    PROGRESS = 4  #: they differ, and the new one says that less is to do, or more is done, than ever


@dataclass(slots=True)
class _Read:
    """Remainder of an answer once it was compared.

    Args:
        quiet: Key of it without noise.
        names: The same without fresh names.
        skeleton: The same without numbers; UNKNOWN where it has none.
        numbers: Its numbers.
        steps: By how much they grew, where the answer before had the same skeleton.
        best: What the answers of the call said at best of what is to do and what is done.
    """

    quiet: Key
    names: Key
    skeleton: Key
    numbers: Numbers
    steps: Numbers
    best: dict[str, int]


class AnswerTexts(State):
    """The latest answers of the calls that came last.

    An answer is kept as it is until it has to be compared, since taking the noise out costs more than
    everything else that is done with a call.
    """

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: dict[Key, str | _Read] = {}

    def put(self, call: Key, answer: str) -> None:
        """Keep the first answer of a call."""
        texts = self._texts
        if call not in texts and len(texts) >= _TEXTS_KEPT:
            del texts[next(iter(texts))]
        texts[call] = _cut(answer)

    def again(self, call: Key, answer: str) -> None:
        """Keep an answer that equals the one before: what was read of it holds on."""
        if not isinstance(self._texts.get(call), _Read):
            self.put(call, answer)

    def compare(self, call: Key, answer: str, *, deed: str | None = None) -> Likeness:
        """Compares an answer of a call with the one before, and takes that one's place.

        Args:
            call: The call.
            answer: Its answer.
            deed: The arguments of a call that may have changed something itself; None of a look.
        """
        before = self._texts.get(call)
        if before is None:
            self.put(call, answer)
            return Likeness.NONE
        quiet = without_noise(_cut(answer))
        old = _read_raw(before) if isinstance(before, str) else before
        skeleton = skeleton_of(quiet)
        new = self._texts[call] = _read(quiet, skeleton)
        is_better = is_progress(old.best, new.best)
        new.best = old.best
        if old.quiet == new.quiet:
            return Likeness.NOISE
        if skeleton is not None and old.skeleton == new.skeleton:
            new.steps = steps_between(old.numbers, new.numbers)
            if not is_better and only_count(skeleton, new.steps, old.steps, deed=deed):
                return Likeness.COUNTS
        if is_better:
            return Likeness.PROGRESS
        return Likeness.FRESH_NAMES if old.names == new.names else Likeness.NONE

    def to_state(self) -> dict[str, Any]:
        """All that later comparisons depend on."""
        keys: list[Key] = []
        rows = []
        for call, text in self._texts.items():
            read = _read_raw(text) if isinstance(text, str) else text
            keys += settled(call), read.quiet, read.names, read.skeleton
            rows.append([list(read.numbers), list(read.steps), read.best])
        return {"keys": pack_keys(keys), "numbers": rows}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `to_state` gave."""
        keys = unpack_keys(state["keys"])
        self._texts = {
            call: _Read(quiet, names, skeleton, tuple(numbers), tuple(steps), dict(best))
            for call, quiet, names, skeleton, (numbers, steps, best) in zip(
                keys[::4], keys[1::4], keys[2::4], keys[3::4], state["numbers"], strict=True
            )
        }


def _cut(answer: str) -> str:
    return answer if len(answer) <= _HEAD + _TAIL else f"{answer[:_HEAD]}\n{answer[-_TAIL:]}"


def _read_raw(answer: str) -> _Read:
    quiet = without_noise(answer)
    return _read(quiet, skeleton_of(quiet))


def _read(quiet: str, skeleton: Skeleton | None) -> _Read:
    form, numbers = (UNKNOWN, ()) if skeleton is None else (key_of(skeleton.form), skeleton.numbers)
    return _Read(key_of(quiet), key_of(without_fresh_names(quiet)), form, numbers, (), tallies_of(quiet))


def text_of(result: object) -> str | None:
    """An answer that is no text, as one; None where it is not known."""
    return None if result is None else canonical(result)
