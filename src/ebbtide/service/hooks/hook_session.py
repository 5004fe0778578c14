"""Memory of a session beside its run: events that were there, notes on their way, places in its files."""

from __future__ import annotations

import threading
from typing import Final

from ebbtide.adapters.hooks.step import HookReply
from ebbtide.bounded import Bounded
from ebbtide.codec import State
from ebbtide.service.hooks.hook_client import DEADLINE_S

_MOST_KEYS: Final = 4096  # events that are remembered
_MOST_AGENTS: Final = 64  # whose notes are remembered
_MOST_COSTS: Final = 64
_APART_S: Final = 10.0  # between two costs that are kept
_RATE_S: Final = 600.0  # the time that a burn rate looks back
_TWICE_S: Final = 1.0  # within that it is the same event
_SHORTEST_S: Final = 60.0  # below that a rate says nothing


class NoteDelivery(State):
    """Delivery of notes to one agent of a session.

    A note is pending from its making on, over kills and restarts, until the hook has said that it handed it
    to its agent. A run ends for a machine's reason only where a note has arrived, and none is pending.
    """

    _has_arrived: bool = False  # since a person spoke
    _heard: str | None = None  # the ending that the agent heard of last, so that it hears of it once
    _note: str | None = None  # the pending one
    _message: str | None = None  # for the person, with it
    _word: str | None = None  # the ending that it is about
    _number: int = 0  # of the pending note: a confirmation of an older one is none of it

    def __init__(self) -> None:
        super().__init__()
        self._sent_at: float | None = None  # None where it is not on its way, as after a restart

    @property
    def may_end(self) -> bool:
        """True if the agent, or its person, heard of what it does."""
        return self._has_arrived and not self.is_pending

    @property
    def is_pending(self) -> bool:
        """True if something is still to arrive."""
        return self._note is not None or self._message is not None

    def add(self, note: str | None) -> bool:
        """Takes a note, or None where there is none to give; returns True if what is pending has changed.

        A pending word about an ending is dropped: the run goes on.
        """
        if self._word is not None:
            self._clear()
        if note is None or note == self._note:
            return False
        self._put(note if self._note is None else f"{self._note}\n{note}")
        return True

    def add_word(self, word: str, note: str | None, message: str) -> bool:
        """Takes a word about an ending, in place of what is pending; returns True if that is a change.

        Args:
            word: The ending: each is said once.
            note: For the model; None where it can mend nothing.
        """
        if word in (self._heard, self._word):
            return False
        self._put(note)
        self._message, self._word = message, word
        return True

    def send(self, now: float) -> HookReply:
        """Returns the pending note as a reply, unless it is on its way at this moment.

        Calls of one answer of the model come at once, and one of them is enough to carry it.
        """
        is_on_its_way = self._sent_at is not None and 0 <= now - self._sent_at < DEADLINE_S
        if not self.is_pending or is_on_its_way:
            return HookReply()
        self._sent_at = now
        return HookReply(note=self._note, message=self._message, delivery=self._number)

    def arrived(self, number: int) -> None:
        """Notes that a note reached its agent."""
        if number == self._number and self.is_pending:
            self._has_arrived = True
            self._heard = self._word or self._heard
            self._clear()

    def failed(self) -> None:
        """Notes that the latest note did not reach its agent: the next reply has it again."""
        self._sent_at = None

    def begin_anew(self) -> None:
        """A person has spoken: what was found counts no more."""
        self._clear()
        self._has_arrived = False
        self._heard = None

    def _put(self, note: str | None) -> None:
        self._clear()
        self._note = note
        self._number += 1

    def _clear(self) -> None:
        self._note = self._message = self._word = self._sent_at = None


class HookSession(State):
    """One session of a coding agent.

    Attributes:
        lock: Held while an event is taken: events of one session come at once.
        is_off: Whether a person has switched the watching off.
        folder: The folder that its agent worked in first; None where it names none.
        latest: When an event of it came last, in seconds since 1970; None before the first.
        events: Events that came, repeated ones left out.
        revision: How often it has changed.
        files: How far each of its files was read: bytes, calls of the model, and the
            bytes at which its open call was given last, by path.
        owes_decisions: Whether the main agent is to get back what was decided.
        latest_start: Identity and time of the latest event by which its context was a new one.
        decisions: The delivery of it.
        text_given: The text that its context has got already, which a resumed session needs no second time.
    """

    is_off: bool = False
    folder: str | None = None
    latest: float | None = None
    events: int = 0
    files: dict[str, tuple[int, int, int]]
    owes_decisions: bool = False
    latest_start: tuple[str, float] | None = None
    decisions: NoteDelivery
    text_given: str | None = None
    _keys: Bounded[str, None] = Bounded(_MOST_KEYS)
    _failures: Bounded[str, None] = Bounded(_MOST_KEYS)
    _deliveries: Bounded[str, NoteDelivery] = Bounded(_MOST_AGENTS)
    _batches: Bounded[str, int] = Bounded(_MOST_AGENTS)

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self.revision = 0
        self.files = {}
        self.decisions = NoteDelivery()
        self._costs: list[tuple[float, float]] = []  # when, and dollars

    def start(self, key: str, now: float, *, goes_on: bool) -> None:
        """The context of the main agent is a new one: it gets back what was decided, if its session goes on.

        Where hooks of the user and of a project are there, the event comes twice, and counts once. Two
        compactions may be the same event as well, but not at one time.

        Args:
            goes_on: Whether there was something before.
        """
        latest, self.latest_start = self.latest_start, (key, now)
        if latest is None or latest[0] != key or not 0 <= now - latest[1] < _TWICE_S:
            self.owes_decisions = goes_on

    def delivery(self, agent: str) -> NoteDelivery:
        """Returns the delivery of notes to one of its agents."""
        delivery = self._deliveries.get(agent)
        if delivery is None:
            delivery = self._deliveries[agent] = NoteDelivery()
        self._deliveries.move_to_end(agent)
        return delivery

    def batch_of(self, agent: str, *, ends: bool = False) -> str:
        """Returns a name for the calls that one answer of an agent's model asks for."""
        number = self._batches.get(agent) or 0
        if ends:
            self._batches[agent] = number + 1
        return f"batch {number}"

    def begin_anew(self) -> None:
        """A person has spoken: what its agents heard counts no more."""
        for delivery in self._deliveries.values():
            delivery.begin_anew()

    def is_repeated(self, key: str) -> bool:
        """True if an event was there before; from now on it was."""
        if key in self._keys:
            return True
        self._keys[key] = None
        return False

    def is_news(self, key: str) -> bool:
        """Returns True if a model was not told of something before; from now on it was."""
        is_known = key in self._keys
        self._keys.renew(key, None)
        return not is_known

    def add_failure(self, key: str) -> None:
        """A call failed, which is reported with its batch."""
        self._failures[key] = None

    def take_failure(self, key: str) -> bool:
        """True if a call is one that failed; its failure is forgotten then."""
        return self._failures.pop(key, self) is None

    def burn_rate(self, now: float, cost: float | None) -> float | None:
        """Dollars an hour over the last ten minutes; None where that is too short a time to tell.

        Args:
            cost: Dollars so far; None where they are not known.
        """
        if cost is None:
            return None
        if not self._costs or now - self._costs[-1][0] >= _APART_S:
            self._costs.append((now, cost))
        while len(self._costs) > 1 and (
            self._costs[0][0] < now - _RATE_S or len(self._costs) > _MOST_COSTS or self._costs[0][1] > cost
        ):
            del self._costs[0]
        since, before = self._costs[0]
        return None if now - since < _SHORTEST_S else (cost - before) / (now - since) * 3600.0
