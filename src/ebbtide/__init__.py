"""Tells when an agent's rounds have stopped bringing anything new, and whether to act on them.

    from ebbtide import ConvergenceMeter, Round

    meter = ConvergenceMeter()
    reading = meter.update(Round.from_text("The cache is cold. Let's warm it at start-up.", number=1))
    reading.recommendation.signal  # CONTINUE, SHIP or ESCALATE
"""

from ebbtide.convergence.meter import ConvergenceMeter, RoundReading, score_transcript
from ebbtide.convergence.novelty import Novelty
from ebbtide.convergence.readiness import Readiness
from ebbtide.convergence.recommendation import Recommendation, Signal
from ebbtide.convergence.score import ConvergenceScore
from ebbtide.convergence.transcript import Round, Transcript
from ebbtide.errors import ConfigError, EbbtideError, TranscriptError
from ebbtide.profile import Profile

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "ConvergenceMeter",
    "ConvergenceScore",
    "EbbtideError",
    "Novelty",
    "Profile",
    "Readiness",
    "Recommendation",
    "Round",
    "RoundReading",
    "Signal",
    "Transcript",
    "TranscriptError",
    "__version__",
    "score_transcript",
]
