"""Equal calls, cycles of tools and equal answers. Nothing is learned from one run for the next."""

from __future__ import annotations

from benchmarks.loop_peers import Watcher, arguments
from ebbtide.events.event import Event, ToolCall

PACKAGE = "agentbelt-loop"


def watcher() -> Watcher:
    from agentbelt_loop import LoopDetected, LoopDetector

    detector = LoopDetector()

    def see(event: Event) -> bool:
        if not isinstance(event, ToolCall):
            return False
        detector.record("run", tool=event.name, args=arguments(event), result=event.result)
        try:
            detector.check("run")
        except LoopDetected:
            return True
        return False

    return see
