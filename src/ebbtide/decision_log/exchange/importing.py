"""Import of decisions into a log, some hundred a transaction; those that are there stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.decision_log.exchange.arrivals import Arrival, Broken
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.identifiers import is_id, origin_id
from ebbtide.decision_log.record.record import Decision

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Record):
    """The result of an import of one file or several.

    Args:
        created: Ids of the decisions that are new.
        present: How many were there already.
        broken: What could not be read.
    """

    _SCHEMA: ClassVar = 1

    created: tuple[str, ...]
    present: int
    broken: tuple[Broken, ...]


def import_decisions(log: DecisionLog, arrivals: Iterable[Arrival]) -> Imported:
    """Put what was read into a log. Importing the same file again is safe.

    Imported decisions do not meet the gate: they were taken already.
    `ebbtide.decision_log.cleaning.cleanup.audit` says what the gate makes of them.

    Args:
        log: Where they go; a view of one agent or session takes them all for that one.
        arrivals: What a reader gives.

    Raises:
        StoreError: The log cannot be written. What was put in before stays, and the next import goes on.
    """
    created: list[str] = []
    broken: list[Broken] = []
    present = 0

    def entries() -> Iterator[Decision]:
        for arrival in arrivals:
            if isinstance(arrival, Broken):
                broken.append(arrival)
            else:
                yield _placed(log, arrival)

    batches = _by_id(log, entries())
    while batch := list(islice(batches, _BATCH)):
        for result in log.add_batch(batch):
            if result.created:
                created.append(result.id)
            else:
                present += 1
    return Imported(created=tuple(created), present=present, broken=tuple(broken))


def survey(arrivals: Iterable[Arrival]) -> Imported:
    """Returns what an import would find, and writes nothing; ids are not given yet, so they are origins."""
    parts = list(arrivals)
    names = [entry.id or entry.origin or "?" for entry in parts if isinstance(entry, Decision)]
    broken = tuple(entry for entry in parts if isinstance(entry, Broken))
    return Imported(created=tuple(names), present=0, broken=broken)


def _by_id(log: DecisionLog, entries: Iterable[Decision]) -> Iterator[Decision]:
    """Records come last, when the ids of all are known: the links between them name origins until then."""
    records: list[Decision] = []
    for entry in entries:
        if entry.document is None or entry.origin is None:
            yield entry
        else:
            records.append(entry)
    ids = {entry.origin: _id_of(log, entry) for entry in records}
    for entry in records:
        links = tuple(replace(link, to=ids.get(link.to, link.to)) for link in entry.links)
        by = entry.superseded_by
        yield replace(entry, links=links, superseded_by=by and ids.get(by, by))


def _id_of(log: DecisionLog, entry: Decision) -> str:
    if is_id(entry.id):
        return entry.id
    at = entry.settled_at if entry.opened_at is None else entry.opened_at
    return origin_id(log.tenant, entry.scope.agent, entry.origin or "", at)


def _placed(log: DecisionLog, entry: Decision) -> Decision:
    """The entry as the view of the log takes it."""
    scope = replace(
        entry.scope, agent=log.agent or entry.scope.agent, session=log.session or entry.scope.session
    )
    return replace(entry, scope=scope)
