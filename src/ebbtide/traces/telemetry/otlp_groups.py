"""Keys under which OTLP's JSON, and what is shaped like it, groups spans and log records."""

from __future__ import annotations

from typing import Final

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
