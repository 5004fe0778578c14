"""Calls that files have in common: copies, resumed sessions and forks, each call with the file it is of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Final

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace
from ebbtide.budget.ledger.call_price import StatedTotals
from ebbtide.budget.ledger.inherited_calls import InheritedCalls, inherited_in
from ebbtide.traces.input.source import STDIN
from ebbtide.traces.money.event_calls import read_calls
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.money.money_cache import LINE_READERS, calls_on_lines
from ebbtide.traces.reading import open_trace
from ebbtide.traces.sessions.session_origin import AGENT_OF_FORMAT

_READERS: Final = {
    form: LINE_READERS[agent] for form, agent in AGENT_OF_FORMAT.items() if agent in LINE_READERS
}
_BY_EVENTS: Final = frozenset({"opencode", "pi", "copilot-cli"})  # whose copies and forks name calls


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """The calls of some files, each once.

    Args:
        ledger: The calls.
        inherited: What runs inherit from others among them, or from a thread that is not among them; one that
            inherits nothing is left out. The run of a file is its path.
        stated: What files state of their sessions.
    """

    ledger: CallLedger
    inherited: dict[str, InheritedCalls]
    stated: StatedTotals

    @classmethod
    def of(cls, paths: Sequence[Path]) -> SharedCalls:
        """Read the calls of some files.

        Args:
            paths: The files. One that stands there twice is one file.
        """
        found = ((path, _calls_of(path)) for path in dict.fromkeys(paths))
        return cls.of_calls(
            (CallPlace(run=str(path), began=calls.began, path=str(path)), calls)
            for path, calls in found
            if calls is not None
        )

    @classmethod
    def of_calls(cls, files: Iterable[tuple[CallPlace, FileCalls]]) -> SharedCalls:
        """Takes the calls of files that were read.

        Args:
            files: Each with its place; files with one run inherit nothing from each other.
        """
        ledger, stated = CallLedger(), StatedTotals()
        for place, found in files:
            stated.add(place, found.stated_at, found.stated)
            for call in found.calls:
                ledger.sight(place, call)
        inherited = inherited_in(ledger.calls(), ledger.absent(), attrgetter("run"), stated)
        return cls(ledger, inherited, stated)


def _calls_of(path: Path) -> FileCalls | None:
    """Returns the calls of a file whose agent may copy them into another one; None for any other."""
    if str(path) == STDIN:
        return None
    try:
        form = open_trace(path, is_named=False, is_growing=True).format.name
        return calls_of(str(path), form) if _READERS.get(form) or form in _BY_EVENTS else None
    except Exception:  # noqa: BLE001 - whoever reads it says why, and the other files are read
        return None


def calls_of(path: str, form: str) -> FileCalls:
    """The calls of a file.

    Raises:
        TranscriptError: It cannot be read.
    """
    add_calls = _READERS.get(form)
    found = None if add_calls is None or path == STDIN else calls_on_lines(path, add_calls)
    # What early versions wrote, and what an agent prints, has other lines.
    return found if found is not None and found.calls else read_calls(path, path)
