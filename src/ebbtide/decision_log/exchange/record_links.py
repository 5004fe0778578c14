"""Links between the records of a folder: from names of files to decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ebbtide.decision_log.exchange.arrivals import Arrival
from ebbtide.decision_log.exchange.record_fields import RecordLink, record_fields
from ebbtide.decision_log.record.record import Decision, Link, Relation

_RELATIONS = {
    "supersedes": Relation.SUPERSEDES,
    "replaces": Relation.SUPERSEDES,
    "depends on": Relation.DEPENDS_ON,
    "contradicts": Relation.CONTRADICTS,
}
_SUPERSEDED = ("superseded by", "replaced by")


def linked_records(arrivals: Iterable[Arrival], ids: Mapping[str, str] | None = None) -> Iterator[Arrival]:
    """The records of one folder, with links to each other.

    A link names the record that it leads to by its origin; the import puts the id in its place. A link that
    leads out of the folder stays in the text alone.

    Args:
        arrivals: What was read from the folder.
        ids: The id of a page, by the name of its file, where the folder remembers it.
    """
    parts = list(arrivals)
    origins: Counter[str | None] = Counter()
    pages: list[Decision] = []
    for at, arrival in enumerate(parts):
        if isinstance(arrival, Decision) and arrival.document is not None:
            origins[arrival.origin] += 1
            times = origins[arrival.origin]
            # Two pages of the same words are two records.
            origin = arrival.origin if times == 1 else f"{arrival.origin}#{times}"
            parts[at] = entry = replace(arrival, origin=origin, id=(ids or {}).get(arrival.document.name, ""))
            pages.append(entry)
    by_file = {page.document.name: page for page in pages if page.document}
    numbers = _by_number(pages)
    for arrival in parts:
        if isinstance(arrival, Decision) and arrival.document is not None:
            yield _linked(arrival, by_file, numbers)
        else:
            yield arrival


def _by_number(pages: Sequence[Decision]) -> dict[int, Decision]:
    numbers: dict[int, Decision] = {}
    for page in pages:
        document = page.document
        number = None if document is None else record_fields(document.text, document.name).number
        if number is not None:
            numbers.setdefault(number, page)
    return numbers


def _linked(entry: Decision, by_file: Mapping[str, Decision], numbers: Mapping[int, Decision]) -> Decision:
    document = entry.document
    if document is None:
        return entry

    def target(link: RecordLink) -> str | None:
        page = by_file.get(link.file) if link.file else numbers.get(link.number or -1)
        return None if page is None or page.origin == entry.origin else page.origin

    links: dict[tuple[Relation, str], Link] = {}
    superseded_by = entry.superseded_by
    for link in record_fields(document.text, document.name).links:
        to = target(link)
        if to is None:
            continue
        if link.kind in _SUPERSEDED:
            superseded_by = to
            continue
        relation = _RELATIONS.get(link.kind, Relation.RELATED_TO)
        why = "" if link.kind in _RELATIONS else link.kind
        links.setdefault((relation, to), Link(relation=relation, to=to, why=why))
    return replace(
        entry,
        links=tuple(links.values()),
        superseded_by=superseded_by,
        document=replace(document, links=len(links)),
    )
