"""Logs of Inspect: one JSON object, or an ``.eval`` archive with the samples in files of their own.

Each sample is a chain, named by its id and epoch: its events, or its messages where it has none.

What the log's statistics count beyond the events is one notice of usage at the end: attempts that were
tried again, and all there is in logs without events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event
from ebbtide.traces.agents.inspect_log_sample import InspectSample, usage_in
from ebbtide.traces.agents.trajectory_sniffing import (
    INSPECT_HEADER,
    INSPECT_SAMPLE,
    INSPECT_SAMPLES,
    INSPECT_STATS,
)
from ebbtide.traces.records.fields import count, identifier, mapping
from ebbtide.traces.records.joining import Seen
from ebbtide.traces.records.provider_usage import total
from ebbtide.traces.records.usage_accounts import UsageLedger

# A large sample may be cut: a shell, and chunks that are named by the number of their first item.
_SHELL = "/sample.json"
_CHUNK = re.compile(r"(events|attachments)/(\d+)\.json")


def members(names: Sequence[str]) -> Sequence[str]:
    """The files of an archive to read: the header, and the samples in its order, their parts in their own.

    A log that was gone on with has some names twice; the last file counts.
    """
    files: list[str] = []
    parts: dict[str, list[tuple[bool, int, str]]] = {
        name.removesuffix(_SHELL): [] for name in names if name.endswith(_SHELL)
    }
    for name in dict.fromkeys(names):
        folder = next((above for above in _folders(name) if above in parts), None)
        if folder is None:
            if name == INSPECT_HEADER or INSPECT_SAMPLE.fullmatch(name):
                files.append(name)
        elif name.endswith(_SHELL):
            files.append(name)
        elif chunk := _CHUNK.fullmatch(name, len(folder) + 1):
            parts[folder].append((chunk[1] == "attachments", int(chunk[2]), name))
    whole: list[str] = []
    for name in files:
        whole += [name, *(part for *_, part in sorted(parts.get(name.removesuffix(_SHELL), ())))]
    return whole


class InspectReader:
    """Reads fields of samples one by one."""

    def __init__(self) -> None:
        self._repeated = 0
        self._seen = Seen()
        self._sample = InspectSample("", self._seen)
        self._id = "sample"
        self._attached = 0
        self._ledger = UsageLedger()
        self._stated: Mapping[str, Any] = {}
        self._tokens = 0

    @property
    def duplicates(self) -> int:
        """Events that were there before."""
        return self._repeated + self._sample.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this field completes."""
        field = path.removeprefix(INSPECT_SAMPLES).removeprefix("transcript.")
        if field == "id":
            events = self._finished()
            self._id = identifier(value) or "sample"
            self._sample.chain = self._id
            return events
        if field == "epoch":
            self._sample.chain = f"{self._id}/{identifier(value) or 1}"
        elif field == INSPECT_STATS:
            self._stated = mapping(value)
        elif field in ("attachments", "content"):
            self._sample.attachments(mapping(value))
        elif isinstance(value, str):
            self._sample.attachments({str(self._attached): value})
            self._attached += 1
        elif field == "messages.item":
            self._sample.message(mapping(value))
        else:
            return self._count(self._sample.event(mapping(value)))
        return ()

    def finish(self) -> Sequence[Event]:
        """What was still open, and what the statistics have beyond the events."""
        events = list(self._finished())
        reports = [mapping(usage) for usage in self._stated.values()]
        if sum(count(usage.get("total_tokens")) or 0 for usage in reports) > self._tokens:
            events += self._ledger.rest(total(list(map(usage_in, reports))))
        return events

    def _finished(self) -> Sequence[Event]:
        events = self._count(self._sample.finish())
        self._repeated += self._sample.duplicates
        self._sample = InspectSample("", self._seen)
        self._attached = 0
        return events

    def _count(self, events: Sequence[Event]) -> Sequence[Event]:
        for event in events:
            if (usage := self._ledger.add(event).usage) is not None:
                self._tokens += usage.tokens or 0
        return events


def _folders(name: str) -> list[str]:
    """The folders above a file of an archive."""
    parts = name.split("/")
    return ["/".join(parts[:at]) for at in range(1, len(parts))]
