"""The latest answers of the calls of one chain, and how far two of them are the same."""

from __future__ import annotations

from enum import IntEnum

from ebbtide.codec import State
from ebbtide.engine_state import pack_keys, unpack_keys
from ebbtide.events.identity import Key, canonical, key_of, settled
from ebbtide.text.noise import without_fresh_names, without_noise

_TEXTS_KEPT = 48  # answers that are kept
_HEAD, _TAIL = 1_500, 1_000  # characters of one


class Likeness(IntEnum):
    """How far two answers are the same."""

    NONE = 0  #: they say different things
    FRESH_NAMES = 1  #: they differ in generated names, which could mean something
    NOISE = 2  #: they differ in times, durations and the like, which mean nothing


class AnswerTexts(State):
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
