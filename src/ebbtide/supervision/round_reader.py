"""Reader of turns: what they say, and what the convergence engine makes of it.

The engines of text take longer to load than all the rest: this module is loaded with the first round.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.score import RoundReading
from ebbtide.events.transcript import Round
from ebbtide.profile import Profile
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.extraction.turn import Extraction, Speaker, extract

_CACHED = 4_000  # characters of a text that is worth remembering

_extract_short = lru_cache(maxsize=1024)(extract)


class RoundReader:
    """Reads the rounds of one chain.

    Args:
        profile: Thresholds; its section `supervision` says how much is remembered.
        embedder: Turns the semantic level on.

    Attributes:
        claims: Claims and questions that the meter remembers.
    """

    __slots__ = ("_embedder", "_meter", "_profile", "claims")

    def __init__(self, profile: Profile, embedder: Embedder | None = None) -> None:
        self._profile = profile
        self._embedder = embedder
        self._meter: ConvergenceMeter | None = None
        self.claims = 0

    @staticmethod
    def extract(text: str, *, person: bool = False) -> Extraction:
        """Returns what a turn of a model or a person says; a text that comes again is read once."""
        speaker = Speaker.PERSON if person else Speaker.MODEL
        return (_extract_short if len(text) <= _CACHED else extract)(text, speaker=speaker)

    def read(self, item: Round) -> RoundReading | None:
        """Returns the reading of a round by the meter; None for a round that it has read before."""
        if self._meter is None or self.claims > self._profile.supervision.remembered_claims:
            self._meter, self.claims = ConvergenceMeter(self._profile, embedder=self._embedder), 0
        self.claims += len(item.claims) + len(item.open_questions) + 1
        return self._meter.update(item)

    def to_state(self) -> dict[str, Any] | None:
        """The content of the meter; None before the first round."""
        return self._meter.content() if self._meter else None

    def restore(self, state: Mapping[str, Any], claims: int) -> None:
        """Take up what `to_state` gave, and how many claims that was."""
        self._meter = ConvergenceMeter(self._profile, embedder=self._embedder)
        self._meter.restore(state)
        self.claims = claims
