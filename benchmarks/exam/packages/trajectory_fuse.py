"""Equal calls, cycles, and one tool that fails with the same words; told of each call after its answer."""

from __future__ import annotations

from benchmarks.loop_peers import Watcher, arguments
from ebbtide.events.event import Event, ToolCall

PACKAGE = "trajectory-fuse"


def watcher() -> Watcher:
    from trajectory_fuse import Action, AgentFuse, DeadlockDetected

    fuse = AgentFuse()

    def see(event: Event) -> bool:
        if not isinstance(event, ToolCall):
            return False
        success = None if event.error is None else not event.error
        try:
            fuse.observe(Action(event.name, arguments(event), result=event.result, success=success))
        except DeadlockDetected:
            return True
        return False

    return see
