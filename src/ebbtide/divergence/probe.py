"""Calls of a tool that nobody has: known loops are made of them."""

from __future__ import annotations

from typing import Final

from ebbtide.events.event import ToolCall
from ebbtide.events.usage import Usage

PROBE: Final = "ebbtide_probe"  #: the name of the tool


def probe_call(number: int, result: str, *, error: bool = False, **args: object) -> ToolCall:
    """A call of the probe, the `number`th of its run: one each second, for a cent."""
    usage = Usage(cost_usd=0.01)
    return ToolCall(name=PROBE, args=args, result=result, error=error, usage=usage, ts=float(number))
