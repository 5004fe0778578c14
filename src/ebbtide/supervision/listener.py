"""Who receives what a supervisor reports, as it happens."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.signals import LoopSignal
from ebbtide.events.event import Event
from ebbtide.supervision.rounds import ReadRound
from ebbtide.supervision.verdict import Verdict


class Listener(Protocol):
    """Called at each event that counts, in this order. It must not raise."""

    def event(self, event: Event, number: int, loops: LoopState) -> None:
        """An event was counted.

        Args:
            number: Its number in the run, from 1.
            loops: What is known of its chain, with this event.
        """

    def loop(self, signal: LoopSignal, verdict: Verdict) -> None:
        """A loop, or spending, was reported."""

    def ignored(self, subject: Hashable) -> None:
        """Something was found that is not to be reported; equal subjects are one."""

    def round(self, chain_id: str, read_round: ReadRound) -> None:
        """A round was read."""

    def verdict(self, verdict: Verdict, first_event: int) -> None:
        """A verdict about limits, rounds or the joint rule, and its first event; also where it goes on."""
