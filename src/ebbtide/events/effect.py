"""Effects of a call of a tool, as far as they are known."""

from __future__ import annotations

from enum import StrEnum


class Effect(StrEnum):
    """Effect of calling a tool: `ToolPolicy(effect=Effect.READ)`."""

    READ = "read"  #: looks something up; the same answer again is no progress
    CHANGE = "change"  #: changes something; a new success means that what is looked up later may differ
    POLL = "poll"  #: asks whether something has happened; the same answer is fine for some time
    WAIT = "wait"  #: passes time; is never part of a loop
    CLOCK = "clock"  #: its answer moves by itself, which is no progress
    ACKNOWLEDGE = "acknowledge"  #: its answer only says "received"; the same answer says nothing
