"""Keys under which OTLP's JSON, and what is shaped like it, groups spans and log records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbtide.traces.records.fields import mapping, text

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
_SERVICE: Final = "service.name"
_NO_SERVICE: Final = "unknown_service"
_SCOPE: Final = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")


def scope_name(value: Mapping[str, Any]) -> str | None:
    """The library that wrote what is in here, by the name of its instrumentation scope."""
    for key in _SCOPE:
        name = text(mapping(value.get(key)).get("name"))
        if name is not None:
            return name
    return None


def service_name(resource: Mapping[str, Any]) -> str | None:
    """The program that the attributes of a resource name; None where an SDK had to make a name up.

    Source: semantic conventions of OpenTelemetry, resource, ``service.name``.

    >>> service_name({"service.name": "billing"}), service_name({"service.name": "unknown_service:python"})
    ('billing', None)
    """
    name = text(resource.get(_SERVICE))
    return None if name is None or name.partition(":")[0] == _NO_SERVICE else name
