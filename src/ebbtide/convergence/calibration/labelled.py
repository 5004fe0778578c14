"""Labels that people gave: which texts say the same, and when a conversation should stop.

Source: rubric, calibration status (clause B07).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from ebbtide.convergence.signal import Signal
from ebbtide.errors import TranscriptError
from ebbtide.events.transcript import Transcript
from ebbtide.text.field_names import field_names

EXPECTED = "_expected"  #: the key of a conversation's labels
_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFields:
    """The keys under which a labelled pair is written down.

    Args:
        b: The text that it is compared with.
        same: Whether they say the same: true or false, 1 or 0.
        group: What the pair belongs to, such as a topic or an author. The key may be missing.
    """

    a: str = "a"
    b: str = "b"
    same: str = "same"
    group: str = "group"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The keys as written on a command line.

        Args:
            text: Such as ``a=argument,b=key_point,same=match,group=topic``; what is not named keeps its name.

        Raises:
            ConfigError: It is written in another way.
        """
        names = [part.name for part in fields(cls)]
        return cls(**field_names(text, names, example="a=argument,same=match"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two texts, and whether they say the same.

    Args:
        group: Pairs of one group are never on both sides of a cross-validation. Where none was given it is
            the text `a`.
    """

    a: str
    b: str
    same: bool
    group: str

    @classmethod
    def from_dict(cls, wire: object, keys: PairFields) -> Self:
        """Read one pair.

        Raises:
            TranscriptError: A key is missing, or its value is of another kind.
        """
        if not isinstance(wire, Mapping):
            raise TranscriptError("expected an object with a pair of texts")
        a, b = _text(wire, keys.a), _text(wire, keys.b)
        same = wire.get(keys.same)
        if not isinstance(same, int) or same not in (0, 1):
            raise TranscriptError(
                f"{_shown(same)} does not say whether the texts say the same",
                path=keys.same,
                hint="Write true or false, or 1 or 0." if keys.same in wire else _other_keys(wire),
            )
        group = wire.get(keys.group)
        if group is not None and not isinstance(group, str | int | float):
            raise TranscriptError("expected a text or a number", path=keys.group)
        return cls(a=a, b=b, same=bool(same), group=a if group is None else str(group))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTranscript:
    """A conversation, and what somebody says about it.

    Args:
        signal: The right signal after its last round; None where nobody says.
        stop_round: The round after which it should have stopped; None where nobody says.
    """

    transcript: Transcript
    signal: Signal | None
    stop_round: int | None

    @classmethod
    def of(cls, transcript: Transcript, expected: object) -> Self:
        """A conversation with its labels.

        Args:
            expected: An object with ``signal``, ``stop_round`` or both; other keys are passed over.

        Raises:
            TranscriptError: There is no label, or one that cannot be.
        """
        labels = expected if isinstance(expected, Mapping) else {}
        signal, stop = labels.get("signal"), labels.get("stop_round")
        if signal is None and stop is None:
            raise TranscriptError(
                "the conversation has no label",
                path=EXPECTED,
                hint=f'Write "{EXPECTED}": {{"signal": "SHIP"}} or {{"stop_round": 4}} beside its rounds.',
            )
        if signal is not None and signal not in tuple(Signal):
            raise TranscriptError(
                f"{_shown(signal)} is not a signal",
                path=f"{EXPECTED}.signal",
                hint=f"Expected {', '.join(Signal)}.",
            )
        rounds = len(transcript.rounds)
        if stop is not None and (type(stop) is not int or not 1 <= stop <= rounds):
            raise TranscriptError(
                f"{_shown(stop)} is not a round of this conversation",
                path=f"{EXPECTED}.stop_round",
                hint=f"Expected a whole number from 1 to {rounds}.",
            )
        return cls(transcript=transcript, signal=None if signal is None else Signal(signal), stop_round=stop)


def _text(wire: Mapping[str, Any], key: str) -> str:
    value = wire.get(key)
    if isinstance(value, str) and value.strip():
        return value
    if key not in wire:
        raise TranscriptError("the pair has no such key", path=key, hint=_other_keys(wire))
    raise TranscriptError(f"expected a text, found {_shown(value)}", path=key)


def _other_keys(wire: Mapping[str, Any]) -> str:
    return f"It has {', '.join(map(repr, wire)) or 'none'}; --fields says which key is which."


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
