"""The connections of the tools: to the service, and to the decision log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebbtide.service.client import ServiceClient

if TYPE_CHECKING:
    from ebbtide import DecisionLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The connections that the tools work with.

    Args:
        open_log: Opens the decision log, and makes one where there is none.
        redact: Whether keys and passwords are masked in what the tools answer.
    """

    connect: Callable[[], ServiceClient]
    open_log: Callable[[], DecisionLog]
    redact: bool = True
