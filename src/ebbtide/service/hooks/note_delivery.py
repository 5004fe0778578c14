"""Notes on their way to an agent, or to its person: each is given again until it is known to have arrived."""

from __future__ import annotations

from ebbtide.adapters.hooks.step import HookReply
from ebbtide.codec import State
from ebbtide.service.hooks.hook_client import DEADLINE_S


class NoteDelivery(State):
    """Delivery of notes to one agent of a session.

    A note is pending from its making on, over kills and restarts, until the hook has said that it handed it
    to its agent. A run ends for a machine's reason only where a note has arrived, and none is pending.
    """

    _has_arrived: bool  # since a person spoke
    _heard: str | None  # the ending that the agent heard of last, so that it hears of it once
    _note: str | None  # the pending one
    _message: str | None  # for the person, with it
    _word: str | None  # the ending that it is about
    _number: int  # of the pending note: a confirmation of an older one is none of it

    def __init__(self) -> None:
        self._has_arrived = False
        self._heard = self._note = self._message = self._word = None
        self._number = 0
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
            message: For the person.
        """
        if word in (self._heard, self._word):
            return False
        self._put(note)
        self._message, self._word = message, word
        return True

    def send(self, now: float) -> HookReply:
        """Returns the pending note as a reply, unless it is on its way at this moment.

        Calls of one answer of the model come at once, and one of them is enough to carry it.

        Args:
            now: Seconds since 1970.
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
