"""Events of OpenHands, of its V0 (``action``, ``observation``) and of its V1 (``kind``).

One event a line, a list of events, an object around one, or runs of an evaluation a line.

The costs that events carry grow over a run; each model call gets what came on top. What the ``metrics``
of a run have beyond its events is a notice of usage. Early evaluations have an action and its
observation as a pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.openhands_events import totals_of
from ebbtide.traces.agents.openhands_v0 import V0Events
from ebbtide.traces.agents.openhands_v1 import V1Events
from ebbtide.traces.agents.session_sniffing import is_openhands_event, openhands_events, openhands_run
from ebbtide.traces.records.fields import identifier, mapping, seconds
from ebbtide.traces.records.joining import Seen
from ebbtide.traces.records.usage_accounts import UsageLedger


class OpenHandsReader:
    """Reads events one by one; several runs in a file are chains of their own."""

    def __init__(self) -> None:
        self._run = _Run("")
        self._duplicates = 0

    @property
    def duplicates(self) -> int:
        """Events that were there before."""
        return self._duplicates + self._run.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this record completes."""
        if path == "metrics":
            self._run.take_totals(mapping(value))
            return ()
        inner = openhands_run(value) if path in ("", "item") and not is_openhands_event(value) else []
        if not inner:
            return [event for record in openhands_events([value]) for event in self._run.read(record)]
        # A whole run in one line.
        run = _Run(identifier(value.get("instance_id")) or "")
        events = [event for record in openhands_events(inner) for event in run.read(record)]
        run.take_totals(mapping(value.get("metrics")))
        events += run.finish()
        self._duplicates += run.duplicates
        return events

    def finish(self) -> Sequence[Event]:
        """What was still open."""
        return self._run.finish()


class _Run:
    """One run."""

    def __init__(self, chain: str) -> None:
        self._chain = chain
        self._v0, self._v1 = V0Events(chain), V1Events(chain)
        self._seen = Seen()
        self._ledger = UsageLedger()
        self._totals = Usage()
        self._ts: float | None = None
        self._repeated = 0

    @property
    def duplicates(self) -> int:
        return self._repeated + self._v0.calls.duplicates + self._v1.calls.duplicates

    def read(self, record: Mapping[str, Any]) -> Iterator[Event]:
        name = identifier(record.get("id"))
        if name is not None and self._seen.before(name):
            self._repeated += 1
            return
        reader = self._v1 if isinstance(record.get("kind"), str) else self._v0
        reader.ts = self._ts = seconds(record.get("timestamp")) or self._ts
        for event in reader.read(record):
            yield self._ledger.add(event)

    def take_totals(self, metrics: Mapping[str, Any]) -> None:
        if metrics:
            self._totals = totals_of(metrics)

    def finish(self) -> Sequence[Event]:
        calls = [self._ledger.add(call) for events in (self._v0, self._v1) for call in events.calls.finish()]
        return [*calls, *self._ledger.rest(self._totals, chain_id=self._chain, ts=self._ts)]
