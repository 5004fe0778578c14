"""The cost of sessions, booked from their files: each call once, as `ebbtide check` counts them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ebbtide.budget.ledger.call_ledger import CallLedger
from ebbtide.budget.ledger.call_price import StatedTotals, settled, units_of
from ebbtide.budget.ledger.inherited_calls import InheritedCalls
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import usd
from ebbtide.database.session import Session
from ebbtide.errors import TranscriptError
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage
from ebbtide.service.runs.moments import quarter_number
from ebbtide.service.runs.run_database import SPENT, RunDatabase
from ebbtide.service.runs.run_event import masked_name, plain_name
from ebbtide.traces.money.machine_calls import place_of
from ebbtide.traces.money.money_cache import KnownFile, MoneyCache
from ebbtide.traces.money.shared_calls import SharedCalls
from ebbtide.traces.sessions.session_files import SessionFile
from ebbtide.traces.sessions.session_origin import SessionOrigin

_log = logging.getLogger(__name__)
_BOOKED: Final = "UPDATE runs SET is_booked = 1, cost_usd = ?, tokens = ? WHERE run_id = ? RETURNING number"
_AT_ONCE: Final = 50  # groups of runs that are booked before requests have their turn


@dataclass(slots=True)
class _Share:
    """The share of a model in a run, in a quarter of an hour.

    Args:
        units: Units of money of calls whose price is known.
        unpriced: Calls with tokens whose price nobody knows.
    """

    units: int = 0
    tokens: int = 0
    calls: int = 0
    unpriced: int = 0

    def add(self, usage: Usage, cost_units: int | None, *, is_call: bool) -> None:
        """Count a call, or a part of a stated total."""
        self.units += cost_units or 0
        self.tokens += usage.tokens or 0
        self.calls += is_call
        self.unpriced += cost_units is None and usage.has_tokens


class SessionBooks:
    """Books the money of sessions by run, quarter of an hour and model.

    A call may stand in files of several runs: runs that share one are a group, and what changes in one of
    them is counted anew over all of the group. Nothing depends on the order in which files are read, or on
    what was booked before: after a restart the same files give the same books.
    """

    def __init__(self, database: RunDatabase, prices: Prices) -> None:
        self._database = database
        self._prices = prices
        self._cache = MoneyCache(None)
        self._files: dict[str, tuple[SessionFile, KnownFile, str, str | None]] = {}  # by path
        self._files_of: dict[str, set[str]] = {}  # by run
        self._read: dict[str, int] = {}  # records of calls of each file whose runs are known
        self._run_of: dict[CallId, str] = {}
        self._group_of: dict[str, str] = {}  # by run; the name of a group is one of its runs
        self._changed: dict[str, None] = {}  # runs, the first that changed first

    def has(self, path: str) -> bool:
        """Returns True if a file was read since the start."""
        return path in self._files

    def take(
        self, file: SessionFile, run_id: str, session: str, origins: Mapping[str, SessionOrigin]
    ) -> None:
        """Read what is new in a file.

        Args:
            origins: Where the sessions of the agent come from.
        """
        try:
            known = self._cache.known(file)
        except (TranscriptError, OSError, RecursionError) as error:
            _log.warning("the cost of a session cannot be read: %s", error)
            return
        project = origins[session].project if session in origins else None
        self._files[file.path] = (file, known, session, project)
        self._files_of.setdefault(run_id, set()).add(file.path)
        self._group_of.setdefault(run_id, run_id)
        calls = known.found.calls
        before = self._read.get(file.path, 0)
        for call in calls[before if before <= len(calls) else 0 :]:
            other = self._run_of.setdefault(call.id, run_id)
            if other != run_id:
                self._group_of[self._group(run_id)] = self._group(other)
        self._read[file.path] = len(calls)
        self._changed[run_id] = None

    def write(self) -> bool:
        """Book what has changed; returns True if there is more.

        Raises:
            StoreError: It cannot be written; it is tried again.
        """
        runs_of: dict[str, list[str]] = {}
        for run_id in self._group_of:
            runs_of.setdefault(self._group(run_id), []).append(run_id)
        groups = dict.fromkeys(self._group(run_id) for run_id in self._changed)
        for number, group in enumerate(groups):
            if number == _AT_ONCE:
                return True
            members = runs_of[group]
            self._book(self._sums(members))
            for run_id in members:
                self._changed.pop(run_id, None)
        return False

    def inherited(self, run_id: str) -> InheritedCalls | None:
        """Calls in the files of a run that another one owns; None where there are none."""
        group = self._group(run_id) if run_id in self._group_of else None
        members = [other for other in tuple(self._group_of) if group and self._group(other) == group]
        files = [
            (place_of(file, known, session, project)._replace(run=member), known.found)
            for member in members
            for file, known, session, project in map(self._files.__getitem__, tuple(self._files_of[member]))
        ]
        return SharedCalls.of_calls(files).inherited.get(run_id)

    def _book(self, sums: Mapping[str, Mapping[tuple[int, str], _Share]]) -> None:
        """Keep what runs took, in place of what was kept of them; one that is not known is passed over."""

        def write(session: Session) -> None:
            for run_id, shares in sums.items():
                units = sum(share.units for share in shares.values())
                is_known = units or not any(share.unpriced for share in shares.values())
                tokens = sum(share.tokens for share in shares.values())
                found = session.rows(_BOOKED, (usd(units) if is_known else None, tokens, run_id))
                if not found:
                    continue
                run = found[0][0]
                session.run("DELETE FROM spending WHERE run = ?", (run,))
                session.run_many(
                    SPENT,
                    [
                        (run, quarter, model, usd(share.units), share.tokens, share.calls, share.unpriced)
                        for (quarter, model), share in shares.items()
                    ],
                )

        self._database.write(write)

    def _sums(self, run_ids: list[str]) -> dict[str, dict[tuple[int, str], _Share]]:
        """Returns what each run took, by quarter of an hour since 1970, and model; "" where none is named."""
        ledger = CallLedger()
        run_of: dict[str, str] = {}  # by path
        stated = StatedTotals()
        written: dict[str, float] = {}
        for run_id in run_ids:
            for path in self._files_of[run_id]:
                file, known, session, project = self._files[path]
                place = place_of(file, known, session, project)
                run_of[path], written[path] = run_id, file.modified
                stated.add(place, known.found.stated_at, known.found.stated)
                for call in known.found.calls:
                    ledger.sight(place, call)
        sums: dict[str, dict[tuple[int, str], _Share]] = {run_id: {} for run_id in run_ids}
        for counted in settled(ledger.calls(), stated.by_place(), self._prices):
            path = counted.owner.path
            ts = written[path] if counted.ts is None else counted.ts
            model = masked_name(plain_name(counted.usage.model or ""))
            share = sums[run_of[path]].setdefault((quarter_number(ts), model), _Share())
            share.add(counted.usage, units_of(counted, self._prices), is_call=counted.is_model)
        return sums

    def _group(self, run_id: str) -> str:
        while (above := self._group_of[run_id]) != run_id:
            self._group_of[run_id] = self._group_of[above]
            run_id = above
        return run_id
