"""Agents that hand the work round in a circle.

A round of agents that each say something new is a conversation. A circle is one in which nothing new is
said, and, unless it goes on for long, nothing new is found.

Source: divergence spec, section 5, "Cross-chain divergence" (clause D12).
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ebbtide.divergence.chain_memory import ChainMemory, Detector
from ebbtide.divergence.cycles import CycleDetector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.engine_state import pack_keys, unpack_keys
from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind
from ebbtide.events.identity import UNKNOWN, Key, key_of
from ebbtide.profile.loop_kinds import LoopKind

_LONGEST = 16  # hand-offs in one turn
_MESSAGES = 64  # that are known again


class HandOffs(Detector):
    """The hand-offs of one chain as a stream of their own, so that work in between does not hide a circle."""

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self._cycles = CycleDetector(max_period=_LONGEST, copies=3)
        self._edges: deque[tuple[str, str, int, int]] = deque(maxlen=self._cycles.copies * _LONGEST)
        self._messages: dict[Key, None] = {}  # of late
        self._latest_message = 0  # number of the event at which something new was said
        self.agent: str | None = None
        self.key: Key = UNKNOWN  # the circle that is going on, or UNKNOWN

    def reset(self) -> None:
        """Something has changed: hand-offs before that do not count."""
        self._cycles.reset()
        self._edges.clear()
        self.key = UNKNOWN

    def see(self, moment: Moment) -> Finding | None:
        """Take what an agent says, or a notice that one hands over to another."""
        event = moment.event
        if isinstance(event, ModelCall):
            if moment.text:
                self._hear(moment.key, moment.number)
            return None
        if not isinstance(event, Notice) or event.kind is not NoticeKind.HANDOFF:
            return None
        if event.source is not None or event.target is not None:
            return self._hand_off(str(event.source), str(event.target), moment)
        return None

    def take_over(self, agent: str, moment: Moment) -> Finding | None:
        """Another agent acts than before."""
        before, self.agent = self.agent, agent
        return None if before is None else self._hand_off(before, agent, moment)

    def _hear(self, message: Key, event: int) -> None:
        if message in self._messages:
            return
        self._latest_message = event
        if len(self._messages) >= _MESSAGES:
            del self._messages[next(iter(self._messages))]
        self._messages[message] = None

    def _hand_off(self, source: str, target: str, moment: Moment) -> Finding | None:
        """Take one hand-off."""
        repetition = self._memory.repetition
        now, event = repetition.calls, moment.number
        self.agent = target
        period = self._cycles.push((source, target))
        self._edges.append((source, target, now, event))
        least = self._rules.handoffs
        if period is None or least is None:
            self.key = UNKNOWN
            return None
        run = self._cycles.run(period)
        copies = run // period
        length = min(run, len(self._edges))
        edges = list(self._edges)[-length:]
        at = least if repetition.answers.latest_news <= edges[0][2] else 2 * least
        if copies < at or self._latest_message > edges[0][3]:
            return None
        turn = edges[-period:]
        agents = min(tuple(edge[0] for edge in turn[start:] + turn[:start]) for start in range(period))
        key = key_of(LoopKind.HANDOFF_CYCLE, *agents)
        goes_on = key == self.key
        self.key = key
        return Finding(
            kind=LoopKind.HANDOFF_CYCLE,
            key=key,
            count=copies,
            at=at,
            calls=run,
            first_event=edges[0][3],
            begins=not goes_on,
            tools=agents,
            period=period,
            is_proof=False,
        )

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        messages = [self._latest_message, pack_keys(list(self._messages))]
        return [self.agent, self.key.hex(), messages, [list(edge) for edge in self._edges]]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self.agent, key, (self._latest_message, messages), edges = state
        self._messages = dict.fromkeys(unpack_keys(messages))
        self.key = bytes.fromhex(key)
        for source, target, now, event in edges:
            self._cycles.push((source, target))
            self._edges.append((source, target, now, event))


def known_hand_off(number: int) -> Event:
    """An event of a run in which three agents hand the work round."""
    return Notice(kind=NoticeKind.HANDOFF, source="abc"[number % 3], target="bca"[number % 3])
