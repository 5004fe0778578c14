"""Keys under which OTLP's JSON, and what is shaped like it, groups spans and log records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ebbtide.traces.records.fields import items, mapping, text

GROUPS: Final = ("resourceSpans", "resource_spans", "batches")
SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
LOG_GROUPS: Final = ("resourceLogs", "resource_logs")
LOG_SCOPES: Final = ("scopeLogs", "scope_logs")
LOG_RECORDS: Final = ("logRecords", "log_records")
#: Where the records stand in a single JSON value; a line may be any of these, or one span.
PATHS: Final = (
    *(f"{group}.item" for group in (*GROUPS, *LOG_GROUPS)),
    "trace.resourceSpans.item",
    "data.item",
    "spans.item",
    "item",
    "",
)
_SCOPE: Final = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")


def scope_names(value: Any) -> Iterator[str]:
    """The libraries that wrote the spans of a record, by the names of their instrumentation scopes."""
    record = mapping(value)
    holders = [record]
    for group in GROUPS:
        holders += map(mapping, items(record.get(group)))
    for holder in tuple(holders):
        for scopes in SCOPES:
            holders += map(mapping, items(holder.get(scopes)))
    for holder in holders:
        for key in _SCOPE:
            name = text(mapping(holder.get(key)).get("name"))
            if name is not None:
                yield name
