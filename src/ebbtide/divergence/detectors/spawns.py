"""Trees of agents that grow for nothing: reported while they grow, when an agent is started.

Three signs, none of which a map over many files, a panel, or the best of a few has: an agent hands down the
very order that it was given; orders are given again in a later turn, although nothing was changed since; and
agents that start agents, many levels deep. Equal orders given at once are the best of n, up to a number.
"""

from __future__ import annotations

from typing import Final

from ebbtide.divergence.agent_tree import AgentStart
from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.event import Event, Message, Notice, NoticeKind, Role, ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.loop_kinds import LoopKind

_ORDERS: Final = 512  # of one chain that are known again


class Spawns(Detector):
    """Judges each agent that one chain starts."""

    _LASTING = ("_passed_on",)
    _again: int = 0
    _first: int = 0
    _passed_on: int = 0
    _orders: dict[Key, str | None] = {}  # each with the batch in which it was given last

    def see(self, moment: Moment) -> Finding | None:
        """Take an agent that is started."""
        start, event = moment.start, moment.event
        if start is None:
            return None
        call = event if isinstance(event, ToolCall) else None
        rules, name = self._rules, "an agent" if call is None else call.name
        self._first = self._first or moment.number
        self._note(start, None if call is None or call.batch is None else str(call.batch))
        self._passed_on += start.is_passed_on
        for kind, count, least, is_there in (
            (
                LoopKind.HANDED_DOWN,
                start.equal,
                rules.handed_down,
                start.is_handed_down or self._passed_on > 1,
            ),
            (LoopKind.DEEP_TREE, start.depth, rules.tree_depth, True),
            (LoopKind.SPAWNED_AGAIN, self._again, rules.spawned_again, True),
            (LoopKind.SPAWNED_AGAIN, start.equal, rules.spawned_alike, True),
        ):
            if least is not None and is_there and count >= least:
                return Finding(
                    kind=kind,
                    key=key_of(kind),
                    count=count,
                    at=least,
                    calls=count,
                    first_event=self._first,
                    begins=count == least,
                    tools=(name,),
                    is_proof=False,
                )
        return None

    def _note(self, start: AgentStart, batch: str | None) -> None:
        """Count an order that was given before, in another turn."""
        orders, order = self._orders, start.order
        if order in orders and (batch is None or orders[order] != batch):
            self._again += 1
        if order in orders or len(orders) < _ORDERS:
            orders[order] = batch


_KNOWN_ORDER: Final = (
    "Review all changes of this branch, file by file, and start agents of your own where there are many."
)


def known_spawn_again(number: int) -> Event:
    """An event of a run that starts agents with orders that it had given before."""
    return Notice(kind=NoticeKind.SPAWN, text=f"Look at part {number % 4}.")


def known_order_handed_down(number: int) -> Event:
    """An event of a run in which each agent starts another one with its own order."""
    chain = f"agent {number // 2}" if number else ""
    if number % 2:
        return Notice(kind=NoticeKind.SPAWN, text=_KNOWN_ORDER, chain_id=chain)
    return Message(text=_KNOWN_ORDER, role=Role.SYSTEM, chain_id=chain)


def known_deep_tree(number: int) -> Event:
    """An event of a run in which each agent starts one below it."""
    level = number // 2
    if number % 2:
        return Notice(kind=NoticeKind.SPAWN, text=f"Do step {level + 1}.", chain_id=f"agent {level}")
    return Message(text=f"Do step {level}.", role=Role.SYSTEM, chain_id=f"agent {level}")
