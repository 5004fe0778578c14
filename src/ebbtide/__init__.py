"""Tells when an agent's rounds have stopped bringing anything new, and whether to act on them.

>>> from ebbtide import ConvergenceMeter, Round
>>> meter = ConvergenceMeter()
>>> reading = meter.update(Round.from_text("The cache is cold. Warm it at start-up.", number=1))
>>> print(reading.recommendation.signal)
CONTINUE
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebbtide.convergence.meter import ConvergenceMeter as ConvergenceMeter
    from ebbtide.convergence.meter import RoundReading as RoundReading
    from ebbtide.convergence.meter import score_transcript as score_transcript
    from ebbtide.convergence.novelty import Novelty as Novelty
    from ebbtide.convergence.readiness import Readiness as Readiness
    from ebbtide.convergence.recommendation import Recommendation as Recommendation
    from ebbtide.convergence.recommendation import Signal as Signal
    from ebbtide.convergence.score import ConvergenceScore as ConvergenceScore
    from ebbtide.convergence.transcript import Round as Round
    from ebbtide.convergence.transcript import Transcript as Transcript
    from ebbtide.errors import ConfigError as ConfigError
    from ebbtide.errors import EbbtideError as EbbtideError
    from ebbtide.errors import TranscriptError as TranscriptError
    from ebbtide.profile import Profile as Profile

__version__ = "0.1.0"

# Each name is imported on its first use: a hook that only needs the version must not wait for the engines.
_HOMES = {
    "ConfigError": "errors",
    "ConvergenceMeter": "convergence.meter",
    "ConvergenceScore": "convergence.score",
    "EbbtideError": "errors",
    "Novelty": "convergence.novelty",
    "Profile": "profile",
    "Readiness": "convergence.readiness",
    "Recommendation": "convergence.recommendation",
    "Round": "convergence.transcript",
    "RoundReading": "convergence.meter",
    "Signal": "convergence.recommendation",
    "Transcript": "convergence.transcript",
    "TranscriptError": "errors",
    "score_transcript": "convergence.meter",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - names, all of them


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    return getattr(import_module(f"ebbtide.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
