"""Import of decisions into a log, some hundred a transaction; those that are there stay as they are.

The records of one folder are linked first: from names of files to decisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.decision_log.exchange.arrivals import Arrival, Broken
from ebbtide.decision_log.exchange.record_fields import RecordFields, record_fields
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.identifiers import is_id, origin_id
from ebbtide.decision_log.record.record import Decision, Link, Relation, SourceDocument

_BATCH = 500
_RELATIONS = {
    "supersedes": Relation.SUPERSEDES,
    "replaces": Relation.SUPERSEDES,
    "depends on": Relation.DEPENDS_ON,
    "contradicts": Relation.CONTRADICTS,
}
_SUPERSEDED = ("superseded by", "replaced by")


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


def linked_records(arrivals: Iterable[Arrival], ids: Mapping[str, str] | None = None) -> list[Arrival]:
    """The records of one folder, with links to each other.

    A link names the record that it leads to by its origin; the import puts the id in its place. A link that
    leads out of the folder stays in the text alone.

    Args:
        arrivals: What was read from the folder.
        ids: The id of a page, by the name of its file, where the folder remembers it.
    """
    parts = list(arrivals)
    origins: Counter[str | None] = Counter()
    records: list[tuple[int, Decision, SourceDocument, RecordFields]] = []
    for at, arrival in enumerate(parts):
        if isinstance(arrival, Decision) and (document := arrival.document) is not None:
            origins[arrival.origin] += 1
            times = origins[arrival.origin]
            # Two pages of the same words are two records.
            origin = arrival.origin if times == 1 else f"{arrival.origin}#{times}"
            record = replace(arrival, origin=origin, id=(ids or {}).get(document.name, ""))
            records.append((at, record, document, record_fields(document.text, document.name)))
    by_file = {document.name: record for _, record, document, _ in records}
    by_number = {fields.number: record for _, record, _, fields in reversed(records)}
    for at, record, document, fields in records:
        links: dict[tuple[Relation, str], Link] = {}
        superseded_by = record.superseded_by
        for link in fields.links:
            page = by_file.get(link.file) if link.file else by_number.get(link.number or -1)
            if page is None or page.origin is None or page.origin == record.origin:
                continue
            if link.kind in _SUPERSEDED:
                superseded_by = page.origin
                continue
            relation = _RELATIONS.get(link.kind, Relation.RELATED_TO)
            why = "" if link.kind in _RELATIONS else link.kind
            links.setdefault((relation, page.origin), Link(relation=relation, to=page.origin, why=why))
        parts[at] = replace(
            record,
            links=tuple(links.values()),
            superseded_by=superseded_by,
            document=replace(document, links=len(links)),
        )
    return parts


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
