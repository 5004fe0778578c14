"""Tells whether an agent's rounds still bring anything new, whether it goes in circles, and holds its limits.

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
    from ebbtide.containment.limits import Limits as Limits
    from ebbtide.containment.prices import Prices as Prices
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
    from ebbtide.divergence.call import Call as Call
    from ebbtide.divergence.execution_graph import ExecutionGraph as ExecutionGraph
    from ebbtide.divergence.execution_graph import NodeSignature as NodeSignature
    from ebbtide.divergence.monitor import LoopMonitor as LoopMonitor
    from ebbtide.divergence.monitor import find_loops as find_loops
    from ebbtide.divergence.policy import ToolPolicies as ToolPolicies
    from ebbtide.divergence.policy import ToolPolicy as ToolPolicy
    from ebbtide.errors import ConfigError as ConfigError
    from ebbtide.errors import EbbtideError as EbbtideError
    from ebbtide.errors import LimitExceeded as LimitExceeded
    from ebbtide.errors import RunHalted as RunHalted
    from ebbtide.errors import SemanticError as SemanticError
    from ebbtide.errors import TranscriptError as TranscriptError
    from ebbtide.profile import Profile as Profile
    from ebbtide.supervision.execution_context import ExecutionContext as ExecutionContext

__version__ = "0.1.0"

# Each name is imported on its first use: a hook that only needs the version must not wait for the engines.
_HOMES = {
    "Call": "divergence.call",
    "ConfigError": "errors",
    "ConvergenceMeter": "convergence.meter",
    "ConvergenceScore": "convergence.score",
    "EbbtideError": "errors",
    "ExecutionContext": "supervision.execution_context",
    "ExecutionGraph": "divergence.execution_graph",
    "LimitExceeded": "errors",
    "Limits": "containment.limits",
    "LoopMonitor": "divergence.monitor",
    "NodeSignature": "divergence.execution_graph",
    "Novelty": "convergence.novelty",
    "Prices": "containment.prices",
    "Profile": "profile",
    "Readiness": "convergence.readiness",
    "Recommendation": "convergence.recommendation",
    "Round": "convergence.transcript",
    "RoundReading": "convergence.meter",
    "RunHalted": "errors",
    "SemanticError": "errors",
    "Signal": "convergence.recommendation",
    "ToolPolicies": "divergence.policy",
    "ToolPolicy": "divergence.policy",
    "Transcript": "convergence.transcript",
    "TranscriptError": "errors",
    "find_loops": "divergence.monitor",
    "score_transcript": "convergence.meter",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - names, all of them


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ebbtide' has no attribute {name!r}")
    return getattr(import_module(f"ebbtide.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
