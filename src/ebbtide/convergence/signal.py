"""The three answers of the convergence engine.

Source: novelty spec, section 4 (clause S01).
"""

from __future__ import annotations

from enum import StrEnum


class Signal(StrEnum):
    """Answer to what becomes of the loop: CONTINUE, SHIP or ESCALATE."""

    CONTINUE = "CONTINUE"  #: another round is worth it
    SHIP = "SHIP"  #: stop, act on the result, verify it
    ESCALATE = "ESCALATE"  #: stop, and change something: a person, an agent, the prompt, the scope
