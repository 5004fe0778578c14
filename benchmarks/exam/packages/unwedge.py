"""Its tier of code alone, without a model. A hint is its first word.

A call whose only argument is a text goes to its adapter for commands, any other to the one for hooks of
Claude Code, which knows the tools of that agent by name.
"""

from __future__ import annotations

from typing import Any

from benchmarks.loop_peers import Watcher, arguments
from ebbtide.events.event import Event, ToolCall

PACKAGE = "unwedge"


def watcher() -> Watcher:
    from unwedge import Guard, GuardConfig, make_provider
    from unwedge.policy import Action

    provider = make_provider("none")
    guard = Guard(goal="", provider=provider, config=GuardConfig.for_provider(provider, shadow=False))
    count = 0

    def see(event: Event) -> bool:
        nonlocal count
        if not isinstance(event, ToolCall):
            return False
        turn = _turn(event, count + 1)
        if turn is None:
            return False
        count += 1
        return guard.on_turn(turn).decision.action is not Action.CONTINUE

    return see


def _turn(event: ToolCall, index: int) -> Any:
    from unwedge.adapters.claude_code import turn_from_hook
    from unwedge.adapters.generic import turn_from_command

    answer = "" if event.result is None else str(event.result)
    args = arguments(event)
    texts = list(args.values())
    if len(texts) == 1 and isinstance(texts[0], str) and not event.name[:1].isupper():
        return turn_from_command(index, texts[0], answer, failed=event.error or None)
    payload = {"tool_name": event.name, "tool_input": args, "tool_response": answer, "error": answer}
    hook = "PostToolUseFailure" if event.error else "PostToolUse"
    return turn_from_hook({**payload, "hook_event_name": hook}, index)
