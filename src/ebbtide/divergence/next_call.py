"""The loop that a call would go on with, looked up before it is made."""

from __future__ import annotations

from ebbtide.divergence.loop_registry import Loop
from ebbtide.divergence.loop_state import LoopState
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import identify, settled, settled_answer
from ebbtide.events.tool_policy import ToolPolicy


def loop_of(chain: LoopState, call: ToolCall, policy: ToolPolicy | None) -> Loop | None:
    """The loop that a call would go on with, of those that went on after they had been reported.

    Args:
        chain: The chain of the call.
        call: The call; its answer is not known yet.
        policy: What is declared about its tool.
    """
    persistent = chain.registry.persistent()
    if not persistent or (policy is not None and policy.exempt):
        return None
    name, args = call.name, call.args
    if policy is not None:
        name, args = policy.group or name, policy.arguments(args, policy.effect_of(args))
    if args is None:
        return None
    identity = identify(name, args, settle=chain.settle)
    if identity is None:
        return None
    key = settled(identity[0])
    answer = chain.repetition.answers.expected(identity[0])
    members = {key} if answer is None else {key, key + settled_answer(answer)}
    return next(
        (
            loop
            for loop in persistent
            if (loop.tool is not None and loop.tool == name) or members & loop.members
            if chain.goes_on(loop)
        ),
        None,
    )
