"""Check of what a run is about to report, before it ends."""

from __future__ import annotations

from ebbtide.claims.claim_record import ClaimRecord
from ebbtide.claims.sentences import correction
from ebbtide.events.event import Event, Message, Role
from ebbtide.events.identity import MARK


class ReportCheck:
    """Keeps the facts of a run, and says once what its report has against them.

    Args:
        is_late: True if the run had a past that is not at hand: what is missing may have been there.
    """

    __slots__ = ("_has_spoken", "_record")

    def __init__(self, *, is_late: bool) -> None:
        self._record = ClaimRecord()
        self._record.is_partial = is_late
        self._has_spoken = False

    def see(self, event: Event, number: int) -> None:
        """Takes the event of that number; words of a person begin a new turn."""
        if isinstance(event, Message) and event.role is Role.USER:
            self._has_spoken = False
        self._record.see(event, number)

    def note(self, text: str) -> str | None:
        """Returns what to tell the model of its report; None where nothing is wrong, or it has heard."""
        if self._has_spoken:
            return None
        words = correction(self._record.check_report(text))
        self._has_spoken = words is not None
        return None if words is None else MARK + words
